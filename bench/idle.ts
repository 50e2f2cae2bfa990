/**
 * A million watched pages, each seen before and none of them due: what each costs in memory, and how long the daemon takes to
 * start with them. Measured in a process of its own, from the data folder, as after a restart.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../house/bench.ts';
import { settle } from '../packages/daemon/src/config/config.ts';
import { createLoop } from '../packages/daemon/src/daemon.ts';
import { detect } from '../packages/daemon/src/detect/detect.ts';
import { openSqlite } from '../packages/daemon/src/store/sqlite.ts';
import type { Store } from '../packages/daemon/src/store/port.ts';
import type { Look } from '../packages/daemon/src/values/look.ts';

const pages = Number(process.env['REVISIT_BENCH_PAGES'] ?? 1_000_000);
const pagesPerSite = 100;
const startSecondsMax = 10;
const bytesPerPageMax = 1024;

function storeAt(folder: string): Store {
  const opened = openSqlite(join(folder, 'revisit.db'));
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return opened.store;
}

async function fill(folder: string, count: number): Promise<void> {
  const store = storeAt(folder);
  const { state } = await detect({
    select: { kind: 'text' },
    options: {},
    body: Buffer.from('<title>A page</title><p>Something</p>'),
    mediaType: 'text/html',
    url: 'https://a.example/',
    atMs: 0,
  });
  const batch = 10_000;
  for (let first = 0; first < count; first += batch) {
    const some = Array.from({ length: Math.min(batch, count - first) }, (_, offset) => {
      const page = first + offset;
      const site = `site${Math.floor(page / pagesPerSite)}.example`;
      return {
        url: `https://www.${site}/section/article-${page}.html`,
        site,
        select: { kind: 'text' } as const,
        tags: [],
        weight: 1,
        paused: false,
        options: {},
        addedAtMs: page,
      };
    });
    const kept = await store.addPages(some);
    if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
    const looks = kept.value.map(({ page: { page } }, offset) => seen(page.id, first + offset, state));
    const seenToo = await store.commit(looks);
    if (seenToo.kind === 'failed') throw new Error(seenToo.fault.sentence);
  }
  await store.close();
}

/** A look of an hour ago that found the page for the first time. */
function seen(pageId: string, page: number, state: string): Look {
  const atMs = Date.now() - 3_600_000;
  const print = createHash('sha1').update(String(page)).digest('base64url').slice(0, 22);
  return {
    pageId,
    probeId: `fill-${page}`,
    atMs,
    endedAtMs: atMs + 200,
    kind: 'first',
    bytesReceived: 10_000,
    state: {
      status: 'present',
      version: 1,
      toldVersion: 1,
      validators: {},
      failures: 0,
      looks: 1,
      changes: 0,
      hash: createHash('sha256').update(String(page)).digest('hex').slice(0, 32),
      lastLookMs: atMs,
      lastSeenMs: atMs,
      seenTitle: `Article ${page}`,
      detectState: state.replace(/"body":"[^"]*"/, `"body":"${print}"`),
    },
  };
}

/** In the child: start with what is there and say what it took. */
async function start(folder: string): Promise<void> {
  const settled = settle({ data: folder, policy: 'revisit' }, {});
  if (settled.kind === 'wrong') throw new Error(settled.sentence);
  global.gc!();
  const before = process.memoryUsage();
  const begin = performance.now();
  const store = storeAt(folder);
  const loop = createLoop(settled.value, store, () => {});
  await loop.load();
  const seconds = (performance.now() - begin) / 1000;
  global.gc!();
  const after = process.memoryUsage();
  // What lives on the heap and beside it (policies keep their pages in typed arrays).
  const bytes = after.heapUsed + after.external - before.heapUsed - before.external;
  process.stdout.write(
    JSON.stringify({ seconds, bytesPerPage: bytes / loop.collection.size, pages: loop.collection.size }),
  );
  process.exit(0);
}

export const bench: Bench = async (say) => {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-bench-'));
  try {
    say(`writing ${pages.toLocaleString('en')} pages`);
    await fill(folder, pages);
    say('starting with them');
    const child = spawnSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), folder], {
      encoding: 'utf8',
    });
    if (child.status !== 0) throw new Error(child.stderr.slice(-500));
    const result = JSON.parse(child.stdout) as { seconds: number; bytesPerPage: number; pages: number };
    if (result.pages !== pages) throw new Error(`${result.pages} pages are watched of ${pages}`);
    return [
      {
        what: 'idle pages in memory, 1,000,000',
        ours: `${Math.round(result.bytesPerPage)} bytes a page`,
        rival: `${bytesPerPageMax} bytes (design)`,
        holds: result.bytesPerPage <= bytesPerPageMax,
      },
      {
        what: 'start-up with 1,000,000 pages',
        ours: `${result.seconds.toFixed(1)} s`,
        rival: `${startSecondsMax} s (issue)`,
        holds: result.seconds <= startSecondsMax,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await start(process.argv[2]!);
