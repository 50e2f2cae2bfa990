/** What every store must find. Each implementation gives a way to open an empty one. */
import { describe, expect, test } from 'vitest';
import type { Look } from '../values/look.ts';
import type { Store } from './port.ts';
import { freshState } from './rows.ts';

async function pageWith(
  store: Store,
  url: string,
  versions: readonly string[],
  title = 'Page',
  tags: readonly string[] = [],
) {
  const kept = await store.addPages([
    {
      url,
      site: new URL(url).hostname,
      select: { kind: 'text' },
      tags,
      weight: 1,
      paused: false,
      options: {},
      addedAtMs: 0,
    },
  ]);
  if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
  const { id } = kept.value[0]!.page.page;
  for (const [i, text] of versions.entries()) {
    const look: Look = {
      pageId: id,
      probeId: `${id}-${i}`,
      atMs: 1000 * (i + 1),
      endedAtMs: 1000 * (i + 1),
      kind: i === 0 ? 'first' : 'changed',
      bytesReceived: 1,
      state: { ...freshState, status: 'present', version: i + 1, toldVersion: i + 1, looks: i + 1, seenTitle: title },
      projection: { text, format: 'text', title },
    };
    await store.commit([look]);
  }
  return id;
}

async function found(store: Store, words: string, more: object = {}): Promise<string[]> {
  const hits = await store.search({ words, limit: 20, ...more });
  return hits.map((hit) => `${new URL(hit.url).pathname.slice(1)}${'past' in more ? `@${hit.version}` : ''}`);
}

export function searchContract(name: string, open: () => Promise<Store>): void {
  describe(`search on ${name}`, () => {
    test('words, phrases, prefixes, without and either', async () => {
      const store = await open();
      await pageWith(store, 'https://a.example/kettle', ['The copper kettle sings on the stove'], 'Copper kettle');
      await pageWith(
        store,
        'https://b.example/ferry',
        ['The ferry leaves; the kettle of the captain is of tin'],
        'Ferry',
        ['sea'],
      );
      expect(await found(store, 'kettle')).toEqual(['kettle', 'ferry']);
      expect(await found(store, 'kettle copper')).toEqual(['kettle']);
      expect(await found(store, '"kettle sings"')).toEqual(['kettle']);
      expect(await found(store, '"sings kettle"')).toEqual([]);
      expect(await found(store, 'capt*')).toEqual(['ferry']);
      expect(await found(store, 'kettle -copper')).toEqual(['ferry']);
      expect((await found(store, 'stove OR captain')).sort()).toEqual(['ferry', 'kettle']);
      expect(await found(store, 'kettle', { site: 'b.example' })).toEqual(['ferry']);
      expect(await found(store, 'kettle', { tag: 'sea' })).toEqual(['ferry']);
      expect(await found(store, 'kettle', { toMs: 500 })).toEqual([]);
      expect(await found(store, 'kettle', { past: true })).toEqual(['kettle@1', 'ferry@1']);
      expect(await found(store, 'kettle', { past: true, tag: 'sea', toMs: 1500 })).toEqual(['ferry@1']);
      expect(await found(store, 'kettle', { limit: 1, skip: 1 })).toEqual(['ferry']);
      await store.close();
    });

    test('the current copy is what counts, unless the past is asked for', async () => {
      const store = await open();
      const id = await pageWith(store, 'https://a.example/p', [
        'red lamp\nold pier',
        'green lamp\nold pier',
        'green lamp\nnew pier',
      ]);
      expect(await found(store, 'red')).toEqual([]);
      expect(await found(store, 'new pier')).toEqual(['p']);
      expect(await found(store, 'red', { past: true })).toEqual(['p@1']);
      expect(await found(store, 'green', { past: true })).toEqual(['p@2']);
      expect(await found(store, 'pier', { past: true, fromMs: 2500 })).toEqual(['p@3']);
      await store.removePages([id]);
      expect(await found(store, 'red', { past: true })).toEqual([]);
      expect(await found(store, 'pier')).toEqual([]);
      await store.close();
    });

    test('scripts without spaces, accents and hostile queries', async () => {
      const store = await open();
      await pageWith(store, 'https://a.example/ja', ['船は満員になると出ます']);
      await pageWith(store, 'https://a.example/de', ['Die Fähre fährt über den See']);
      expect(await found(store, '満員')).toEqual(['ja']);
      expect(await found(store, '員満')).toEqual([]);
      expect(await found(store, 'fahre')).toEqual(['de']);
      for (const words of ['"', '*', '()', 'AND', 'a AND (', 'NEAR(x', "'; DROP TABLE pages", '-x', '^:{}', '""', 'OR'])
        await expect(store.search({ words, limit: 5 })).resolves.toBeInstanceOf(Array);
      await store.close();
    });
  });
}
