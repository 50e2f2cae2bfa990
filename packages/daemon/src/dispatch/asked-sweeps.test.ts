import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { AskedSweeps } from './asked-sweeps.ts';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';

const startMs = Date.UTC(2026, 0, 5);
const settings = { looksPerSecond: 1, spacingMs: 2_000, robots: 4, queueMax: 100 };
const isFirst = (site: string): boolean => site === 'a.example';

/** Two loops on one store: one looks after the pages of a.example, the other after those of b.example. */
async function pair() {
  const store = memoryStore();
  const pages = ['a', 'b'].flatMap((name) =>
    Array.from({ length: 5 }, (_, n) => {
      const site = `${name}.example`;
      return { url: `https://${site}/${n}`, site, law: poissonLaw(1) };
    }),
  );
  const world = await createWorld({ seed: 1, startMs, store, pages });
  const taken = new Set<string>();
  const start = (accepts: (site: string) => boolean) =>
    startLoop(world, policies['uniform']!.create(1), settings, undefined, { accepts });
  const loops = [
    await start((site) => isFirst(site) || taken.has(site)),
    await start((site) => !isFirst(site) && !taken.has(site)),
  ] as const;
  for (const loop of loops) void loop.run(new AbortController().signal);
  await world.clock.runUntil(startMs + 60_000);
  const sweeps = loops.map(() => new AskedSweeps());
  const sinceMs = world.clock.nowMs();
  const ask = (which: 0 | 1, adopt: readonly string[], begins = false) =>
    sweeps[which]!.progress(loops[which], { name: 'one', all: true, sinceMs, begins, adopt });
  const run = (ms: number) => world.clock.runUntil(world.clock.nowMs() + ms);
  /** Pages that have been looked at since. */
  const seen = async () => {
    const pages: string[] = [];
    for await (const batch of store.everyPage())
      for (const { page, state } of batch) if ((state.lastLookMs ?? 0) >= sinceMs) pages.push(page.id);
    return pages.length;
  };
  /** As when a shard changes hands: what is under way there stays behind. */
  const handOver = async () => {
    const gone = [...loops[1].collection].map(({ page }) => page.id);
    taken.add('b.example');
    for (const id of gone) loops[1].unwatch(id);
    await loops[1].batchOver();
    for (const id of gone) loops[0].watch((await store.page(id))!);
    return gone;
  };
  return { loops, ask, run, seen, handOver };
}

test('pages that go to another process during a sweep are lost by the one and swept by the other', async () => {
  const { loops, ask, run, seen, handOver } = await pair();
  for (const which of [0, 1] as const) expect(ask(which, [], true).left).toBe(5);
  // Within its spacing, a site is asked for some of its pages.
  await run(3_000);
  const gone = await handOver();
  const { left, lost } = ask(1, []);
  expect(left).toBe(0);
  expect(lost.length).toBeGreaterThan(1);
  expect(lost.every((id) => gone.includes(id))).toBe(true);
  expect(ask(0, lost).adopted).toEqual(lost);
  expect(await seen()).toBeLessThan(10);
  // The asker knows of them now.
  expect(ask(1, lost)).toMatchObject({ lost: [], adopted: [] });
  await run(60_000);
  expect(ask(0, lost)).toMatchObject({ left: 0, lost: [] });
  expect(await seen()).toBe(10);
  // Each page once, however often the plan has come to it meanwhile.
  expect(ask(0, []).looks + ask(1, []).looks).toBe(10);
  for (const loop of loops) loop.die();
});

test('whoever is asked for the first time when a sweep is under way looks only at what others have lost', async () => {
  const { loops, ask, run } = await pair();
  const [one] = [...loops[1].collection];
  expect(ask(1, [one!.page.id, 'of-another'])).toMatchObject({ left: 1, adopted: [one!.page.id] });
  await run(60_000);
  expect(ask(1, [one!.page.id])).toMatchObject({ left: 0, looks: 1 });
  for (const loop of loops) loop.die();
});

test('a page that is edited during a sweep is waited for, and one that the plan wants again at once is not', async () => {
  const { loops, ask, run, seen } = await pair();
  ask(1, [], true);
  const [one] = [...loops[1].collection].slice(-1);
  loops[1].watch({ page: { ...one!.page, weight: 2 }, state: one!.state });
  expect(ask(1, [])).toMatchObject({ left: 5, lost: [] });
  await run(60_000);
  expect(ask(1, [])).toMatchObject({ left: 0, looks: 5, lost: [] });
  expect(await seen()).toBe(10);
  for (const loop of loops) loop.die();
});
