import { ProbeLog, scoreProbes, splitTrace, traceOf } from '@revisit/core';
import { expect, test } from 'vitest';
import { type BudgetRun, comparisonHtml } from './comparison-report.ts';
import type { Conditions } from './conditions.ts';
import { plotSvg } from '../reproduce/svg.ts';

const day = 86_400;
const split = splitTrace(
  traceOf(Array.from({ length: 800 }, (_, i) => ['site/busy', i * day] as const)),
  69 * day,
  730 * day,
);

function runOf(allowed: number, looksOf: Readonly<Record<string, number>>): BudgetRun {
  const compared = Object.entries(looksOf).map(([policy, looks]) => {
    const log = new ProbeLog();
    for (let i = 1; i <= looks; i++) log.add(0, split.testStart + Math.floor((i * 730 * day) / looks));
    return { policy, score: scoreProbes(split, log), log, seconds: 0, knob: 1, runs: 1 };
  });
  return { budget: `${allowed}/change`, allowed, compared };
}

test('the picture of who was probed when shows single looks at named pages, the same stretch for all', () => {
  const run = runOf(20_000, { uniform: 20_000, revisit: 4000 });
  const pictures = ['uniform', 'revisit'].map((name) =>
    picture(comparisonHtml('t', split, [run]), `Who was probed when: ${name}`),
  );
  const [even, ours] = pictures.map((svg) =>
    Array.from(svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g), ([, x, y]) => [Number(x), Number(y)] as const),
  );
  const row = Math.max(...even!.map(([, y]) => y));
  const across = even!.filter(([, y]) => y === row).map(([x]) => x);
  expect(across.length).toBeGreaterThan(20);
  // Dots are 2.6 wide.
  expect(Math.min(...across.map((x, i) => x - (across[i - 1] ?? -Infinity)))).toBeGreaterThan(3);
  expect(ours!.filter(([, y]) => y === row).length).toBeLessThan(across.length / 2);
  // Changes are as many and where they are.
  const changes = (dots: typeof even) => dots!.filter(([, y]) => y !== row);
  expect(changes(even).length).toBeGreaterThan(0);
  expect(changes(ours)).toEqual(changes(even));
  for (const svg of pictures) {
    expect(svg).toContain('>site/busy</text>');
    expect(svg).toContain('>the busiest page</text>');
    expect(svg).toMatch(/>(?:hours|days) after 1970-\d\d-\d\d \d\d:\d\d:\d\d UTC</);
  }
});

test('of several budgets each has its calibration, and what is shown of one says of which', () => {
  const reliability = (looks: number) => [{ looks, said: 0.05, held: 0.04 }];
  const runs = [100, 200, 300].map((allowed) => {
    const run = runOf(allowed, { revisit: allowed });
    const week = Array.from({ length: 168 }, () => 1);
    return { ...run, compared: run.compared.map((one) => ({ ...one, reliability: reliability(allowed + 7), week })) };
  });
  const html = comparisonHtml('t', split, runs);
  expect(html.match(/Was the copy current as often as revisit said/g)?.length).toBe(3);
  for (const allowed of [107, 207, 307]) expect(html).toContain(`<td>${allowed}</td>`);
  expect(html).toContain('How soon changes were found at 200/change');
  expect(html).toContain('Who was probed when: revisit at 200/change');
  expect(html).toContain('The week as revisit learned it at 200/change (UTC)');
});

test('a week says what its shades mean: factors of a mean hour, from none to its busiest', () => {
  const run = runOf(100, { revisit: 100 });
  const week = Array.from({ length: 168 }, (_, hour) => (hour < 84 ? 3 : 1));
  const html = comparisonHtml('t', split, [
    { ...run, compared: run.compared.map((one) => ({ ...one, week, reliability: [] })) },
  ]);
  const heat = picture(html, 'The week as learned');
  for (const step of ['0×', '0.38×', '0.75×', '1.1×', '1.5×']) expect(heat).toContain(`>${step}</text>`);
  expect(heat).toContain('>changes of a mean hour</text>');
  expect(heat).toContain('<title>Mon 0:00 1.5× the mean</title>');
});

