import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scheduleLoss } from '../loss/loss.ts';
import { obsolescence } from '../loss/obsolescence.ts';
import { type Profile, constant, profile } from '../time/profile.ts';
import { dbWorld, microNet } from './eckstein-traces.ts';
import { type ContinuousProblem, lossOf, planContinuous } from './polite-continuous.ts';
import { improve } from './polite-improve.ts';
import { firstArrivalSchedule, thresholdSchedule, uniformSchedule } from './polite-policies.ts';
import { poisson } from '../model/poisson.ts';
import { type PolitePlan, checkPlan, planPolite } from './polite.ts';

function planned(problem: ContinuousProblem): PolitePlan {
  const plan = planContinuous(problem);
  if (plan.kind !== 'planned') throw new Error('feasible');
  expect(checkPlan(plan, lossOf(problem), problem.probes, problem.spacing)).toBeUndefined();
  return plan;
}

const week = (probes: number, spacing = 0, loss: 'obsolescence' | 'staleness' = 'obsolescence'): ContinuousProblem => ({
  horizon: 28,
  probes,
  spacing,
  intensity: dbWorld.intensity,
  importance: dbWorld.importance(3),
  loss,
});

describe('continuous', () => {
  test('a page that always changes alike is looked at evenly', () => {
    const plan = planned({
      horizon: 10,
      probes: 7,
      spacing: 0,
      intensity: constant(3),
      importance: constant(2),
      loss: 'obsolescence',
    });
    expect(plan.expectedCost).toBeCloseTo((3 * 2 * 100) / 14, 5);
    uniformSchedule(10, 7).forEach((t, i) => expect(plan.probes[i]).toBeCloseTo(t, 2));
  });

  test('the gap is at most 1e-6 of the cost, with and without spacing, whether or not it divides the breaks', () => {
    for (const problem of [
      week(1),
      week(4),
      week(28),
      week(56, 1 / 24),
      week(56, 0.5),
      week(100, 0.1234567),
      week(8, 0, 'staleness'),
      week(20, 1 / 24, 'staleness'),
    ]) {
      const plan = planned(problem);
      expect((plan.expectedCost - plan.lowerBound) / plan.expectedCost).toBeLessThanOrEqual(1e-6);
    }
  });

  test('nor does it stay open where coarse grids say nothing of a page that changes hundreds of times', () => {
    for (const [probes, values] of [
      [8, [140, 544]],
      [4, [850, 114]],
    ] as const) {
      const intensity = profile([0, 0.56, 1], values);
      const plan = planned({ horizon: 1, probes, spacing: 0, intensity, importance: constant(1), loss: 'staleness' });
      expect((plan.expectedCost - plan.lowerBound) / plan.expectedCost).toBeLessThanOrEqual(1e-6);
    }
  });

  test('the bound is below every schedule on any grid, and Proposition 8 holds', () => {
    for (const [source, rateMax] of [
      [dbWorld, 7.5],
      [microNet, 2.6],
    ] as const) {
      for (const n of [4, 16, 28]) {
        const problem = { ...week(n), intensity: source.intensity, importance: source.importance(3) };
        const { lowerBound, expectedCost } = planned(problem);
        const loss = lossOf(problem);
        for (const steps of [112, 336, 672, 1_000]) {
          const grid = planPolite(loss, n, 0, steps);
          if (grid.kind !== 'planned') throw new Error('feasible');
          expect(grid.expectedCost).toBeGreaterThanOrEqual(lowerBound);
          const step = 28 / steps;
          const allowed = 3 * rateMax * ((n / 2) * step ** 2 + 28 * step);
          expect(grid.expectedCost - expectedCost).toBeLessThanOrEqual(allowed);
        }
      }
    }
  });

  test('Proposition 8 with spacing: on grids whose step divides it', () => {
    const problem = week(40, 0.25);
    const { lowerBound, expectedCost } = planned(problem);
    for (const steps of [112, 336, 672]) {
      const grid = planPolite(lossOf(problem), 40, 0.25, steps);
      if (grid.kind !== 'planned') throw new Error('feasible');
      const step = 28 / steps;
      expect(grid.expectedCost).toBeGreaterThanOrEqual(lowerBound);
      expect(grid.expectedCost - expectedCost).toBeLessThanOrEqual(3 * 7.5 * (20 * step ** 2 + 28 * step));
      for (let i = 1; i < grid.probes.length; i++)
        expect(grid.probes[i] - grid.probes[i - 1]).toBeGreaterThanOrEqual(0.25 - 1e-12);
    }
  });

  const anyProfile: fc.Arbitrary<Profile> = fc
    .record({
      widths: fc.array(fc.integer({ min: 1, max: 16 }), { minLength: 1, maxLength: 5 }),
      odd: fc.boolean(),
      values: fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 9, noNaN: true })), {
        minLength: 5,
        maxLength: 5,
      }),
    })
    .map(({ widths, values, odd }) => {
      const breaks = [0];
      // Breaks with a common step, and breaks without one.
      for (const width of widths) breaks.push(breaks[breaks.length - 1] + (odd ? Math.sqrt(width) / 2 : width / 8));
      return profile(breaks, values.slice(0, widths.length), breaks[breaks.length - 1]);
    });

  test('random problems: feasible, and no grid or policy gets below the bound', () => {
    fc.assert(
      fc.property(
        anyProfile,
        anyProfile,
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(0, 0.1, 0.37, 0.5, Math.SQRT1_2 / 1.3),
        fc.constantFrom('obsolescence' as const, 'staleness' as const),
        (intensity, importance, probes, spacing, kind) => {
          const problem: ContinuousProblem = {
            horizon: 5,
            probes,
            spacing,
            intensity,
            importance,
            loss: kind,
          };
          const plan = planned(problem);
          const loss = lossOf(problem);
          const gap = plan.expectedCost - plan.lowerBound;
          expect(gap).toBeLessThanOrEqual(1e-6 * plan.expectedCost);
          const slack = 1e-9 * (1 + plan.lowerBound);
          for (const steps of [50, 77]) {
            const grid = planPolite(loss, probes, spacing, steps);
            if (grid.kind === 'planned') expect(grid.expectedCost).toBeGreaterThanOrEqual(plan.lowerBound - slack);
          }
          const uniform = scheduleLoss(loss, 0, uniformSchedule(5, probes));
          expect(uniform).toBeGreaterThanOrEqual(plan.lowerBound - slack);
        },
      ),
      { seed: 6, numRuns: 40 },
    );
  });

  test('rates near the largest number there is: everything is stale, and that is the answer', () => {
    const fast = { horizon: 10, probes: 3, spacing: 0, intensity: constant(1e300), importance: constant(1) };
    const plan = planned({ ...fast, loss: 'staleness' });
    expect([plan.expectedCost, plan.lowerBound]).toEqual([10, 10]);
  });

  test('enormous rates: the cost is right and the bound near it', () => {
    const always = { ...week(10), intensity: constant(1e15), importance: constant(1) };
    const waiting = planned(always);
    expect(waiting.expectedCost / ((1e15 * 28 * 28) / 20)).toBeCloseTo(1, 9);
    expect(1 - waiting.lowerBound / waiting.expectedCost).toBeLessThan(1e-6);
    const stale = planned({ ...always, intensity: constant(1e9), loss: 'staleness' });
    expect(stale.expectedCost).toBeCloseTo(28, 6);
    expect(1 - stale.lowerBound / stale.expectedCost).toBeLessThan(1e-6);
    const still = planned({ ...always, probes: 3, intensity: constant(0) });
    expect(still).toMatchObject({ expectedCost: 0, lowerBound: 0, price: 0 });
    expect(still.probes[1]).toBeLessThan(1);
  });

  test('spacing that cannot be kept is infeasible', () => {
    expect(planContinuous(week(57, 0.5))).toEqual({ kind: 'infeasible', probesMax: 56 });
    expect(planned(week(280, 0.1)).probes.length).toBeLessThanOrEqual(280);
  });
});

