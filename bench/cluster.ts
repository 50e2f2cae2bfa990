/**
 * The cluster as real processes on one machine: looks per second with one, two and four robots, what dispatch costs a probe,
 * and the bytes between home and a distant robot, against those of an observer in its place, on pages that change rarely
 * and little. Everything shares the cores of the machine, so what more robots bring is seen where robots are the narrow
 * place (slow sites), as it is in real life.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import type { Bench, Measurement } from '../house/bench.ts';
import { Carrier } from '../packages/cluster/src/dispatch/carrier.ts';
import { ensureStreams, shardCount } from '../packages/cluster/src/dispatch/streams.ts';
import { connect as connectStore } from '../packages/cluster/src/store/connection.ts';
import { PostgresStore } from '../packages/cluster/src/store/postgres.ts';
import { Robot } from '../packages/cluster/src/robot.ts';
import { type NatsServer, startNats } from '../packages/cluster/src/trial/nats-server.ts';
import { type PostgresServer, startPostgres } from '../packages/cluster/src/trial/postgres-server.ts';
import { troubledLink } from '../packages/cluster/src/trial/troubled-link.ts';
import { serve, type Serving } from '../packages/daemon/src/trial/command.ts';
import { systemClock } from '../packages/daemon/src/values/clock.ts';
import type { Look } from '../packages/daemon/src/values/look.ts';
import type { Observer } from '../packages/daemon/src/values/observation.ts';

const bin = join(import.meta.dirname, '../packages/daemon/bin/revisit.js');
const open = ['--allow-network', '127.0.0.0/8', '--log-level', 'error'];
/** How long a site takes to answer: what a robot mostly waits for. */
const siteMs = 100;
const sites = 200;
const breadth = 16;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Web {
  readonly port: number;
  change(): void;
  close(): void;
}

/** Pages of about 20 KB whose words differ from page to page; a change is one line. */
export async function startWeb(): Promise<Web> {
  let edition = 0;
  const bodies = new Map<string, string>();
  const bodyOf = (key: string): string => {
    let known = bodies.get(key);
    if (!known) {
      let seed = Buffer.from(key).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
      const word = (): string => ((seed = (seed * 1664525 + 1013904223) >>> 0) >>> 8).toString(36);
      known = Array.from({ length: 250 }, () => `<p>${Array.from({ length: 12 }, word).join(' ')}</p>`).join('\n');
      bodies.set(key, known);
    }
    return known;
  };
  const server: Server = createServer((request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end();
    const far = request.headers['user-agent']?.includes('far') === true;
    const body = `<html><body>${bodyOf(`${request.headers.host}${request.url}`)}<p>Edition ${edition}</p></body></html>`;
    const send = (): void => void response.writeHead(200, { 'content-type': 'text/html' }).end(body);
    return far ? setTimeout(send, siteMs) : send();
  });
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  return {
    port: (server.address() as AddressInfo).port,
    change: () => void edition++,
    close: () => void (server.closeAllConnections(), server.close()),
  };
}

class Cluster {
  readonly #children: ChildProcess[] = [];
  readonly coordinator: Serving;

  private constructor(coordinator: Serving) {
    this.coordinator = coordinator;
  }

  static async start(store: string, nats: string, budget: string, spacing: string): Promise<Cluster> {
    const config = join(mkdtempSync(join(tmpdir(), 'revisit-bench-')), 'revisit.yaml');
    writeFileSync(config, `robots: 512\nrobotsMin: 512\npolicy: uniform\nbudget: ${budget}\nspacing: ${spacing}\n`);
    return new Cluster(await serve([config, '--store', store, '--nats', nats, ...open]));
  }

  run(...words: string[]): void {
    this.#children.push(spawn(process.execPath, [bin, ...words, ...open], { cwd: tmpdir(), stdio: 'ignore' }));
  }

