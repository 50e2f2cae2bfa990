import { expect, test } from 'vitest';
import { exponential, integer, normal, random } from './random.ts';

test('the same seed gives the same numbers, another seed others', () => {
  const draw = (seed: number) => Array.from({ length: 5 }, random(seed));
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
  expect(draw(7)).not.toEqual(draw(7 + 2 ** 32));
});

test('means are those of the laws', () => {
  const next = random(1);
  const count = 200_000;
  const mean = (draw: () => number) => {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += draw();
    return sum / count;
  };
  expect(mean(next)).toBeCloseTo(0.5, 2);
  expect(mean(() => exponential(next, 3))).toBeCloseTo(3, 1);
  expect(mean(() => integer(next, 10))).toBeCloseTo(4.5, 1);
  expect(mean(() => normal(next))).toBeCloseTo(0, 1);
  expect(mean(() => normal(next) ** 2)).toBeCloseTo(1, 1);
  expect(exponential(next, Infinity)).toBe(Infinity);
});
