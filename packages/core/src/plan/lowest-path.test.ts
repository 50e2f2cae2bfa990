import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Loss, scheduleLoss } from '../loss/loss.ts';
import { obsolescence } from '../loss/obsolescence.ts';
import { staleness } from '../loss/staleness.ts';
import { type Profile, constant, profile } from '../time/profile.ts';
import { planPolite } from './polite.ts';

/** Of all subsets of the grid: the least cost, then the most looks, then the lowest times. */
function bestOfAll(loss: Loss, steps: number, probes: number, stepsMin: number): readonly number[] {
  let best: { looks: number[]; cost: number } | undefined;
  for (let subset = 0; subset < 1 << (steps - 1); subset++) {
    const looks: number[] = [];
    for (let i = 1; i < steps; i++) if (subset & (1 << (i - 1))) looks.push(i);
    looks.push(steps);
    if (looks.length > probes || looks.some((look, i) => look - (looks[i - 1] ?? 0) < stepsMin)) continue;
    const cost = scheduleLoss(loss, 0, looks);
    const rank = !best ? -1 : Math.abs(cost - best.cost) > 1e-9 ? cost - best.cost : order(looks, best.looks);
    if (rank < 0) best = { looks, cost };
  }
  return best?.looks ?? [];
}

function order(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return b.length - a.length;
  const i = a.findIndex((look, k) => look !== b[k]);
  return i < 0 ? 0 : a[i]! - b[i]!;
}

/** Few different values, so that ties are common. */
const coarse = (values: readonly number[]): fc.Arbitrary<Profile> =>
  fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 10 }).map((all) =>
    profile(
      Array.from({ length: all.length + 1 }, (_, i) => i),
      all,
      all.length,
    ),
  );

describe('ties', () => {
  test('horizon 10, three looks on a grid of 10: the shorter gaps come first', () => {
    const plan = planPolite(obsolescence(constant(1), constant(1), 0, 10), 3, 0, 10);
    expect(plan).toMatchObject({ kind: 'planned', probes: Float64Array.of(3, 6, 10) });
    const still = planPolite(obsolescence(constant(0), constant(1), 0, 10), 3, 0, 10);
    expect(still).toMatchObject({ kind: 'planned', probes: Float64Array.of(1, 2, 10) });
    const spaced = planPolite(obsolescence(constant(0), constant(1), 0, 10), 3, 2, 10);
    expect(spaced).toMatchObject({ kind: 'planned', probes: Float64Array.of(2, 4, 10) });
  });

  test('rates that no binary fraction holds tie just the same', () => {
    for (const rate of [0.1, 1 / 3, 1e-7, 7e5]) {
      const plan = planPolite(obsolescence(constant(rate), constant(0.3), 0, 28), 9, 0, 1_000);
      if (plan.kind !== 'planned') throw new Error('feasible');
      const steps = Array.from(plan.probes, (at) => Math.round((at * 1_000) / 28));
      expect(steps).toEqual([111, 222, 333, 444, 555, 666, 777, 888, 1_000]);
    }
  });

  test('as the search through all subsets has it', () => {
    fc.assert(
      fc.property(
        coarse([0, 1, 2]),
        coarse([0, 1, 1, 3]),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 0, max: 3 }),
        fc.boolean(),
        (intensity, importance, steps, probes, spacing, stale) => {
          const loss = (stale ? staleness : obsolescence)(intensity, importance, 0, steps);
          const plan = planPolite(loss, probes, spacing, steps);
          if (plan.kind !== 'planned') return;
          expect(Array.from(plan.probes)).toEqual(bestOfAll(loss, steps, probes, Math.max(1, spacing)));
        },
      ),
      { seed: 33, numRuns: 600 },
    );
  });
});
