import { expect, test } from 'vitest';
import { FreshAhead } from './fresh-ahead.ts';
import { PageModels } from './page-models.ts';
import type { Told } from './told.ts';

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
  expect(models.weeks.all.values.every(Number.isFinite)).toBe(true);
});

/** Sixty looks a day apart, each of which found a change. */
function lookedSixtyTimes(told: (last: number) => Told): PageModels {
  const models = new PageModels();
  models.guessRate(1 / (30 * day));
  models.open(0, [0], 0);
  for (let look = 1; look <= 60; look++) models.learn(0, look * day, true, told((look - 1) * day));
  return models;
}

test('a gap with fifty changes is fifty changes over the gap, and one that was counted is one that was found', () => {
  const rateOf = (told: (last: number) => Told): number => lookedSixtyTimes(told).longRun(0, 60 * day) * day;
  const one = rateOf(() => ({}));
  expect(rateOf(() => ({ count: 1 }))).toBe(one);
  const fifty = rateOf(() => ({ count: 50 }));
  expect(fifty).toBeGreaterThan(20 * one);
  expect(fifty).toBeGreaterThan(35);
  expect(fifty).toBeLessThan(70);
  expect(rateOf((last) => ({ count: 50, changedAt: last + day / 2 }))).toBeGreaterThan(20 * one);
  expect(rateOf(() => ({ count: 1e9 }))).toBeLessThan(200);
});

test('times that are told count one by one and say in which hours pages change', () => {
  // Three changes between 9 and 10 every day, seen by looks at midnight.
  const times = (last: number) => ({ times: Float64Array.from([9, 9.4, 9.8], (hour) => last + hour * 3600) });
  const models = lookedSixtyTimes(times);
  expect(models.longRun(0, 60 * day) * day).toBeCloseTo(3, 0);
  const nine = models.weeks.all.values[9]!;
  const twenty = models.weeks.all.values[20]!;
  expect(nine).toBeGreaterThan(4 * twenty);
  const untold = lookedSixtyTimes(() => ({})).weeks.all.values;
  expect(untold[9]!).toBeLessThan(1.5 * untold[20]!);
});

test('the time of the last change, by who has proven true, says in which hours pages change; a server alone does not', () => {
  // A change at 9:30 every tenth day, seen by looks at midnight.
  const shapeOf = (told: (last: number) => Told) => {
    const models = new PageModels();
    models.guessRate(1 / (10 * day));
    for (let page = 0; page < 20; page++) models.open(page, [0], 0);
    for (let look = 1; look <= 60; look++)
      for (let page = 0; page < 20; page++)
        models.learn(page, look * day, (look + page) % 10 === 0, told((look - 1) * day));
    return models.weeks.all.values;
  };
  const said = (last: number) => ({ changedAt: last + 9.5 * 3600 });
  const proven = shapeOf((last) => ({ ...said(last), proven: true }));
  expect(proven[9]!).toBeGreaterThan(4 * proven[20]!);
  const unproven = shapeOf(said);
  expect(unproven[9]!).toBeLessThan(1.5 * unproven[20]!);
  // A time that is not within the gap is none.
  const lying = shapeOf((last) => ({ changedAt: last - 5 * 3600, proven: true }));
  expect(lying[19]!).toBeLessThan(1.5 * lying[9]!);
});

test('fifty entries whose times are known are fifty changes for every voice', () => {
  const times = (last: number) => Float64Array.from({ length: 50 }, (_, n) => last + ((n + 1) * day) / 51);
  const models = lookedSixtyTimes((last) => ({ count: 50, times: times(last) }));
  expect(models.longRun(0, 60 * day) * day).toBeGreaterThan(35);
  models.outlook(0, 61 * day);
  expect(models.mass).toBeGreaterThan(25);
});

test('in a burst less is to be missed before a look than of a page that always changes so fast, where looks are far apart', () => {
  const models = new PageModels();
  models.guessRate(1 / (30 * day));
  models.open(0, [0], 0);
  for (let look = 1; look <= 20; look++) models.learn(0, 10 * day + look * 300, true);
  const now = 10 * day + 6000;
  models.outlook(0, now);
  const { rate } = models;
  const missed = (at: number, cost: number): number => models.freshAhead(0, at, cost, rate).missed;
  const steady = (cost: number): number => {
    const ahead = new FreshAhead();
    ahead.plan(cost, rate, new Float64Array(6), 1, models.known(0));
    return ahead.missed;
  };
  expect(missed(now, 0.5) / steady(0.5)).toBeGreaterThan(0.9);
  expect(missed(now, 0.5) / steady(0.5)).toBeLessThan(1.1);
  expect(missed(now, 120)).toBeLessThan(0.98 * steady(120));
  // Months later what is left of the intensity stays.
  expect(missed(200 * day, 20) / steady(20)).toBeGreaterThan(0.9);
});
