import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { obsolescence } from '../loss/obsolescence.ts';
import { staleness } from '../loss/staleness.ts';
import { type Profile, constant, profile } from '../time/profile.ts';
import { dbWorld, microNet } from './eckstein-traces.ts';
import { planByTable } from './polite-reference.ts';
import { checkPlan, equalSteps, planPolite, politeCurve } from './polite.ts';

const golden = [
  { source: dbWorld, ratio: 1, costs: [370.1319, 181.4405, 86.847, 46.7536, 24.9874] },
  { source: dbWorld, ratio: 3, costs: [611.7427, 301.0284, 149.0947, 80.5915, 40.7283] },
  { source: microNet, ratio: 1, costs: [71.1252, 32.5175, 13.4016, 6.2165, 3.3449] },
  { source: microNet, ratio: 3, costs: [124.2884, 60.5801, 29.0749, 15.4918, 7.8429] },
];
const counts = [4, 8, 16, 28, 56];

const anyProfile: fc.Arbitrary<Profile> = fc
  .record({
    widths: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 }),
    values: fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 9, noNaN: true })), {
      minLength: 6,
      maxLength: 6,
    }),
  })
  .map(({ widths, values }) => {
    const breaks = [0];
    for (const width of widths) breaks.push(breaks[breaks.length - 1] + width / 4);
    return profile(breaks, values.slice(0, widths.length), breaks[breaks.length - 1]);
  });
const instance = fc.record({
  intensity: anyProfile,
  importance: anyProfile,
  steps: fc.integer({ min: 1, max: 24 }),
  probes: fc.integer({ min: 1, max: 26 }),
  spacingSteps: fc.integer({ min: 0, max: 4 }),
  stale: fc.boolean(),
});

