/** A comparison of policies as one HTML file that needs nothing from outside. */
import { type Split, bound } from '@revisit/core';
import type { Plot } from '../reproduce/item.ts';
import { escape, plotSvg, spansDecades } from '../reproduce/svg.ts';
import { type Compared, boundSentence } from './compare.ts';
import { type Conditions, aimOf, conditionSentences, usualConditions } from './conditions.ts';
import { delayColumn } from './delay-column.ts';
import { whoWhen } from './who-when.ts';

export interface BudgetRun {
  readonly budget: string;
  readonly allowed: number;
  readonly compared: readonly Compared[];
}

const style =
  'body{font:15px/1.5 sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;color:#222}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:right;font-size:13px}td:first-child{text-align:left}.plots{display:flex;flex-wrap:wrap;gap:10px}';
const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** "1 page", "2 pages". */
const many = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<table><tr>${head.map((cell) => `<th>${escape(cell)}</th>`).join('')}</tr>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`)
    .join('')}</table>`;

function scoreTable(run: BudgetRun, conditions: Conditions): string {
  const { compared } = run;
  const aim = aimOf(conditions);
  const rivals = compared.filter(({ policy }) => policy !== bound);
  const best = Math.min(...rivals.map(({ score }) => aim.of(score)));
  const note = rivals.length < compared.length ? `<p>${escape(boundSentence)}</p>` : '';
  const delay = delayColumn(compared.map(({ score }) => score.meanDelayHours));
  const scores = tableOf(
    [
      'policy',
      `× best ${aim.name}`,
      'probes',
      'changes',
      `mean delay, ${delay.unit}`,
      'freshness',
      'hit rate',
      'obsolescence',
      'seconds',
    ],
    compared.map(({ policy, score, seconds }) => [
      policy,
      best > 0 ? (aim.of(score) / best).toFixed(2) : aim.of(score) > 0 ? '∞' : '1.00',
      String(score.probes),
      String(score.changes),
      delay.shown(score.meanDelayHours),
      score.freshness.toFixed(4),
      score.hitRate.toFixed(4),
      score.obsolescence.toPrecision(5),
      seconds.toFixed(1),
    ]),
  );
  const short = shortSentence(run);
  return scores + (short === undefined ? '' : `<p>${escape(short)}</p>`) + note;
}

function againstBudget(runs: readonly BudgetRun[], pages: number, testDays: number): Plot[] {
  if (runs.length < 2) return [];
  const names = runs[0]!.compared.map(({ policy }) => policy);
  const series = (value: (one: Compared) => number) =>
    names.map((name) => ({
      name,
      points: runs.map((run) => {
        const one = run.compared.find(({ policy }) => policy === name)!;
        return [run.allowed / pages / testDays, value(one)] as const;
      }),
    }));
  const plot = (title: string, y: string, value: (one: Compared) => number): Plot => {
    const logY = spansDecades(runs.flatMap(({ compared }) => compared.map(value)));
    return { title, x: 'probes a page and day', y, series: series(value), logX: true, logY };
  };
  return [
    plot('Delay against budget', 'mean delay, hours', ({ score }) => score.meanDelayHours),
    plot('Staleness against budget', 'share of page-time stale', ({ score }) => 1 - score.freshness),
  ];
}

/** Probes fall on whole seconds: a change that was found sooner was found at once. */
const delayHoursMin = 1 / 3600;

function delays(run: BudgetRun, at: string): Plot {
  const quantiles = Array.from({ length: 50 }, (_, i) => (i + 0.5) / 50);
  const series = run.compared.map(({ policy, score }) => ({
    name: policy,
    points: quantiles.map((q) => [score.delays[Math.floor(q * score.delays.length)] ?? 0, q] as const),
  }));
  const logX = spansDecades(series.flatMap(({ points }) => points.map(([delay]) => Math.max(delayHoursMin, delay))));
  return {
    title: `How soon changes were found${at}`,
    x: 'delay, hours',
    y: 'share of changes found',
    series: logX
      ? series.map((one) => ({
          ...one,
          points: one.points.map(([delay, q]) => [Math.max(delayHoursMin, delay), q] as const),
        }))
      : series,
    logX,
    yMax: 1,
  };
}

/** The darker, the more: white is nothing, the darkest is the busiest hour of that week. */
const shadeOf = (share: number): string => {
  const light = Math.round(255 - 200 * share);
  return `rgb(${light},${light},255)`;
};

/** Steps of the scale below a week. */
const scaleSteps = 5;

