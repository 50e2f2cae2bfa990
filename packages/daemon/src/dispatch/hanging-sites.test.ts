import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { Collection } from '../collection/collection.ts';
import { createWorld, memoryStore, poissonLaw, startLoop, type SimulatedPage } from '../simulation/index.ts';
import { calmSite } from '../simulation/simulated-web.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { SiteDoors } from './site-doors.ts';

const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;
const settings = { looksPerSecond: 10, spacingMs: 1_000, robots: 64, queueMax: 256 };

const pagesOf = (name: string, sites: number, perSite: number, weight: number): SimulatedPage[] =>
  Array.from({ length: sites * perSite }, (_, i) => {
    const site = `${name}${i % sites}.example`;
    return { url: `https://${site}/${i}`, site, law: poissonLaw(minuteMs), settings: { weight } };
  });

/** A loop over a few sites that answer, of pages that are worth so many of the others, and many that accept and say nothing, the latter not watched yet. */
async function beside(hanging: number, weight: number) {
  const pages = [...pagesOf('hangs', hanging, 4, 1), ...pagesOf('well', 5, 1, weight)];
  const siteLaw = (site: string) => (site.startsWith('hangs') ? { ...calmSite, timeOutChance: 1 } : calmSite);
  const world = await createWorld({ seed: 1, startMs, store: memoryStore(), pages, siteLaw });
  const all = await world.store.pages({ limit: 10_000 });
  const loop = await startLoop(world, policies['revisit']!.create(1), settings);
  const hangs = all.filter(({ page }) => page.site.startsWith('hangs'));
  for (const { page } of hangs) loop.unwatch(page.id);
  void loop.run(new AbortController().signal);
  const pace = async (minutes: number) => {
    const from = world.web.sent.length;
    const beganMs = world.clock.nowMs();
    await world.clock.runUntil(beganMs + minutes * minuteMs);
    const sent = world.web.sent.slice(from);
    const one = sent.filter(({ site }) => site === 'well0.example').map(({ atMs }) => atMs);
    const gapMs = Math.max(...one.map((atMs, i) => atMs - (one[i - 1] ?? beganMs)));
    const healthy = sent.filter(({ site }) => site.startsWith('well')).length;
    return { healthyPerMinute: healthy / minutes, gapMs, hangingPerMinute: (sent.length - healthy) / minutes };
  };
  return { world, loop, hangs, pace };
}

test('hundreds of sites that accept and say nothing leave robots for those that answer', async () => {
  const { loop, hangs, pace } = await beside(250, 1000);
  await pace(2);
  const alone = await pace(3);
  for (const watched of hangs) loop.watch(watched);
  const with250 = await pace(10);
  loop.die();
  expect(hangs).toHaveLength(1000);
  expect(with250.healthyPerMinute).toBeGreaterThan(0.8 * alone.healthyPerMinute);
  expect(with250.gapMs).toBeLessThan(3 * alone.gapMs);
  // They are not given up either.
  expect(with250.hangingPerMinute).toBeGreaterThan(settings.robots / 2);
});

test('what sites that say nothing cannot use of the budget goes to others, also where their pages are worth as much', async () => {
  const { loop, hangs, pace } = await beside(250, 1);
  await pace(2);
  const alone = await pace(3);
  for (const watched of hangs) loop.watch(watched);
  // Until each of them has been asked once: so many at a time as unknown sites have robots.
  await pace(5);
  const after = await pace(5);
  loop.die();
  expect(after.healthyPerMinute).toBeGreaterThan(0.9 * alone.healthyPerMinute);
  expect(after.hangingPerMinute).toBeGreaterThan(settings.robots / 2);
});

test('the plan hears of slow sites many at a time, as new prices cost as much as there are sites', () => {
  const collection = new Collection();
  for (let site = 0; site < 640; site++) collection.sites.index(`s${site}`);
  const told: (readonly [site: number, server: number | undefined])[] = [];
  const plan = { setCap: () => {}, standAt: (site: number, server?: number) => void told.push([site, server]) };
  const doors = new SiteDoors({ clock: new VirtualClock(startMs) }, collection, plan, 1_000);
  doors.share(64);
  for (let site = 0; site < 10; site++) doors.looked(`s${site}`, 30_000, false);
  for (let again = 0; again < 100; again++) {
    doors.looked('s0', 100, true);
    doors.looked('s0', 30_000, false);
  }
  expect(told).toEqual([]);
  doors.looked('s10', 30_000, false);
  expect(told.map(([site]) => site).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(new Set(told.map(([, server]) => server)).size).toBe(1);
});
