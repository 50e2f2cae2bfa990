/** The benchmark that Brewington's §3 announces: robots on the same pages with the same number of observations. */
import {
  type ScoreDetail,
  calibrate,
  exponential,
  kinOf,
  policies,
  probesAllowed,
  replay,
  scoreProbes,
  splitTrace,
  traceOf,
} from '@revisit/core';
import { type Context, type DataTable, type Item, claim } from './item.ts';

type Events = readonly (readonly [source: string, seconds: number])[];

/** Every policy gets the same number of looks over the test, and sees only what a monitor sees. */
export function compare(
  events: Events,
  names: readonly string[],
  looksPerPageDay: number,
  trainDays: number,
  testDays: number,
) {
  const split = splitTrace(traceOf(events), trainDays * 86_400, testDays * 86_400);
  const allowed = probesAllowed(split, { kind: 'per-page-day', looks: looksPerPageDay });
  const kin = kinOf(split.names);
  return names.flatMap((name): { name: string; score: ScoreDetail }[] => {
    const entry = policies[name];
    if (!entry) return [];
    const told = entry.knob === 'told';
    const run = (knob: number) =>
      replay(split, told ? entry.create() : entry.create(knob), {
        allowed,
        told: told ? knob : 1,
        kin,
        learn: 'probes',
        spacingSeconds: 0,
      });
    const { replay: found } = calibrate(allowed, run, { start: 1, rises: told });
    return [{ name, score: scoreProbes(split, found.log) }];
  });
}

/** Pages whose chance of changing grows with age: a waiting time made of two memoryless ones, as in Figure 1. */
function ageing(context: Context): Events {
  const luck = context.luck('brewington-section-3');
  const events: (readonly [string, number])[] = [];
  for (let page = 0; page < 200; page++) {
    const meanDays = 2 * 30 ** luck();
    for (let t = 0; ;) {
      t += exponential(luck, (meanDays / 2) * 86_400) + exponential(luck, (meanDays / 2) * 86_400);
      if (t > 500 * 86_400) break;
      events.push([`site${page % 10}/page${page}`, 1_600_000_000 + Math.floor(t)]);
    }
  }
  return events.sort((a, b) => a[1] - b[1]);
}

function tableOf(title: string, rows: ReturnType<typeof compare>): DataTable {
  return {
    title,
    head: [
      'robot',
      'observations',
      'changed pages found per observation',
      'share of time up to date',
      'mean delay, hours',
    ],
    rows: rows.map(({ name, score }) => [
      name,
      score.probes,
      score.hitRate.toFixed(3),
      score.freshness.toFixed(4),
      score.meanDelayHours.toFixed(1),
    ]),
  };
}

export const section3: Item = {
  id: 'brewington-section-3',
  paper: 'brewington',
  title: 'Section 3: changed pages found per observation, against other robots',
  seconds: 12,
  run: (context) => {
    const names = ['uniform', 'nutch', 'heritrix', 'cho', 'brewington', 'revisit'];
    const rows = compare(ageing(context), names, 0.1, 300, 150);
    const recorded = context.trace('docs-peps');
    const real = recorded ? compare(recorded, names, 0.1, 730, 365) : [];
    const found = (name: string) => rows.find((row) => row.name === name)?.score;
    const [plain, theirs, ours] = [found('uniform')!, found('brewington') ?? found('cho'), found('revisit')];
    const checks = [];
    if (theirs)
      checks.push(
        claim(
          'an observation scheme that models change finds more changed pages per observation',
          theirs.hitRate > plain.hitRate,
          `${theirs.hitRate.toFixed(3)} against ${plain.hitRate.toFixed(3)} for equal distances`,
        ),
      );
    if (ours)
      checks.push(
        claim(
          'and the collection is up to date for more of the time',
          ours.freshness > plain.freshness,
          `revisit ${ours.freshness.toFixed(4)} against ${plain.freshness.toFixed(4)}`,
        ),
      );
    return {
      checks,
      remark:
        'The paper announces this benchmark and reports no numbers. Pages are generated from its own model: a change takes two memoryless waiting times.',
      tables: [
        tableOf('Generated pages that age, 0.1 observations a page and day', rows),
        ...(real.length > 0 ? [tableOf('docs-peps, recorded, the same budget', real)] : []),
      ],
    };
  },
};
