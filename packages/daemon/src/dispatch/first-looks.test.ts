import { policies } from '@revisit/core';
import { describe, expect, test } from 'vitest';
import type { LoopSettings } from '../loop-parts.ts';
import { poissonLaw, type SimulatedWeb } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import { openSqlite } from '../store/sqlite.ts';
import type { Probe } from '../values/probe.ts';

const startMs = Date.UTC(2026, 0, 5);
const hourMs = 3_600_000;
const settings: LoopSettings = { looksPerSecond: 60 / 3600, spacingMs: 2_000, robots: 64, queueMax: 256 };

describe.each(['revisit', 'uniform'])('new pages beside busy ones, policy %s', (name) => {
  test('a page that nobody has seen gets its first look while others are looked at again', async () => {
    const opened = openSqlite(':memory:');
    if (opened.kind === 'failed') throw new Error(opened.sentence);
    const pages = Array.from({ length: 140 }, (_, i) => ({
      url: `https://site${i % 14}.example/page/${i}`,
      site: `site${i % 14}.example`,
      law: poissonLaw(2 * hourMs),
    }));
    const world = await createWorld({ seed: 1, startMs, store: opened.store, pages });
    const loop = await startLoop(world, policies[name]!.create(1), settings);
    const stop = new AbortController();
    const running = loop.run(stop.signal);
    // The budget would allow each page two looks by now.
    await world.clock.runUntil(startMs + 5 * hourMs);
    stop.abort();
    await world.clock.runUntil(Infinity, running);
    const seen = new Set(world.web.sent.map(({ url }) => url));
    expect(seen.size).toBe(140);
    expect(world.web.sent.length).toBeLessThanOrEqual(5 * 60 + 10);
    await opened.store.close();
  });
});

test('a budget of a few a day does not keep the first page waiting, and starting again and again gives nothing', async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const pages = Array.from({ length: 3 }, (_, i) => ({
    url: `https://site${i}.example/`,
    site: `site${i}.example`,
    law: poissonLaw(24 * hourMs),
  }));
  const world = await createWorld({ seed: 1, startMs, store: opened.store, pages });
  const few = { ...settings, looksPerSecond: 4 / 86_400 };
  // Some are killed before their first answer is kept, all before the second would be due.
  for (const livedMs of [20, 60_000, 5, hourMs, 60_000, 10, hourMs]) {
    const loop = await startLoop(world, policies['uniform']!.create(1), few);
    void loop.run(new AbortController().signal);
    await world.clock.runUntil(world.clock.nowMs() + livedMs);
    loop.die();
  }
  expect(world.web.sent[0]!.atMs - startMs).toBeLessThan(1_000);
  expect(world.web.sent).toHaveLength(1);
  const loop = await startLoop(world, policies['uniform']!.create(1), few);
  void loop.run(new AbortController().signal);
  await world.clock.runUntil(startMs + 24 * hourMs);
  loop.die();
  expect(world.web.sent.length).toBeGreaterThan(2);
  expect(world.web.sent.length).toBeLessThanOrEqual(5);
  await opened.store.close();
});

