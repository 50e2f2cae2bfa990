import { expect, test } from 'vitest';
import { integer, random } from '../simulate/random.ts';
import { gainByDefinition, randomEpoch, utilityByDefinition } from './collect-instances.ts';
import { type Gaps, exchangePairs } from './exchange.ts';

/** Two pages and few instants, some full for one of them, some with room for both: every way to share them out. */
function bestOfAll(gaps: Gaps): number {
  const { instants, capacity } = gaps;
  const fits = (sets: readonly number[]) =>
    Array.from({ length: instants }, (_, t) => t).every((t) => {
      const used = sets.map((set) => (set >> t) & 1);
      if (used[0] + used[1] > capacity[t]) return false;
      return used.every((look, page) => gaps.siteRowOf(page) < 0 || look <= capacity[gaps.siteRowOf(page) + t]);
    });
  const worth = (page: number, set: number) => {
    let sum = 0;
    let last = 0;
    for (let t = 1; t <= instants; t++) {
      if (!((set >> (t - 1)) & 1)) continue;
      sum += gaps.worth(page, last, t);
      last = t;
    }
    return sum + gaps.worth(page, last, instants + 1);
  };
  let best = -Infinity;
  for (let a = 0; a < 1 << instants; a++) {
    for (let b = 0; b < 1 << instants; b++) if (fits([a, b])) best = Math.max(best, worth(0, a) + worth(1, b));
  }
  return best;
}

test('two pages share what is open to them as well as can be, with and without limits of their sites', () => {
  const next = random(61);
  for (let n = 0; n < 150; n++) {
    const instants = 1 + integer(next, 6);
    const { pages } = randomEpoch(next, instants, 2, 1);
    const isSited = n % 3 === 0;
    const gaps: Gaps = {
      pages: 2,
      instants,
      capacity: Array.from({ length: isSited ? 3 * instants : instants }, () => integer(next, 3)),
      siteRowOf: (page) => (isSited ? (1 + page) * instants : -1),
      worth: (page, e, f) => (f > instants ? 0 : gainByDefinition(pages[page], e, f)),
    };
    const looks: number[][] = [[], []];
    const { gained } = exchangePairs(gaps, looks, Infinity);
    const best = bestOfAll(gaps);
    expect(gained).toBeCloseTo(best, 9);
    const schedule = Array.from({ length: instants }, (_, j) => [0, 1].filter((page) => looks[page].includes(j + 1)));
    expect(utilityByDefinition({ instants, capacity: 2, pages }, schedule)).toBeCloseTo(best, 9);
    schedule.forEach((list, t) => expect(list.length).toBeLessThanOrEqual(gaps.capacity[t]));
  }
});

test('steps are counted: with none nothing is done', () => {
  const gaps: Gaps = {
    pages: 2,
    instants: 3,
    capacity: [1, 1, 1],
    siteRowOf: () => -1,
    worth: (_, e, f) => (f > 3 ? 0 : f - e),
  };
  const looks: number[][] = [[], []];
  expect(exchangePairs(gaps, looks, 0)).toEqual({ gained: 0, steps: 0 });
  expect(looks).toEqual([[], []]);
});
