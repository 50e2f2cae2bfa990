import { expect, test } from 'vitest';
import type { PageModels } from '../learn/page-models.ts';
import { WeekShape } from '../learn/week-shape.ts';
import type { LookPrices } from './look-prices.ts';
import { type Asked, Ripeness } from './ripeness.ts';

const day = 86_400;

/** The ripeness of a page, a day after its last look, of which this is believed. */
function ripeness(loss: NonNullable<Asked['loss']>, mass: number, together: number, price: number): number {
  const outlook = { mass, together, rate: 1 / day, even: 1 / day, evenMass: mass, weekSay: 0 };
  const models = { ...outlook, week: new WeekShape(), outlook: () => {}, lastLook: () => 0 };
  const prices = { of: () => price };
  const all = new Ripeness(models as unknown as PageModels, prices as unknown as LookPrices, { loss });
  all.open({ page: 0, site: 0, folder: 0, weight: 1, spacingSeconds: 0 });
  return all.of(0, day);
}

test('a sibling’s change is one change more for delays, and for fresh copies a chance of being stale', () => {
  for (const mass of [0, 0.05, 0.7])
    for (const together of [0.02, 0.3, 0.9]) {
      expect(ripeness('obsolescence', mass, together, 0.1 * day)).toBeCloseTo(
        ripeness('obsolescence', mass + together, 0, 0.1 * day),
        9,
      );
      expect(ripeness('staleness', mass, together, 0.1 * day)).toBeCloseTo(
        ripeness('staleness', mass - Math.log(1 - together), 0, 0.1 * day),
        9,
      );
    }
});

test('a page surely changed is looked at even where looks are dear, one that may have is not', () => {
  expect(ripeness('staleness', 0, 1, 0.95 * day)).toBeGreaterThan(1);
  expect(ripeness('staleness', 0, 0.5, 0.95 * day)).toBeLessThan(1);
  // Where a look costs more than a copy is ever worth, none pays.
  expect(ripeness('staleness', 30, 0, 1.1 * day)).toBeLessThan(1);
});

test('for few changes both marks are one', () => {
  expect(ripeness('staleness', 1e-2, 0, 1e-4 * day)).toBeCloseTo(ripeness('obsolescence', 1e-2, 0, 1e-4 * day), 1);
});
