import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { policies } from '@revisit/core';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import { freshFolder } from '../trial/command.ts';
import { SqliteStore, openSqlite } from './sqlite.ts';

/** Long enough to fill the space, to ask again a thousand times whether there is some, and to catch up. */
const phaseMs = 5_400_000;

/** SQLite's own limit on pages answers exactly as a full disk does: SQLITE_FULL in the middle of a transaction. */
function limitedStore(file: string, morePages: number) {
  const opened = openSqlite(file);
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  // No power is cut here: nothing needs to wait for the disk itself, thousands of times.
  db.pragma('synchronous = OFF');
  const used = db.pragma('page_count', { simple: true }) as number;
  db.pragma(`max_page_count = ${used + morePages}`);
  return {
    store: new SqliteStore(db),
    more: () => db.pragma('max_page_count = 1000000'),
    check: () => db.pragma('integrity_check', { simple: true }),
  };
}

test('a full disk stops the asking, loses nothing, and work goes on when there is space', async () => {
  const startMs = Date.UTC(2026, 0, 5);
  const file = join(freshFolder(), 'revisit.db');
  const { store, more, check } = limitedStore(file, 40);
  const pages = Array.from({ length: 20 }, (_, i) => ({
    url: `https://a${i}.example/`,
    site: `a${i}.example`,
    law: poissonLaw(360_000),
  }));
  const world = await createWorld({ seed: 5, startMs, store, pages });
  const loop = await startLoop(world, policies['uniform']!.create(1), {
    looksPerSecond: 0.5,
    spacingMs: 1000,
    robots: 8,
    queueMax: 64,
  });
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  await world.clock.runUntil(startMs + phaseMs);
  expect(loop.healthy).toBe(false);
  const sent = world.web.sent.length;
  await world.clock.runUntil(startMs + 2 * phaseMs);
  expect(world.web.sent.length - sent).toBeLessThanOrEqual(8);
  expect(check()).toBe('ok');
  more();
  await world.clock.runUntil(startMs + 3 * phaseMs);
  expect(loop.healthy).toBe(true);
  expect(world.web.sent.length).toBeGreaterThan(sent + 1000);
  stop.abort();
  await world.clock.runUntil(Infinity, running);
  const changes = await store.changes({ after: 0, limit: 100_000 });
  expect(changes.map((change) => change.sequence)).toEqual(changes.map((_, i) => i + 1));
  for (const { page, state } of await store.pages({ limit: 100 })) {
    expect((await store.versions(page.id)).length).toBe(state.version);
  }
  expect(check()).toBe('ok');
});
