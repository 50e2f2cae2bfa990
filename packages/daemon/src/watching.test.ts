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
  await world.clock.runUntil(startMs + 72 * hourMs);
  const changes = await store.changes({ after: 0, limit: 1_000 });
  expect(changes.map((change) => change.toVersion)).toEqual(changes.map((_, i) => i + 2));
  loop.die();
  await store.close();
});
