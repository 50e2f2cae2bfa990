import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { freshFolder } from '../trial/command.ts';
import type { Look } from '../values/look.ts';
import type { Added } from './port.ts';
import { freshState } from './rows.ts';
import { openSqlite } from './sqlite.ts';

const pages = 40;

const looked = (pageId: string, atMs: number, version: number, text?: string): Look => ({
  pageId,
  probeId: `probe-${pageId}-${atMs}`,
  atMs,
  endedAtMs: atMs + 5,
  kind: text === undefined ? 'unchanged' : 'changed',
  bytesReceived: 10,
  state: { ...freshState, status: 'present', version, looks: version, lastLookMs: atMs },
  ...(text === undefined ? {} : { projection: { format: 'text', text } }),
});

async function filled() {
  const file = join(freshFolder(), 'revisit.db');
  const opened = openSqlite(file);
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const settings = { site: 'a', select: { kind: 'text' } as const, tags: [], weight: 1, paused: false, options: {} };
  const urls = Array.from({ length: pages }, (_, n) => `https://a.example/${n}`);
  const added = await store.addPages(urls.map((url) => ({ ...settings, url, addedAtMs: 1 })));
  if (added.kind === 'failed') throw new Error(added.fault.sentence);
  return { file, store, ids: added.value.map(({ page }) => page.page.id) };
}

/** Pieces of the index that were written out, each to be put together with the others later. */
function pieces(file: string, table: string): number {
  const db = new Database(file, { readonly: true });
  const { n } = db.prepare(`SELECT count(DISTINCT segid) AS n FROM ${table}_idx`).get() as { n: number };
  db.close();
  return n;
}

test('the words of all changes of a transaction go into the index as one piece, in whatever order pages come', async () => {
  const { file, store, ids } = await filled();
  const mixed = ids.map((_, n) => ids[(n * 7) % pages]!);
  const first = mixed.flatMap((id, n) =>
    n % 4 === 3 ? [looked(id, 1000, 0)] : [looked(id, 1000, 1, `first words of number${n}`)],
  );
  await store.commit(first);
  expect([pieces(file, 'current_words'), pieces(file, 'past_words')]).toEqual([1, 1]);
  const second = mixed.map((id, n) => looked(id, 2000, n % 4 === 3 ? 1 : 2, `second words of number${n}`));
  await store.commit(second);
  expect([pieces(file, 'current_words'), pieces(file, 'past_words')]).toEqual([2, 2]);
  await store.close();
});

test('a page that changed twice within a transaction is found by its last words, and by those of both in the past', async () => {
  const { store, ids } = await filled();
  await store.commit([
    looked(ids[5]!, 1000, 1, 'older apples'),
    looked(ids[2]!, 1000, 1, 'pears'),
    looked(ids[5]!, 2000, 2, 'newer plums'),
  ]);
  const found = async (words: string, past: boolean) =>
    (await store.search({ words, limit: 10, past })).map(({ pageId }) => pageId);
  expect(await found('apples', false)).toEqual([]);
  expect(await found('plums', false)).toEqual([ids[5]]);
  expect(await found('apples', true)).toEqual([ids[5]]);
  expect(await found('pears', false)).toEqual([ids[2]]);
  await store.close();
});

test('two looks at a page in the same millisecond are one line of its history, as the last says', async () => {
  const { store, ids } = await filled();
  await store.commit([looked(ids[0]!, 1000, 1, 'words'), looked(ids[0]!, 1000, 1)]);
  expect((await store.looks(ids[0]!, 10)).map(({ kind }) => kind)).toEqual(['unchanged']);
  await store.close();
});

const settingsOf = (url: string) => ({
  url,
  site: 'a',
  select: { kind: 'text' } as const,
  tags: [],
  weight: 1,
  paused: false,
  options: {},
  addedAtMs: 1,
});

test('a look is kept with the page that has its id now, whatever page had it at the look before', async () => {
  const { store, ids } = await filled();
  await store.commit([looked(ids[0]!, 1000, 0)]);
  await store.removePages([ids[0]!]);
  await store.commit([looked(ids[0]!, 2000, 0)]);
  await store.addPages([settingsOf('https://a.example/0')]);
  await store.commit([looked(ids[0]!, 3000, 0)]);
  expect((await store.looks(ids[0]!, 10)).map(({ atMs }) => atMs)).toEqual([3000]);
  expect((await store.page(ids[0]!))!.state.lastLookMs).toBe(3000);
  await store.close();
});

test('numbers of pages that were taken back with their transaction are another page’s the next time', async () => {
  const { store } = await filled();
  const [one, other] = [settingsOf('https://a.example/one'), settingsOf('https://a.example/other')];
  const broken = (id: string): Look => ({ ...looked(id, 1001, 0), state: { ...freshState, status: null as never } });
  const past = ([added]: readonly Added[]) => [looked(added!.page.page.id, 1000, 0), broken(added!.page.page.id)];
  expect(() => store.addPages([one], undefined, past)).toThrow('NOT NULL');
  const added = await store.addPages([other, one]);
  if (added.kind === 'failed') throw new Error(added.fault.sentence);
  const [otherId, oneId] = added.value.map(({ page }) => page.page.id);
  await store.commit([looked(oneId!, 2000, 0)]);
  expect(await store.looks(otherId!, 10)).toEqual([]);
  expect((await store.looks(oneId!, 10)).map(({ atMs }) => atMs)).toEqual([2000]);
  await store.close();
});
