import { integer, policies, random } from '@revisit/core';
import { describe, expect, test } from 'vitest';
import type { LoopSettings } from './loop-parts.ts';
import { poissonLaw, type SimulatedPage } from './simulation/simulated-web.ts';
import { createWorld, startLoop, type World } from './simulation/world.ts';
import { openSqlite } from './store/sqlite.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 5);

const uniform = () => {
  const entry = policies['uniform']!;
  return entry.create(1);
};

function memoryStore() {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return opened.store;
}

function pagesOn(sites: number, perSite: number, meanMs: number): SimulatedPage[] {
  return Array.from({ length: sites * perSite }, (_, i) => {
    const site = `site${i % sites}.example`;
    return { url: `https://${site}/page/${i}`, site, law: poissonLaw(meanMs) };
  });
}

const settings: LoopSettings = { looksPerSecond: 100 / 3600, spacingMs: 2_000, robots: 16, queueMax: 256 };

async function live(world: World, untilMs: number, given = settings): Promise<void> {
  const loop = await startLoop(world, uniform(), given);
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  await world.clock.runUntil(untilMs);
  stop.abort();
  await world.clock.runUntil(Infinity, running);
}

/** What must be true of the requests that any site, and all sites together, have seen. */
function expectPolite(world: World, given: LoopSettings, restarts = 0): void {
  const bySite = new Map<string, number>();
  for (const { site, atMs } of world.web.sent) {
    const before = bySite.get(site);
    if (before !== undefined) expect(atMs - before).toBeGreaterThanOrEqual(given.spacingMs);
    bySite.set(site, atMs);
  }
  const { sent } = world.web;
  const spanSeconds = (sent.at(-1)!.atMs - startMs) / 1000;
  expect(sent.length).toBeLessThanOrEqual(given.looksPerSecond * (spanSeconds + 60 * (restarts + 1)) + 1);
}

/** Every version of every page reads back, and the log holds each change that was seen, once. */
async function expectComplete(world: World, pages: readonly SimulatedPage[]): Promise<void> {
  const changes = await world.store.changes({ after: 0, limit: 1_000_000 });
  expect(changes.map((change) => change.sequence)).toEqual(changes.map((_, i) => i + 1));
  expect(new Set(changes.map((change) => change.id)).size).toBe(changes.length);
  for (const { page } of await world.store.pages({ limit: 1_000_000 })) {
    const versions = await world.store.versions(page.id);
    const told = changes.filter((change) => change.pageId === page.id);
    expect(told.map((change) => change.toVersion)).toEqual(versions.slice(1).map((version) => version.number));
    const texts = await Promise.all(versions.map((version) => world.store.versionText(page.id, version.number)));
    const numbers = texts.map((text) => Number(/version (\d+)/.exec(text!)![1]));
    expect([...numbers].sort((a, b) => a - b)).toEqual(numbers);
    expect(new Set(numbers).size).toBe(numbers.length);
  }
  expect(pages.length).toBeGreaterThan(0);
}

describe('the loop in virtual time', () => {
  test('a week over thirty pages: polite, within budget, complete', async () => {
    const pages = pagesOn(5, 6, dayMs);
    const world = await createWorld({ seed: 1, startMs, store: memoryStore(), pages });
    await live(world, startMs + 7 * dayMs);
    expectPolite(world, settings);
    await expectComplete(world, pages);
    const truth = pages.reduce((sum, page) => sum + world.web.changesOf(page.url).length, 0);
    const { changes } = await world.store.counts();
    expect(changes).toBeGreaterThan(0.7 * truth);
    expect(changes).toBeLessThanOrEqual(truth);
    // Nearly all of the budget is used.
    expect(world.web.sent.length).toBeGreaterThan(0.97 * settings.looksPerSecond * 7 * 86_400);
  });

  test('one seed is one run', async () => {
    const trail = async (seed: number) => {
      const pages = pagesOn(4, 5, dayMs);
      const siteLaw = () => ({ latencyMeanMs: 400, errorChance: 0.1, timeOutChance: 0.05, timeOutMs: 20_000 });
      const world = await createWorld({ seed, startMs, store: memoryStore(), pages, siteLaw });
      await live(world, startMs + dayMs);
      return JSON.stringify([world.web.sent, await world.store.changes({ after: 0, limit: 10_000 })]).replaceAll(
        /"id":"[^"]*"/g,
        '',
      );
    };
    expect(await trail(7)).toBe(await trail(7));
    expect(await trail(7)).not.toBe(await trail(8));
  });

  test.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'killed again and again, seed %i: nothing lost, doubled or rushed',
    async (seed) => {
      const pages = pagesOn(5, 6, 6 * hourMs);
      const siteLaw = () => ({ latencyMeanMs: 5_000, errorChance: 0.1, timeOutChance: 0.1, timeOutMs: 60_000 });
      const world = await createWorld({ seed, startMs, store: memoryStore(), pages, siteLaw });
      const luck = random(seed + 1000);
      let restarts = 0;
      while (world.clock.nowMs() < startMs + 2 * dayMs) {
        const loop = await startLoop(world, uniform(), settings);
        // A killed process runs no cleanup: its promises are simply never looked at again.
        void loop.run(new AbortController().signal);
        await world.clock.runUntil(world.clock.nowMs() + 1 + integer(luck, 4 * hourMs));
        loop.die();
        restarts++;
      }
      expectPolite(world, settings, restarts);
      await expectComplete(world, pages);
      expect(await world.store.counts()).toMatchObject({ pages: 30 });
      expect((await world.store.counts()).changes).toBeGreaterThan(20);
    },
  );

  test('a simulated month over 1,000 pages', async () => {
    const pages = pagesOn(100, 10, 3 * dayMs);
    const world = await createWorld({ seed: 3, startMs, store: memoryStore(), pages });
    const month: LoopSettings = { ...settings, looksPerSecond: 1_000 / 86_400 };
    await live(world, startMs + 30 * dayMs, month);
    expectPolite(world, month);
    expect((await world.store.counts()).looks).toBeGreaterThan(29_000);
  });
});
