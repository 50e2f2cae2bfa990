import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Emigrant, Look, Store } from 'revisit/ports';
import { emigrate } from '../../../daemon/src/store/emigrate.ts';
import { openSqlite } from '../../../daemon/src/store/sqlite.ts';
import { revisit } from '../../../daemon/src/trial/command.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPooled } from '../trial/pooler.ts';
import type { PostgresServer } from '../trial/postgres-server.ts';
import { type Connection, connect } from './connection.ts';
import { shardOf } from '../dispatch/streams.ts';
import { moveIn } from './immigrate.ts';
import { PostgresStore } from './postgres.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPooled();
});
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  await server.end();
});

const pages = 12;
/** More versions in all than go into one batch. */
const depth = 50;
let versions = 0;

function lookOf(id: string, version: number): Look {
  const words = `page ${id} as of ${version} with wörds and a \0 zero`;
  const state = {
    status: 'present' as const,
    version,
    toldVersion: version,
    validators: { etag: `"${version}"` },
    lastLookMs: 1e12 + versions,
  };
  return {
    pageId: id,
    probeId: `${id}-${version}`,
    atMs: 1e12 + versions++,
    endedAtMs: 1e12 + versions,
    kind: version === 1 ? 'first' : 'changed',
    bytesReceived: 10,
    state: { ...state, failures: 0, looks: version, changes: version - 1, model: new Uint8Array([version, 255]) },
    projection: { text: `${'the same line in all versions\n'.repeat(50)}${words}`, format: 'text' },
    ...(version === 1
      ? {}
      : {
          change: {
            pageId: id,
            url: 'https://a.example',
            site: 'a.example',
            tags: [],
            kind: 'changed' as const,
            atMs: 1e12 + versions,
            count: 1,
            summary: words,
          },
        }),
  };
}

const folders: string[] = [];

async function filled(): Promise<{ readonly folder: string; readonly store: Store; readonly ids: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-migrate-'));
  folders.push(folder);
  const opened = openSqlite(join(folder, 'revisit.db'));
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const about = { select: { kind: 'text' } as const, tags: ['t'], weight: 1, paused: false, options: {}, addedAtMs: 1 };
  const kept = await store.addPages(
    Array.from({ length: pages }, (_, i) => ({
      ...about,
      url: `https://s${i % 7}.example/${i}`,
      site: `s${i % 7}.example`,
    })),
  );
  if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
  const ids = kept.value.map(({ page }) => page.page.id);
  for (let version = 1; version <= depth; version++) await store.commit(ids.map((id) => lookOf(id, version)));
  await store.remember('policy:revisit', new Uint8Array([1, 2, 3]));
  return { folder, store, ids };
}

function sourceOf(folder: string): Emigrant {
  const source = emigrate(join(folder, 'revisit.db'));
  if (source.kind === 'failed') throw new Error(source.sentence);
  return source.source;
}

/** As a process that is killed after so many batches. */
function brokenOff(source: Emigrant, batches: number): Emigrant {
  let left = batches;
  return {
    ...source,
    rows: (...asked) => {
      if (left-- === 0) throw new Error('broken off');
      return source.rows(...asked);
    },
  };
}

async function database(name: string): Promise<{ readonly url: string; readonly connection: Connection }> {
  const url = await server.database(name);
  const connected = await connect(url);
  if (connected.kind === 'failed') throw new Error(connected.sentence);
  return { url, connection: connected.connection };
}

