import { describe, expect, test } from 'vitest';
import { Outflow } from './outflow.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** How many leave in one moment. */
function atOnce(outflow: Outflow, nowMs: number): number {
  let left = 0;
  for (; outflow.readyAt(nowMs) <= nowMs; left++) outflow.take(nowMs);
  return left;
}

describe('what gathers of a budget', () => {
  test.each([
    ['600/hour', 600 / 3600, 3_600, 10],
    ['48/day', 48 / 86_400, 86_400, 46],
    ['168/week', 168 / 604_800, 604_800, 167],
  ])('%s lets go at once, after long quiet', (_said, looksPerSecond, budgetSeconds, most) => {
    const outflow = new Outflow(looksPerSecond, 0, budgetSeconds);
    expect(atOnce(outflow, 30 * day)).toBe(most);
  });

  test('over any period at most twice what it is written for leaves, and on average no more', () => {
    const outflow = new Outflow(48 / 86_400, 0, 86_400);
    const left = Array.from({ length: 30 }, (_, n) => atOnce(outflow, (n + 1) * day));
    expect(Math.max(...left)).toBeLessThanOrEqual(48);
    expect(left.reduce((a, b) => a + b)).toBeLessThanOrEqual(30 * 48);
    expect(atOnce(outflow, 30 * day + hour)).toBe(2);
  });

  test('a process that starts begins with one at most', () => {
    const outflow = new Outflow(48 / 86_400, 10 * day, 86_400);
    outflow.begin(0, 10 * day);
    expect(atOnce(outflow, 10 * day)).toBe(1);
  });
});
