import { expect, test } from 'vitest';
import { PageModels } from './page-models.ts';

const day = 86_400;

test('a change that was held for impossible is learned from and leaves every belief finite', () => {
  const models = new PageModels();
  models.guessRate(1e-20);
  models.open(0, [0], 0);
  models.open(1, [0], 0);
  expect(models.learn(0, 1, true)).toBeLessThan(1e-17);
  for (const page of [0, 1]) {
    models.outlook(page, day);
    expect(models.mass).toBeGreaterThan(0);
    for (const value of [models.mass, models.rate, models.together, models.even, models.weekSay])
      expect(Number.isFinite(value), `${value}`).toBe(true);
  }
  expect(models.week.values.every(Number.isFinite)).toBe(true);
});
