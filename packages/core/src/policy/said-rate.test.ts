/** What the policy says of how often a page changes, whatever else is watched. */
import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import type { Belief } from './policy.ts';
import { RevisitPolicy } from './revisit.ts';

const day = 86_400;
const pages = 40;
const start = 1_600_000_000;

/** Poisson pages at a look a day, beside one of another site that is found changed every hour, and what is said of them in the end. */
function live(perDay: number, looks: number, fast: boolean, seed: number) {
  const policy = new RevisitPolicy();
  const next = random(seed);
  const watch = (page: number, group: number): void => {
    policy.watch({ page, site: group, folder: group, groups: [group], weight: 1, spacingSeconds: 0 }, start);
    policy.looked(page, start, { kind: 'first' });
  };
  for (let page = 0; page < pages; page++) watch(page, 0);
  if (fast) watch(pages, 1);
  policy.setBudget(pages / day, start);
  policy.next(start);
  const due = Float64Array.from({ length: pages }, () => exponential(next, 1 / perDay));
  for (let look = 1; look <= looks; look++) {
    for (let page = 0; page < pages; page++) {
      const changed = due[page]! <= look;
      while (due[page]! <= look) due[page]! += exponential(next, 1 / perDay);
      policy.looked(page, start + look * day + page, { kind: changed ? 'changed' : 'unchanged' });
    }
    for (let more = 1; fast && more < 24; more++)
      policy.looked(pages, start + look * day + more * 3600, { kind: 'changed' });
  }
  const now = start + looks * day + pages;
  return { policy, now, beliefs: Array.from({ length: pages }, (_, page): Belief => policy.belief(page, now)) };
}

test.each([false, true])('what is said to be 95 percent sure holds 19 times in 20, beside a fast page: %s', (fast) => {
  let held = 0;
  let sum = 0;
  for (const seed of [3, 4, 5]) {
    for (const { ratePerDay, rateInterval } of live(0.1, 300, fast, seed).beliefs) {
      if (rateInterval[0] <= 0.1 && 0.1 <= rateInterval[1]) held++;
      sum += ratePerDay;
    }
  }
  expect(held / (3 * pages)).toBeGreaterThan(0.9);
  expect(held / (3 * pages)).toBeLessThan(0.99);
  // 120 pages with about 30 changes each: give or take 1.7 %.
  expect(Math.abs(sum / (3 * pages) / 0.1 - 1)).toBeLessThan(0.05);
});

test('it survives a restart', () => {
  const { policy, now, beliefs } = live(0.4, 200, true, 9);
  const copy = new RevisitPolicy();
  copy.setBudget(pages / day, now);
  for (let page = 0; page < pages; page++) {
    copy.watch({ page, site: 0, folder: 0, groups: [0], weight: 1, spacingSeconds: 0 }, now);
    expect(copy.restore(page, policy.save(page), now)).toBe(true);
  }
  const share = (a: number, b: number): number => Math.abs(a / b - 1);
  beliefs.forEach((before, page) => {
    const after = copy.belief(page, now);
    expect(share(after.ratePerDay, before.ratePerDay)).toBeLessThan(0.005);
    expect(share(after.rateInterval[0], before.rateInterval[0])).toBeLessThan(0.001);
    expect(share(after.rateInterval[1], before.rateInterval[1])).toBeLessThan(0.001);
    expect(copy.save(page)).toEqual(policy.save(page));
  });
});
