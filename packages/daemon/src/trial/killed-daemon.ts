/**
 * The real thing: a daemon in its own process is killed with SIGKILL again and again while pages change and a receiver on
 * a real socket fails, hangs, hangs up and answers late. Answers what was wrong with what was told.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { integer, random, type Random } from '@revisit/core';
import { receiptOf, wrongIn, type Receipt } from '../simulation/receivers.ts';
import { openSqlite } from '../store/sqlite.ts';
import { eventually, freshFolder, loopbackWeb, revisit, serve } from './command.ts';

export interface KilledReport {
  readonly wrong: readonly string[];
  readonly kills: number;
  readonly changes: number;
  readonly messages: number;
}

const pagesWatched = 6;
/** Answered after the courier has done other things, or been killed. */
const lateMs = 700;

async function badReceiver(luck: Random) {
  const taken: Receipt[] = [];
  const wrong: string[] = [];
  let calm = false;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const roll = calm ? 1 : luck();
      if (roll < 0.1) return response.writeHead(500).end();
      // It never answers; what it does with the message nobody knows.
      if (roll < 0.14) return undefined;
      const receipt = receiptOf(JSON.parse(body) as Parameters<typeof receiptOf>[0]);
      if (request.headers['revisit-delivery'] !== receipt.delivery)
        wrong.push(`${receipt.delivery} came under the name ${String(request.headers['revisit-delivery'])}`);
      taken.push(receipt);
      if (roll < 0.2) return request.socket.destroy();
      if (roll < 0.3) return setTimeout(() => response.writeHead(200).end(), lateMs);
      return response.writeHead(204).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    taken,
    wrong,
    calmDown: () => (calm = true),
    close: () => new Promise<void>((done) => void (server.closeAllConnections(), server.close(() => done()))),
  };
}

export async function killAgainAndAgain(kills: number, seed: number): Promise<KilledReport> {
  const luck = random(seed);
  const [web, hook, folder] = [await loopbackWeb(), await badReceiver(luck), freshFolder()];
  const speed = ['--spacing', '20ms', '--budget', '60/second'];
  const words = ['--data', folder, '--allow-network', '127.0.0.0/8', ...speed, '--log-level', 'error'];
  const paths = Array.from({ length: pagesWatched }, (_, i) => `/page/${i}`);
  for (const path of paths) web.pages.set(path, '<p>Page in its first edition</p>');
  await revisit(['add', '--data', folder, ...paths.map((path) => `${web.url}${path}`)]);
  await revisit(['subscribe', '--data', folder, hook.url]);
  let edition = 0;
  const editing = setInterval(() => {
    for (const path of paths)
      if (luck() < 0.3) web.pages.set(path, `<p>Page ${path} in edition number ${edition++} of many</p>`);
  }, 60);
  for (let kill = 0; kill < kills; kill++) {
    const asked = web.asked.length;
    const daemon = await serve(words);
    // Most lives see something, however slow the machine; some end before that.
    if (luck() < 0.8) await eventually(() => web.asked.length > asked);
    await new Promise((resolve) => setTimeout(resolve, integer(luck, 700)));
    await daemon.end('SIGKILL');
  }
  clearInterval(editing);
  hook.calmDown();
  await finish(words);
  const report = await judge(folder, hook.taken);
  await web.close();
  await hook.close();
  rmSync(folder, { recursive: true, force: true });
  return { ...report, wrong: [...hook.wrong, ...report.wrong], kills, messages: hook.taken.length };
}

/** One last process looks at the pages as they stand, tells all that waits and ends in order. */
async function finish(words: readonly string[]): Promise<void> {
  const last = await serve(words);
  const ask = async (path: string) => (await fetch(`${last.url}${path}`)).json() as Promise<Record<string, unknown[]>>;
  const looks = async () => ((await ask('/api/pages'))['pages'] as { looks: number }[]).map((page) => page.looks);
  const before = await looks();
  // No page changes any more: after one look at each, what waits is all there will be.
  await eventually(async () => (await looks()).every((count, i) => count > before[i]!));
  await eventually(async () => (await ask('/api/deliveries?status=due'))['deliveries']!.length === 0);
  await last.end('SIGTERM');
}

async function judge(folder: string, taken: readonly Receipt[]) {
  const opened = openSqlite(join(folder, 'revisit.db'));
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const wrong = opened.store.care.check(false).findings.map(({ what }) => what);
  const changes = await opened.store.changes({ after: 0, limit: 1_000_000 });
  await opened.store.close();
  if (changes.some(({ sequence }, i) => sequence !== i + 1)) wrong.push('the log of changes has a hole');
  return { wrong: [...wrong, ...wrongIn(taken, changes)], changes: changes.length };
}