  async add(urls: readonly string[]): Promise<void> {
    const answer = await fetch(`${this.coordinator.url}/api/pages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(urls.map((url) => ({ url }))),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  async robots(): Promise<{ readonly kept: number; readonly observers: { looks: number; sites: string[] }[] }> {
    return (await (await fetch(`${this.coordinator.url}/api/robots`)).json()) as Awaited<ReturnType<Cluster['robots']>>;
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await this.coordinator.end('SIGKILL');
  }
}

/** Looks per second with so many robots, at sites that take their time. */
async function looksPerSecond(store: string, nats: string, web: Web, robots: number): Promise<number> {
  const cluster = await Cluster.start(store, nats, '100000/second', '0s');
  const urls = Array.from({ length: sites }, (_, i) => `http://127.0.${1 + (i % 200)}.${robots}:${web.port}/${robots}`);
  await cluster.add(urls);
  for (let i = 0; i < robots; i++)
    cluster.run('robot', '--nats', nats, '--breadth', String(breadth), '--spacing', '0s', '--contact', 'far');
  while ((await cluster.robots()).kept < 2 * sites) await pause(100);
  const [before, beganMs] = [(await cluster.robots()).kept, performance.now()];
  await pause(8_000);
  const rate = ((await cluster.robots()).kept - before) / ((performance.now() - beganMs) / 1000);
  await cluster.end();
  return rate;
}

/** Milliseconds and CPU milliseconds that dispatch takes for a probe: out, to a robot that looks at nothing, and back. */
async function dispatchCost(nats: string): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const probes = 20_000;
  const connection = await connect({ servers: nats });
  await ensureStreams(connection);
  const carrier = new Carrier(connection, systemClock);
  for (let shard = 0; shard < shardCount; shard++) await carrier.listen(shard);
  const blind: Observer = {
    observe: (probe) =>
      Promise.resolve({
        probe,
        startedAtMs: 0,
        endedAtMs: 1,
        outcome: { kind: 'not-modified' },
        bytesReceived: 0,
        requests: 1,
      }),
    close: () => Promise.resolve(),
  };
  const stop = new AbortController();
  const name = 'bench';
  const working = new Robot({ connection, name, observer: blind, clock: systemClock, breadth: 256, log: () => {} }).run(
    stop.signal,
  );
  const [beganMs, beganCpu] = [performance.now(), process.cpuUsage()];
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < probes) {
      const i = next++;
      const site = `s${i % 1_000}.example`;
      await carrier.observe({ id: `b${i}`, url: `https://${site}/`, site, pageIds: [], atMs: 0, validators: {} });
    }
  };
  await Promise.all(Array.from({ length: 256 }, sender));
  const used = process.cpuUsage(beganCpu);
  const cost = { ms: (performance.now() - beganMs) / probes, cpuMs: (used.user + used.system) / 1000 / probes };
  stop.abort();
  await working;
  await carrier.close();
  await connection.close();
  return cost;
}

/** Bytes over the link between home and whoever looks, for each look. */
export async function bytesPerLook(
  store: string,
  nats: NatsServer,
  web: Web,
  who: 'robot' | 'observer',
): Promise<number> {
  const link = await troubledLink({ host: '127.0.0.1', port: Number(new URL(nats.url).port) });
  const distant = `nats://127.0.0.1:${link.port}`;
  const cluster = await Cluster.start(store, nats.url, '20/second', '100ms');
  const here = who === 'robot' ? 11 : 12;
  await cluster.add(Array.from({ length: 20 }, (_, i) => `http://127.0.${here}.${i + 1}:${web.port}/page`));
  cluster.run('robot', '--nats', who === 'robot' ? distant : nats.url, '--spacing', '100ms', '--contact', 'far');
  if (who === 'observer') {
    cluster.run('observer', '--nats', distant, '--name', 'near', '--spacing', '100ms');
    while (((await cluster.robots()).observers[0]?.sites.length ?? 0) < 20) await pause(200);
  } else while ((await cluster.robots()).kept < 60) await pause(200);
  const looks = async (): Promise<number> => {
    const { kept, observers } = await cluster.robots();
    return who === 'robot' ? kept : observers[0]!.looks;
  };
  const [looksBefore, bytesBefore] = [await looks(), link.bytes()];
  for (let i = 0; i < 2; i++) {
    await pause(10_000);
    web.change();
  }
  const bytes = (link.bytes() - bytesBefore) / ((await looks()) - looksBefore);
  await cluster.end();
  await link.end();
  return bytes;
}

