import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder } from '../trial/command.ts';
import type { Look } from '../values/look.ts';
import { freshState } from './rows.ts';
import { openSqlite } from './sqlite.ts';

const sites = 40;

function open(file: string, writerFrom?: number) {
  const opened = openSqlite(file, writerFrom === undefined ? {} : { writerFrom });
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return opened.store;
}

const changed = (pageId: string, url: string, version: number): Look => ({
  pageId,
  probeId: `probe-${pageId}-${version}`,
  atMs: 1000 * version,
  endedAtMs: 1000 * version + 5,
  kind: 'changed',
  bytesReceived: 10,
  state: { ...freshState, status: 'present', version, looks: version, lastLookMs: 1000 * version },
  projection: { format: 'text', text: `version ${version} of ${url}` },
  change: { pageId, url, site: 'a', tags: [], atMs: 1000 * version, kind: 'changed', count: 1, summary: url },
});

test('what is asked for together is answered each with its own, and stands in the file in the order it was asked', async () => {
  const file = join(freshFolder(), 'revisit.db');
  const store = open(file, 1);
  const urls = Array.from({ length: sites }, (_, n) => `https://a${n}.example/`);
  const settings = { site: 'a', select: { kind: 'text' } as const, tags: [], weight: 1, paused: false, options: {} };
  const added = await store.addPages(urls.map((url) => ({ ...settings, url, addedAtMs: 1 })));
  if (added.kind === 'failed') throw new Error(added.fault.sentence);
  const ids = added.value.map(({ page }) => page.page.id);
  const probe = (id: string, url: string) => ({ id, pageIds: [], url, site: 'a', atMs: 1, validators: {} });

  const answers = await Promise.all([
    ...ids.map((id, n) => store.commit([changed(id, urls[n]!, 1)])),
    store.dispatched([probe('left', urls[0]!), probe('done', urls[0]!)]),
    store.finished(['done']),
    // The loop's own thread writes between the transactions of the other.
    store.remember('key', new Uint8Array([7])),
    ...ids.map((id, n) => store.commit([changed(id, urls[n]!, 2)])),
  ]);
  for (const answer of answers) expect(answer.kind).toBe('kept');
  const told = answers.flatMap((answer) => (answer.kind === 'kept' && Array.isArray(answer.value) ? answer.value : []));
  expect(told.map(({ summary }) => summary)).toEqual([...urls, ...urls]);
  await store.close();

  const again = open(file);
  const changes = await again.changes({ after: 0, limit: 1000 });
  expect(changes).toEqual(told);
  expect(changes.map(({ sequence }) => sequence)).toEqual(told.map((_, n) => n + 1));
  expect((await again.unfinished()).map(({ id }) => id)).toEqual(['left']);
  expect(await again.recall('key')).toEqual(Buffer.from([7]));
  expect(await again.versionText(ids[3]!, 2)).toBe(`version 2 of ${urls[3]}`);
  await again.close();
});

test('a copy for a backup is whole while the thread writes', async () => {
  const folder = freshFolder();
  const store = open(join(folder, 'revisit.db'), 1);
  const settings = { site: 'a', select: { kind: 'text' } as const, tags: [], weight: 1, paused: false, options: {} };
  const added = await store.addPages([{ ...settings, url: 'https://a.example/', addedAtMs: 1 }]);
  if (added.kind === 'failed') throw new Error(added.fault.sentence);
  const { id, url } = added.value[0]!.page.page;
  let version = 1;
  let copying = true;
  const backup = store.care.backup(join(folder, 'copy.db')).finally(() => (copying = false));
  // The first look goes into the copy or not; what matters is that looks do not stop it from ending.
  do await store.commit([changed(id, url, version++)]);
  while (copying && version < 10_000);
  await backup;
  expect(version).toBeLessThan(10_000);
  const copy = open(join(folder, 'copy.db'));
  expect(copy.care.check(false).findings).toEqual([]);
  expect((await copy.counts()).pages).toBe(1);
  await copy.close();
  await store.close();
});
