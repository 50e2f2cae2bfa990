import { expect, test } from 'vitest';
import { FreshAhead, counted } from '../learn/fresh-ahead.ts';
import { memoryScales } from '../learn/memory.ts';
import type { PageModels } from '../learn/page-models.ts';
import { WeekShape } from '../learn/week-shape.ts';
import type { LookPrices } from './look-prices.ts';
import { type Asked, Ripeness } from './ripeness.ts';

const day = 86_400;

/** A rate known as well as can be. */
const wellKnown = 1e9;

/** The ripeness of a page, a day after its last look, of which this is believed; `brief` of its intensity will be over within hours. */
function ripeness(
  loss: NonNullable<Asked['loss']>,
  mass: number,
  together: number,
  price: number,
  brief = 0,
  known = wellKnown,
): number {
  const outlook = { mass, together, rate: 1 / day, even: 1 / day, evenMass: mass, weekSay: 0 };
  const week = new WeekShape();
  const models = {
    ...outlook,
    weeks: { all: week },
    week: () => week,
    outlook: () => {},
    lastLook: () => 0,
    known: () => known,
    freshAhead: (_page: number, _now: number, cost: number, rate: number): FreshAhead => {
      const ahead = new FreshAhead();
      const left = memoryScales.map((scale, k) => (k === 1 ? brief * rate * scale : 0));
      ahead.plan(cost, (1 - brief) * rate, left, 1, known);
      return ahead;
    },
  };
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
        7,
      );
    }
});

test('a page surely changed is looked at even where looks are dear, one that may have is not', () => {
  expect(ripeness('staleness', 0, 1, 0.95 * day)).toBeGreaterThan(1);
  expect(ripeness('staleness', 0, 0.5, 0.95 * day)).toBeLessThan(1);
  // Where a look costs more than a copy is ever worth, none pays.
  expect(ripeness('staleness', 30, 0, 1.1 * day)).toBeLessThan(1);
});

test('a burst that will not last has fresh copies looked at sooner than a rate that will, and later than when it is over', () => {
  const burst = (brief: number): number => ripeness('staleness', 1, 0, 0.3 * day, brief);
  expect(burst(0)).toBeLessThan(1);
  expect(burst(0.9)).toBeGreaterThan(1);
  expect(burst(0.5)).toBeGreaterThan(burst(0));
  expect(burst(0.5)).toBeLessThan(burst(0.9));
  // Delays go by what has been missed and the intensity of now.
  expect(ripeness('obsolescence', 0.7, 0, 0.3 * day, 0.9)).toBe(ripeness('obsolescence', 0.7, 0, 0.3 * day));
});

test('a page of which little is known is less surely stale, but not given up', () => {
  expect(counted(2, 0)).toBeCloseTo(Math.log(3), 9);
  expect(counted(2, wellKnown)).toBeCloseTo(2, 6);
  expect(ripeness('staleness', 30, 0, 1.1 * day, 0, 0)).toBeGreaterThan(1);
  expect(ripeness('staleness', 30, 0, 1.1 * day)).toBeLessThan(0.99);
});

test('for few changes both marks are one', () => {
  expect(ripeness('staleness', 1e-2, 0, 1e-4 * day)).toBeCloseTo(ripeness('obsolescence', 1e-2, 0, 1e-4 * day), 1);
});

test('where the hours of the week are steep, the next look is found from any hour of it, over no later one', () => {
  const hour = 3600;
  const monday = 4 * day;
  const week = new WeekShape();
  const works = (h: number): boolean => Math.floor(h / 24) % 7 < 5 && h % 24 >= 8 && h % 24 < 18;
  for (let h = 0; h < 20 * 168; h++)
    week.learn(monday + h * hour, monday + (h + 1) * hour, 0.1, works(h) && h % 3 === 0 ? 1 : 0);
  expect(week.contrast).toBeGreaterThan(50);
  const rate = 0.6 / day;
  for (let h = 0; h < 168; h++) {
    const last = monday + 21 * 7 * day + h * hour + 1;
    const models = {
      weeks: { all: week },
      week: () => week,
      weekSay: 1,
      together: 0,
      even: rate,
      mass: 0,
      rate: 0,
      evenMass: 0,
      since: last,
      lastLook: () => last,
      keepsTime: () => false,
      outlook(_page: number, now: number): void {
        this.mass = rate * week.between(last, now);
        this.rate = rate * week.at(now);
        this.evenMass = rate * (now - last);
      },
    };
    const prices = { of: () => (rate * (4 * hour) ** 2) / 2 };
    const all = new Ripeness(models as unknown as PageModels, prices as unknown as LookPrices, {});
    all.usualGap = 4 * hour;
    all.open({ page: 0, site: 0, folder: 0, weight: 1, spacingSeconds: 0 });
    let ripe = last - 1 + hour;
    while (all.of(0, ripe) < 1) ripe += hour;
    expect(all.reachesOne(0, last, 0)).toBeLessThan(ripe + 1);
  }
});