test('what was asked for is told, and who is best goes by it', () => {
  const log = new ProbeLog();
  const score = { ...scoreProbes(split, log), obsolescence: 10, freshness: 0.5, meanDelayHours: 3 };
  const better = { ...score, obsolescence: 30, freshness: 0.9, meanDelayHours: 2 };
  const compared = [
    { policy: 'a', score, log, seconds: 0, knob: 1, runs: 1 },
    { policy: 'b', score: better, log, seconds: 0, knob: 1, runs: 1 },
  ];
  const conditions = { learn: 'events', loss: 'obsolescence', spacingSeconds: 60, siteOf: 'all', leftOut: 0 } as const;
  const html = (more: Partial<Conditions>) =>
    comparisonHtml('t', split, [{ budget: '1/change', allowed: 1, compared }], { ...conditions, ...more });
  const best = (text: string) => [
    /× best [a-z ]+/.exec(text)![0],
    ...Array.from(text.matchAll(/<td>(?:a|b)<\/td><td>([\d.]+)/g), (match) => match[1]),
  ];
  expect(best(html({}))).toEqual(['× best mean delay', '1.50', '1.00']);
  expect(best(html({ loss: 'staleness' }))).toEqual(['× best time stale', '5.00', '1.00']);
  const weighed = html({ importance: { file: 'weights.csv', kind: 'pages' }, leftOut: 2 });
  expect(best(weighed)).toEqual(['× best obsolescence', '1.00', '3.00']);
  expect(weighed).toContain('1 page, 730 changes in 730 days of test');
  expect(weighed).toContain('2 of 3 pages had no change in the time to learn from and are left out');
  expect(weighed).toContain('every change and its time was known (--learn events)');
  expect(weighed).toContain('Pages have the weights of weights.csv');
  expect(weighed).toContain('60 s apart at least; all pages are one site');
  expect(html({ loss: 'staleness' })).toContain('(--loss staleness)');
  expect(html({ learn: 'probes' })).not.toContain('--learn');
});

test('who made fewer probes than were allowed is named, and nobody is said to have made them all', () => {
  const short = comparisonHtml('t', split, [
    runOf(1000, { uniform: 995, nutch: 5 }),
    runOf(500, { uniform: 500, nutch: 500 }),
  ]);
  expect(short).toContain('Of 1000 probes allowed at 1000/change, fewer were made by nutch 5 (0.5 %)');
  expect(short).toContain('Every policy was allowed the same number of probes');
  expect(short).not.toContain('made the same number');
  expect(short).not.toContain('Of 500 probes');
});

test('seventeen lines have names and looks of their own', () => {
  const looks = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`policy-${i}`, 100 + i]));
  const html = comparisonHtml('t', split, [runOf(120, looks)]);
  const picture = /aria-label="How soon changes were found".*?<\/svg>/s.exec(html)![0];
  for (const name of Object.keys(looks)) expect(picture).toContain(`>${name}</text>`);
  const lines = Array.from(picture.matchAll(/fill="none" (stroke="[^/]*)\/>/g), (match) => match[1]);
  expect(new Set(lines).size).toBe(17);
});

test('measured values on an axis are short, and their labels run neither into each other nor over the edge', () => {
  const values = [0.010_333_889, 0.010_6, 0.02, 0.201_234_567, 0.244_539_573_8];
  const svg = plotSvg({
    title: 't',
    x: 'x',
    y: 'y',
    logX: true,
    series: [{ name: 'one', points: values.map((x) => [x, 1]) }],
  });
  const labels = Array.from(svg.matchAll(/<text x="([\d.]+)" y="272" text-anchor="middle">([^<]*)</g), (match) => ({
    half: 3.2 * match[2]!.length,
    x: Number(match[1]),
    text: match[2],
  }));
  expect(labels.map(({ text }) => text)).toEqual(['0.0103', '0.02', '0.201']);
  for (const [i, { x, half }] of labels.entries()) {
    expect(x + half).toBeLessThanOrEqual(460);
    if (i > 0) expect(x - half).toBeGreaterThan(labels[i - 1]!.x + labels[i - 1]!.half);
  }
});

const picture = (html: string, title: string): string =>
  new RegExp(`aria-label="${title}".*?</svg>`, 's').exec(html)![0];
/** How far down the label of this value stands. */
const heightOf = (svg: string, tick: string): number =>
  Number(new RegExp(`<text x="52" y="([\\d.]+)"[^>]*>${tick}<`).exec(svg)![1]);

test('delays over more than a decade have a logarithmic axis, others one of even steps', () => {
  const wide = comparisonHtml('t', split, [runOf(500, { uniform: 500 }), runOf(50_000, { uniform: 50_000 })]);
  const delay = picture(wide, 'Delay against budget');
  const [one, ten, two] = ['1', '10', '2'].map((tick) => heightOf(delay, tick));
  expect((one! - two!) / (one! - ten!)).toBeCloseTo(Math.log10(2), 2);
  const narrow = picture(
    comparisonHtml('t', split, [runOf(500, { uniform: 500 }), runOf(900, { uniform: 900 })]),
    'Delay against budget',
  );
  expect(heightOf(narrow, '0')).toBeGreaterThan(heightOf(narrow, '10'));
});
