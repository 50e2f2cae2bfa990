import { ProbeLog, scoreProbes, splitTrace, traceOf } from '@revisit/core';
import { expect, test } from 'vitest';
import { type BudgetRun, comparisonHtml } from './comparison-report.ts';
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

test('the picture of who was probed when goes to the end of the test however many looks there are', () => {
  const html = comparisonHtml('t', split, [runOf(20_000, { revisit: 20_000 })]);
  const picture = /aria-label="Who was probed when: revisit".*?<\/svg>/s.exec(html)![0];
  const across = Array.from(picture.matchAll(/<circle cx="([\d.]+)"/g), (match) => Number(match[1]));
  // A dot for each place on the axis, of looks and of changes, and no more.
  expect(across.length).toBeLessThanOrEqual(2 * 401);
  for (let place = 60; place < 448; place += 2) expect(across.some((x) => Math.abs(x - place) < 2)).toBe(true);
  expect(picture).toContain('>600<');
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