test('a move that is broken off again and again ends whole, and goes on from a store that was written to meanwhile', async () => {
  const { folder, store, ids } = await filled();
  const { connection } = await database('moved');
  // The last one ends within the versions, and what is written after that comes before its place.
  for (const batches of [1, 3, 11, 5, 8]) {
    const source = brokenOff(sourceOf(folder), batches);
    await expect(moveIn(connection, source, folder)).rejects.toThrow('broken off');
    source.close();
  }
  await store.commit([lookOf(ids[0]!, depth + 1)]);
  await store.removePages([ids[1]!]);
  const about = { url: 'https://s0.example/0', site: 's0.example', pageIds: [ids[0]!], validators: {} };
  const underWay = [3, 1, 2].map((n) => ({ id: `probe-${n}`, atMs: 2e12 + n, ...about }));
  await store.dispatched(underWay);
  await store.wish([ids[2]!], 2e12, true);
  await store.wish([ids[3]!], 2e12, false);
  const source = sourceOf(folder);
  const outcome = await moveIn(connection, source, folder);
  source.close();
  expect(outcome).toMatchObject({ kind: 'moved' });
  const moved = new PostgresStore(connection);
  expect(await moved.counts()).toEqual(await store.counts());
  for (const id of [ids[0]!, ids[7]!]) {
    expect((await moved.page(id))!.page).toEqual((await store.page(id))!.page);
    expect(await moved.versions(id)).toEqual(await store.versions(id));
    expect(await moved.versionText(id, 13)).toBe(await store.versionText(id, 13));
  }
  expect(await moved.page(ids[1]!)).toBeUndefined();
  expect(await moved.changes({ after: 0, limit: 1000 })).toEqual(await store.changes({ after: 0, limit: 1000 }));
  expect((await moved.search({ words: 'wörds', limit: 100 })).length).toBe(pages - 1);
  expect(await moved.unfinishedOf([shardOf('s0.example')])).toEqual(await store.unfinished());
  expect(await store.unfinished()).toHaveLength(underWay.length);
  expect(await moved.wishes()).toEqual(await store.wishes());
  expect(await store.wishes()).toHaveLength(2);
  // The new store goes on where the old one was.
  const next = await moved.commit([lookOf(ids[3]!, depth + 1)]);
  expect(next).toMatchObject({ kind: 'kept', value: [{ sequence: (await store.counts()).changes + 1 }] });
  await store.close();
  await moved.close();
});

test('what differs is found, and a database with pages of its own is left alone', async () => {
  const { folder, store } = await filled();
  const { connection } = await database('differs');
  const source = sourceOf(folder);
  const forgetful: Emigrant = { ...source, rows: (table, ...asked) => source.rows(table, ...asked) };
  expect(await moveIn(connection, forgetful, folder)).toMatchObject({ kind: 'moved' });
  const forge = (by: number) => connection.query('UPDATE changes SET at = at + $1 WHERE sequence = 2', [by]);
  await forge(1);
  const forged = await moveIn(connection, forgetful, folder);
  expect(forged).toMatchObject({ kind: 'differs' });
  expect((forged as { sentence: string }).sentence).toMatch(
    /^changes: \d+ rows on both sides, but not the same \(the first that differs: sequence 2 in the database\)$/,
  );
  await forge(-1);
  await connection.query(`UPDATE contents SET packed = 'x' WHERE name = (SELECT name FROM contents LIMIT 1)`);
  const blind: Emigrant = {
    ...forgetful,
    rows: (table, ...asked) => (table.name === 'contents' ? [] : forgetful.rows(table, ...asked)),
  };
  expect(await moveIn(connection, blind, folder)).toMatchObject({ kind: 'differs' });
  expect(await moveIn(connection, forgetful, '/elsewhere')).toMatchObject({ kind: 'wrong' });
  // From here on the database is a coordinator's.
  await connection.query(`INSERT INTO leases VALUES (0, 'home', now())`);
  expect(await moveIn(connection, forgetful, folder)).toMatchObject({ kind: 'wrong' });
  source.close();
  await store.close();
  await connection.close();
});

test('a coordinator that lives on a database without pages keeps its leases, and nothing is moved in under it', async () => {
  const { folder, store } = await filled();
  const { connection } = await database('lived');
  const source = sourceOf(folder);
  await connection.query(`INSERT INTO coordinators VALUES ('home', 1, now() + interval '1 minute')`);
  await connection.query(`INSERT INTO leases VALUES (0, 'home', now() - interval '1 second'), (1, 'gone', now())`);
  expect(await moveIn(connection, source, folder)).toMatchObject({ kind: 'wrong' });
  expect(await connection.query('SELECT holder FROM leases')).toEqual([{ holder: 'home' }]);
  await connection.query(`UPDATE coordinators SET until = now()`);
  expect(await moveIn(connection, source, folder)).toMatchObject({ kind: 'moved' });
  source.close();
  await store.close();
  await connection.close();
});

test('the command moves a folder and says what it checked', async () => {
  const { folder, store } = await filled();
  await store.close();
  const { url, connection } = await database('command');
  const told = await revisit(['migrate', '--data', folder, '--to', url, '--json']);
  expect(told.code).toBe(0);
  const moved = JSON.parse(told.out) as { final: boolean; contents: number; tables: { name: string; rows: number }[] };
  expect(moved).toMatchObject({ final: true, contents: depth * pages });
  expect(moved.tables.find(({ name }) => name === 'versions')).toMatchObject({ rows: depth * pages });
  expect((await revisit(['migrate', '--data', folder, '--to', 'mysql://x'])).code).toBe(2);
  await connection.close();
});
