import { expect, test } from 'vitest';
import type { PlanBody } from '../../api/plan.ts';
import { sentences } from './plan.ts';

const point = { probesPerHour: 600, meanDelayHours: 0.0038, priceHours: 0.001 };
const budget = { budgetPerHour: 600, now: point, oneMore: { ...point, soonerMinutes: null }, curve: [], missing: 0 };
const plan: PlanBody = {
  policy: 'revisit',
  pages: 3,
  unseen: 0,
  budgetPerHour: 600,
  probes: [],
  priceHours: 0.001,
  meanDelayHours: 13.8 / 3600,
  meanDelayHoursBound: 13.7 / 3600,
  gap: 0.007,
  policyDelayHours: null,
  dearSites: [],
  missing: 0,
};

test('what the distances of this moment would give is said where it can stand beside the bound', () => {
  const said = (seconds: number) => sentences({ ...plan, policyDelayHours: seconds / 3600 }, budget).join('\n');
  expect(said(15.2)).toContain('no plan made ahead could bring it below 13.7 seconds');
  expect(said(15.2)).toContain(
    'If the distances to the coming looks of policy revisit stayed as they are, it would be 15.2 seconds.',
  );
  // Below the bound it would read as a contradiction, and the budget would not keep it up.
  expect(said(11.9)).toContain('below 13.7 seconds');
  expect(said(11.9)).not.toContain('11.9');
});

test('a plan without the part of a coordinator says so', () => {
  expect(sentences({ ...plan, missing: 1 }, budget).join('\n')).toContain('1 coordinator did not answer');
  expect(sentences(plan, budget).join('\n')).not.toContain('coordinator');
});
