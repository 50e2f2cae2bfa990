import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Serving, eventually, loopbackWeb, serve } from '../../daemon/src/trial/command.ts';
import { leash } from '../../daemon/src/trial/leash.ts';
import { locate } from '../../../house/provision.ts';
import { type NatsServer, startNats } from './trial/nats-server.ts';
import { startPooled } from './trial/pooler.ts';
import type { PostgresServer } from './trial/postgres-server.ts';

const bin = join(import.meta.dirname, '../../daemon/bin/revisit.js');
const open = ['--allow-network', '127.0.0.0/8', '--log-level', 'error'];
const hosts = 12;

describe.skipIf(locate('nats-server') === undefined)('two coordinators answer as one', () => {
  let postgres: PostgresServer;
  let nats: NatsServer;
  let both: Serving[];
  beforeAll(async () => {
    [postgres, nats] = await Promise.all([startPooled(), startNats()]);
    const words = ['--store', await postgres.database('together'), '--nats', nats.url, ...open];
    const start = (): Promise<Serving> => serve([...words, '--budget', '50/second', '--spacing', '20ms']);
    both = [await start(), await start()];
    const robot = ['robot', '--nats', nats.url, '--spacing', '20ms', ...open];
    leash(spawn(process.execPath, [bin, ...robot], { cwd: tmpdir(), stdio: 'ignore' }));
  });
  afterAll(async () => {
    await Promise.all(both.map((serving) => serving.end('SIGKILL')));
    await Promise.all([postgres.end(), nats.end()]);
  });

  test('each lists every page, looks at every page by request, and tells subscriptions of the other', async () => {
    const web = await loopbackWeb('0.0.0.0');
    const told = new Set<string>();
    const receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        for (const { pageId } of (JSON.parse(body) as { changes: { pageId: string }[] }).changes) told.add(pageId);
        response.end();
      });
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
    const [one, two] = both.map(({ url }) => url) as [string, string];
    const post = async <Body>(url: string, payload: object): Promise<Body> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(payload) });
      expect(answer.ok).toBe(true);
      return (await answer.json()) as Body;
    };
    const list = async (
      at: string,
      query: string,
    ): Promise<{ id: string; version: number; current: number | null }[]> =>
      ((await (await fetch(`${at}/api/pages?${query}`)).json()) as { pages: never[] }).pages;
    const urls = Array.from({ length: hosts }, (_, i) => web.url.replace('127.0.0.1', `127.0.0.${i + 1}`) + `/${i}`);
    for (let i = 0; i < hosts; i++) web.pages.set(`/${i}`, `<p>one ${i}</p>`);
    await post(
      `${one}/api/pages`,
      urls.map((url) => ({ url })),
    );
    for (const at of [one, two])
      for (const order of ['added', 'title', 'current', 'next', 'rate'])
        await eventually(async () => {
          const pages = await list(at, `order=${order}&limit=100`);
          expect(pages).toHaveLength(hosts);
          return pages.every(({ version }) => version === 1);
        });
    // Each looks after some of them.
    for (const at of [one, two])
      await eventually(async () => {
        const known = (await list(at, 'order=current&limit=100')).map(({ current }) => current !== null);
        // Those of whom it knows more come first.
        expect(known).toEqual(known.toSorted((a, b) => Number(b) - Number(a)));
        return known.includes(true) && known.includes(false);
      });
    const { port } = receiver.address() as AddressInfo;
    await post(`${two}/api/subscriptions`, { deliver: `http://127.0.0.1:${port}/` });
    for (let i = 0; i < hosts; i++) web.pages.set(`/${i}`, `<p>two ${i}</p>`);
    for (const { id } of await list(two, 'limit=100')) await post(`${one}/api/pages/${id}/probe`, {});
    await eventually(() => told.size === hosts);
    // What is set at one holds at both, and is the whole, of which each has a part.
    const settings = async (at: string): Promise<{ budgetPerHour: number; quiet: string[] }> =>
      (await (await fetch(`${at}/api/settings`)).json()) as never;
    const headers = { 'content-type': 'application/json' };
    const wanted = { budget: '72000/hour', quiet: ['03:00-03:01 Europe/Berlin'] };
    await fetch(`${one}/api/settings`, { method: 'PATCH', headers, body: JSON.stringify(wanted) });
    for (const at of [one, two])
      await eventually(async () => {
        const { budgetPerHour, quiet } = await settings(at);
        return Math.round(budgetPerHour) === 72_000 && quiet.length === 1;
      });
    receiver.close();
    await web.close();
  });
});
