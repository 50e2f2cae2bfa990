import { describe, expect, test } from 'vitest';
import { ageChain, dayAgeChain } from '../model/age-chain.ts';
import { integer, random } from '../simulate/random.ts';
import { assign } from './assign.ts';
import { allKinds, bestByTrying, randomEpoch } from './collect-instances.ts';
import { collectMarket } from './collect-market.ts';
import { collect } from './collect.ts';
import type { HorizonPage } from './horizon-costs.ts';
import { relaxHorizon } from './horizon.ts';

/** Laws for which docs/collect.md proves that the relaxation has no gap. */
const proven = new Set(['append × uniform']);

const combinations = allKinds.lives.flatMap((life) => allKinds.urgencies.map((urgency) => [life, urgency] as const));

describe('where prices clear exactly', () => {
  test.each(combinations)('WIC, %s × %s: 110 random epochs', (life, urgency) => {
    const next = random(1000 + combinations.findIndex(([l, u]) => l === life && u === urgency));
    let split = 0;
    for (let n = 0; n < 110; n++) {
      const problem = randomEpoch(next, 2 + (n % 5), 2 + (n % 3), 1 + (n % 2), { lives: [life], urgencies: [urgency] });
      const none = problem.pages.map(() => ({ rows: new Int32Array(0), value: 0 }));
      const limits = { branchRows: problem.instants, nodesMax: 5000, pivotsMax: 20_000 };
      const { value, relaxed, proven: certain } = assign(collectMarket(problem), none, none, limits);
      // Branching closes what gap there is.
      expect(certain).toBe(true);
      if (problem.instants <= 4 && problem.pages.length <= 3) expect(value).toBeCloseTo(bestByTrying(problem), 9);
      if (problem.instants === 2) expect(relaxed).toBeCloseTo(value, 6);
      if (relaxed > value * (1 + 1e-6) + 1e-9) split++;
      expect(relaxed).toBeLessThanOrEqual(value * 1.05 + 1e-9);
      // Urgencies that do not rise: greedy has at least half, and all of it where only the moment counts.
      expect(2 * collect(problem).utility).toBeGreaterThanOrEqual(value * (1 - 1e-9));
    }
    if (proven.has(`${life} × ${urgency}`)) expect(split).toBe(0);
    expect(split).toBeLessThan(6);
  });

  test('the n-day plan: 600 random problems, with and without weekends; two days never have a gap', () => {
    let split = 0;
    const next = random(2000);
    const reset = () => Array.from({ length: 1 + integer(next, 4) }, () => (next() < 0.1 ? integer(next, 2) : next()));
    for (let n = 0; n < 600; n++) {
      const page = (): HorizonPage => ({
        chain: n % 4 === 3 ? dayAgeChain([reset(), reset()]) : ageChain(reset()),
        age: integer(next, 5),
        since: 1 + integer(next, 4),
        weight: next() < 0.5 ? 1 : next(),
      });
      const problem = {
        days: 2 + (n % 4),
        capacity: 1 + (n % 3),
        discount: n % 2 === 0 ? 1 : next(),
        loss: n % 5 < 3 ? ('stale' as const) : ('days-stale' as const),
        pages: Array.from({ length: 2 + (n % 5) }, page),
      };
      const { cost, relaxed } = relaxHorizon(problem);
      if (problem.days === 2) expect(relaxed).toBeCloseTo(cost, 6);
      expect(relaxed).toBeGreaterThan(0.98 * cost - 1e-6);
      if (cost - relaxed > 1e-6 * (1 + cost)) split++;
    }
    expect(split).toBeLessThan(6);
  });
});