/** Bytes that PostgreSQL takes for a page with its state and first version, and for each look that finds nothing. */
async function storage(url: string): Promise<{ readonly page: number; readonly look: number }> {
  const connected = await connectStore(url);
  if (connected.kind === 'failed') throw new Error(connected.sentence);
  const { connection } = connected;
  const store = new PostgresStore(connection);
  /** Tables with their indexes and long values, as far as their names match. */
  const size = async (names: string): Promise<number> => {
    const rows = await connection.query<{ size: number }>(
      `SELECT sum(pg_total_relation_size(oid))::bigint AS size FROM pg_class
       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname LIKE $1`,
      [names],
    );
    return rows[0]!.size;
  };
  const count = 1_000;
  const before = await size('%');
  const about = { select: { kind: 'text' } as const, tags: [], weight: 1, paused: false, options: {}, addedAtMs: 1 };
  const ids: string[] = [];
  for (let i = 0; i < count; i += 500) {
    const pages = Array.from({ length: 500 }, (_, j) => ({
      ...about,
      url: `https://s${i + j}.example/page`,
      site: `s${i + j}.example`,
    }));
    const kept = await store.addPages(pages);
    if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
    ids.push(...kept.value.map(({ page }) => page.page.id));
  }
  const words = (i: number): string =>
    Array.from({ length: 500 }, (_, j) => ((i * 7919 + j * 104729) % 99991).toString(36)).join(' ');
  const lookOf = (id: string, i: number, looks: number): Look => ({
    pageId: id,
    probeId: `${id}-${looks}`,
    atMs: 1e12 + looks * 60_000,
    endedAtMs: 1e12 + looks * 60_000 + 100,
    kind: looks === 1 ? 'first' : 'unchanged',
    bytesReceived: 10_000,
    state: {
      status: 'present',
      version: 1,
      toldVersion: 1,
      validators: {},
      failures: 0,
      looks,
      changes: 0,
      model: new Uint8Array(64),
    },
    ...(looks === 1 ? { projection: { text: words(i), format: 'text' } } : {}),
  });
  for (let i = 0; i < count; i += 250) await store.commit(ids.slice(i, i + 250).map((id, j) => lookOf(id, i + j, 1)));
  const filled = await size('%');
  const looksBefore = await size('looks%');
  for (let looks = 2; looks <= 5; looks++)
    for (let i = 0; i < count; i += 250)
      await store.commit(ids.slice(i, i + 250).map((id, j) => lookOf(id, i + j, looks)));
  const looked = await size('looks%');
  await connection.close();
  return { page: (filled - before) / count, look: (looked - looksBefore) / count / 4 };
}

export const bench: Bench = async (say) => {
  const rows: Measurement[] = [];
  const [web, postgres, nats]: [Web, PostgresServer, NatsServer] = await Promise.all([
    startWeb(),
    startPostgres(),
    startNats(),
  ]);
  try {
    const rates = new Map<number, number>();
    for (const robots of [1, 2, 4]) {
      say(`looks with ${robots} robots`);
      const rate = await looksPerSecond(await postgres.database(`rate${robots}`), nats.url, web, robots);
      rates.set(robots, rate);
      say(`${rate.toFixed(0)} a second`);
      const one = rates.get(1)!;
      // A robot that waits a tenth of a second for each answer can make so many looks at most.
      const most = (robots * breadth * 1000) / siteMs;
      rows.push({
        what: `looks per second, ${robots} robot${robots > 1 ? 's' : ''} of breadth ${breadth}, sites that answer in ${siteMs} ms`,
        ours: `${rate.toFixed(0)}/s`,
        rival: robots === 1 ? `${most.toFixed(0)}/s if nothing else took time` : `${one.toFixed(0)}/s with one`,
        ratio: (rate / (robots === 1 ? most : one)).toFixed(2),
        holds: robots === 1 ? rate > most / 2 : rate > 1.4 * (rates.get(robots / 2) ?? one) || rate > 400,
      });
    }
    say('bytes in the store');
    const { page, look } = await storage(await postgres.database('storage'));
    say(`${page.toFixed(0)} B a page, ${look.toFixed(0)} B a look`);
    rows.push({
      what: 'PostgreSQL: a page with its state, 64 bytes of model and a first version of 500 words',
      ours: `${page.toFixed(0)} B`,
      rival: '10,000 B',
      holds: page < 10_000,
    });
    rows.push({
      what: 'PostgreSQL: a look that found nothing',
      ours: `${look.toFixed(0)} B`,
      rival: '100 B',
      holds: look < 100,
    });
    say('what dispatch costs');
    const { ms, cpuMs } = await dispatchCost(nats.url);
    say(`${(1000 * ms).toFixed(0)} µs a probe`);
    rows.push({
      what: 'dispatch of a probe: out, taken, answered, back (both ends in one process)',
      ours: `${(1000 * ms).toFixed(0)} µs, ${(1000 * cpuMs).toFixed(0)} µs of CPU`,
      rival: '1 ms',
      holds: ms < 1,
    });
    say('bytes over the link from a robot');
    const robot = await bytesPerLook(await postgres.database('bytes1'), nats, web, 'robot');
    say(`${robot.toFixed(0)} B a look; now from an observer`);
    const observer = await bytesPerLook(await postgres.database('bytes2'), nats, web, 'observer');
    rows.push({
      what: 'bytes over the link a look, 20 KB pages of which a line changes every ten seconds',
      ours: `${observer.toFixed(0)} B by an observer`,
      rival: `${robot.toFixed(0)} B by a robot`,
      ratio: `${(robot / observer).toFixed(1)}× fewer`,
      holds: robot / observer >= 20,
    });
  } finally {
    web.close();
    await Promise.all([postgres.end(), nats.end()]);
  }
  return rows;
};
