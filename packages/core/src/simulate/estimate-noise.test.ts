import { expect, test } from 'vitest';
import { spreadChanges, withFalseChanges } from './estimate-noise.ts';
import { random } from './random.ts';

test('false changes replace as many as they hide', () => {
  const at = Array.from({ length: 400 }, (_, i) => 10 * i + 1);
  expect(withFalseChanges(at, 4000, 0, random(1))).toEqual(at);
  const noisy = withFalseChanges(at, 4000, 0.1, random(1));
  const kept = noisy.filter((instant) => at.includes(instant)).length;
  expect(kept).toBeGreaterThan(330);
  expect(kept).toBeLessThan(385);
  expect(noisy.length).toBeGreaterThan(385);
});

test('spread keeps the mass; at σ = 4 the peak is about a tenth, as the paper says', () => {
  expect(spreadChanges([7], 20, 0)).toEqual({ at: [7], probability: [1] });
  const { at, probability } = spreadChanges([100], 200, 4);
  expect(probability.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 4);
  expect(probability[at.indexOf(100)]).toBeCloseTo(0.1, 2);
});
