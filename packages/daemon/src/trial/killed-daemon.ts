/**
 * The real thing: a daemon in its own process is killed with SIGKILL again and again while pages change and a receiver on
 * a real socket fails, hangs, hangs up and answers late. Answers what was wrong with what was told.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { integer, random, type Random } from '@revisit/core';
import { receiptOf, wrongIn, type Receipt } from '../simulation/receivers.ts';
import { eventually, loopbackWeb, type Serving } from './command.ts';
import { everyPageHas } from './newest.ts';
import { inFolder, type Place } from './place.ts';

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

export async function killAgainAndAgain(kills: number, seed: number, place: Place = inFolder()): Promise<KilledReport> {
  const luck = random(seed);
  const [web, hook] = [await loopbackWeb(), await badReceiver(luck)];
  const speed = ['--spacing', '20ms', '--budget', '60/second'];
  const words = ['--allow-network', '127.0.0.0/8', ...speed, '--log-level', 'error'];
  const paths = Array.from({ length: pagesWatched }, (_, i) => `/page/${i}`);
  for (const path of paths) web.pages.set(path, '<p>Page in its first edition</p>');
  await place.add(paths.map((path) => `${web.url}${path}`));
  await subscribe(await place.serve(words), hook.url);
  let edition = 0;
  const editing = setInterval(() => {
    for (const path of paths)
      if (luck() < 0.3) web.pages.set(path, `<p>Page ${path} in edition number ${edition++} of many</p>`);
  }, 60);
  for (let kill = 0; kill < kills; kill++) {
    const asked = web.asked.length;
    const daemon = await place.serve(words);
    // Most lives see something, however slow the machine; some end before that.
    if (luck() < 0.8) await eventually(() => web.asked.length > asked);
    await new Promise((resolve) => setTimeout(resolve, integer(luck, 700)));
    await daemon.end('SIGKILL');
  }
  clearInterval(editing);
  hook.calmDown();
  await finish(await place.serve(words), () => {
    for (const path of paths) web.pages.set(path, `<p>Page ${path} in its last edition</p>`);
  });
  const report = judge(await place.read(), hook.taken);
  await web.close();
  await hook.close();
  await place.end();
  return { ...report, wrong: [...hook.wrong, ...report.wrong], kills, messages: hook.taken.length };
}

/** The first life: somebody asks to be told, and the daemon is killed as soon as that is promised. */
async function subscribe(first: Serving, url: string): Promise<void> {
  const answer = await fetch(`${first.url}/api/subscriptions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ deliver: url }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  await first.end('SIGKILL');
}

/** One last process sees all pages as they stand and in their last edition, tells all that waits and ends in order. */
async function finish(last: Serving, edit: () => void): Promise<void> {
  // On a slow machine the lives before may have ended without keeping a look; here every page changes after one.
  await everyPageHas('edition', last.url);
  edit();
  // No page changes any more: what waits is all there will be. Counting looks would not do, one under way saw the page as it was.
  await everyPageHas('last edition', last.url);
  await eventually(async () => {
    const { deliveries } = (await (await fetch(`${last.url}/api/deliveries?status=due`)).json()) as {
      deliveries: unknown[];
    };
    return deliveries.length === 0;
  });
  await last.end('SIGTERM');
}

function judge(
  { changes, wrong }: Awaited<ReturnType<Place['read']>>,
  taken: readonly Receipt[],
): Pick<KilledReport, 'wrong' | 'changes'> {
  const holes = changes.some(({ sequence }, i) => sequence !== i + 1) ? ['the log of changes has a hole'] : [];
  return { wrong: [...wrong, ...holes, ...wrongIn(taken, changes)], changes: changes.length };
}
