import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { obsolescence } from '../loss/obsolescence.ts';
import { integer, normal, random } from '../simulate/random.ts';
import { solve } from '../solve/solve.ts';
import { type Profile, constant, mean, profile, scaled } from '../time/profile.ts';
import { dbWorld, microNet } from './eckstein-traces.ts';
import { type MarketProblem, apart, checkMarketPlan, lossAgainstBudget, planMarket } from './market-plan.ts';
import { type HorizonShape, horizonShape } from './market-shape.ts';

function shapeOf(intensity: Profile, importance: Profile, horizon: number, steps: number): HorizonShape {
  return horizonShape(obsolescence(scaled(intensity, 1 / mean(intensity)), importance, 0, horizon), steps);
}

const flat = shapeOf(constant(1), constant(1), 8, 8);
const busy = shapeOf(profile([0, 1, 4], [5, 1], 4), constant(1), 8, 8);

/** The least loss over all ways to give out looks, by trying them all. */
function bestByTrying(problem: MarketProblem, looksMax: number): number {
  let best = Infinity;
  const room = problem.sites.map(({ cap = Infinity }) => cap);
  const go = (page: number, rest: number, loss: number): void => {
    if (page === problem.scale.length) {
      best = Math.min(best, loss);
      return;
    }
    const site = problem.site[page];
    const shape = problem.shapes[problem.shape[page]];
    for (let m = 0; m <= Math.min(rest, looksMax, site >= 0 ? room[site] : Infinity); m++) {
      if (site >= 0) room[site] -= m;
      go(page + 1, rest - m, loss + problem.scale[page] * shape.loss(m));
      if (site >= 0) room[site] += m;
    }
  };
  go(0, problem.budget, 0);
  return best;
}

