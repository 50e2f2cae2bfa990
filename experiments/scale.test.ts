import { expect, test } from 'vitest';
import { planned, split, web } from './scale.ts';

test('one price spends the budget, and caps hold', () => {
  const sites = web(5_000, Infinity, 3);
  const want = sites.reduce((sum, site) => sum + site.want, 0);
  // Without caps the plan is known in closed form: all the same √, waiting want²/2B.
  expect(planned(sites, 500).waiting).toBeCloseTo((want * want) / 1000, 0);
  const capped = sites.map((site) => ({ ...site, cap: 2 }));
  expect(planned(capped, 300).waiting).toBeGreaterThan(planned(sites, 300).waiting);
});

test('shards that share only a price lose nothing to speak of; shards that go by pages do', () => {
  const sites = web(20_000, Infinity, 1).map((site) => ({ ...site, cap: 60 }));
  const whole = split(sites, 1_000, 1);
  expect(whole).toMatchObject({ byPages: 1, byDemand: 1 });
  for (const shards of [4, 16, 64]) {
    const { byPages, byDemand, rounds } = split(sites, 1_000, shards);
    expect(byDemand).toBeGreaterThan(1 - 1e-6);
    expect(byDemand).toBeLessThan(1.001);
    expect(byPages).toBeGreaterThan(byDemand);
    expect(rounds).toBeLessThan(60);
  }
});
