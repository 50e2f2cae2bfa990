import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { Desk } from '../desk.ts';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';

const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;
const spacingMs = 10 * minuteMs;
const latencyMs = 20_000;
const site = 'a.example';

test.each([
  { when: 'after its look', removedMs: minuteMs },
  { when: 'in the middle of its look', removedMs: 1_000 },
])('a page that is removed $when, and a kill: its site is left alone for as long as before', async ({ removedMs }) => {
  const inner = memoryStore();
  const siteLaw = () => ({ latencyMeanMs: latencyMs, errorChance: 0, timeOutChance: 0, timeOutMs: 0 });
  const law = poissonLaw(Number.MAX_SAFE_INTEGER);
  const pages = ['/1', '/2'].map((path) => ({ url: `https://${site}${path}`, site, law }));
  const world = await createWorld({ seed: 1, startMs, store: inner, pages, siteLaw });
  const { clock, web, store } = world;
  const settings = { looksPerSecond: 1, spacingMs, robots: 2, queueMax: 16 };
  const start = async () => {
    const loop = await startLoop(world, policies['uniform']!.create(1), settings);
    void loop.run(new AbortController().signal);
    return loop;
  };
  const first = await start();
  while (web.sent.length === 0) await clock.runUntil(clock.nowMs() + 100);
  await clock.runUntil(clock.nowMs() + removedMs);
  const ids: string[] = [];
  for await (const batch of store.everyPage())
    for (const { page } of batch) if (page.url === web.sent[0]!.url) ids.push(page.id);
  const removed = new Desk(store, clock, () => {}, first).remove(ids);
  await clock.runUntil(clock.nowMs() + minuteMs, removed);
  // The look has come home by now.
  await clock.runUntil(clock.nowMs() + 2 * minuteMs);
  first.die();
  const second = await start();
  await clock.runUntil(clock.nowMs() + 2 * spacingMs);
  second.die();
  const [one, other] = web.sent;
  expect(other!.url).not.toBe(one!.url);
  expect(other!.atMs - one!.atMs).toBeGreaterThanOrEqual(spacingMs);
  await inner.close();
});
