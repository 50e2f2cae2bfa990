import { policies } from '@revisit/core';
import { describe, expect, test } from 'vitest';
import { createApi } from '../api/server.ts';
import { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop, type World } from '../simulation/world.ts';
import { budgetView, standingPlan } from './standing-plan.ts';
import { openSqlite } from '../store/sqlite.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);

/** Thirty pages on three sites that change every six hours to twice a week, watched for a while. */
async function watched(policy: string, days: number, spacingMs = 60_000): Promise<{ world: World; loop: Loop }> {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const pages = Array.from({ length: 30 }, (_, i) => ({
    url: `https://site${i % 3}.example/page/${i}`,
    site: `site${i % 3}.example`,
    law: poissonLaw((6 + 5 * (i % 15)) * hourMs),
  }));
  const world = await createWorld({ seed: 5, startMs, store: opened.store, pages });
  const settings = { looksPerSecond: 20 / 3600, spacingMs, robots: 4, queueMax: 64 };
  const loop = await startLoop(world, policies[policy]!.create(1), settings);
  if (days > 0) {
    const stop = new AbortController();
    const running = loop.run(stop.signal);
    await world.clock.runUntil(startMs + days * 24 * hourMs);
    stop.abort();
    await world.clock.runUntil(Infinity, running);
  }
  return { world, loop };
}

describe('the standing plan', () => {
  test('coming looks in order, a price, and a bound below what any policy keeps', async () => {
    for (const policy of ['uniform', 'lambdacrawl']) {
      const { world, loop } = await watched(policy, 4);
      const plan = standingPlan(loop, world.clock.nowMs(), 12);
      expect(plan.probes.length).toBe(12);
      for (let i = 1; i < 12; i++) expect(plan.probes[i]!.atMs).toBeGreaterThanOrEqual(plan.probes[i - 1]!.atMs);
      expect(plan.pages).toBe(30);
      expect(plan.unseen).toBe(0);
      // One that stands in line is still to come.
      loop.probeNow(plan.probes[5]!.pageId);
      expect(standingPlan(loop, world.clock.nowMs(), 100).probes.length).toBe(30);
      for (const probe of plan.probes)
        expect(probe).toMatchObject({ ratePerDay: expect.any(Number), current: expect.any(Number) });
      expect(plan.budgetPerHour).toBeCloseTo(20, 9);
      expect(plan.gap).toBeLessThan(1e-6);
      expect(plan.priceHours).toBeGreaterThan(0);
      expect(plan.meanDelayHours).toBeGreaterThan(0.1);
      expect(plan.policyDelayHours!).toBeGreaterThan(0.8 * plan.meanDelayHoursBound!);
    }
  });

  test('another budget: less waiting for more looks, and the price says how much', async () => {
    const { world, loop } = await watched('uniform', 3);
    const { now, oneMore, curve } = budgetView(loop, world.clock.nowMs());
    for (let i = 1; i < curve.length; i++)
      expect(curve[i]!.meanDelayHours!).toBeLessThanOrEqual(curve[i - 1]!.meanDelayHours!);
    expect(oneMore.soonerMinutes).toBeCloseTo(60 * (now.meanDelayHours! - oneMore.meanDelayHours!), 9);
    // Pages that change alike halve their delay when the budget doubles.
    expect(curve[10]!.meanDelayHours! / now.meanDelayHours!).toBeCloseTo(1 / 2, 6);
  });

  test('sites that may be asked once an hour only are dear', async () => {
    const { world, loop } = await watched('uniform', 0, hourMs);
    const plan = standingPlan(loop, world.clock.nowMs(), 5);
    expect(plan.dearSites.length).toBe(3);
    expect(plan.gap).toBeLessThan(1e-6);
    expect(plan.policyDelayHours).toBeNull();
    // And their looks are as far apart in the plan as they will be.
    const of = (site: string) => plan.probes.filter((probe) => probe.site === site).map(({ atMs }) => atMs);
    for (const { site } of plan.dearSites)
      of(site).forEach((atMs, i, all) => expect(i === 0 ? hourMs : atMs - all[i - 1]!).toBeGreaterThanOrEqual(hourMs));
  });

  test('of a page that nobody has seen it claims neither a rate nor a copy', async () => {
    const { world, loop } = await watched('revisit', 0);
    const plan = standingPlan(loop, world.clock.nowMs(), 30);
    expect(plan.unseen).toBe(30);
    expect(plan.probes.length).toBe(30);
    for (const probe of plan.probes) expect(probe).toMatchObject({ ratePerDay: null, current: null });
  });

  test('the API answers with it, refuses a bad limit, and says so where no daemon runs', async () => {
    const { world, loop } = await watched('uniform', 1);
    const app = createApi(new Desk(world.store, world.clock, () => {}, loop));
    const plan = await app.inject('/api/plan?limit=3');
    expect(plan.json()).toMatchObject({ pages: 30, policy: 'uniform' });
    expect(plan.json<{ probes: { at: string }[] }>().probes[0]!.at).toMatch(/^2026-01-06T/);
    expect((await app.inject('/api/plan?limit=0')).statusCode).toBe(400);
    expect((await app.inject('/api/budget')).json()).toMatchObject({ budgetPerHour: 20, curve: expect.any(Array) });
    const alone = createApi(new Desk(world.store, world.clock, () => {}));
    expect((await alone.inject('/api/plan')).statusCode).toBe(503);
    expect((await alone.inject('/api/budget')).statusCode).toBe(503);
  });
});