describe('market', () => {
  test('small markets: the best of all allocations, certified', () => {
    const scale = fc.oneof(fc.constantFrom(0, 1, 1, 2), fc.double({ min: 0.01, max: 9, noNaN: true }));
    fc.assert(
      fc.property(
        fc.array(fc.record({ scale, shape: fc.integer({ min: 0, max: 1 }), site: fc.integer({ min: -1, max: 1 }) }), {
          minLength: 1,
          maxLength: 5,
        }),
        fc.integer({ min: 0, max: 12 }),
        fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 })),
        (pages, budget, caps) => {
          const problem: MarketProblem = {
            horizon: 8,
            budget,
            shapes: [flat, busy],
            sites: caps.map((cap) => ({ cap })),
            shape: pages.map(({ shape }) => shape),
            scale: Float64Array.from(pages, ({ scale }) => scale),
            site: Int32Array.from(pages, ({ site }) => site),
          };
          const plan = planMarket(problem);
          expect(checkMarketPlan(plan, problem)).toBeUndefined();
          const best = bestByTrying(problem, 7);
          expect(plan.loss).toBeCloseTo(best, 8);
          expect(plan.lowerBound).toBeLessThanOrEqual(best + 1e-8);
          expect(plan.lowerBound).toBeGreaterThanOrEqual(best - 1e-6 * (1 + best));
        },
      ),
      { seed: 8, numRuns: 300 },
    );
  });

  const next = random(11);
  const pages = 3_000;
  const large: MarketProblem = {
    horizon: 28,
    budget: pages * 3,
    shapes: [
      shapeOf(constant(1), constant(1), 28, 336),
      shapeOf(dbWorld.intensity, dbWorld.importance(3), 28, 336),
      shapeOf(microNet.intensity, constant(1), 28, 336),
    ],
    sites: Array.from({ length: 30 }, (_, i) => ({ ...(i % 5 ? {} : { cap: 120 }), spacing: i % 2 ? 1 / 1_440 : 0 })),
    shape: Uint8Array.from({ length: pages }, () => integer(next, 3)),
    scale: Float64Array.from({ length: pages }, () => 0.05 * Math.exp(1.5 * normal(next))),
    site: Int32Array.from({ length: pages }, (_, i) => i % 30),
  };

  test('a large market spends its budget, keeps caps and spacing, and is certified to 0.1 %', () => {
    const plan = planMarket(large);
    expect(checkMarketPlan(plan, large)).toBeUndefined();
    expect(plan.looksInAll).toBe(large.budget);
    expect(plan.gap).toBeLessThan(1e-3);
    large.sites.forEach(({ cap }, site) => {
      if (cap === undefined) expect(plan.sitePrices[site]).toBe(0);
      else expect(plan.sitePrices[site]).toBeGreaterThan(0);
    });
    const even: MarketProblem = { ...large, scale: new Float64Array(pages).fill(1) };
    expect(planMarket(even).looksInAll).toBe(large.budget);
  });

  test('more budget loses less, at a falling price, and the price is what one more look saves', () => {
    const curve = lossAgainstBudget(large, [1_000, 3_000, 9_000, 9_001, 20_000]);
    for (let i = 1; i < curve.length; i++) {
      expect(curve[i].loss).toBeLessThan(curve[i - 1].loss);
      expect(curve[i].price).toBeLessThanOrEqual(curve[i - 1].price * (1 + 1e-9));
    }
    expect((curve[2].loss - curve[3].loss) / curve[2].price).toBeCloseTo(1, 2);
    // Without a budget the price is what the first look would save, not any that is dear enough.
    const [none, one] = lossAgainstBudget(large, [0, 1]);
    expect(none!.price / (none!.loss - one!.loss)).toBeCloseTo(1, 6);
    expect(planMarket({ ...large, budget: 0 }).looksInAll).toBe(0);
    const all = planMarket({ ...large, budget: 1e9, sites: large.sites.map(() => ({})) });
    expect(all.price).toBe(0);
  });

  test('wishes too near to each other are moved apart as little as can be', () => {
    const ones = new Float64Array(3).fill(1);
    expect(Array.from(apart(Float64Array.of(5, 5, 5), ones, 1, 10))).toEqual([4, 5, 6]);
    expect(Array.from(apart(Float64Array.of(1, 5, 9), ones, 1, 10))).toEqual([1, 5, 9]);
    expect(Array.from(apart(Float64Array.of(9, 9, 9), ones, 2, 10))).toEqual([6, 8, 10]);
    expect(Array.from(apart(Float64Array.of(0, 0, 0), ones, 2, 10))).toEqual([0, 2, 4]);
  });

  test('solve market: from JSON to a plan, and what is wrong is named', () => {
    const good = {
      kind: 'market',
      horizon: 28,
      budget: 20,
      budgets: [10, 20, 40],
      sites: [{ cap: 5 }, { spacing: 0.1 }],
      shapes: [{ intensity: 1 }, { intensity: { breaks: [0, 5, 7], values: [3, 1], period: 7 }, importance: 2 }],
      pages: [
        { rate: 2, site: 0 },
        { rate: 1, shape: 1, site: 1 },
        { rate: 1, weight: 3, site: 1, spacing: 2 },
      ],
    };
    const outcome = solve(good);
    if (outcome.kind !== 'solved') throw new Error(outcome.sentence);
    const looks = outcome.solution['looks'] as number[][];
    expect(looks.flat().length).toBe(20);
    expect(looks[0].length).toBe(5);
    expect((outcome.solution['curve'] as unknown[]).length).toBe(3);
    for (const [change, named] of [
      [{ budget: -1 }, 'budget: -1'],
      [{ pages: [] }, 'pages: []'],
      [{ pages: [{ rate: 1, site: 2 }] }, 'pages[0].site: 2'],
      [{ pages: [{ rate: 1, shape: 2 }] }, 'pages[0].shape: 2'],
      [{ shapes: [{ intensity: 0 }] }, 'shapes[0].intensity: 0'],
      [{ sites: [{ cap: 0.5 }] }, 'sites[0].cap: 0.5'],
    ] as const) {
      const refused = solve({ ...good, ...change });
      expect(refused.kind === 'refused' && refused.sentence).toContain(named);
    }
  });
});
