/**
 * Probes per second from end to end: dispatch, fetch, detect, learn, keep; one process, 10 KB pages on loopback of which 5 %
 * changed since the last look. Held against a loop that only reads the bodies with the bare HTTP client, and against peers that
 * check the same pages on the same server. Everybody's politeness is switched off, as the pages are our own.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import type { Bench, Measurement } from '../house/bench.ts';
import { createLoop } from '../packages/daemon/src/daemon.ts';
import { settle } from '../packages/daemon/src/config/config.ts';
import { expectShortLives } from '../packages/daemon/src/short-lived.ts';
import { openSqlite } from '../packages/daemon/src/store/sqlite.ts';
import { writerWorthIt } from '../packages/daemon/src/store/writer.ts';
import { rivals } from './observe-rivals.ts';

/** So many that a pass takes seconds: what a check does before its first look and after its last is not what is measured. */
export const pages = 20_000;
const sites = 200;
const robots = 64;
const passes = 7;
/** Before the first that counts, of ours and of the bare client: code that runs for weeks is compiled in its first seconds. */
const warmUps = 3;

export interface Web {
  readonly urls: readonly string[];
  advance(): Promise<void>;
  close(): void;
}

export async function startWeb(kind: Kind): Promise<Web> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'observe-web.ts'), String(pages), kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data).trim())),
  );
  const urls = Array.from({ length: pages }, (_, page) => `http://127.0.${1 + (page % sites)}.1:${port}/page/${page}`);
  return {
    urls,
    advance: async () => {
      const { body } = await request(`http://127.0.0.1:${port}/advance`);
      await body.dump();
    },
    close: () => child.kill(),
  };
}

/** Seconds a probe for the bare client: as many requests under way, bodies read and dropped. */
async function bare(urls: readonly string[], agent: Agent): Promise<number> {
  const begin = performance.now();
  let next = 0;
  const reader = async () => {
    while (next < urls.length) {
      const { body } = await request(urls[next++]!, { dispatcher: agent });
      await body.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: robots }, reader));
  return (performance.now() - begin) / 1000 / urls.length;
}

export interface Ours {
  pass(): Promise<{ readonly seconds: number; readonly changes: number }>;
  close(): Promise<void>;
}

export async function startOurs(urls: readonly string[]): Promise<Ours> {
  // As every process of ours begins, and for the bare client too, which runs in the same one.
  expectShortLives();
  const folder = mkdtempSync(join(tmpdir(), 'revisit-bench-'));
  const opened = openSqlite(join(folder, 'revisit.db'), { writerFrom: writerWorthIt });
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  const settled = settle({ budget: '1000000/second', spacing: '0', allowNetwork: ['127.0.0.0/8'], robots }, {});
  if (settled.kind === 'wrong') throw new Error(settled.sentence);
  const addedAtMs = Date.now();
  const added = urls.map((url) => ({
    url,
    site: new URL(url).hostname,
    select: { kind: 'text' } as const,
    tags: [],
    weight: 1,
    paused: false,
    options: {},
    addedAtMs,
  }));
  await store.addPages(added);
  const loop = createLoop(settled.value, store, () => {});
  await loop.load();
  let known = 0;
  return {
    pass: async () => {
      const begin = performance.now();
      await loop.sweep(new AbortController().signal, true);
      const seconds = (performance.now() - begin) / 1000;
      const { changes } = await store.counts();
      const found = changes - known;
      known = changes;
      return { seconds: seconds / urls.length, changes: found };
    },
    close: async () => {
      await loop.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const best = (values: readonly number[]) => Math.min(...values);
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const rate = (seconds: number) => `${Math.round(1 / seconds).toLocaleString('en')} probes/s`;

type Kind = 'validators' | 'plain';

interface Beside {
  /** Each pass is held against the bare client's just before it: what else the machine does then hits both. */
  readonly ratio: number;
  readonly seconds: number;
  readonly bareSeconds: number;
}

/** Ours and the bare client in turn, in a process that does nothing else and has done nothing before. */
async function besideBare(kind: Kind): Promise<Beside> {
  const web = await startWeb(kind);
  const ours = await startOurs(web.urls);
  // Like ours, it keeps its connections from pass to pass.
  const agent = new Agent({ connections: 1 });
  await ours.pass();
  const bareTimes: number[] = [];
  const times: number[] = [];
  for (let pass = -warmUps; pass < passes; pass++) {
    await web.advance();
    const bareSeconds = await bare(web.urls, agent);
    const { seconds, changes } = await ours.pass();
    if (changes !== pages / 20) throw new Error(`${changes} changes were found of ${pages / 20}`);
    const note = pass < 0 ? ' (warming up)' : '';
    process.stderr.write(`${kind}: ours ${rate(seconds)}, bare client ${rate(bareSeconds)}${note}\n`);
    if (pass < 0) continue;
    bareTimes.push(bareSeconds);
    times.push(seconds);
  }
  await agent.close();
  await ours.close();
  web.close();
  const ratio = median(times.map((seconds, pass) => bareTimes[pass]! / seconds));
  return { ratio, seconds: best(times), bareSeconds: best(bareTimes) };
}

export const bench: Bench = async (say) => {
  const rows: Measurement[] = [];
  const measured = (['validators', 'plain'] as const).map((kind) => {
    const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), kind], {
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
    });
    if (child.status !== 0) throw new Error(`${kind}: it ended with ${child.status ?? child.signal}`);
    return { kind, ...(JSON.parse(child.stdout) as Beside) };
  });
  for (const { kind, ratio, seconds, bareSeconds } of measured)
    rows.push({
      what: `end to end, ${kind === 'validators' ? 'server with ETag' : 'server without validators'}`,
      ours: rate(seconds),
      rival: `bare undici ${rate(bareSeconds)}`,
      ratio: `${ratio.toFixed(2)}, the median of ${passes} (≥ 0.5)`,
      holds: ratio >= 0.5,
    });
  const ours = measured.at(-1)!.seconds;
  const web = await startWeb('plain');
  for (const rival of rivals) {
    say(`measuring ${rival.name}`);
    const what = `a check against ${rival.name}`;
    const seconds = rival.measure(web.urls);
    if (typeof seconds === 'string') {
      say(seconds);
      rows.push({ what, ours: rate(ours), rival: seconds, holds: false });
      continue;
    }
    rows.push({
      what,
      ours: rate(ours),
      rival: `${rival.name} ${rate(seconds)}${rival.how ? ` (${rival.how})` : ''}`,
      ratio: `${(seconds / ours).toFixed(1)} (≥ ${rival.times})`,
      holds: seconds / ours >= rival.times,
    });
  }
  web.close();
  return rows;
};

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(JSON.stringify(await besideBare(process.argv[2] as Kind)));