describe('pages that come one by one', () => {
  async function worldOf(count: number, law = poissonLaw(24 * hourMs), sites = 7) {
    const opened = openSqlite(':memory:');
    if (opened.kind === 'failed') throw new Error(opened.sentence);
    const pages = Array.from({ length: count }, (_, i) => ({
      url: `https://site${i % sites}.example/page/${i}`,
      site: `site${i % sites}.example`,
      law,
    }));
    const world = await createWorld({ seed: 1, startMs, store: opened.store, pages });
    const last = (await opened.store.pages({ limit: 1_000 })).find(({ page }) => page.url === pages.at(-1)!.url)!;
    return { world, last, url: last.page.url };
  }

  test.each(['revisit', 'uniform', 'wic', 'brewington'])(
    'one is looked at as soon as the budget allows (%s)',
    async (name) => {
      const { world, last, url } = await worldOf(100);
      const loop = await startLoop(world, policies[name]!.create(1), settings);
      loop.unwatch(last.page.id);
      void loop.run(new AbortController().signal);
      await world.clock.runUntil(startMs + 8 * hourMs);
      expect(world.web.sent.some((sent) => sent.url === url)).toBe(false);
      loop.watch(last);
      // One request a minute, and up to eight pages stand in line already.
      await world.clock.runUntil(world.clock.nowMs() + 10 * 60_000);
      expect(world.web.sent.some((sent) => sent.url === url)).toBe(true);
      loop.die();
      await world.store.close();
    },
  );

  test('the first of all, edited before its first look, is looked at as often as the budget allows', async () => {
    const { world, last } = await worldOf(1);
    const busy = { ...settings, looksPerSecond: 50, spacingMs: 10 };
    const loop = await startLoop(world, policies['revisit']!.create(1), busy);
    loop.unwatch(last.page.id);
    void loop.run(new AbortController().signal);
    await world.clock.runUntil(startMs + 1_000);
    loop.watch(last);
    await world.clock.runUntil(world.clock.nowMs() + 1);
    loop.unwatch(last.page.id);
    loop.watch(last);
    await world.clock.runUntil(world.clock.nowMs() + 10_000);
    // One after the other, and an answer takes a fifth of a second: hardly more than these fit.
    expect(world.web.sent.length).toBeGreaterThan(40);
    loop.die();
    await world.store.close();
  });

  test('a second page does not put off the first', async () => {
    const { world, last } = await worldOf(2);
    const loop = await startLoop(world, policies['revisit']!.create(1), settings);
    loop.unwatch(last.page.id);
    void loop.run(new AbortController().signal);
    await world.clock.runUntil(startMs + 1);
    loop.watch(last);
    await world.clock.runUntil(startMs + hourMs);
    // Sixty requests are allowed, and nobody else wants them.
    expect(world.web.sent.length).toBeGreaterThan(20);
    loop.die();
    await world.store.close();
  });

  test('pages that changed at every look are looked at after a restart, and not when their rate of then would pay', async () => {
    const { world } = await worldOf(6, poissonLaw(300), 1);
    const busy = { ...settings, looksPerSecond: 60, spacingMs: 20 };
    for (let life = 0; life < 4; life++) {
      const loop = await startLoop(world, policies['revisit']!.create(1), busy);
      void loop.run(new AbortController().signal);
      await world.clock.runUntil(world.clock.nowMs() + 700);
      loop.die();
    }
    const loop = await startLoop(world, policies['revisit']!.create(1), busy);
    void loop.run(new AbortController().signal);
    await world.clock.runUntil(world.clock.nowMs() + 30_000);
    const sent = world.web.sent.length;
    await world.clock.runUntil(world.clock.nowMs() + 30_000);
    expect(world.web.sent.length - sent).toBeGreaterThan(100);
    loop.die();
    await world.store.close();
  });

  test.each(['revisit', 'uniform'])(
    'one whose first look came to nothing is not tried again before those of its site that nobody has tried (%s)',
    async (name) => {
      const { world } = await worldOf(8, poissonLaw(hourMs), 1);
      let silent: string | undefined;
      const observer = Object.assign(Object.create(world.web), {
        observe: async (probe: Probe) => {
          silent ??= probe.url;
          const observation = await world.web.observe(probe);
          if (probe.url !== silent) return observation;
          await world.clock.sleep(30_000);
          const fault = { code: 'first-byte-timeout', sentence: 'it says nothing' };
          return { ...observation, endedAtMs: world.clock.nowMs(), outcome: { kind: 'failed', fault } };
        },
      }) as SimulatedWeb;
      const loop = await startLoop(world, policies[name]!.create(1), { ...settings, looksPerSecond: 1 }, undefined, {
        observer,
      });
      void loop.run(new AbortController().signal);
      await world.clock.runUntil(startMs + hourMs);
      loop.die();
      const asked = world.web.sent.map((sent) => sent.url);
      const triedAgain = asked.indexOf(silent!, 1);
      expect(new Set(asked.slice(0, triedAgain)).size).toBe(8);
      await world.store.close();
    },
  );
});
