/**
 * A daemon that watches hostile pages beside healthy ones, over real sockets and a real store: what the healthy ones say is found
 * as soon as without the others, every hostile page stands as it should, and memory stays within bounds.
 */
import { rmSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { settle } from '../config/config.ts';
import { startDaemon } from '../daemon.ts';
import { bombBytes, hostileServers, Servers, shortLimits } from '../observe/test/hostile.ts';
import { type Loopback, serve } from '../observe/test/loopback.ts';
import { eventually, freshFolder } from './command.ts';

const servers = new Servers();
const healthy: Loopback[] = [];
const folder = freshFolder();
const stop = new AbortController();
let ended: Promise<void> | undefined;
afterEach(async () => {
  // First, as a daemon that ends gives those who are asked a moment to answer.
  await servers.close();
  stop.abort();
  await ended;
  for (const site of healthy) await site.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Shown {
  readonly url: string;
  readonly version: number;
  readonly status: string;
  readonly failures: number;
  readonly fault: { readonly code: string } | null;
}

const healthySites = 4;
/** Editions of all healthy pages before the hostile ones come, and the least while they are there. */
const editionsBefore = 5;

test('hostile pages do not keep a daemon from the others', async () => {
  let edition = 0;
  for (let i = 1; i <= healthySites; i++)
    healthy.push(await serve((_request, response) => response.end(`edition ${edition}`), undefined, `127.0.1.${i}`));
  const hostile = new Map<string, string>();
  for (const [i, { begin, code }] of hostileServers.entries())
    hostile.set(`http://${await servers.raw(begin(), `127.0.2.${i + 1}`)}/`, code);

  const config = settle(
    // Fewer than hostile servers, each of which would keep one.
    { robots: 8 },
    {
      data: folder,
      port: '0',
      budget: '200/second',
      spacing: '20ms',
      allowNetwork: ['127.0.0.0/8'],
      logLevel: 'silent',
    },
  );
  if (config.kind === 'wrong') throw new Error(config.sentence);
  const started = await startDaemon(config.value, stop.signal, { observer: { limits: shortLimits } });
  if (started.kind === 'wrong') throw new Error(started.sentence);
  const { url } = started.daemon;
  ended = started.daemon.ended;
  const shown = async (): Promise<readonly Shown[]> =>
    ((await (await fetch(`${url}/api/pages?limit=200`)).json()) as { pages: Shown[] }).pages;
  const add = async (address: string): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url}/api/pages`, { method: 'POST', headers, body: JSON.stringify({ url: address }) });
  };

  /** How long it takes until a new edition of every healthy page is found. */
  const foundMs = async (): Promise<number> => {
    const begunMs = performance.now();
    edition++;
    await eventually(async () => {
      const pages = (await shown()).filter((page) => !hostile.has(page.url));
      return pages.length === healthySites && pages.every(({ version }) => version === edition + 1);
    });
    return performance.now() - begunMs;
  };
  const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

  for (const { origin } of healthy) await add(`${origin}/`);
  await eventually(async () => (await shown()).every(({ version }) => version === 1));
  const before: number[] = [];
  while (before.length < editionsBefore) before.push(await foundMs());

  const held = process.memoryUsage();
  const begunMs = performance.now();
  for (const address of hostile.keys()) await add(address);
  const meanwhile: number[] = [];
  let [heapBytes, rssBytes] = [0, 0];
  for (;;) {
    meanwhile.push(await foundMs());
    const { heapUsed, rss } = process.memoryUsage();
    heapBytes = Math.max(heapBytes, heapUsed);
    rssBytes = Math.max(rssBytes, rss);
    const pages = (await shown()).filter((page) => hostile.has(page.url));
    if (meanwhile.length >= editionsBefore && pages.every(({ failures }) => failures > 0)) break;
  }
  // As soon as before, but for what else this machine does now.
  expect(median(meanwhile)).toBeLessThan(3 * median(before) + 1_000);
  // All of them within a few times what one look may take, and nobody waits for another one's end.
  expect(performance.now() - begunMs).toBeLessThan(10 * shortLimits.totalMs + 15_000);
  expect(heapBytes - held.heapUsed).toBeLessThan(2 * bombBytes);
  expect(rssBytes - held.rss).toBeLessThan(4 * bombBytes);

  const states = (await shown()).filter((page) => hostile.has(page.url));
  expect(states.length).toBe(hostileServers.length);
  for (const { url: address, status, version, fault } of states) {
    const name = hostileServers[[...hostile.keys()].indexOf(address)]!.name;
    expect([name, status, version, fault?.code]).toEqual([name, 'new', 0, hostile.get(address)]);
  }
  const { changes } = (await (await fetch(`${url}/api/changes?limit=1000`)).json()) as { changes: { url: string }[] };
  expect(changes.filter((change) => hostile.has(change.url))).toEqual([]);
  expect(changes.length).toBe(healthySites * edition);
});
