import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Aside } from './aside.ts';
import { detect, type Detected, type DetectInput } from '../detect/detect.ts';
import { freshState } from '../store/rows.ts';
import { openSqlite } from '../store/sqlite.ts';
import { freshFolder } from '../trial/command.ts';
import type { Look } from '../values/look.ts';

const all = (looks: readonly (Detected | Promise<Detected>)[]): Promise<Detected[]> =>
  Promise.all(looks.map((look) => Promise.resolve(look)));

const body = (page: number, version: number): Uint8Array =>
  Buffer.from(`<title>Page ${page}</title><p>a first paragraph</p><p>version ${version} of page ${page}</p>`);

const look = (page: number, version: number, before?: { state: string; text: string }): DetectInput => ({
  select: { kind: 'text' },
  options: {},
  body: body(page, version),
  mediaType: 'text/html',
  url: `https://a.example/${page}`,
  atMs: 1e12 + version * 1e9,
  ...(before
    ? { previous: { state: before.state, lookedAtMs: 1e12, last: () => before.text, told: () => before.text } }
    : {}),
});

const textOf = ({ detection }: Detected): string => ('projection' in detection ? detection.projection.text : '');

test('many changed pages at once are read beside the loop, each as it would have been in place', async () => {
  const aside = new Aside();
  const firsts = await all(Array.from({ length: 20 }, (_, page) => aside.detect(look(page, 1))));
  const befores = firsts.map((first) => ({ state: first.state, text: textOf(first) }));
  const changed = await all(befores.map((before, page) => aside.detect(look(page, 2, before))));
  expect(changed).toEqual(await Promise.all(befores.map((before, page) => detect(look(page, 2, before)))));
  expect(changed.map(({ detection }) => detection.kind)).toEqual(Array.from({ length: 20 }, () => 'changed'));
  await aside.close();
});

const pages = 20;

/** A store with one version of each page, as a first look found it. */
async function kept(firsts: readonly Detected[]) {
  const opened = openSqlite(join(freshFolder(), 'revisit.db'));
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const settings = { site: 'a', select: { kind: 'text' } as const, tags: [], weight: 1, paused: false, options: {} };
  const urls = firsts.map((_, page) => `https://a.example/${page}`);
  const added = await store.addPages(urls.map((url) => ({ ...settings, url, addedAtMs: 1 })));
  if (added.kind === 'failed') throw new Error(added.fault.sentence);
  const ids = added.value.map(({ page }) => page.page.id);
  const looks = firsts.map(({ detection }, n): Look => {
    const projection = detection.kind === 'first' ? detection.projection : undefined;
    const state = { ...freshState, status: 'present' as const, version: 1, looks: 1, lastLookMs: 1e12 };
    const when = { atMs: 1e12, endedAtMs: 1e12 };
    return {
      pageId: ids[n]!,
      probeId: `${n}`,
      ...when,
      kind: 'first',
      bytesReceived: 1,
      state,
      projection: projection!,
    };
  });
  expect((await store.commit(looks)).kind).toBe('kept');
  return { store, ids };
}

test('where the store is a file, the thread reads the versions before by itself, and has let go of it when it ends', async () => {
  const firsts = await Promise.all(Array.from({ length: pages }, (_, page) => detect(look(page, 1))));
  const { store, ids } = await kept(firsts);
  const aside = new Aside(store.file);
  const nobody = () => {
    throw new Error('the loop was asked for a text');
  };
  const changed = await all(
    ids.map((pageId, page) => {
      const { previous, ...input } = look(page, 2, { state: firsts[page]!.state, text: '' });
      const known = { ...previous!, last: nobody, told: nobody, versions: { pageId, last: 1, told: 1 } };
      return aside.detect({ ...input, previous: known });
    }),
  );
  const inPlace = firsts.map((first, page) => detect(look(page, 2, { state: first.state, text: textOf(first) })));
  expect(changed).toEqual(await Promise.all(inPlace));
  await aside.close();
  await store.close();
  // The last who closes a database takes its log away.
  expect(existsSync(`${store.file}-wal`)).toBe(false);
});

test('a body that is known by its fingerprint is answered at once', async () => {
  const aside = new Aside();
  const first = await aside.detect(look(1, 1));
  const same = aside.detect(look(1, 1, { state: first.state, text: textOf(first) }));
  expect(same).toEqual({ detection: { kind: 'unchanged' }, state: first.state });
});

test('a thread that dies loses nothing', async () => {
  const aside = new Aside();
  const looks = Array.from({ length: 20 }, (_, page) => aside.detect(look(page, 1)));
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  await aside.close();
  const kinds = (await all(looks)).map(({ detection }) => detection.kind);
  expect(kinds).toEqual(Array.from({ length: 20 }, () => 'first'));
});
