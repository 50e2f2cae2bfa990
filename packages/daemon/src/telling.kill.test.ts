/** The real thing: a daemon killed with SIGKILL again and again, a receiver that fails, hangs and answers late. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { integer, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { openSqlite } from './store/sqlite.ts';
import { eventually, freshFolder, loopbackWeb, revisit, serve } from './trial/command.ts';
import type { Change } from './values/change.ts';

/** A soak run sets more; each costs the start of a process. */
const kills = Number(process.env['REVISIT_KILLS'] ?? 6);

interface Receipt {
  readonly delivery: string;
  readonly ids: readonly string[];
  readonly order: readonly (readonly [string, number])[];
}

async function receiver(luck: () => number) {
  const taken: Receipt[] = [];
  let calm = false;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const roll = calm ? 1 : luck();
      if (roll < 0.1) return response.writeHead(500).end();
      const message = JSON.parse(body) as { id: string; changes: { id: string; cursor: string; pageId: string }[] };
      expect(request.headers['revisit-delivery']).toBe(message.id);
      taken.push({
        delivery: message.id,
        ids: message.changes.map(({ id }) => id),
        order: message.changes.map(({ pageId, cursor }) => [pageId, Number(cursor)] as const),
      });
      if (roll < 0.15) return request.socket.destroy();
      if (roll < 0.25) return setTimeout(() => response.writeHead(200).end(), 700);
      return response.writeHead(204).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    taken,
    calmDown: () => (calm = true),
    close: () => new Promise<void>((done) => void (server.closeAllConnections(), server.close(() => done()))),
  };
}

async function changesIn(folder: string): Promise<readonly Change[]> {
  const opened = openSqlite(join(folder, 'revisit.db'));
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  expect(opened.store.care.check(false).findings).toEqual([]);
  const changes = await opened.store.changes({ after: 0, limit: 1_000_000 });
  await opened.store.close();
  return changes;
}

test(
  `killed ${kills} times: no change lost, none told under two ids, in order per page`,
  { timeout: 60_000 + kills * 20_000 },
  async () => {
    const luck = random(11);
    const [web, hook, folder] = [await loopbackWeb(), await receiver(luck), freshFolder()];
    const words = [
      '--data',
      folder,
      '--allow-network',
      '127.0.0.0/8',
      '--spacing',
      '20ms',
      '--budget',
      '60/second',
      '--log-level',
      'error',
    ];
    const paths = Array.from({ length: 6 }, (_, i) => `/page/${i}`);
    let edition = 0;
    const edit = () => {
      for (const path of paths)
        if (luck() < 0.3) web.pages.set(path, `<p>Page ${path} in edition number ${edition++} of many</p>`);
    };
    for (const path of paths) web.pages.set(path, '<p>Page in its first edition</p>');
    await revisit(['add', '--data', folder, ...paths.map((path) => `${web.url}${path}`)]);
    await revisit(['subscribe', '--data', folder, hook.url]);
    const editing = setInterval(edit, 60);
    for (let kill = 0; kill < kills; kill++) {
      const daemon = await serve(words);
      await new Promise((resolve) => setTimeout(resolve, 50 + integer(luck, 900)));
      await daemon.end('SIGKILL');
    }
    clearInterval(editing);
    hook.calmDown();
    const last = await serve(words);
    await eventually(async () => {
      const answer = await fetch(`${last.url}/api/deliveries?status=due`);
      return ((await answer.json()) as { deliveries: unknown[] }).deliveries.length === 0;
    });
    await last.end('SIGTERM');
    const changes = await changesIn(folder);
    const told = new Map<string, string>();
    const seen = new Map<string, number>();
    for (const { delivery, ids, order } of hook.taken) {
      ids.forEach((id, i) => {
        expect(told.get(id) ?? delivery).toBe(delivery);
        if (told.has(id)) return;
        told.set(id, delivery);
        const [pageId, cursor] = order[i]!;
        expect(cursor).toBeGreaterThan(seen.get(pageId) ?? 0);
        seen.set(pageId, cursor);
      });
    }
    expect(changes.length).toBeGreaterThan(kills);
    expect(changes.map(({ sequence }) => sequence)).toEqual(changes.map((_, i) => i + 1));
    // The last looks may have kept changes after the count was taken; everything before them was told.
    expect(
      changes
        .filter(({ id }) => !told.has(id))
        .map(({ sequence }) => sequence)
        .every((sequence) => sequence > changes.length - paths.length),
    ).toBe(true);
    await web.close();
    await hook.close();
  },
);
