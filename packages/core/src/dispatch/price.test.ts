import { expect, test } from 'vitest';
import { Price, correctionMax, correctionMin } from './price.ts';

test("a market's price is followed at once, and corrected within its bounds however many looks are made or not", () => {
  const price = new Price(3_600);
  price.follow(100, 1, 10, 0);
  expect(price.at(0)).toBeCloseTo(100, 9);
  expect(price.correction).toBe(1);
  for (let look = 0; look < 5_000; look++) price.spent(1);
  expect(price.correction).toBeCloseTo(correctionMax, 9);
  // The market's word moves the price; what was found wrong with it stays.
  price.follow(10, 1, 10, 1);
  expect(price.at(1)).toBeCloseTo(10 * correctionMax, 9);
  for (let now = 1; now < 100_000; now += 60) price.at(now);
  expect(price.correction).toBeCloseTo(correctionMin, 9);
});

test('without a market the price is free, and a market that comes later takes what is in its bounds', () => {
  const price = new Price(3_600);
  price.setBudget(1, 10, 0);
  price.start(5);
  for (let look = 0; look < 1_000; look++) price.spent(0);
  expect(price.correction).toBeUndefined();
  expect(price.at(0)).toBeGreaterThan(5 * correctionMax ** 2);
  const copy = new Price(3_600);
  copy.setBudget(1, 10, 0);
  copy.restore(price.save(), 0);
  expect(copy.at(0) / price.at(0)).toBeCloseTo(1, 9);
  price.follow(5, 1, 10, 0);
  expect(price.at(0)).toBeCloseTo(5 * correctionMax, 9);
});

test('a budget of which nothing is used finds its price in seconds, however long it was right before', () => {
  const price = new Price(30 * 86_400);
  price.setBudget(50, 6, 0);
  price.follow(3e-4, 50, 6, 0);
  // A thousand seconds at the budget's pace make it sure of itself.
  for (let look = 1; look <= 50_000; look++) price.spent(look / 50);
  const sure = price.at(1000);
  for (let tick = 1; tick <= 20; tick++) price.at(1000 + tick / 2);
  expect(price.at(1010) / sure).toBeLessThan(0.01);
  // With a look now and then, but far fewer than allowed, as well.
  const slow = new Price(30 * 86_400);
  slow.follow(3e-4, 50, 6, 0);
  for (let look = 1; look <= 50_000; look++) slow.spent(look / 50);
  for (let tick = 1; tick <= 100; tick++) {
    slow.at(1000 + tick / 5);
    if (tick % 20 === 0) slow.spent(1000 + tick / 5);
  }
  expect(slow.at(1020) / sure).toBeLessThan(0.01);
});

test('looks of which one tells count as if each had been told of', () => {
  const [each, once] = [new Price(3_600), new Price(3_600)];
  for (const price of [each, once]) price.follow(100, 1, 10, 0);
  for (let look = 0; look < 4; look++) each.spent(0);
  once.spent(0, 4);
  expect(once.at(0)).toBeCloseTo(each.at(0), 9);
});
