import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, loopbackWeb, serve, type LoopbackWeb, type Serving } from '../../daemon/src/trial/command.ts';
import { locate } from '../../../house/provision.ts';
import { type NatsServer, startNats } from './trial/nats-server.ts';
import { type PostgresServer, startPostgres } from './trial/postgres-server.ts';

const bin = join(import.meta.dirname, '../../daemon/bin/revisit.js');
const open = ['--allow-network', '127.0.0.0/8'];
const spacingMs = 50;

let web: LoopbackWeb;
let postgres: PostgresServer;
let nats: NatsServer;
const robots: ChildProcess[] = [];

function robot(): ChildProcess {
  const words = ['robot', '--nats', nats.url, '--spacing', `${spacingMs}ms`, '--log-level', 'warn', ...open];
  const child = spawn(process.execPath, [bin, ...words], { cwd: tmpdir(), stdio: ['ignore', 'ignore', 'inherit'] });
  robots.push(child);
  return child;
}

async function json<Body>(url: string): Promise<Body> {
  return (await (await fetch(url)).json()) as Body;
}

interface PageBody {
  readonly id: string;
  readonly url: string;
  readonly version: number;
  readonly lastProbe: string | null;
}

interface ChangeBody {
  readonly id: string;
  readonly cursor: string;
  readonly pageId: string;
  readonly toVersion: number;
}

async function add(coordinator: Serving, urls: readonly string[]): Promise<void> {
  const answer = await fetch(`${coordinator.url}/api/pages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(urls.map((url) => ({ url }))),
  });
  expect(answer.status).toBe(201);
}

/** Waits until the newest version of every page says what its server says. */
function allSay(coordinator: Serving, edition: string): Promise<readonly PageBody[]> {
  return eventually(async () => {
    if (coordinator.process.exitCode !== null) throw new Error(`The coordinator ended: ${coordinator.err()}`);
    const { pages } = await json<{ pages: PageBody[] }>(`${coordinator.url}/api/pages?limit=1000`);
    if (pages.some((page) => page.version === 0)) return undefined;
    const texts = await Promise.all(
      pages.map(async (page) =>
        (await fetch(`${coordinator.url}/api/pages/${page.id}/versions/${page.version}`)).text(),
      ),
    );
    return texts.every((text) => text.includes(edition)) && pages;
  });
}

// About one run in three stalls before its second minute on a busy machine, for a reason that is not known yet; until it
// is, the trial runs only when it is asked for (REVISIT_TRIALS=1), and what it shows is not claimed.
const asked = process.env['REVISIT_TRIALS'] === '1' && locate('nats-server') !== undefined;

describe.runIf(asked)('a cluster of real processes', () => {
  beforeAll(async () => {
    [web, postgres, nats] = await Promise.all([loopbackWeb('0.0.0.0'), startPostgres(), startNats()]);
  });
  afterAll(async () => {
    for (const child of robots) child.kill('SIGKILL');
    await Promise.all([web.close(), postgres.end(), nats.end()]);
  });

  test('coordinators and robots die, servers restart: nothing is lost, doubled or rushed', async () => {
    const store = await postgres.database('cluster');
    const words = [
      '--store',
      store,
      '--nats',
      nats.url,
      // Every page as often as every other, so that an edition is seen within seconds.
      '--policy',
      'uniform',
      '--budget',
      '40/second',
      '--spacing',
      `${spacingMs}ms`,
      '--log-level',
      'warn',
      ...open,
    ];
    const [first, second] = await Promise.all([serve(words), serve(words)]);
    const helpers = [robot(), robot()];
    // Loopback addresses are sites of their own, so the shards have work to share.
    const hosts = Array.from({ length: 12 }, (_, i) => web.url.replace('127.0.0.1', `127.0.0.${i + 1}`));
    const paths = hosts.map((_, i) => `/c/${i}`);
    const edit = (edition: string): void => paths.forEach((path) => web.pages.set(path, `<p>${edition}</p>`));
    edit('edition 1');
    await add(
      first,
      hosts.map((host, i) => host + paths[i]),
    );
    await allSay(second, 'edition 1');

    edit('edition 2');
    helpers[0]!.kill('SIGKILL');
    await allSay(second, 'edition 2');

    edit('edition 3');
    await first.end('SIGKILL');
    await allSay(second, 'edition 3');

    edit('edition 4');
    await nats.kill();
    await nats.start();
    await allSay(second, 'edition 4');

    edit('edition 5');
    await postgres.stop();
    await postgres.start();
    const pages = await allSay(second, 'edition 5');

    const { changes } = await json<{ changes: ChangeBody[] }>(`${second.url}/api/changes?limit=1000`);
    expect(changes.map((change) => Number(change.cursor))).toEqual(changes.map((_, i) => i + 1));
    expect(new Set(changes.map((change) => change.id)).size).toBe(changes.length);
    for (const { id, version } of pages) {
      const told = changes.filter((change) => change.pageId === id).map((change) => change.toVersion);
      expect(told).toEqual(Array.from({ length: version - 1 }, (_, i) => i + 2));
    }
    for (const path of paths) {
      const times = web.asked.filter((entry) => entry.path === path).map((entry) => entry.atMs);
      // Arrival times at the server jitter by a few milliseconds against the times of sending.
      for (let i = 1; i < times.length; i++) expect(times[i]! - times[i - 1]!).toBeGreaterThanOrEqual(spacingMs - 30);
    }
    expect(await second.end('SIGTERM')).toBe(0);
  });
});
