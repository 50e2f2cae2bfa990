import { expect, test } from 'vitest';
import { simulatedYear } from './learn.ts';

test('all of the 10,000 pages take part in the simulated year', () => {
  expect(simulatedYear().names.length).toBe(10_000);
});
