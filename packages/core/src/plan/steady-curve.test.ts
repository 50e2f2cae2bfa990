import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { obsolescence } from '../loss/obsolescence.ts';
import { constant, profile } from '../time/profile.ts';
import { planPolite } from './polite.ts';
import { evenCurve, steadyCurve } from './steady-curve.ts';

const anyShape = fc
  .array(fc.constantFrom<number>(0, 0.2, 1, 3, 9), { minLength: 2, maxLength: 7 })
  .filter((values) => values.some((value) => value !== values[0]))
  .map((values) => {
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    return profile(
      Array.from({ length: values.length + 1 }, (_, i) => i / values.length),
      values.map((value) => value / mean),
      1,
    );
  });

describe('steady curve', () => {
  test('the bound is below the plan, the plan below even looks, and both near the best of many periods', () => {
    fc.assert(
      fc.property(anyShape, fc.double({ min: 0.07, max: 0.9, noNaN: true }), (shape, gap) => {
        const curve = steadyCurve(shape);
        const ratio = (gap * gap) / 2;
        const plan = curve.loss(ratio) + ratio * curve.looks(ratio);
        expect(plan).toBeGreaterThanOrEqual(curve.lower(ratio) * (1 - 1e-9));
        expect(plan).toBeLessThanOrEqual(evenCurve.lower(ratio) * (1 + 1e-9));
        // The polite schedule of as many looks over some periods: a look at the end that nobody asked for is its only gain.
        const periods = 12;
        const loss = obsolescence(shape, constant(1), 0, periods);
        const probes = Math.round(curve.looks(ratio) * periods);
        const polite = planPolite(loss, probes, 0, 2_400);
        if (polite.kind !== 'planned') throw new Error('feasible');
        const best = (polite.expectedCost + ratio * probes) / periods;
        expect(curve.lower(ratio)).toBeLessThanOrEqual(best + ratio / periods);
        expect(plan / best).toBeLessThan(1 + 1.5 / probes + 0.02);
      }),
      { seed: 8, numRuns: 25 },
    );
  });

  test('a page that always changes alike, gaps of years and of seconds', () => {
    expect(steadyCurve(constant(1))).toBe(evenCurve);
    const curve = steadyCurve(profile([0, 0.3, 1], [2, 4 / 7], 1));
    for (const gap of [1e-5, 1e-3, 20, 1e4]) {
      const ratio = (gap * gap) / 2;
      const plan = curve.loss(ratio) + ratio * curve.looks(ratio);
      expect(curve.lower(ratio)).toBeLessThanOrEqual(plan * (1 + 1e-9));
      expect(plan / curve.lower(ratio)).toBeLessThan(1.01);
    }
  });

  test('looks fall and loss rises with the price', () => {
    const curve = steadyCurve(profile([0, 0.25, 1], [3, 1 / 3], 1));
    for (let gap = 0.01; gap < 30; gap *= 1.03) {
      const [here, dearer] = [(gap * gap) / 2, (gap * gap * 1.4) / 2];
      // Where gaps divide the period looks stand still and then leap; between ratios swept they may waver a little.
      expect(curve.looks(dearer)).toBeLessThan(curve.looks(here) * 1.03);
      expect(curve.lower(dearer)).toBeGreaterThan(curve.lower(here));
    }
  });
});
