import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locate } from '../../../house/provision.ts';
import {
  type LoopbackWeb,
  type Serving,
  eventually,
  freshFolder,
  loopbackWeb,
  serve,
} from '../../daemon/src/trial/command.ts';
import { leash } from '../../daemon/src/trial/leash.ts';
import { type NatsServers, startNatsServers } from './trial/nats-servers.ts';
import { type PostgresServer, startPostgres } from './trial/postgres-server.ts';
import { json, rushed } from './trial/verdict.ts';

const bin = join(import.meta.dirname, '../../daemon/bin/revisit.js');
const spacingMs = 300;
const hosts = 8;

/** As it is shipped: three NATS servers, mandates of minutes, leases of seconds. */
describe.skipIf(locate('nats-server') === undefined)('a cluster with three NATS servers', () => {
  let web: LoopbackWeb;
  let postgres: PostgresServer;
  let nats: NatsServers;
  const coordinators: Serving[] = [];
  const fetchers: ChildProcess[] = [];
  const folder = freshFolder();
  let edition = 0;
  let coordinating: readonly string[] = [];

  function edit(): void {
    edition++;
    for (let host = 0; host < hosts; host++)
      for (const page of ['a', 'b']) web.pages.set(`/${host}/${page}`, `<p>edition ${edition}</p>`);
  }

  /** Every page has a change, or its first look, that says the edition. */
  async function allSeen(): Promise<void> {
    const { url } = coordinators[0]!;
    const seen = new Set<string>();
    await eventually(async () => {
      const { pages } = await json<{ pages: { id: string; version: number }[] }>(`${url}/api/pages?limit=100`);
      for (const { id, version } of pages) {
        if (version === 0 || seen.has(id)) continue;
        const text = await (await fetch(`${url}/api/pages/${id}/versions/${version}`)).text();
        if (text.includes(`edition ${edition}`)) seen.add(id);
      }
      return seen.size === 2 * hosts;
    });
  }

  beforeAll(async () => {
    [web, postgres, nats] = await Promise.all([loopbackWeb('0.0.0.0'), startPostgres(), startNatsServers()]);
    const store = await postgres.database('three');
    const config = join(folder, 'revisit.yaml');
    writeFileSync(config, 'natsReplicas: 3\n');
    const alike = ['--nats', nats.url, '--spacing', `${spacingMs}ms`, '--allow-network', '127.0.0.0/8'];
    const plan = ['--policy', 'uniform', '--budget', '20/second', '--store', store, '--log-level', 'silent'];
    coordinating = [config, ...plan, ...alike];
    for (let i = 0; i < 2; i++) coordinators.push(await serve(coordinating));
    const work = (...words: string[]): void => {
      const all = [bin, ...words, ...alike, '--log-level', 'error'];
      fetchers.push(leash(spawn(process.execPath, all, { cwd: tmpdir(), stdio: 'ignore' })));
    };
    for (const name of ['r1', 'r2']) work('robot', '--name', name);
    work('observer', '--name', 'near', '--data', folder);
    edit();
    const at = (host: number): string => web.url.replace('127.0.0.1', `127.0.0.${host + 1}`);
    const urls = Array.from({ length: 2 * hosts }, (_, i) => `${at(i >> 1)}/${i >> 1}/${i % 2 ? 'a' : 'b'}`);
    const answer = await fetch(`${coordinators[0]!.url}/api/pages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(urls.map((url) => ({ url }))),
    });
    expect(answer.status).toBe(201);
    await allSeen();
  });
  afterAll(async () => {
    for (const fetcher of fetchers) fetcher.kill('SIGKILL');
    await Promise.all(coordinators.map((coordinator) => coordinator.end('SIGKILL')));
    await Promise.all([web.close(), postgres.end(), nats.end()]);
    rmSync(folder, { recursive: true, force: true });
  });

  test('goes on when each of them in turn is killed, and all at once, and rushes no site', async () => {
    for (let server = 0; server < 3; server++) {
      await nats.kill();
      edit();
      await allSeen();
      await nats.start();
    }
    await nats.kill('all');
    edit();
    await nats.start();
    await allSeen();
    expect(rushed(web, spacingMs)).toEqual([]);
  });

  test('a coordinator that is started while they cannot agree works with the one that is left', async () => {
    await nats.kill('most');
    await Promise.all(coordinators.splice(0).map((coordinator) => coordinator.end('SIGKILL')));
    edit();
    coordinators.push(await serve(coordinating));
    await allSeen();
    await nats.start();
    edit();
    await allSeen();
    expect(rushed(web, spacingMs)).toEqual([]);
  });
});
