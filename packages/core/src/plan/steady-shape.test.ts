import { describe, expect, test } from 'vitest';
import { scheduleLoss } from '../loss/loss.ts';
import { obsolescence } from '../loss/obsolescence.ts';
import { constant, mean, profile, scaled } from '../time/profile.ts';
import { dbWorld, microNet } from './eckstein-traces.ts';
import { type PolitePlan, planPolite } from './polite.ts';
import { steadyShape } from './steady-shape.ts';

describe('steady shape', () => {
  test('a flat shape is looked at evenly', () => {
    const flat = steadyShape(constant(1), constant(1));
    for (const ratio of [1e-6, 0.3, 7, 1e9]) expect(flat.next(5, ratio)).toBeCloseTo(5 + Math.sqrt(2 * ratio), 9);
    expect(steadyShape(constant(2), constant(3)).next(0, 3)).toBe(1);
    expect(steadyShape(constant(0), constant(1)).next(0, 1)).toBe(Infinity);
  });

  test('followed for weeks it is within half a percent of the best plan with as many looks', () => {
    for (const source of [dbWorld, microNet]) {
      const shape = scaled(source.intensity, 1 / mean(source.intensity));
      const steady = steadyShape(shape, source.importance(3));
      const loss = obsolescence(shape, source.importance(3), 0, 56);
      for (const ratio of [0.003, 0.05, 0.4, 5]) {
        const looks: number[] = [];
        for (let t = steady.next(0, ratio); t < 56; t = steady.next(t, ratio)) looks.push(t);
        looks.push(56);
        const best = planPolite(loss, looks.length, 0, 56 * 240) as PolitePlan;
        const gap = scheduleLoss(loss, 0, looks) / best.expectedCost - 1;
        // The last look of the plan is at the end; the steady way does not know of an end, so few looks feel it.
        expect(gap).toBeLessThan(0.005 + 1 / looks.length);
      }
    }
  });

  test('a later look leads to a later next look, and the same phase to the same distance', () => {
    const steady = steadyShape(microNet.intensity, microNet.importance(2));
    for (const ratio of [0.01, 0.7, 11]) {
      let before = 0;
      for (let s = 0; s < 14; s += 0.037) {
        const next = steady.next(s, ratio);
        expect(next).toBeGreaterThan(s);
        expect(next).toBeGreaterThanOrEqual(before - 1e-9);
        expect(steady.next(s + 70, ratio) - 70).toBeCloseTo(next, 6);
        before = next;
      }
    }
  });

  test('dear looks come rarely, cheap ones soon, dead hours are passed over', () => {
    const nights = profile([0, 0.5, 1], [0, 2], 1);
    const steady = steadyShape(nights, constant(1));
    expect(steady.next(0.0001, 1e-9)).toBeGreaterThanOrEqual(0.5);
    expect(steady.next(0.0001, 1e-9)).toBeLessThan(0.5001);
    expect(steady.next(0.1, 0.001)).toBeGreaterThan(0.5);
    expect(steady.next(0.1, 1e6) - 0.1).toBeCloseTo(Math.sqrt(2e6), 6);
  });
});
