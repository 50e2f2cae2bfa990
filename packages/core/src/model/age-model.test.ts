import { expect, test } from 'vitest';
import { ageChain, agesAfter, changedSince, dayAgeChain, unchangedFor } from './age-chain.ts';
import { ageModel } from './age-model.ts';
import type { ChangeModel } from './model.ts';
import { homogeneous } from './poisson.ts';

const day = 86_400;

test('at whole steps it says what the chain says', () => {
  const chain = ageChain([0.05, 0.2, 0.6, 0.1]);
  const model = ageModel({ chain, stepSeconds: day, known: { at: 0, changedAt: -2 * day } });
  for (let k = 1; k < 9; k++) expect(1 - model.unchanged(0, k * day)).toBeCloseTo(changedSince(chain, 2, k), 12);
  // Three steps on, nobody having looked: by the ages of (11).
  let byAges = 0;
  agesAfter(chain, 2, 3).forEach((mass, age) => (byAges += mass * unchangedFor(chain, age, 4)));
  expect(model.unchanged(3 * day, 7 * day)).toBeCloseTo(byAges, 12);
  let changes = 0;
  for (let n = 0; n < 5; n++) agesAfter(chain, 2, n).forEach((mass, age) => (changes += mass * chain.reset(age, 0)));
  expect(model.expected(0, 5 * day)).toBeCloseTo(changes, 12);
  expect(model.expected(day, 5 * day)).toBeCloseTo(changes - chain.reset(2, 0), 12);
});

test('a chain without memory is a Poisson process', () => {
  const rate = 0.3 / day;
  const chain = ageChain([-Math.expm1(-0.3)]);
  const models: ChangeModel[] = [homogeneous(rate), ageModel({ chain, stepSeconds: day, known: { at: 0 } })];
  const [poisson, age] = models;
  for (const [s, f] of [
    [0, 2.5 * day],
    [1.25 * day, 1.75 * day],
    [0.4 * day, 6.1 * day],
  ] as const) {
    expect(age!.unchanged(s, f)).toBeCloseTo(poisson!.unchanged(s, f), 12);
    expect(age!.whenChanged(s, 0.7) / day).toBeCloseTo(poisson!.whenChanged(s, 0.7) / day, 6);
  }
});

test('chances are reached where they are, or never', () => {
  const chain = ageChain([0, 0, 0.5]);
  const model = ageModel({ chain, stepSeconds: 1, known: { at: 10, changedAt: 10 } });
  expect(model.unchanged(10, 12)).toBe(1);
  expect(model.whenChanged(10, 0.5)).toBeCloseTo(13, 6);
  expect(model.given({ at: 20, changedAt: 15 }).whenChanged(20, 0.5)).toBeCloseTo(21, 6);
  expect(ageModel({ chain: ageChain([0]), stepSeconds: 1, known: { at: 0 } }).whenChanged(0, 0.01)).toBe(Infinity);
});

test('weekday and age together: a page that rests every second day', () => {
  const chain = dayAgeChain([[0.5, 0.9], [0]]);
  const model = ageModel({ chain, stepSeconds: 1, known: { at: 1, changedAt: 1 } });
  expect(model.unchanged(1, 2)).toBe(1);
  expect(model.unchanged(1, 3)).toBeCloseTo(0.1, 12);
  expect(ageModel({ chain, stepSeconds: 1, known: { at: 0, changedAt: 0 } }).unchanged(0, 1)).toBeCloseTo(0.5, 12);
});
