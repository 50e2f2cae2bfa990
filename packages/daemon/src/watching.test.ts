import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { poissonLaw } from './simulation/simulated-web.ts';
import { createWorld, startLoop } from './simulation/world.ts';
import { openSqlite } from './store/sqlite.ts';

const startMs = Date.UTC(2026, 0, 5);
const hourMs = 3_600_000;

test('a page that is edited keeps what its last looks found and what was learned, however far behind the store is', async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const pages = [{ url: 'https://a.example/', site: 'a.example', law: poissonLaw(2 * hourMs) }];
  const world = await createWorld({ seed: 3, startMs, store, pages });
  const loop = await startLoop(world, policies['revisit']!.create(1), {
    looksPerSecond: 10 / 3600,
    spacingMs: 1_000,
    robots: 4,
    queueMax: 64,
  });
  void loop.run(new AbortController().signal);
  await world.clock.runUntil(startMs + hourMs);
  const [early] = await store.pages({ limit: 1 });
  const { id } = early!.page;
  await world.clock.runUntil(startMs + 48 * hourMs);
  const before = loop.collection.byId(id)!;
  expect(before.state.version).toBeGreaterThan(early!.state.version + 5);
  const learned = loop.policy.belief(before.index, world.clock.nowMs() / 1000);
  loop.watch({ page: { ...early!.page, tags: ['edited'] }, state: early!.state });
  const after = loop.collection.byId(id)!;
  expect(after.page.tags).toEqual(['edited']);
  expect(after.state).toMatchObject({ version: before.state.version, looks: before.state.looks });
  const kept = loop.policy.belief(after.index, world.clock.nowMs() / 1000);
  expect(kept.ratePerDay / learned.ratePerDay).toBeCloseTo(1, 1);
  // A look that somebody asked for is not forgotten with the page as it was.
  loop.probeNow(id);
  loop.watch({ page: { ...early!.page, tags: ['again'] }, state: early!.state });
  expect(loop.isInLine(loop.collection.byId(id)!)).toBe(true);
  await world.clock.runUntil(startMs + 72 * hourMs);
  const changes = await store.changes({ after: 0, limit: 1_000 });
  expect(changes.map((change) => change.toVersion)).toEqual(changes.map((_, i) => i + 2));
  loop.die();
  await store.close();
});

test('whose names begin alike is told of pages that were there and of pages that come, as the whole collection has it', async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const named = (word: string) => ({
    url: `https://a.example/list/${word}`,
    site: 'a.example',
    law: poissonLaw(2 * hourMs),
  });
  const there = Array.from('abcdefghij', (a) => Array.from('klmno', (b) => named(`${a}${b}`))).flat();
  const world = await createWorld({ seed: 4, startMs, store, pages: there });
  const policy = policies['revisit']!.create(1);
  const told = new Map<number, readonly number[]>();
  const watch = policy.watch.bind(policy);
  policy.watch = (page, now) => {
    told.set(page.page, page.alike ?? []);
    watch(page, now);
  };
  const regrouped = policy.regrouped!.bind(policy);
  policy.regrouped = (page, alike) => {
    told.set(page, alike);
    regrouped(page, alike);
  };
  const budget = { looksPerSecond: 1 / 3600, spacingMs: 1_000, robots: 4, queueMax: 64 };
  const loop = await startLoop(world, policy, budget);
  const asKnown = () => new Map([...loop.collection].map(({ index }) => [index, loop.collection.alike(index)]));
  expect(told).toEqual(asKnown());
  expect(new Set([...told.values()].flat()).size).toBe(10);
  const [some] = await store.pages({ limit: 1 });
  for (let i = 0; i < 120; i++) {
    const url = `https://a.example/list/a${String.fromCharCode(97 + (i % 26))}${i}`;
    loop.watch({ page: { ...some!.page, id: `more${i}`, url, paused: i % 7 === 0 }, state: some!.state });
  }
  const known = asKnown();
  for (const { index, page } of loop.collection) if (!page.paused) expect(told.get(index)).toEqual(known.get(index));
  loop.die();
  await store.close();
});

test('after a clock was set back, a new process does not wait until the time that it showed', async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const pages = [{ url: 'https://a.example/', site: 'a.example', law: poissonLaw(2 * hourMs) }];
  const world = await createWorld({ seed: 3, startMs, store, pages });
  const settings = { looksPerSecond: 2 / 3600, spacingMs: 1_000, robots: 4, queueMax: 64 };
  const start = async () => {
    const loop = await startLoop(world, policies['revisit']!.create(1), settings);
    void loop.run(new AbortController().signal);
    return loop;
  };
  const first = await start();
  await world.clock.runUntil(startMs + 10 * hourMs);
  first.die();
  world.clock.suspend(-500 * hourMs);
  const sent = world.web.sent.length;
  const second = await start();
  await world.clock.runUntil(world.clock.nowMs() + 12 * hourMs);
  expect(world.web.sent.length).toBeGreaterThan(sent + 5);
  second.die();
  await store.close();
});
