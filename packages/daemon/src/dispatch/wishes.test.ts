/** Looks that somebody asked for by hand, in processes that are killed before they are made. */
import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';

const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;
const latencyMs = 20_000;
const url = 'https://a.example/1';

async function trial() {
  const inner = memoryStore();
  const siteLaw = () => ({ latencyMeanMs: latencyMs, errorChance: 0, timeOutChance: 0, timeOutMs: 0 });
  // The plan leaves it alone for days after its first look.
  const page = {
    url,
    site: 'a.example',
    law: poissonLaw(Number.MAX_SAFE_INTEGER),
    settings: { spacingSeconds: 400_000 },
  };
  const world = await createWorld({ seed: 1, startMs, store: inner, pages: [page], siteLaw });
  const { clock, web, store } = world;
  const settings = { looksPerSecond: 1, spacingMs: 10 * minuteMs, robots: 2, queueMax: 16 };
  const start = async (): Promise<Loop> => {
    const loop = await startLoop(world, policies['revisit']!.create(1), settings);
    void loop.run(new AbortController().signal);
    return loop;
  };
  const first = await start();
  await clock.runUntil(startMs + 5 * minuteMs);
  expect(web.sent).toHaveLength(1);
  const [watched] = await store.pages({ limit: 1 });
  const { id } = watched!.page;
  const asked = new Desk(store, clock, () => {}, first).probeNow([id]);
  await clock.runUntil(clock.nowMs() + 1_000, asked);
  expect(await asked).toEqual({ kind: 'kept', value: [id] });
  const looks = async (): Promise<number> => (await store.page(id))!.state.looks;
  return { ...world, first, start, looks, close: () => inner.close() };
}

test('a look that somebody asked for is made though the process is killed before it left, and the next one as well', async () => {
  const { clock, web, store, first, start, looks, close } = await trial();
  // Its site is left alone for some minutes more.
  await clock.runUntil(clock.nowMs() + minuteMs);
  first.die();
  const second = await start();
  await clock.runUntil(clock.nowMs() + minuteMs);
  expect(web.sent).toHaveLength(1);
  second.die();
  const third = await start();
  await clock.runUntil(clock.nowMs() + 60 * minuteMs);
  expect(web.sent).toHaveLength(2);
  expect(await looks()).toBe(2);
  expect(await store.wishes()).toEqual([]);
  third.die();
  // It was made, and is not made again.
  const fourth = await start();
  await clock.runUntil(clock.nowMs() + 60 * minuteMs);
  expect(web.sent).toHaveLength(2);
  fourth.die();
  await close();
});

test('a look that somebody asked for, was under way at a kill, and waits at the next: it is made all the same', async () => {
  const { clock, web, first, start, looks, close } = await trial();
  while (web.sent.length === 1) await clock.runUntil(clock.nowMs() + 100);
  first.die();
  const second = await start();
  await clock.runUntil(clock.nowMs() + minuteMs);
  second.die();
  expect(await looks()).toBe(1);
  const third = await start();
  await clock.runUntil(clock.nowMs() + 60 * minuteMs);
  expect(web.sent).toHaveLength(3);
  expect(await looks()).toBe(2);
  third.die();
  await close();
});

test('a look that was asked for before the clock was set back is made once, not at every start', async () => {
  const { clock, web, store, first, start, looks, close } = await trial();
  const [watched] = await store.pages({ limit: 1 });
  first.die();
  // By the clock as it was before somebody set it right.
  await store.wish([watched!.page.id], clock.nowMs() + 1_000 * minuteMs, true);
  for (const _ of [1, 2, 3]) {
    const loop = await start();
    await clock.runUntil(clock.nowMs() + 60 * minuteMs);
    loop.die();
  }
  expect(web.sent).toHaveLength(2);
  expect(await looks()).toBe(2);
  await close();
});
