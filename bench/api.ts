/** Every view's calls on 100,000 pages and 1,000,000 changes, and the weight of the first load. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openSqlite } from '../packages/daemon/src/store/sqlite.ts';
import type { Bench, Measurement } from '../house/bench.ts';
import { callRows } from './api/calls.ts';
import { fill } from './api/collection.ts';

const firstLoadMost = 150_000;

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

function firstLoadRow(): Measurement {
  const bytes = firstLoadBytes();
  return {
    what: 'first load, compressed',
    ours: `${(bytes / 1000).toFixed(1)} kB`,
    rival: `${firstLoadMost / 1000} kB`,
    holds: bytes <= firstLoadMost,
  };
}

async function calls(say: (line: string) => void): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-bench-api-'));
  const opened = openSqlite(join(folder, 'revisit.db'));
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  try {
    const ids = await fill(opened.store, say);
    return await callRows(opened.store, ids[100]!);
  } finally {
    await opened.store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const bench: Bench = async (say) => [...(await calls(say)), firstLoadRow()];
