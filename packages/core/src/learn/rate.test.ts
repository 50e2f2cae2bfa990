import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { estimateRate, maximumLikelihoodRate } from './rate.ts';

test('equal gaps have the closed form -ln(1 - changed share) / gap', () => {
  for (const [changed, unchanged, gap] of [
    [3, 7, 2],
    [1, 99, 0.5],
    [40, 2, 86_400],
  ] as const) {
    const { rate } = estimateRate({ changedGaps: Array(changed).fill(gap), freeTime: unchanged * gap, exact: 0 });
    expect(rate * gap).toBeCloseTo(-Math.log(unchanged / (changed + unchanged)), 9);
  }
});

test('exact changes alone give count over time, and no news is no rate', () => {
  expect(estimateRate({ changedGaps: [], freeTime: 20, exact: 5 }).rate).toBeCloseTo(0.25, 12);
  expect(estimateRate({ changedGaps: [], freeTime: 20, exact: 0 })).toEqual({ rate: 0, interval: [0, 1.920729 / 20] });
  expect(estimateRate({ changedGaps: [1, 2], freeTime: 0, exact: 0 }).rate).toBe(Infinity);
  for (const looks of [2, 12, 40]) {
    const { interval } = estimateRate({ changedGaps: Array.from({ length: looks }, () => 3), freeTime: 0, exact: 0 });
    expect(looks * Math.log(-Math.expm1(-3 * interval[0]))).toBeCloseTo(-1.920729, 6);
    expect(interval[1]).toBe(Infinity);
  }
  expect(estimateRate({ changedGaps: [], freeTime: 0, exact: 1 }).interval).toEqual([0, Infinity]);
});

test('the rate is where the likelihood is highest and lies in its interval', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 30 }),
      fc.double({ min: 1e-3, max: 1e7, noNaN: true }),
      fc.nat(5),
      (changedGaps, freeTime, exact) => {
        const looks = { changedGaps, freeTime, exact };
        const level = (rate: number) =>
          changedGaps.reduce(
            (sum, g) => sum + Math.log(-Math.expm1(-rate * g)),
            exact * Math.log(rate) - rate * freeTime,
          );
        const { rate, interval } = estimateRate(looks);
        expect(level(rate)).toBeGreaterThanOrEqual(level(rate * 1.001) - 1e-9);
        expect(level(rate)).toBeGreaterThanOrEqual(level(rate / 1.001) - 1e-9);
        expect(interval[0]).toBeLessThan(rate);
        expect(interval[1]).toBeGreaterThan(rate);
        expect(level(rate) - level(interval[0])).toBeCloseTo(1.920729, 4);
        expect(level(rate) - level(interval[1])).toBeCloseTo(1.920729, 4);
        const twice = { changedGaps, gapCounts: changedGaps.map(() => 2), freeTime: 2 * freeTime, exact: 2 * exact };
        expect(maximumLikelihoodRate(twice) / rate).toBeCloseTo(1, 8);
      },
    ),
    { seed: 3, numRuns: 300 },
  );
});

test('the interval holds the true rate 19 times in 20', () => {
  const next = random(11);
  let inside = 0;
  for (let round = 0; round < 1000; round++) {
    const changedGaps: number[] = [];
    let freeTime = 0;
    for (let look = 0; look < 40; look++) {
      const gap = 0.2 + 2 * next();
      if (exponential(next, 1 / 0.4) < gap) changedGaps.push(gap);
      else freeTime += gap;
    }
    const { interval } = estimateRate({ changedGaps, freeTime, exact: 0 });
    if (interval[0] <= 0.4 && interval[1] >= 0.4) inside++;
  }
  expect(inside).toBeGreaterThan(925);
  expect(inside).toBeLessThan(975);
});
