import { AccessTimes, policies } from '@revisit/core';
import { expect, test } from 'vitest';
import type { LoopParts, LoopSettings } from '../loop-parts.ts';
import {
  createWorld,
  memoryStore,
  poissonLaw,
  startLoop,
  type SimulatedPage,
  type World,
} from '../simulation/index.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 5);
const policy = () => policies['uniform']!.create(1);

function pagesOn(sites: number, perSite: number): SimulatedPage[] {
  return Array.from({ length: sites * perSite }, (_, i) => {
    const site = `site${i % sites}.example`;
    return { url: `https://${site}/page/${i}`, site, law: poissonLaw(dayMs) };
  });
}

/** Detection that takes so long for each answer, one after the other as a thread reads them. */
function slowDetect(world: () => World, ms: number): LoopParts['detect'] {
  let turn = Promise.resolve();
  return () => {
    turn = turn.then(() => world().clock.sleep(ms));
    return turn.then(() => ({ detection: { kind: 'unchanged' } }));
  };
}

async function sweepWith(settings: Partial<LoopSettings>, detectMs: number) {
  const pages = pagesOn(40, 10);
  const world = await createWorld({ seed: 1, startMs, store: memoryStore(), pages });
  const given = { looksPerSecond: 1000, spacingMs: 0, robots: 32, queueMax: 8, ...settings };
  const loop = await startLoop(world, policy(), given, undefined, { detect: slowDetect(() => world, detectMs) });
  const sweep = loop.sweep(new AbortController().signal, true);
  await world.clock.runUntil(Infinity, sweep);
  await sweep;
  const counts = loop.counts();
  return { counts, looks: (await world.store.counts()).looks, hours: (world.clock.nowMs() - startMs) / hourMs };
}

test('a slow indexer holds robots back, so that hardly a request is wasted', async () => {
  const { counts, looks } = await sweepWith({}, 400);
  expect(looks).toBe(400);
  expect(counts.pool.fetchMsMean).toBeGreaterThan(0);
  expect(counts.pool.indexMsMean).toBeCloseTo(400, -2);
  // All 32 robots at once would bring 160 pages a second to an indexer that takes 2.5.
  expect(counts.overflowed).toBe(counts.pool.overflowed);
  expect(counts.overflowed / counts.sent).toBeLessThan(0.05);
  expect(counts.pool.starvedShare).toBeLessThan(0.1);
  expect(counts.sent).toBe(400 + counts.overflowed);
  expect(counts.pool.robots).toBeLessThan(10);
});

test('a fast indexer lets all robots run, and starvation is counted', async () => {
  const { counts, looks } = await sweepWith({ queueMax: 256 }, 0);
  expect(looks).toBe(400);
  expect(counts).toMatchObject({ overflowed: 0, pool: { robots: 32 } });
  expect(counts.pool.starvedShare).toBeGreaterThan(0.5);
});

test('robots stay within their bounds, and pages that overflow because of them are looked at again', async () => {
  const { counts, looks } = await sweepWith({ robotsMin: 6, queueMax: 4, spacingMs: 60_000 }, 2000);
  expect(looks).toBe(400);
  expect(counts.overflowed).toBeGreaterThan(0);
  expect(counts.pool.robots).toBeGreaterThanOrEqual(6);
  expect(counts.pool.robots).toBeLessThanOrEqual(32);
});

test('access times are learned, kept and found again', async () => {
  const pages = pagesOn(3, 4);
  const siteLaw = (site: string) => ({
    latencyMeanMs: site === 'site1.example' ? 9_000 : 300,
    errorChance: 0,
    timeOutChance: 0,
    timeOutMs: 0,
  });
  const world = await createWorld({ seed: 2, startMs, store: memoryStore(), pages, siteLaw });
  const settings = { looksPerSecond: 1, spacingMs: 100, robots: 4, queueMax: 64 };
  const first = await startLoop(world, policy(), settings);
  const sweep = first.sweep(new AbortController().signal, true);
  await world.clock.runUntil(Infinity, sweep);
  await sweep;
  const again = await startLoop(world, policy(), settings);
  const at = world.clock.nowMs() / 1000;
  expect(again.access.expected('site1.example', at)).toBeGreaterThan(3);
  expect(again.access.expected('site0.example', at)).toBeLessThan(2);
});

test('a look waits within its tolerance for a faster hour of its site, and not beyond', async () => {
  const pages = pagesOn(1, 4);
  const store = memoryStore();
  const access = new AccessTimes();
  // Slow in every even hour, fast in every odd one.
  for (let week = 1; week <= 3; week++) {
    for (let hour = 0; hour < 168; hour++) {
      for (let look = 0; look < 5; look++) {
        access.learn('site0.example', (startMs - week * 7 * dayMs + hour * hourMs) / 1000, hour % 2 === 0 ? 20 : 0.2);
      }
    }
  }
  await store.remember('access-times', access.save());
  const world = await createWorld({ seed: 3, startMs, store, pages });
  // Two looks a day in all: every page every two days, so 5 % are two hours and a half.
  const settings = { looksPerSecond: 2 / 86_400, spacingMs: 1000, robots: 4, queueMax: 64 };
  const loop = await startLoop(world, policy(), settings);
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  await world.clock.runUntil(startMs + 60 * dayMs);
  stop.abort();
  await world.clock.runUntil(Infinity, running);
  const later = world.web.sent.filter(({ atMs }) => atMs > startMs + 10 * dayMs);
  const fast = later.filter(({ atMs }) => Math.floor(atMs / hourMs) % 2 === 1).length;
  expect(later.length).toBeGreaterThan(80);
  expect(fast / later.length).toBeGreaterThan(0.85);
});
