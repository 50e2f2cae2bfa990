import { describe, expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import { randomEpoch, utilityByDefinition } from './collect-instances.ts';
import { collectOptimal } from './collect-optimal.ts';
import { type CollectProblem, collect } from './collect.ts';
import { AheadCollector } from './collect-rolling.ts';

/** The whole epoch, with the chances of so many instants known at each. */
function roll({ instants, capacity, pages }: CollectProblem, ahead: number, memory = 64) {
  const collector = new AheadCollector(pages, capacity, { ahead, memory });
  const chance = (page: number, j: number) => {
    const { change } = pages[page]!;
    return j > instants ? 0 : typeof change === 'number' ? change : (change as readonly number[])[j - 1]!;
  };
  const schedule = Array.from({ length: instants }, (_, now) =>
    collector.step((page) => Array.from({ length: ahead }, (_, j) => chance(page, now + 1 + j)), instants - now),
  );
  return { schedule, utility: collector.utility };
}

describe('WIC that plans ahead', () => {
  test('keeps the capacity and counts what it captures, for every life and urgency', () => {
    const next = random(31);
    for (let n = 0; n < 120; n++) {
      const problem = randomEpoch(next, 3 + (n % 7), 2 + (n % 5), 1 + (n % 3));
      const { schedule, utility } = roll(problem, 1 + (n % 4));
      for (const pages of schedule) expect(pages.length).toBeLessThanOrEqual(problem.capacity);
      expect(utility).toBeCloseTo(utilityByDefinition(problem, schedule), 9);
    }
  });

  test('with nothing known ahead it is Algorithm 1', () => {
    const next = random(32);
    for (let n = 0; n < 120; n++) {
      const problem = randomEpoch(next, 8, 5, 1 + (n % 2));
      expect(roll(problem, 1).utility).toBeCloseTo(collect(problem).utility, 9);
    }
  });

  test('what is known ahead is used: most of what greedy leaves is captured', () => {
    const next = random(33);
    let [greedy, rolled, best] = [0, 0, 0];
    for (let n = 0; n < 30; n++) {
      const problem = randomEpoch(next, 12, 5, 1 + (n % 2));
      greedy += collect(problem).utility;
      const { utility } = roll(problem, 6);
      const optimum = collectOptimal(problem);
      expect(utility).toBeLessThanOrEqual(optimum.upperBound * (1 + 1e-9));
      rolled += utility;
      best += optimum.utility;
    }
    expect((best - rolled) / (best - greedy)).toBeLessThan(0.5);
  });

  test('a page that is about to change is waited for', () => {
    // One look in three instants: after the second change both can be had.
    const page = { weight: 1, life: { kind: 'append' }, urgency: { kind: 'uniform' } } as const;
    const pages = [page, { ...page, weight: 0.9 }];
    const ahead = new AheadCollector(pages, 1, { ahead: 3, memory: 8 });
    const chances = [
      [1, 1, 0],
      [1, 0, 0],
    ];
    const seen = [0, 1, 2].map((now) => Array.from(ahead.step((page) => chances[page]!.slice(now), 3 - now)));
    expect(seen[0]).toEqual([1]);
    expect(seen.slice(1).flat()).toEqual([0]);
    expect(ahead.utility).toBeCloseTo(2.9, 12);
  });

  test('a past beyond the memory is counted as old as the memory is long', () => {
    const law = { weight: 1, life: { kind: 'append' }, urgency: { kind: 'uniform' } } as const;
    const ahead = new AheadCollector([law, law], 1, { ahead: 1, memory: 3 });
    ahead.recall(0, 100, 0.01);
    ahead.recall(1, 50, 0.01);
    expect(Array.from(ahead.step(() => [0.01]))).toEqual([0]);
    expect(ahead.utility).toBeCloseTo(1.01, 12);
  });
});
