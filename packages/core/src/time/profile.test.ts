import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { constant, integral, mean, piecesOn, product, profile, reach, sharedPieces, valueAt } from './profile.ts';

const anyProfile = fc
  .record({
    start: fc.double({ min: -5, max: 5, noNaN: true }),
    widths: fc.array(fc.double({ min: 0.01, max: 3, noNaN: true }), { minLength: 1, maxLength: 8 }),
    values: fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 9, noNaN: true })), {
      minLength: 8,
      maxLength: 8,
    }),
    periodic: fc.boolean(),
  })
  .map(({ start, widths, values, periodic }) => {
    const breaks = [start];
    for (const width of widths) breaks.push(breaks[breaks.length - 1] + width);
    const span = breaks[breaks.length - 1] - start;
    return profile(breaks, values.slice(0, widths.length), periodic ? span : undefined);
  });
const time = fc.double({ min: -30, max: 30, noNaN: true });

describe('profile', () => {
  test('the integral is the sum over pieces, and adds up over adjacent intervals', () => {
    fc.assert(
      fc.property(anyProfile, time, time, time, (p, x, y, z) => {
        const [s, m, f] = [x, y, z].sort((a, b) => a - b);
        const pieces = piecesOn(p, s, f);
        const sum = pieces.values.reduce((total, v, i) => total + v * (pieces.breaks[i + 1] - pieces.breaks[i]), 0);
        expect(integral(p, s, f)).toBeCloseTo(sum, 8);
        expect(integral(p, s, m) + integral(p, m, f)).toBeCloseTo(integral(p, s, f), 8);
        expect(integral(p, f, s)).toBeCloseTo(-sum, 8);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  test('reach is the first time at which the integral is there', () => {
    fc.assert(
      fc.property(anyProfile, time, fc.double({ min: 0, max: 20, noNaN: true }), (p, start, amount) => {
        const t = reach(p, start, amount);
        if (t === Infinity) {
          expect(integral(p, start, start + 1_000)).toBeLessThanOrEqual(amount);
          return;
        }
        expect(integral(p, start, t)).toBeCloseTo(amount, 7);
        if (t > start) expect(integral(p, start, t - 1e-3)).toBeLessThan(amount);
      }),
      { seed: 2, numRuns: 300 },
    );
  });

  test('the product has the product at every time', () => {
    const p = profile([0, 1, 3], [2, 5], 3);
    const q = profile([0, 0.5, 2], [1, 4], 2);
    const pq = product(p, q)!;
    expect(pq.period).toBe(6);
    for (let t = -7.99; t < 20; t += 0.13) expect(valueAt(pq, t)).toBe(valueAt(p, t) * valueAt(q, t));
    expect(product(p, profile([0, Math.PI], [1], Math.PI * 1))?.values[0]).toBe(2);
    expect(product(p, profile([0, 1, Math.PI], [1, 2], Math.PI))).toBeUndefined();
    const once = product(p, profile([1, 2, 7], [1, 3]))!;
    expect(once.period).toBeUndefined();
    for (let t = 1; t < 7; t += 0.1) expect(valueAt(once, t)).toBe(valueAt(p, t) * (t < 2 ? 1 : 3));
  });

  test('an hour is as exact after 55 years as at time 0', () => {
    const week = profile(
      Array.from({ length: 169 }, (_, h) => h * 3600),
      Array.from({ length: 168 }, (_, h) => (h % 24) / 7),
      604_800,
    );
    const far = 604_800 * 2_900;
    const second = (start: number): number => integral(week, start + 3_600 * 30 + 5, start + 3_600 * 30 + 6);
    expect(second(far)).toBe(second(0));
    expect(second(0)).toBeCloseTo(6 / 7, 9);
    expect(mean(week)).toBeCloseTo(11.5 / 7, 12);
  });

  test('zero, constants and shared pieces', () => {
    expect(reach(constant(0), 3, 1)).toBe(Infinity);
    expect(reach(constant(2), 3, 1)).toBe(3.5);
    expect(reach(profile([0, 1, 2], [1, 0], 2), 0, 3)).toBe(5);
    expect(integral(constant(2), -1, 4)).toBe(10);
    const shared = sharedPieces(profile([0, 1, 2], [1, 3], 2), constant(7), 0.5, 3.5);
    expect(Array.from(shared.breaks)).toEqual([0.5, 1, 2, 3, 3.5]);
    expect(Array.from(shared.first)).toEqual([1, 3, 1, 3]);
    expect(Array.from(shared.second)).toEqual([7, 7, 7, 7]);
    expect(() => profile([0, 0], [1])).toThrow('ascending');
  });
});
