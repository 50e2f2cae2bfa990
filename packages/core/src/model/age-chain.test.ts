import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countsOf, resetFromSeenAges, resetFromSeenLifetimes } from '../learn/reset.ts';
import { integer, random } from '../simulate/random.ts';
import {
  ageChain,
  agesAfter,
  changedSince,
  dayAgeChain,
  resetAtAge,
  resetFromAges,
  resetFromLifetimes,
  stationaryAges,
  stepsStale,
  unchangedFor,
} from './age-chain.ts';
import { twoStageDensity, twoStageMode, twoStageReset, twoStageSurvival } from './two-stage.ts';

const chances = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 });
const small = fc.integer({ min: 0, max: 9 });

/** M of eq. 6 with enough ages that nothing is lumped, and its powers. */
function powers(p: readonly number[], size: number, k: number): number[][] {
  const at = (t: number) => p[Math.min(t, p.length - 1)];
  let result = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size }, (_, j): number => (i === j ? 1 : 0)),
  );
  for (let n = 0; n < k; n++) {
    result = result.map((row) => {
      const next: number[] = Array<number>(size).fill(0);
      row.forEach((mass, age) => {
        next[0] += mass * at(age);
        if (age + 1 < size) next[age + 1] += mass * (1 - at(age));
      });
      return next;
    });
  }
  return result;
}

describe('the age chain', () => {
  test('agrees with powers of its matrix: ages (11), change since a look (13), days stale (15)', () => {
    fc.assert(
      fc.property(chances, small, small, (p, age, steps) => {
        const chain = ageChain(p);
        const row = powers(p, 25, steps)[age];
        expect(unchangedFor(chain, age, steps)).toBeCloseTo(row[age + steps], 10);
        expect(changedSince(chain, age, steps)).toBeCloseTo(
          row.slice(0, age + steps).reduce((a, b) => a + b, 0),
          10,
        );
        let z = 0;
        for (let j = 0; j < steps; j++) z += (steps - j) * resetAtAge(chain, j + age, age);
        expect(stepsStale(chain, age, steps)).toBeCloseTo(z, 9);
        const lumped = row.slice(0, p.length - 1);
        const ages = agesAfter(chain, age, steps);
        lumped.forEach((mass, t) => expect(ages[t]).toBeCloseTo(mass, 10));
        expect(ages.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 10);
      }),
      { seed: 61, numRuns: 300 },
    );
  });

  test('its recursions: P (19), S (22), Z (23)', () => {
    const chain = ageChain([0.1, 0.3, 0.2, 0.5]);
    for (let j = 2; j < 8; j++) {
      const p = (t: number) => chain.reset(t, 0);
      const ratio = ((1 - p(j)) / p(j)) * p(j + 1);
      expect(resetAtAge(chain, j + 1, 2)).toBeCloseTo(resetAtAge(chain, j, 2) * ratio, 12);
      expect(stepsStale(chain, 2, j + 1) - stepsStale(chain, 2, j)).toBeCloseTo(changedSince(chain, 2, j + 1), 12);
    }
    expect(resetAtAge(chain, 1, 0)).toBeCloseTo(0.9 * 0.3, 12);
    expect(stepsStale(chain, 0, 100_001) - stepsStale(chain, 0, 100_000)).toBeCloseTo(1, 9);
  });

  test('its stationary ages (12) are what many steps lead to, and give the chain back (8)', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.05, max: 0.95, noNaN: true }), { minLength: 3, maxLength: 6 }), (p) => {
        const chain = ageChain(p);
        const ages = stationaryAges(chain);
        agesAfter(chain, 0, 4000).forEach((mass, t) => expect(mass).toBeCloseTo(ages[t], 9));
        const back = resetFromAges(ages.slice(0, -1));
        back.forEach((value, t) => expect(value).toBeCloseTo(p[t], 9));
      }),
      { seed: 62, numRuns: 50 },
    );
  });

  test('every third step (9), lifetimes back (7), certain change, and a page that stops', () => {
    expect(Array.from(resetFromLifetimes([0, 0, 1]))).toEqual([0, 0, 1]);
    const p = [0.2, 0.4, 0.1];
    const chain = ageChain(p);
    const f = Array.from({ length: 3 }, (_, t) => resetAtAge(chain, t, 0));
    resetFromLifetimes(f).forEach((value, t) => expect(value).toBeCloseTo(p[t], 12));
    expect(changedSince(ageChain([1]), 5, 1)).toBe(1);
    expect(Array.from(stationaryAges(ageChain([1, 1])))).toEqual([1, 0]);
    expect(Array.from(stationaryAges(ageChain([0.5, 0])))).toEqual([0, 1]);
  });

  test('a week with rest days: the state is age and day together', () => {
    const chain = dayAgeChain([[0.5], [0.5], [0.5], [0.5], [0.5], [0], [0]]);
    expect(changedSince(chain, 0, 2, 5)).toBe(0);
    expect(changedSince(chain, 0, 3, 5)).toBe(0.5);
    expect(stepsStale(chain, 0, 4, 5)).toBeCloseTo(0.5 + 0.75, 12);
    expect(
      agesAfter(
        dayAgeChain([
          [0.5, 0.1],
          [0, 0],
        ]),
        0,
        2,
        0,
      ).reduce((a, b) => a + b, 0),
    ).toBeCloseTo(1, 12);
  });
});

