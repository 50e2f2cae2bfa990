import { type MarketPrices, policies, type Policy } from '@revisit/core';
import { describe, expect, test } from 'vitest';
import { CollectionMarket } from './collection-market.ts';
import type { SiteLimits } from '../loop-parts.ts';
import type { Loop } from '../loop.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop, type World } from '../simulation/world.ts';
import { priceOfLook, standingPlan } from './standing-plan.ts';
import { openSqlite } from '../store/sqlite.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 5);

/** Twelve pages on each of two sites, changing every 6 to 17 hours. */
async function watched(
  policy: Policy,
  days: number,
  siteRules: (site: string) => SiteLimits | undefined = () => undefined,
  looksPerSecond = 24 / 3600,
): Promise<{ world: World; loop: Loop }> {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const pages = Array.from({ length: 24 }, (_, i) => ({
    url: `https://site${i % 2}.example/page/${i}`,
    site: `site${i % 2}.example`,
    law: poissonLaw((6 + (i >> 1)) * hourMs),
  }));
  const world = await createWorld({ seed: 9, startMs, store: opened.store, pages });
  const settings = { looksPerSecond, spacingMs: 1_000, robots: 4, queueMax: 64 };
  const loop = await startLoop(world, policy, settings, undefined, { siteRules });
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  await world.clock.runUntil(startMs + days * dayMs);
  stop.abort();
  await world.clock.runUntil(Infinity, running);
  return { world, loop };
}

describe('the market of the collection', () => {
  test('kept page by page it is what a market made anew would be', async () => {
    const { world, loop } = await watched(policies['revisit']!.create(1), 2);
    const now = world.clock.nowMs() / 1000;
    const anew = new CollectionMarket(loop.policy, loop.collection, loop.market.looksPerSecond);
    anew.survey(now);
    expect(loop.market.market.pages).toBe(24);
    // Rates of pages that were not looked at since drift a little with what others teach.
    const [kept, made] = [loop.market.standing(24 / 3600), anew.standing(24 / 3600)];
    expect(Math.abs(kept.price / made.price - 1)).toBeLessThan(0.2);
    const [page] = [...loop.collection];
    const scale = loop.market.market.scaleOf(page!.index);
    loop.unwatch(page!.page.id);
    expect(loop.market.market.pages).toBe(23);
    loop.watch({ page: page!.page, state: page!.state });
    expect(loop.market.market.pages).toBe(24);
    expect(loop.market.market.scaleOf(page!.index)).toBeGreaterThan(0);
    expect(scale).toBeGreaterThan(0);
  });

  test.each([1, 6])(
    'a budget of 5 looks a second, by which rates are guessed at first, does not starve sites that allow %i an hour',
    async (count) => {
      const cap = { count, periodMs: hourMs };
      const { world } = await watched(policies['revisit']!.create(1), 1, () => ({ cap }), 5);
      for (const site of ['site0.example', 'site1.example']) {
        const sent = world.web.sent.filter((one) => one.site === site);
        const looks = sent.filter(({ atMs }) => atMs >= startMs + dayMs / 2).length;
        expect(looks / (12 * count)).toBeGreaterThan(0.5);
      }
    },
  );

  test('a site that may be asked twice an hour is dear: its looks keep to that without a line before its gate', async () => {
    const limits = (site: string): SiteLimits | undefined =>
      site === 'site0.example' ? { cap: { count: 2, periodMs: hourMs } } : undefined;
    const told: MarketPrices[] = [];
    const policy = policies['revisit']!.create(1);
    const setPrices = policy.setPrices!.bind(policy);
    policy.setPrices = (prices, now) => {
      told.push(prices);
      setPrices(prices, now);
    };
    const { world, loop } = await watched(policy, 3, limits);
    const site = loop.collection.sites.index('site0.example');
    expect(loop.market.market.capOf(site)).toBeCloseTo(2 / 3600, 9);
    expect(told.at(-1)!.dear.get(site)!.factor).toBeGreaterThan(4);
    const lastDay = world.web.sent.filter(({ atMs }) => atMs > startMs + 2 * dayMs);
    const onSite = lastDay.filter(({ url }) => url.includes('site0')).length;
    // Half of all looks without the limit, 288.
    expect(onSite).toBeLessThan(1.25 * 48);
    expect(onSite).toBeGreaterThan(0.75 * 48);
    const plan = standingPlan(loop, world.clock.nowMs(), 5);
    expect(plan.dearSites.map((dear) => dear.site)).toEqual(['site0.example']);
    expect(plan.gap).toBeLessThan(0.02);
    // What a page is told of its next look goes by the price on its own site.
    const other = loop.collection.sites.index('site1.example');
    const [dear, usual] = [site, other].map((one) => priceOfLook(loop, world.clock.nowMs(), one));
    expect(usual).toBeCloseTo(plan.priceHours, 9);
    expect(dear! - usual!).toBeCloseTo(plan.dearSites[0]!.priceHours, 9);
  });

  test('what robots.txt asks for, and quiet hours, are limits of the market too', async () => {
    const { loop } = await watched(policies['uniform']!.create(1), 0, (site) =>
      site === 'site1.example'
        ? { spacingMs: 10_000, quietUntilMs: (now) => (now % dayMs < dayMs / 2 ? now + 1 : undefined) }
        : undefined,
    );
    const cap = (name: string): number => loop.market.market.capOf(loop.collection.sites.index(name));
    expect(cap('site0.example')).toBeCloseTo(1, 9);
    expect(cap('site1.example')).toBeCloseTo(0.05, 9);
  });

  test('pages that come make looks dearer at once', async () => {
    const told: MarketPrices[] = [];
    const policy = policies['revisit']!.create(1);
    const setPrices = policy.setPrices!.bind(policy);
    policy.setPrices = (prices, now) => {
      told.push(prices);
      setPrices(prices, now);
    };
    const { world, loop } = await watched(policy, 2);
    const more = await world.store.addPages(
      Array.from({ length: 24 }, (_, i) => ({
        url: `https://site2.example/${i}`,
        site: 'site2.example',
        select: { kind: 'text' as const },
        tags: [],
        weight: 1,
        paused: false,
        options: {},
        addedAtMs: world.clock.nowMs(),
      })),
    );
    if (more.kind === 'failed') throw new Error(more.fault.sentence);
    for (const { page } of more.value) loop.watch(page);
    loop.market.tell(world.clock.nowMs() / 1000);
    // Twice the pages, half the looks each, four times the price, if the newcomers are like the others.
    expect(told.at(-1)!.moved).toBeGreaterThan(0.7);
    expect(told.at(-1)!.moved).toBeLessThan(2);
    loop.market.tell(world.clock.nowMs() / 1000);
    expect(told.at(-1)!.moved).toBeGreaterThan(0.7);
  });
});
