import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { homogeneous, poisson, shaped } from '../model/poisson.ts';
import { type Profile, constant, integral, profile, valueAt } from '../time/profile.ts';
import type { Loss } from './loss.ts';
import { scheduleLoss } from './loss.ts';
import { obsolescence } from './obsolescence.ts';
import { staleness } from './staleness.ts';
import { type Life, type Urgency, utilityLoss } from './utility.ts';

const to = 12;
const anyProfile = fc
  .record({
    widths: fc.array(fc.double({ min: 0.05, max: 3, noNaN: true }), { minLength: 1, maxLength: 9 }),
    values: fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 9, noNaN: true })), {
      minLength: 9,
      maxLength: 9,
    }),
  })
  .map(({ widths, values }) => {
    const breaks = [0];
    for (const width of widths) breaks.push(breaks[breaks.length - 1] + width);
    return profile(breaks, values.slice(0, widths.length), breaks[breaks.length - 1]);
  });
const urgencies: fc.Arbitrary<Urgency> = fc.oneof(
  fc.constant({ kind: 'uniform' as const }),
  fc.record({ kind: fc.constant('decay' as const), rate: fc.double({ min: 0.01, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant('window' as const), width: fc.double({ min: 0, max: 6, noNaN: true }) }),
  fc.record({ kind: fc.constant('polynomial' as const), power: fc.double({ min: 0, max: 4, noNaN: true }) }),
);
const lives: fc.Arbitrary<Life> = fc.oneof(
  fc.constant({ kind: 'append' as const }),
  fc.constant({ kind: 'overwrite' as const }),
  fc.record({ kind: fc.constant('window' as const), width: fc.double({ min: 0, max: 6, noNaN: true }) }),
  fc.record({ kind: fc.constant('changes' as const), count: fc.integer({ min: 1, max: 5 }) }),
);
const anyLoss: fc.Arbitrary<Loss> = fc
  .tuple(anyProfile, anyProfile, urgencies, lives, fc.integer({ min: 0, max: 2 }))
  .map(([intensity, importance, urgency, life, which]) => {
    if (which === 0) return obsolescence(intensity, importance, 0, to);
    if (which === 1) return staleness(intensity, importance, 0, to);
    return utilityLoss(intensity, importance, urgency, life, 0, to);
  });
const time = fc.double({ min: 0, max: to, noNaN: true });

/** The integral of a smooth-by-parts function, by brute force. */
function byHand(integrand: (t: number) => number, s: number, f: number, steps = 40_000): number {
  const h = (f - s) / steps;
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += integrand(s + (i + 0.5) * h);
  return sum * h;
}

describe('losses', () => {
  test('every loss obeys the quadrangle inequality on random models', () => {
    fc.assert(
      fc.property(anyLoss, time, time, time, time, (loss, a, b, c, d) => {
        const [s, s2, f, f2] = [a, b, c, d].sort((x, y) => x - y);
        const difference = loss.gap(s, f2) - loss.gap(s, f) - loss.gap(s2, f2) + loss.gap(s2, f);
        expect(difference).toBeGreaterThanOrEqual(-1e-9 * (1 + loss.gap(s, f2)));
        expect(loss.gap(s, f)).toBeGreaterThanOrEqual(0);
      }),
      { seed: 3, numRuns: 600 },
    );
  });

  const intensity = profile([0, 1, 2.5, 3], [2, 0, 5], 3);
  const importance = profile([0, 2, 4], [1, 3], 4);

  test('each loss is its integral', () => {
    for (const [s, f] of [
      [0, 12],
      [0.3, 0.7],
      [0.9, 5.2],
      [4, 11.5],
    ]) {
      const pending = (t: number): number => valueAt(importance, t) * integral(intensity, s, t);
      expect(obsolescence(intensity, importance, 0, to).gap(s, f) / byHand(pending, s, f)).toBeCloseTo(1, 3);
      const stale = (t: number): number => valueAt(importance, t) * -Math.expm1(-integral(intensity, s, t));
      expect(staleness(intensity, importance, 0, to).gap(s, f) / byHand(stale, s, f)).toBeCloseTo(1, 3);
      const lost = (k: number): number =>
        valueAt(intensity, k) * valueAt(importance, k) * (1 - 0.4 ** (f - k) * Math.exp(-integral(intensity, k, f)));
      const utility = utilityLoss(intensity, importance, { kind: 'decay', rate: 0.4 }, { kind: 'overwrite' }, 0, to);
      expect(utility.gap(s, f) / byHand(lost, s, f)).toBeCloseTo(1, 3);
    }
    const overwritten = utilityLoss(intensity, constant(1), { kind: 'uniform' }, { kind: 'overwrite' }, 0, to);
    const changes = integral(intensity, 1, 11);
    expect(overwritten.gap(1, 11)).toBeCloseTo(changes + Math.expm1(-changes), 9);
  });

  test('many pieces: the tables agree with summing piece by piece, and the lines with the gaps', () => {
    const fine = (values: (i: number) => number): Profile =>
      profile(
        Array.from({ length: 241 }, (_, i) => i / 20),
        Array.from({ length: 240 }, (_, i) => values(i)),
      );
    const rates = fine((i) => (i * 7919) % 13);
    const cares = fine((i) => (i * 104_729) % 5);
    for (const loss of [obsolescence(rates, cares, 0, to), staleness(rates, cares, 0, to)]) {
      for (const [s, f] of [
        [0.01, 11.9],
        [1.23, 7.77],
        [5, 12],
      ]) {
        let pieces = 0;
        const step = (f - s) / 1_000;
        for (let i = 0; i < 1_000; i++) {
          const [a, b] = [s + i * step, s + (i + 1) * step];
          const since = integral(rates, s, a);
          if (loss.name === 'obsolescence') pieces += since * integral(cares, a, b) + loss.gap(a, b);
          else pieces += -Math.expm1(-since) * integral(cares, a, b) + Math.exp(-since) * loss.gap(a, b);
        }
        expect(loss.gap(s, f)).toBeCloseTo(pieces, 8);
      }
    }
    const loss = obsolescence(rates, cares, 0, to);
    const { L, A, M } = loss.lines!(new Float64Array([0, 0.33, 4.5, 12]));
    expect(A[3] * (L[3] - L[1]) - (M[3] - M[1])).toBeCloseTo(loss.gap(0.33, 12), 8);
    expect(A[2] * (L[2] - L[1]) - (M[2] - M[1])).toBeCloseTo(loss.gap(0.33, 4.5), 8);
  });

  test('tiny and enormous rates keep their digits', () => {
    const tiny = staleness(constant(1e-14), constant(1), 0, to);
    expect(tiny.gap(2, 5) / (1e-14 * 4.5)).toBeCloseTo(1, 10);
    const enormous = staleness(constant(1e12), constant(2), 0, to);
    expect(enormous.gap(2, 5)).toBeCloseTo(6, 9);
    expect(obsolescence(constant(1e12), constant(1), 0, to).gap(2, 5)).toBeCloseTo(4.5e12, 0);
    const busy = utilityLoss(constant(1e6), constant(1), { kind: 'uniform' }, { kind: 'overwrite' }, 0, to);
    expect(busy.gap(0, 12)).toBeCloseTo(12e6 - 1, 3);
  });

  test('a schedule costs the sum of its gaps', () => {
    const loss = obsolescence(constant(2), constant(1), 0, to);
    expect(scheduleLoss(loss, 0, [3, 12])).toBe(9 + 81);
  });
});

describe('poisson', () => {
  test('expected changes, chance of none, and when a change is likely enough', () => {
    const model = poisson(profile([0, 1, 2], [3, 1], 2));
    expect(model.expected(0, 4)).toBe(8);
    expect(model.unchanged(0, 2)).toBeCloseTo(Math.exp(-4), 12);
    const when = model.whenChanged(0.5, 0.9);
    expect(1 - model.unchanged(0.5, when)).toBeCloseTo(0.9, 12);
    expect(model.whenChanged(0, 1)).toBe(Infinity);
    expect(homogeneous(0).whenChanged(0, 0.1)).toBe(Infinity);
    expect(shaped(5, profile([0, 1, 2], [0.5, 1.5], 2)).expected(0, 2)).toBe(10);
    expect(model.given({ at: 3 })).toBe(model);
  });
});