describe('estimates from what was seen', () => {
  const p = [0.1, 0.5, 0.2];
  const chain = ageChain(p);

  test('lifetimes and ages of a known chain give it back within sampling error', () => {
    const next = random(8);
    const lifetimes = Array.from({ length: 20_000 }, () => {
      let age = 0;
      while (next() >= chain.reset(age, 0)) age++;
      return age;
    });
    resetFromSeenLifetimes(countsOf(lifetimes), 3).forEach((value, t) =>
      expect(Math.abs(value - p[t])).toBeLessThan(0.015),
    );
    let age = 0;
    const ages = Array.from({ length: 60_000 }, () => {
      const steps = 1 + integer(next, 5);
      for (let n = 0; n < steps; n++) age = next() < chain.reset(age, 0) ? 0 : age + 1;
      return age;
    });
    resetFromSeenAges(countsOf(ages), 3).forEach((value, t) => expect(Math.abs(value - p[t])).toBeLessThan(0.03));
  });
});

describe('the two-stage lifetime', () => {
  test('density (3), its greatest value (4) and survival belong together, for equal rates too', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.05, max: 5, noNaN: true }),
        fc.double({ min: -1, max: 5, noNaN: true }),
        (a, other) => {
          const b = other < 0 ? a * (1 + other * 1e-10) : Math.max(0.05, other);
          const mode = twoStageMode(a, b);
          expect(twoStageDensity(a, b, mode)).toBeGreaterThanOrEqual(twoStageDensity(a, b, mode * 1.05));
          expect(twoStageDensity(a, b, mode)).toBeGreaterThanOrEqual(twoStageDensity(a, b, mode * 0.95));
          const h = 1e-5;
          const slope = (twoStageSurvival(a, b, mode - h) - twoStageSurvival(a, b, mode + h)) / (2 * h);
          expect(slope).toBeCloseTo(twoStageDensity(a, b, mode), 4);
        },
      ),
      { seed: 63, numRuns: 200 },
    );
  });

  test('is not memoryless, but is in the end', () => {
    const reset = twoStageReset(0.3, 1.2, 1, 60);
    expect(reset[0]).toBeLessThan(reset[1]);
    expect(reset[59]).toBeCloseTo(1 - Math.exp(-0.3), 6);
    const survival = unchangedFor(ageChain(reset), 0, 10);
    expect(survival).toBeCloseTo(twoStageSurvival(0.3, 1.2, 10), 10);
    expect(twoStageReset(0.3, 1.2, 1, 4000)[3999]).toBeCloseTo(1 - Math.exp(-0.3), 6);
  });
});
