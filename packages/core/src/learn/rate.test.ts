import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { poissonInterval } from './intensity.ts';
import { estimateRate, maximumLikelihoodRate } from './rate.ts';

/** How far the likelihood of so many changes of known times falls to the ends of their exact interval. */
function falls(events: number): readonly number[] {
  return poissonInterval(events).map((mean) => mean - events - events * Math.log(mean / events));
}

test('changes of known times alone have their exact interval', () => {
  for (const exact of [1, 5, 40]) {
    const { interval } = estimateRate({ changedGaps: [], freeTime: 10, exact });
    for (const [i, end] of poissonInterval(exact).entries()) expect(interval[i]).toBeCloseTo(end / 10, 6);
  }
});

test('the interval holds the truth 19 times in 20 also where few changes are found', () => {
  const next = random(5);
  for (const rate of [0.01, 0.02, 0.05]) {
    let inside = 0;
    for (let round = 0; round < 1000; round++) {
      let changed = 0;
      for (let look = 0; look < 100; look++) if (next() < -Math.expm1(-rate)) changed++;
      const looks = { changedGaps: Array<number>(changed).fill(1), freeTime: 100 - changed, exact: 0 };
      const [low, high] = estimateRate(looks).interval;
      if (low <= rate && high >= rate) inside++;
    }
    expect(inside, `${rate}`).toBeGreaterThan(940);
  }
});

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
  expect(estimateRate({ changedGaps: [], freeTime: 20, exact: 0 })).toEqual({
    rate: 0,
    interval: [0, expect.closeTo(-Math.log(0.025) / 20, 9)],
  });
  expect(estimateRate({ changedGaps: [1, 2], freeTime: 0, exact: 0 }).rate).toBe(Infinity);
  for (const looks of [2, 12, 40]) {
    const { interval } = estimateRate({ changedGaps: Array.from({ length: looks }, () => 3), freeTime: 0, exact: 0 });
    expect(looks * Math.log(-Math.expm1(-3 * interval[0]))).toBeCloseTo(-falls(looks)[0], 6);
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
        const [below, above] = falls(changedGaps.length + exact);
        expect(level(rate) - level(interval[0])).toBeCloseTo(below, 4);
        expect(level(rate) - level(interval[1])).toBeCloseTo(above, 4);
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