describe('the paper’s other schedules', () => {
  const loss = obsolescence(dbWorld.intensity, dbWorld.importance(3), 0, 28);

  test('uniform costs what the paper’s table says', () => {
    expect(scheduleLoss(loss, 0, uniformSchedule(28, 28))).toBeCloseTo(107.9125, 4);
  });

  test('a threshold probes when the cost is there, first arrival when something new is likely', () => {
    const threshold = thresholdSchedule(loss, 3, 0, Infinity);
    for (let i = 0; i + 1 < threshold.length; i++)
      expect(loss.gap(i === 0 ? 0 : threshold[i - 1], threshold[i])).toBeCloseTo(3, 9);
    const model = poisson(dbWorld.intensity);
    const arrival = firstArrivalSchedule(model, 0.9, 28, 0, Infinity);
    for (let i = 0; i + 1 < arrival.length; i++)
      expect(1 - model.unchanged(i === 0 ? 0 : arrival[i - 1], arrival[i])).toBeCloseTo(0.9, 9);
    for (const looks of [threshold, arrival]) {
      expect(looks[looks.length - 1]).toBe(28);
      const best = planPolite(loss, looks.length, 0, 6_720);
      expect(scheduleLoss(loss, 0, looks)).toBeGreaterThan((best as PolitePlan).expectedCost);
    }
    expect(thresholdSchedule(loss, 3, 0.5, 10).length).toBe(10);
    expect(thresholdSchedule(loss, 1e9, 0, Infinity)).toEqual(Float64Array.of(28));
  });

  test('the improver lowers every schedule, keeps the spacing, and counts its moves', () => {
    const how = { start: 1 / 2, stop: 1 / 512, shrink: 1 / 2, gain: 1e-6 };
    const best = planned(week(28)).lowerBound;
    for (const spacing of [0, 0.2]) {
      const starts = [
        uniformSchedule(28, 28),
        thresholdSchedule(loss, 4, spacing, 28),
        (planPolite(loss, 28, spacing, 672) as PolitePlan).probes,
      ];
      for (const start of starts) {
        const { probes, moves } = improve(loss, start, spacing, how);
        const [before, after] = [start, probes].map((looks) => scheduleLoss(loss, 0, looks));
        expect(moves).toBeGreaterThan(0);
        expect(before - after).toBeGreaterThanOrEqual(moves * how.gain * 0.999);
        if (start.length === 28) expect(after).toBeGreaterThanOrEqual(best);
        const plan: PolitePlan = { kind: 'planned', probes, expectedCost: after, lowerBound: 0, price: 0 };
        expect(checkPlan(plan, loss, 28, spacing)).toBeUndefined();
      }
    }
    expect(improve(loss, Float64Array.of(28), 0, how).moves).toBe(0);
  });
});
