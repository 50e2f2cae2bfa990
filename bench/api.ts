/**
 * Every view's calls on 100,000 pages and 1,000,000 changes, and the weight of the first load. The collection is made by the
 * store's own methods and watched by a loop that does not run, so that only answering is measured.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { policies, random } from '../packages/core/src/index.ts';
import { createApi } from '../packages/daemon/src/api/server.ts';
import { Desk } from '../packages/daemon/src/desk.ts';
import { startLoop } from '../packages/daemon/src/simulation/world.ts';
import { SimulatedWeb } from '../packages/daemon/src/simulation/simulated-web.ts';
import { VirtualClock } from '../packages/daemon/src/simulation/virtual-clock.ts';
import type { Store } from '../packages/daemon/src/store/port.ts';
import { freshState } from '../packages/daemon/src/store/rows.ts';
import { openSqlite } from '../packages/daemon/src/store/sqlite.ts';
import type { Look } from '../packages/daemon/src/values/look.ts';
import type { Bench, Measurement } from '../house/bench.ts';

const pageCount = 100_000;
const changeCount = 1_000_000;
const siteCount = 1_000;
const versionMax = changeCount / pageCount + 1;
const startMs = Date.UTC(2026, 0, 5);
const msMost = 200;
const firstLoadMost = 150_000;

async function fill(store: Store, say: (line: string) => void): Promise<readonly string[]> {
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

const callsOf = (id: string): readonly (readonly [string, string])[] => [
  ['Changes', '/api/changes?order=newest&limit=40'],
  ['Changes, a filter that few fit', '/api/changes?order=newest&limit=40&text=page-77777'],
  ['Changes, far back', '/api/changes?after=500000&limit=100'],
  ['Pages, by last change', '/api/pages?order=changed&skip=50000&limit=100&activity=true'],
  ['Pages, least current', '/api/pages?order=current&skip=0&limit=100&activity=true'],
  ['Pages, by next look', '/api/pages?order=next&skip=50000&limit=100&activity=true'],
  ['Pages, by rate', '/api/pages?order=rate&skip=50000&limit=100&activity=true'],
  ['Pages, by title', '/api/pages?order=title&skip=50000&limit=100&activity=true'],
  ['Pages, filtered', '/api/pages?order=title&skip=0&limit=100&activity=true&text=page-9'],
  ['Pages, tags', '/api/tags'],
  ['Page', `/api/pages/${id}`],
  ['Page, versions', `/api/pages/${id}/versions`],
  ['Page, difference', `/api/pages/${id}/diff`],
  ['Page, looks', `/api/pages/${id}/looks`],
  ['Page, week', `/api/pages/${id}/week`],
  ['Page, coming looks', `/api/pages/${id}/coming`],
  ['Plan', '/api/plan?limit=600'],
  ['Plan, budget', '/api/budget'],
  ['Sites', '/api/sites'],
  ['Site', '/api/sites/site7.example'],
  ['Robots', '/api/robots'],
  ['Search, one page fits', '/api/search?q=heading+77777'],
  ['Search, every page fits', '/api/search?q=version'],
  ['Lab', '/api/lab'],
  ['Settings', '/api/settings'],
  ['Status', '/api/status'],
];

/** What a browser loads before the first view stands: the page, and the scripts and styles it names itself. */
function firstLoadBytes(): number {
  const folder = join(import.meta.dirname, '../packages/dashboard/dist');
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const files = readdirSync(join(folder, 'assets')).filter((file) => page.includes(file));
  const packed = (file: string): number => gzipSync(readFileSync(file), { level: 9 }).length;
  return (
    packed(join(folder, 'index.html')) + files.reduce((sum, file) => sum + packed(join(folder, 'assets', file)), 0)
  );
}

export const bench: Bench = async (say) => {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-bench-api-'));
  const opened = openSqlite(join(folder, 'revisit.db'));
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  try {
    const ids = await fill(store, say);
    const clock = new VirtualClock(startMs + 13 * 86_400_000);
    const luck = random(1);
    const world = { clock, store, random: luck, web: new SimulatedWeb(clock, luck, []) };
    const loop = await startLoop(world, policies['revisit']!.create(1), {
      looksPerSecond: 10,
      spacingMs: 1_000,
      robots: 64,
      queueMax: 4_096,
    });
    say('loaded');
    const app = createApi(new Desk(store, clock, () => {}, loop));
    const rows: Measurement[] = [];
    for (const [what, url] of callsOf(ids[100]!)) {
      const times: number[] = [];
      for (let i = 0; i < 5; i++) {
        // Sorted lists are remembered for seconds; the first of a kind is what counts.
        await clock.runUntil(clock.nowMs() + 10_000);
        const begun = performance.now();
        const answer = await app.inject(url);
        times.push(performance.now() - begun);
        if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${answer.body.slice(0, 200)}`);
      }
      const median = times.sort((a, b) => a - b)[2]!;
      rows.push({
        what: `${what} (median of 5)`,
        ours: `${median.toFixed(1)} ms`,
        rival: `${msMost} ms`,
        holds: median <= msMost,
      });
    }
    const bytes = firstLoadBytes();
    rows.push({
      what: 'first load, compressed',
      ours: `${(bytes / 1000).toFixed(1)} kB`,
      rival: `${firstLoadMost / 1000} kB`,
      holds: bytes <= firstLoadMost,
    });
    await app.close();
    return rows;
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
