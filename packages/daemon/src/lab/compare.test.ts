import { kinOf, random, splitTrace, traceOf } from '@revisit/core';
import { expect, test } from 'vitest';
import { comparePolicy } from './compare.ts';
import { comparisonHtml } from './comparison-report.ts';

const day = 86_400;

/** A clock by which the first run takes one second, the second two, and so on. */
function risingClock(): { readonly nowMs: () => number; readonly runs: () => number } {
  let calls = 0;
  return { nowMs: () => (calls++ % 2 === 0 ? 0 : 500 * calls), runs: () => calls / 2 };
}

function given(allowed: number) {
  const next = random(5);
  const events = Array.from({ length: 6 }, (_, page) =>
    Array.from({ length: 60 }, (_event, i) => [`site/p${page}`, Math.floor((i + next()) * 2 * day)] as const),
  ).flat();
  const split = splitTrace(traceOf(events), 80 * day, 38 * day);
  return { split, kin: kinOf(split.names), allowed, learn: 'probes', loss: 'obsolescence', spacingSeconds: 0 } as const;
}

test('what is told of a policy is of the run that stands, not of the last that was tried', () => {
  for (const allowed of [9, 20, 26]) {
    const clock = risingClock();
    // Pages in step are looked at six at a time, so that no run comes to these budgets and an earlier one stands.
    const one = comparePolicy('revisit', given(allowed), () => {}, clock.nowMs);
    expect(one.score.probes).toBe(allowed - (allowed % 6));
    expect(one.runs).toBeLessThan(clock.runs());
    expect(one.seconds).toBe(one.runs);
    expect(one.reliability!.reduce((sum, { looks }) => sum + looks, 0)).toBe(one.score.probes);
  }
});

test('sites that keep hours of their own have their weeks in the report', () => {
  const next = random(5);
  const monday = 4 * day;
  // Each page changes once a day, those of one site in the eight hours from 9 on, those of the other twelve hours later.
  const changes = (site: string, opening: number) =>
    Array.from({ length: 4 * 120 }, (_, i) => {
      const hours = opening + 8 * next();
      return [`${site}/p${i % 4}`, Math.floor(monday + Math.floor(i / 4) * day + hours * 3600)] as const;
    });
  const split = splitTrace(
    traceOf([...changes('day.example', 9), ...changes('night.example', 21)]),
    80 * day,
    38 * day,
  );
  const asked = { split, kin: kinOf(split.names), allowed: 8 * 38 * 10, learn: 'probes', spacingSeconds: 0 } as const;
  const one = comparePolicy('revisit', { ...asked, loss: 'obsolescence' }, () => {}, risingClock().nowMs);
  expect(one.siteWeeks?.map(({ site, pages }) => [site, pages])).toEqual([
    ['day.example', 4],
    ['night.example', 4],
  ]);
  const [ofDay, ofNight] = one.siteWeeks!;
  expect(ofDay!.week[13]!).toBeGreaterThan(3 * ofDay!.week[1]!);
  expect(ofNight!.week[1]!).toBeGreaterThan(3 * ofNight!.week[13]!);
  const html = comparisonHtml('Sites', split, [{ budget: '10', allowed: asked.allowed, compared: [one] }]);
  expect(html).toContain('The week of night.example (4 pages)');
});

test('a budget above one look a page and second is brought to that in a few runs', () => {
  const split = splitTrace(traceOf([0, 100, 150, 200, 300].map((at) => ['a', at] as const)), 200, 100);
  const asked = { split, kin: kinOf(split.names), learn: 'probes', loss: 'obsolescence', spacingSeconds: 0 } as const;
  const clock = risingClock();
  const one = comparePolicy('uniform', { ...asked, allowed: 5000 }, () => {}, clock.nowMs);
  expect(one.score.probes).toBe(99);
  expect(clock.runs()).toBeLessThan(8);
});

test('progress never goes back, however many runs it takes', () => {
  const shares: number[] = [];
  comparePolicy('uniform', given(26), (share) => shares.push(share), risingClock().nowMs);
  expect(shares.length).toBeGreaterThan(2);
  expect(shares.toSorted((a, b) => a - b)).toEqual(shares);
});
