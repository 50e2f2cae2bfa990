import { policies } from '@revisit/core';
import { describe, expect, test } from 'vitest';
import type { LoopSettings } from './loop-parts.ts';
import { poissonLaw } from './simulation/simulated-web.ts';
import { createWorld, startLoop } from './simulation/world.ts';
import { openSqlite } from './store/sqlite.ts';

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