describe('polite', () => {
  test('the optimal costs of Tables 2 and 3', () => {
    for (const { source, ratio, costs } of golden) {
      const loss = obsolescence(source.intensity, source.importance(ratio), 0, 28);
      const reference = planByTable(loss, equalSteps(28, 672), 56, 1);
      counts.forEach((n, i) => {
        const plan = planPolite(loss, n, 0, 672);
        if (plan.kind !== 'planned') throw new Error('feasible');
        expect(checkPlan(plan, loss, n, 0)).toBeUndefined();
        expect(plan.probes.length).toBe(n);
        // The table is rounded to four digits; the plain dynamic programme carries the same cost to six and more.
        expect(Math.abs(plan.expectedCost - costs[i])).toBeLessThan(5.1e-5);
        expect(Math.abs(plan.expectedCost / reference.costs[n - 1] - 1)).toBeLessThan(1e-9);
        expect(plan.lowerBound / plan.expectedCost).toBeCloseTo(1, 9);
      });
    }
  });

  test('random problems: as good as the plain dynamic programme, spacing kept, the bound below', () => {
    fc.assert(
      fc.property(instance, ({ intensity, importance, steps, probes, spacingSteps, stale }) => {
        const horizon = 6;
        const loss = (stale ? staleness : obsolescence)(intensity, importance, 0, horizon);
        const spacing = (spacingSteps * horizon) / steps;
        const stepsMin = Math.max(1, spacingSteps);
        const plan = planPolite(loss, probes, spacing, steps);
        const probesMax = Math.floor(steps / stepsMin);
        if (probesMax < 1 || (spacing > 0 && probes > probesMax)) {
          expect(plan).toEqual({ kind: 'infeasible', probesMax });
          return;
        }
        if (plan.kind !== 'planned') throw new Error('feasible');
        expect(checkPlan(plan, loss, probes, spacing)).toBeUndefined();
        const { costs } = planByTable(loss, equalSteps(horizon, steps), Math.min(probes, probesMax), stepsMin);
        const best = Math.min(...costs);
        expect(plan.expectedCost).toBeCloseTo(best, 9);
        expect(plan.lowerBound).toBeGreaterThanOrEqual(best - 1e-9 * (1 + best));
        const curve = politeCurve(loss, Math.min(probes, probesMax), spacing, steps);
        if (!(curve instanceof Float64Array)) throw new Error('feasible');
        curve.forEach((cost, k) => expect(cost).toBeCloseTo(Math.min(...costs.slice(0, k + 1)), 9));
      }),
      { seed: 4, numRuns: 400 },
    );
  });

  test('small problems: nothing is better than the best of all subsets', () => {
    fc.assert(
      fc.property(instance, ({ intensity, importance, probes, spacingSteps, stale }) => {
        const steps = 9;
        const loss = (stale ? staleness : obsolescence)(intensity, importance, 0, steps);
        let best = Infinity;
        for (let subset = 0; subset < 1 << (steps - 1); subset++) {
          const looks = [0];
          for (let i = 1; i < steps; i++) if (subset & (1 << (i - 1))) looks.push(i);
          looks.push(steps);
          const gaps = looks.slice(1).map((look, i) => look - looks[i]);
          if (gaps.length > probes || gaps.some((gap) => gap < spacingSteps)) continue;
          best = Math.min(
            best,
            gaps.reduce((sum, gap, i) => sum + loss.gap(looks[i], looks[i] + gap), 0),
          );
        }
        const plan = planPolite(loss, probes, spacingSteps, steps);
        if (plan.kind === 'planned') expect(plan.expectedCost).toBeCloseTo(best, 9);
        else expect(probes * spacingSteps).toBeGreaterThan(steps - spacingSteps);
      }),
      { seed: 5, numRuns: 60 },
    );
  });

  test('the cost is non-increasing and convex in the number of looks', () => {
    for (const build of [obsolescence, staleness]) {
      const loss = build(dbWorld.intensity, dbWorld.importance(3), 0, 28);
      const curve = politeCurve(loss, 200, 0, 672) as Float64Array;
      for (let k = 1; k < curve.length; k++) expect(curve[k]).toBeLessThanOrEqual(curve[k - 1]);
      for (let k = 1; k + 1 < curve.length; k++)
        expect(curve[k - 1] - curve[k] - (curve[k] - curve[k + 1])).toBeGreaterThanOrEqual(-1e-9);
    }
  });

  test('nothing changes, nobody cares, one look, more looks than grid points', () => {
    const still = planPolite(obsolescence(constant(0), constant(1), 0, 10), 5, 1, 20);
    expect(still).toMatchObject({ kind: 'planned', expectedCost: 0, price: 0 });
    expect((still as { probes: Float64Array }).probes.length).toBe(5);
    const careless = planPolite(staleness(constant(3), constant(0), 0, 10), 4, 0, 20);
    expect(careless).toMatchObject({ kind: 'planned', expectedCost: 0, lowerBound: 0 });
    const one = planPolite(obsolescence(constant(2), constant(1), 0, 10), 1, 0, 20);
    expect(one).toMatchObject({ kind: 'planned', expectedCost: 100, lowerBound: 100, price: 50 });
    for (const n of [20, 21, 500]) {
      const all = planPolite(obsolescence(constant(2), constant(1), 0, 10), n, 0, 20);
      if (all.kind !== 'planned') throw new Error('feasible');
      expect(all.probes.length).toBe(20);
      expect(all.expectedCost).toBeCloseTo(20 * 0.25, 12);
    }
  });

  test('more looks than fit are infeasible, with the most that do', () => {
    const loss = obsolescence(constant(2), constant(1), 0, 10);
    expect(planPolite(loss, 6, 2, 100)).toEqual({ kind: 'infeasible', probesMax: 5 });
    expect(planPolite(loss, 5, 2, 100)).toMatchObject({ kind: 'planned' });
    expect(planPolite(loss, 1, 11, 100)).toEqual({ kind: 'infeasible', probesMax: 0 });
    expect(politeCurve(loss, 6, 2, 100)).toEqual({ kind: 'infeasible', probesMax: 5 });
  });

  test('enormous and tiny rates give the same schedule, and costs in proportion', () => {
    const at = (rate: number): Float64Array => {
      const intensity = profile([0, 1, 3], [2 * rate, rate / 3], 3);
      const plan = planPolite(obsolescence(intensity, constant(1), 0, 12), 7, 0, 240);
      if (plan.kind !== 'planned') throw new Error('feasible');
      return Float64Array.from([plan.expectedCost / rate, ...plan.probes]);
    };
    const base = at(1);
    for (const rate of [1e-12, 1e12]) at(rate).forEach((x, i) => expect(x).toBeCloseTo(base[i], 9));
    const fast = planPolite(staleness(constant(1e9), constant(1), 0, 12), 3, 0, 120);
    expect(fast).toMatchObject({ kind: 'planned' });
    expect((fast as { expectedCost: number }).expectedCost).toBeCloseTo(12, 6);
  });

  test('looks in each other’s way are not used', () => {
    // All changes fall into one short burst: three looks must be at 1, 2, 3 and miss it, two can catch it.
    const burst = profile([0, 1.4, 1.5, 3], [0, 100, 0]);
    const plan = planPolite(obsolescence(burst, constant(1), 0, 3), 3, 1, 30);
    if (plan.kind !== 'planned') throw new Error('feasible');
    expect(Array.from(plan.probes)).toEqual([1.5, 3]);
  });
});
