import { expect, test } from 'vitest';
import { isOtherShare } from './coordinator.ts';

test('a coordinator that gets its first page late has its part of the budget, however small', () => {
  // What one without pages holds, and what a page among a hundred of others is worth.
  expect(isOtherShare(1e-5, 0.008)).toBe(true);
  expect(isOtherShare(0.008, 1e-5)).toBe(true);
  expect(isOtherShare(0, 0.001)).toBe(true);
  expect(isOtherShare(0.5, 0.503)).toBe(false);
  expect(isOtherShare(0, 0)).toBe(false);
});
