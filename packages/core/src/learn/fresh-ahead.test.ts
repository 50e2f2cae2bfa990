import { expect, test } from 'vitest';
import { FreshAhead, counted } from './fresh-ahead.ts';
import { memoryScales } from './memory.ts';

const day = 86_400;
const none = memoryScales.map(() => 0);

function missedBy(cost: number, steady: number, left: readonly number[], known: number, factor = 1): number {
  const ahead = new FreshAhead();
  ahead.plan(cost, steady, left, factor, known);
  return ahead.missed;
}

/** The same by adding up small steps until a wait is worth its cost. */
function missedBySteps(cost: number, steady: number, left: readonly number[], known: number): number {
  const rate = left.reduce((sum, n, k) => sum + n / memoryScales[k]!, steady);
  let area = 0;
  for (let t = 0, step = cost / 400; t < 1e5 * cost; t += step, step = Math.max(cost, t) / 400) {
    const until = t + step;
    const plain = (s: number): number =>
      left.reduce((sum, n, k) => sum + n * -Math.expm1(-s / memoryScales[k]!), steady * s);
    const massAt = (s: number): number => counted(plain(s), known);
    area += step * Math.exp(-massAt(t + step / 2));
    if (area - until * Math.exp(-massAt(until)) >= cost)
      return massAt(until) * Math.sqrt((until * rate) / plain(until));
  }
  return Infinity;
}

test('a steady page has the mark 1 - (1 + U) exp(-U) = cost x rate, and none where that is 1 or more', () => {
  for (const share of [1e-6, 1e-3, 0.05, 0.3, 0.6, 0.9]) {
    const missed = missedBy(share * day, 1 / day, none, 1e9);
    const freed = missed < 1e-3 ? missed ** 2 / 2 : 1 - (1 + missed) * Math.exp(-missed);
    expect(freed / share, `${share}`).toBeGreaterThan(0.9);
    expect(freed / share, `${share}`).toBeLessThan(1.1);
    expect(missedBy(share * day, 0.5 / day, none, 1e9, 2)).toBeCloseTo(missed, 9);
  }
  expect(missedBy(1.01 * day, 1 / day, none, 1e9)).toBe(Infinity);
  expect(missedBy(day, 0, none, 3)).toBe(0);
  expect(missedBy(1, 1e-12, none, 3)).toBeCloseTo(Math.sqrt(2e-12), 12);
});

test('the rest of a burst is reckoned with as if added up in small steps', () => {
  for (const [k, burst] of [
    [0, 0.2],
    [1, 0.5],
    [2, 1.5],
    [3, 3],
  ] as const)
    for (const known of [0, 3, 50])
      for (const cost of [600, 3600, 6 * 3600]) {
        const left = none.map((_, i) => (i === k ? burst : 0));
        const exact = missedBySteps(cost, 0.2 / day, left, known);
        const missed = missedBy(cost, 0.2 / day, left, known);
        expect(Math.abs(missed / exact - 1), `${k} ${known} ${cost}: ${missed} for ${exact}`).toBeLessThan(0.08);
      }
});

test('where little is missed the mark is that of delays, in a burst and out of it', () => {
  for (const burst of [0, 1e-3, 1e-2])
    for (const known of [0, 9]) {
      const rate = 1e-3 / day + burst / memoryScales[2]!;
      const missed = missedBy(60, 1e-3 / day, [0, 0, burst, 0, 0, 0], known);
      expect(Math.abs(missed / Math.sqrt(2 * 60 * rate) - 1), `${burst}`).toBeLessThan(0.1);
    }
});

test('where no wait is worth its cost it says how far the best is from that', () => {
  const ahead = new FreshAhead();
  ahead.plan(2 * day, 1 / day, none, 1, 1e9);
  expect(ahead.missed).toBe(Infinity);
  expect(ahead.worth).toBeCloseTo(0.5, 2);
  ahead.plan(Infinity, 1 / day, none, 1, 1e9);
  expect([ahead.missed, ahead.worth]).toEqual([Infinity, 0]);
  ahead.plan(0.5 * day, 1 / day, none, 1, 1e9);
  expect(ahead.worth).toBe(1);
});