function weekHeatmap(week: readonly number[], label = 'The week as learned'): string {
  const most = Math.max(...week);
  const mean = week.reduce((a, b) => a + b, 0) / week.length;
  const factor = (value: number): string => (mean > 0 ? `${Number((value / mean).toPrecision(2))}×` : '0×');
  const shade = (value: number): string => shadeOf(most > 0 ? value / most : 0);
  const cells = week.map(
    (value, i) =>
      `<rect x="${40 + (i % 24) * 17}" y="${20 + Math.floor(i / 24) * 17}" width="16" height="16" fill="${shade(value)}"><title>${days[Math.floor(i / 24)]} ${i % 24}:00 ${factor(value)} the mean</title></rect>`,
  );
  const names = days.map((day, i) => `<text x="4" y="${32 + 17 * i}">${day}</text>`);
  const hours = [0, 6, 12, 18].map((h) => `<text x="${40 + 17 * h}" y="14">${h}:00</text>`);
  const scale = Array.from({ length: scaleSteps }, (_, i) => {
    const value = (most * i) / (scaleSteps - 1);
    const x = 40 + 56 * i;
    return `<rect x="${x}" y="147" width="16" height="10" stroke="#ccc" fill="${shade(value)}"/><text x="${x + 19}" y="156">${factor(value)}</text>`;
  });
  const legend = `${scale.join('')}<text x="${40 + 56 * scaleSteps}" y="156">changes of a mean hour</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="470" height="165" font-family="sans-serif" font-size="11" role="img" aria-label="${escape(label)}">${hours.join('')}${names.join('')}${cells.join('')}${legend}</svg>`;
}

function calibration(one: Compared): string {
  const bins = (one.reliability ?? []).map((bin, i) => ({ ...bin, i })).filter(({ looks }) => looks > 0);
  if (bins.length === 0) return '';
  const reliability = tableOf(
    ['said current', 'looks', 'said, mean', 'was current', 'error'],
    bins.map(({ i, looks, said, held }) => [
      `${(i / 10).toFixed(1)} to ${((i + 1) / 10).toFixed(1)}`,
      String(looks),
      said.toFixed(3),
      held.toFixed(3),
      (said - held).toFixed(3),
    ]),
  );
  return `<h3>Was the copy current as often as ${escape(one.policy)} said?</h3>${reliability}`;
}

function weeks(one: Compared, at: string): string {
  if (!one.week) return '';
  const sites = (one.siteWeeks ?? []).map(({ site, pages, week: own }) => {
    const label = `The week of ${site || 'pages without a folder'} (${many(pages, 'page')})`;
    return `<h4>${escape(label)}</h4>${weekHeatmap(own, label)}`;
  });
  return `<h3>The week as ${escape(one.policy)} learned it${escape(at)} (UTC)</h3>${weekHeatmap(one.week)}${sites.join('')}`;
}

/** Who could not be brought to the budget, in words; undefined when all were. */
export function shortSentence({ budget, allowed, compared }: BudgetRun): string | undefined {
  const short = compared
    .filter(({ score }) => score.probes < 0.99 * allowed)
    .map(({ policy, score }) => `${policy} ${score.probes} (${((100 * score.probes) / allowed).toFixed(1)} %)`);
  return short.length === 0
    ? undefined
    : `Of ${allowed} probes allowed at ${budget}, fewer were made by ${short.join(', ')}: no setting of the knob was found with 99 to 100 %.`;
}

/** A length of time in the largest unit of which there are two. */
function lengthOf(seconds: number): string {
  const [unit, size] = (
    [
      ['day', 86_400],
      ['hour', 3600],
      ['minute', 60],
    ] as const
  ).find(([, size]) => seconds >= 2 * size) ?? ['second', 1];
  return many(Math.round(seconds / size), unit);
}

export function comparisonHtml(
  title: string,
  split: Split,
  runs: readonly BudgetRun[],
  conditions: Conditions = usualConditions,
): string {
  const testSeconds = split.testEnd - split.testStart;
  const main = runs[Math.floor(runs.length / 2)]!;
  // What is shown of one budget only says of which.
  const at = runs.length > 1 ? ` at ${main.budget}` : '';
  const drawn = main.compared.filter(({ policy }) => policy === 'revisit' || policy === main.compared[0]!.policy);
  const plots = [
    ...againstBudget(runs, split.names.length, testSeconds / 86_400),
    delays(main, at),
    ...whoWhen(split, drawn, conditions.dayZero).map((plot) => ({ ...plot, title: `${plot.title}${at}` })),
  ];
  const tables = runs.map(
    (run) =>
      `<h2>Budget ${escape(run.budget)}: ${many(run.allowed, 'probe')}</h2>${scoreTable(run, conditions)}${run.compared.map(calibration).join('')}`,
  );
  const about = [
    `${many(split.names.length, 'page')}, ${many(split.testChanges, 'change')} in ${lengthOf(testSeconds)} of test after ${lengthOf(split.testStart - split.trainStart)} to learn from.`,
    ...conditionSentences(split, conditions),
  ];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title><style>${style}</style></head><body><h1>${escape(title)}</h1><p>${about.map(escape).join(' ')}</p>${tables.join('')}<h2>Pictures</h2><div class="plots">${plots.map(plotSvg).join('')}</div>${main.compared.map((one) => weeks(one, at)).join('')}</body></html>\n`;
}
