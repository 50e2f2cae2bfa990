import fc from 'fast-check';
import { expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import { Reliability } from './reliability.ts';

interface Words {
  readonly raw: number;
  readonly corrected: number;
}

/** The largest error of a tenth of probability with 1,000 words or more, of the model's own words and of the corrected ones. */
function largestErrors(truth: (q: number, word: number) => number, words: number, seed: number): Words {
  const next = random(seed);
  const reliability = new Reliability();
  const raw = new Float64Array(30);
  const corrected = new Float64Array(30);
  for (let word = 0; word < words; word++) {
    const q = next();
    const held = next() < truth(q, word);
    for (const [said, bins] of [
      [q, raw],
      [reliability.corrected(q), corrected],
    ] as const) {
      const bin = 3 * Math.min(9, Math.floor(10 * said));
      bins[bin]!++;
      bins[bin + 1]! += said - (held ? 1 : 0);
    }
    reliability.learn(q, held);
  }
  const largest = (bins: Float64Array): number =>
    Math.max(
      ...Array.from({ length: 10 }, (_, i) => (bins[3 * i]! < 1000 ? 0 : Math.abs(bins[3 * i + 1]! / bins[3 * i]!))),
    );
  return { raw: largest(raw), corrected: largest(corrected) };
}

test('words that are too sure, not sure enough, or both, come true when they are corrected', () => {
  const odds = (q: number, power: number): number => q ** power / (q ** power + (1 - q) ** power);
  const worlds: ((q: number) => number)[] = [(q) => q * q, Math.sqrt, (q) => odds(q, 0.4), (q) => odds(q, 3)];
  worlds.forEach((truth, seed) => {
    const { raw, corrected } = largestErrors(truth, 20_000, seed);
    expect(raw).toBeGreaterThan(0.12);
    expect(corrected).toBeLessThan(0.04);
  });
});

test('true words stay as they are, within half of what is tolerated', () => {
  expect(largestErrors((q) => q, 20_000, 5).corrected).toBeLessThan(0.025);
});

test('a world that turns to its opposite again and again is followed', () => {
  const { raw, corrected } = largestErrors((q, word) => (word % 20_000 < 14_000 ? q ** 3 : Math.cbrt(q)), 100_000, 6);
  expect(raw).toBeGreaterThan(0.1);
  expect(corrected).toBeLessThan(0.03);
});

test('a few words move little', () => {
  const reliability = new Reliability();
  for (let word = 0; word < 3; word++) reliability.learn(0.9, false);
  expect(reliability.corrected(0.9)).toBeGreaterThan(0.8);
  expect(reliability.corrected(0.9)).toBeLessThan(0.9);
  expect(reliability.corrected(0.3)).toBe(0.3);
});

const words = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()), { maxLength: 300 });

test('whatever has been seen, who was surer stays surer, and certainty stays', () => {
  fc.assert(
    fc.property(words, fc.boolean(), fc.boolean(), (seen, high, low) => {
      const reliability = new Reliability();
      for (const [q, held] of seen) reliability.learn(q, held);
      // As hard as can be: neighbours that are drawn apart.
      for (let i = 0; i < 2000; i++) {
        reliability.learn(0.6, high);
        reliability.learn(0.5, low);
      }
      expect(reliability.corrected(0)).toBe(0);
      expect(reliability.corrected(1)).toBe(1);
      for (let i = 1; i <= 1000; i++) {
        const before = reliability.corrected((i - 1) / 1000);
        expect(reliability.corrected(i / 1000)).toBeGreaterThanOrEqual(before - 1e-9);
      }
    }),
    { numRuns: 50 },
  );
});

test('what is certain stays so to the last digit', () => {
  const reliability = new Reliability();
  for (let word = 0; word < 300; word++) {
    reliability.learn(0.9999, word % 3 > 0);
    expect(reliability.corrected(1)).toBe(1);
  }
});

test('what was learned comes back, and nonsense is left out', () => {
  const reliability = new Reliability();
  const next = random(7);
  for (let word = 0; word < 2000; word++) reliability.learn(next(), next() < 0.5);
  const back = new Reliability();
  back.restore(JSON.parse(JSON.stringify(reliability.save())) as number[][]);
  expect(back.corrected(0.9)).toBe(reliability.corrected(0.9));
  expect(back.corrected(0.9)).toBeLessThan(0.7);
  const [shifts, information] = reliability.save();
  for (const bad of [
    [],
    [[1], [1]],
    [shifts!],
    [shifts!, information!.map(() => 0)],
    [shifts!.map(() => NaN), information!],
  ]) {
    const anew = new Reliability();
    anew.restore(bad);
    expect(anew.corrected(0.9)).toBeCloseTo(0.9, 12);
  }
});
test('words that always hold, and others that never do, become sure, whatever was once true of words between and above', () => {
  const reliability = new Reliability();
  for (let look = 0; look < 500; look++) reliability.learn(0.62, false);
  for (let look = 0; look < 10_000; look++) {
    reliability.learn(0.45, true);
    reliability.learn(0.25, false);
  }
  expect(reliability.corrected(0.45)).toBeGreaterThan(0.97);
  expect(reliability.corrected(0.25)).toBeLessThan(0.03);
  for (let q = 0.01; q < 0.98; q += 0.01)
    expect(reliability.corrected(q + 0.01)).toBeGreaterThanOrEqual(reliability.corrected(q) - 1e-12);
});
