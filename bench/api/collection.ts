/** The collection on which calls are measured: 100,000 pages with ten changes each, made by the store's own methods. */
import type { Store } from '../../packages/daemon/src/store/port.ts';
import { freshState } from '../../packages/daemon/src/store/rows.ts';
import type { Look } from '../../packages/daemon/src/values/look.ts';

const pageCount = 100_000;
const changeCount = 1_000_000;
const siteCount = 1_000;
const versionMax = changeCount / pageCount + 1;
export const startMs = Date.UTC(2026, 0, 5);

/** The ids of its pages. */
export async function fill(store: Store, say: (line: string) => void): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let from = 0; from < pageCount; from += 5_000) {
    const kept = await store.addPages(
      Array.from({ length: 5_000 }, (_, i) => ({
        url: `https://site${(from + i) % siteCount}.example/folder${(from + i) % 37}/page-${from + i}`,
        site: `site${(from + i) % siteCount}.example`,
        select: { kind: 'text' as const },
        tags: [`tag${(from + i) % 50}`],
        weight: 1,
        paused: false,
        options: {},
        addedAtMs: startMs,
      })),
    );
    if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
    ids.push(...kept.value.map(({ page }) => page.page.id));
  }
  say(`${pageCount} pages`);
  for (let from = 0; from < changeCount + pageCount; from += 10_000) {
    const looks = Array.from({ length: 10_000 }, (_, i) => lookOf(ids, from + i));
    const kept = await store.commit(looks);
    if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
    if (from % 200_000 === 0) say(`${from} looks`);
  }
  return ids;
}

/** The n-th look goes round all pages; each but the first finds a change. */
function lookOf(ids: readonly string[], n: number): Look {
  const page = n % pageCount;
  const version = Math.floor(n / pageCount) + 1;
  const atMs = startMs + version * 86_400_000 + page * 100;
  const id = ids[page]!;
  const site = `site${page % siteCount}.example`;
  return {
    pageId: id,
    probeId: `p${n}`,
    atMs,
    endedAtMs: atMs + 80,
    kind: version === 1 ? 'first' : 'changed',
    bytesReceived: 4_000,
    state: {
      ...freshState,
      status: 'present',
      version,
      toldVersion: version,
      hash: `h${version}`,
      lastLookMs: atMs,
      lastSeenMs: atMs,
      looks: version,
      changes: version - 1,
      ...(version === 1 ? {} : { lastChangeMs: atMs }),
      seenTitle: `Page ${page} of ${site}`,
    },
    // All versions of the first pages, the newest of the others: what is measured here does not read more, and a million are gigabytes.
    ...(page < 200 || version === versionMax
      ? { projection: { text: `Heading ${page}\nversion ${version}\nthe rest stays`, format: 'text' as const } }
      : {}),
    ...(version === 1
      ? {}
      : {
          change: {
            pageId: id,
            url: `https://${site}/folder${page % 37}/page-${page}`,
            site,
            title: `Page ${page} of ${site}`,
            tags: [`tag${page % 50}`],
            kind: 'changed' as const,
            atMs,
            afterMs: atMs - 86_400_000,
            fromVersion: version - 1,
            toVersion: version,
            count: 1,
            summary: `version ${version - 1} → version ${version}`,
          },
        }),
  };
}
