import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Look } from '../values/look.ts';
import { freshState } from './rows.ts';
import { openSqlite, type SqliteStore } from './sqlite.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'revisit-care-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(file = join(folder, 'revisit.db')): SqliteStore {
  const opened = openSqlite(file);
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return opened.store;
}

const text = (version: number) => `${'a line of the ledger\n'.repeat(50)}version ${version}`;

async function filled(store: SqliteStore, versions: number): Promise<string> {
  const kept = await store.addPages([
    {
      url: 'https://a.example/',
      site: 'a.example',
      select: { kind: 'text' },
      tags: [],
      weight: 1,
      paused: false,
      options: {},
      addedAtMs: 0,
    },
  ]);
  if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
  const { id } = kept.value[0]!.page.page;
  for (let version = 1; version <= versions; version++) {
    const look: Look = {
      pageId: id,
      probeId: `probe-${version}`,
      atMs: version * 1000,
      endedAtMs: version * 1000,
      kind: 'changed',
      bytesReceived: 1,
      state: { ...freshState, status: 'present', version, toldVersion: 2, detectState: '{}' },
      projection: { text: text(version), format: 'text' },
      raw: `<p>${text(version)}`,
    };
    await store.commit([look]);
  }
  return id;
}

test('a sound store has nothing to mend', async () => {
  const store = open();
  const id = await filled(store, 70);
  expect(store.care.check(false)).toMatchObject({ pages: 1, versions: 70, findings: [], repaired: false });
  expect(await store.versionRaw(id, 33)).toBe(`<p>${text(33)}`);
  await store.close();
});

test('damaged contents are found, and repairing keeps all the rest', async () => {
  let store = open();
  const id = await filled(store, 10);
  await store.close();
  const db = new Database(join(folder, 'revisit.db'));
  db.exec(
    `UPDATE contents SET packed = substr(packed, 1, length(packed) - 2) WHERE name = (SELECT content FROM versions WHERE number = 10)`,
  );
  db.exec(`UPDATE contents SET packed = x'00' WHERE name = (SELECT content FROM versions WHERE number = 9)`);
  db.exec('DELETE FROM current_words');
  db.close();
  store = open();
  const found = store.care.check(false);
  expect(
    found.findings.map(({ what }) => /version (9|10) cannot be read|search index/.exec(what)?.[1] ?? 'index'),
  ).toEqual(['9', '10', 'index']);
  expect(store.care.check(true).repaired).toBe(true);
  expect(store.care.check(false).findings).toEqual([]);
  expect((await store.versions(id)).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await store.versionText(id, 8)).toBe(text(8));
  const watched = (await store.page(id))!;
  expect(watched.state.version).toBe(10);
  expect(watched.state.detectState).toBeUndefined();
  await store.close();
});

test('retention lets the old go, keeps the last and the last told, and what is left reads back', async () => {
  const store = open();
  const id = await filled(store, 100);
  const before = store.care.check(false);
  expect(store.care.retain({ countMax: 10 }, 1e6)).toBe(90);
  const numbers = (await store.versions(id)).map(({ number }) => number);
  expect(numbers).toEqual([2, 92, 93, 94, 95, 96, 97, 98, 99, 100]);
  for (const number of numbers) expect(await store.versionText(id, number)).toBe(text(number));
  const after = store.care.check(false);
  expect(after.findings).toEqual([]);
  expect(after.contents).toBeLessThan(before.contents / 3);
  expect(store.care.retain({ ageMsMax: 0, bytesMax: 0, countMax: 0 }, 1e9)).toBe(8);
  const { before: large, after: small } = store.care.vacuum();
  expect(small).toBeLessThanOrEqual(large);
  expect(await store.versionText(id, 100)).toBe(text(100));
  await store.close();
});

test('a page with rules of its own follows those, and everything is kept where they are empty', async () => {
  const store = open();
  const id = await filled(store, 30);
  const own = (keep: unknown) => ((keep as { count?: number }).count ? { countMax: 5 } : {});
  await store.updatePages([{ id, settings: { options: { keep: {} } } }]);
  expect(store.care.retain({ countMax: 3 }, 1e6, own)).toBe(0);
  await store.updatePages([{ id, settings: { options: { keep: { count: 5 } } } }]);
  expect(store.care.retain({}, 1e6, own)).toBe(25);
  expect(await store.versions(id)).toHaveLength(5);
  expect(store.care.retain({}, 1e6)).toBe(0);
  await store.close();
});

test('a backup made while changes are kept is whole', async () => {
  const store = open();
  const id = await filled(store, 5);
  const copy = join(folder, 'copy.db');
  const backup = store.care.backup(copy);
  await store.commit([
    {
      pageId: id,
      probeId: 'late',
      atMs: 9e6,
      endedAtMs: 9e6,
      kind: 'changed',
      bytesReceived: 1,
      state: { ...freshState, status: 'present', version: 6, toldVersion: 6 },
      projection: { text: text(6), format: 'text' },
    },
  ]);
  await backup;
  const other = open(copy);
  expect(other.care.check(false).findings).toEqual([]);
  expect(await other.versionText(id, 5)).toBe(text(5));
  await other.close();
  await store.close();
});
