import { expect, test } from 'vitest';
import type { BudgetView, StandingPlan } from './standing-plan.ts';
import { wholeBudget, wholePlan } from './whole-plan.ts';

const probe = (atMs: number) => ({
  atMs,
  pageId: `p${atMs}`,
  url: 'https://a.example/',
  site: 'a',
  ratePerDay: 1,
  current: 1,
});

const one: StandingPlan = {
  pages: 3,
  unseen: 1,
  budgetPerHour: 30,
  probes: [probe(1), probe(4)],
  priceHours: 2,
  meanDelayHours: 6,
  meanDelayHoursBound: 5,
  gap: 6 / 5 - 1,
  policyDelayHours: 8,
  dearSites: [{ site: 'a', priceHours: 1 }],
  changesPerHour: 1,
  seenChangesPerHour: 1,
};
const other: StandingPlan = {
  ...one,
  pages: 2,
  unseen: 0,
  budgetPerHour: 10,
  probes: [probe(2), probe(3)],
  priceHours: 6,
  meanDelayHours: 2,
  meanDelayHoursBound: 2,
  gap: 0,
  policyDelayHours: null,
  dearSites: [{ site: 'b', priceHours: 3 }],
  changesPerHour: 3,
  seenChangesPerHour: 0,
};

test('the plan of one that is alone is its own', () => {
  expect(wholePlan([one], 10)).toEqual(one);
});

test('plans of two add up, and what is a mean is taken by what it is a mean over', () => {
  expect(wholePlan([one, other], 3)).toEqual({
    pages: 5,
    unseen: 1,
    budgetPerHour: 40,
    probes: [probe(1), probe(2), probe(3)],
    priceHours: 3,
    meanDelayHours: 3,
    meanDelayHoursBound: (5 + 3 * 2) / 4,
    gap: expect.closeTo(12 / 11 - 1, 12),
    policyDelayHours: 8,
    dearSites: [
      { site: 'b', priceHours: 3 },
      { site: 'a', priceHours: 1 },
    ],
    changesPerHour: 4,
    seenChangesPerHour: 1,
  });
});

test('budgets of two are looked at side by side, also where one knows of nothing that changes', () => {
  const point = (probesPerHour: number, meanDelayHours: number | null, priceHours: number) => ({
    probesPerHour,
    meanDelayHours,
    priceHours,
  });
  const first: BudgetView = {
    budgetPerHour: 30,
    now: point(30, 6, 2),
    oneMore: { ...point(30.75, 5.5, 1.9), soonerMinutes: 30 },
    curve: [point(15, 12, 4), point(60, 3, 1)],
    changesPerHour: 1,
  };
  expect(wholeBudget([first])).toEqual(first);
  const idle: BudgetView = {
    budgetPerHour: 10,
    now: point(10, null, 0),
    oneMore: { ...point(10.25, null, 0), soonerMinutes: null },
    curve: [point(5, null, 0), point(20, null, 0)],
    changesPerHour: 0,
  };
  expect(wholeBudget([first, idle])).toEqual({
    budgetPerHour: 40,
    now: point(40, 6, 1.5),
    oneMore: { ...point(41, 5.5, expect.closeTo((1.9 * 30.75) / 41, 12) as number), soonerMinutes: 30 },
    curve: [point(20, 12, 3), point(80, 3, 0.75)],
    changesPerHour: 1,
  });
});
