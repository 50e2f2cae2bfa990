/**
 * The cluster as real processes on one machine: looks per second with one, two and four robots, what dispatch costs a probe,
 * and the bytes between home and a distant robot, against those of an observer in its place, on pages that change rarely
 * and little. Everything shares the cores of the machine, so what more robots bring is seen where robots are the narrow
 * place (slow sites), as it is in real life.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
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
import { type TroubledLink, troubledLink } from '../packages/cluster/src/trial/troubled-link.ts';
import { serve, type Serving } from '../packages/daemon/src/trial/command.ts';
import { systemClock } from '../packages/daemon/src/values/clock.ts';
import type { Look } from '../packages/daemon/src/values/look.ts';
import type { Observer } from '../packages/daemon/src/values/observation.ts';

const bin = join(import.meta.dirname, '../packages/daemon/bin/revisit.js');
const open = ['--allow-network', '127.0.0.0/8', '--log-level', 'error'];
/** How long a site takes to answer: what a robot mostly waits for. */
const siteMs = 100;
const sites = 100;
const breadth = 16;
const measuredMs = 6_000;
/** A part that has not come so far by then is told as what it is, and the others are measured all the same. */
const patienceMs = 45_000;
/** Rarely: a page is looked at some twenty times between two changes. */
const distantPages = 20;
const distantChanges = 1;
const distantChangeEveryMs = 20_000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what: string, there: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await there())) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${patienceMs / 1000} s`);
    await pause(100);
  }
}

interface Web {
  readonly port: number;
  change(): void;
  close(): void;
}

/** Pages whose words differ from page to page, of 2 KB under `/small` and 20 KB elsewhere; a change is one line. */
async function startWeb(): Promise<Web> {
  let edition = 0;
  const bodies = new Map<string, string>();
  const bodyOf = (key: string, lines: number): string => {
    let known = bodies.get(key);
    if (!known) {
      let seed = Buffer.from(key).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
      const word = (): string => ((seed = (seed * 1664525 + 1013904223) >>> 0) >>> 8).toString(36);
      known = Array.from({ length: lines }, () => `<p>${Array.from({ length: 12 }, word).join(' ')}</p>`).join('\n');
      bodies.set(key, known);
    }
    return known;
  };
  const server: Server = createServer((request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end();
    const far = request.headers['user-agent']?.includes('far') === true;
    const lines = request.url?.startsWith('/small') ? 25 : 250;
    const words = bodyOf(`${request.headers.host}${request.url}`, lines);
    const body = `<html><body>${words}<p>Edition ${edition}</p></body></html>`;
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

/** Seconds of CPU that a process has used so far, as Linux counts them: in hundredths. */
function cpuSeconds(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

interface RobotsBody {
  readonly kept: number;
  readonly observers: readonly { readonly looks: number; readonly sites: readonly string[] }[];
}

/** A daemon and whoever looks for it. */
class Cluster {
  readonly #children: ChildProcess[] = [];
  readonly coordinator: Serving;

  private constructor(coordinator: Serving) {
    this.coordinator = coordinator;
  }

  /** With words for a store and NATS a coordinator, without them a single process. */
  static async start(settings: string, ...words: string[]): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-bench-'));
    const config = join(folder, 'revisit.yaml');
    writeFileSync(config, `policy: uniform\n${settings}`);
    return new Cluster(await serve([config, '--data', join(folder, 'data'), ...words, ...open]));
  }

  run(...words: string[]): ChildProcess {
    const child = spawn(process.execPath, [bin, ...words, ...open], { cwd: tmpdir(), stdio: 'ignore' });
    this.#children.push(child);
    return child;
  }

  async add(urls: readonly string[]): Promise<void> {
    const answer = await fetch(`${this.coordinator.url}/api/pages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(urls.map((url) => ({ url }))),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  async robots(): Promise<RobotsBody> {
    return (await (await fetch(`${this.coordinator.url}/api/robots`)).json()) as RobotsBody;
  }

  async kept(): Promise<number> {
    return (await this.robots()).kept;
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await this.coordinator.end('SIGKILL');
  }
}

interface Rate {
  readonly perSecond: number;
  /** Of the coordinator, for a look. */
  readonly cpuMs: number;
  /** Of each robot, for one of its looks. */
  readonly robotCpuMs: number;
}

/** Looks at sites that take their time: with so many robots, or by a single process (none) that looks at as many sites at once as one robot. */
async function looksPerSecond(web: Web, robots: number, place: readonly string[], nats: string): Promise<Rate> {
  const width = robots === 0 ? breadth : 512;
  const settings = `robots: ${width}\nrobotsMin: ${width}\nbudget: 100000/second\nspacing: 0s\ncontact: far\n`;
  const cluster = await Cluster.start(settings, ...place);
  try {
    await cluster.add(Array.from({ length: sites }, (_, i) => `http://127.0.${1 + i}.${robots + 1}:${web.port}/small`));
    const words = ['robot', '--nats', nats, '--breadth', String(breadth), '--spacing', '0s', '--contact', 'far'];
    const running = Array.from({ length: robots }, () => cluster.run(...words));
    await until(`${robots} robots, first looks`, async () => (await cluster.kept()) >= 2 * sites);
    const cpu = (): number[] => [cluster.coordinator.process, ...running].map(cpuSeconds);
    const [before, beganMs, cpuBefore] = [await cluster.kept(), performance.now(), cpu()];
    await pause(measuredMs);
    const [after, endedMs, cpuAfter] = [await cluster.kept(), performance.now(), cpu()];
    const [coordinator, ...each] = cpuAfter.map((seconds, i) => (1000 * (seconds - cpuBefore[i]!)) / (after - before));
    return {
      perSecond: (1000 * (after - before)) / (endedMs - beganMs),
      cpuMs: coordinator!,
      robotCpuMs: each.reduce((sum, value) => sum + value, 0),
    };
  } finally {
    await cluster.end();
  }
}

/** Milliseconds and CPU milliseconds that dispatch takes for a probe: out, to a robot that looks at nothing, and back. */
async function dispatchCost(nats: string): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const probes = 8_000;
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

type Who = 'robot' | 'observer';

/** A cluster whose robot or observer stands beyond a link that counts what goes over it, both ways. */
class Distant {
  readonly #who: Who;
  readonly #cluster: Cluster;
  readonly #link: TroubledLink;
  readonly #nats: NatsServer;

  private constructor(who: Who, cluster: Cluster, link: TroubledLink, nats: NatsServer) {
    this.#who = who;
    this.#cluster = cluster;
    this.#link = link;
    this.#nats = nats;
  }

  static async start(who: Who, store: string, web: Web): Promise<Distant> {
    const nats = await startNats();
    const link = await troubledLink({ host: '127.0.0.1', port: Number(new URL(nats.url).port) });
    const there = `nats://127.0.0.1:${link.port}`;
    const settings = `budget: ${distantPages}/second\nspacing: 100ms\n`;
    const cluster = await Cluster.start(settings, '--store', store, '--nats', nats.url);
    const net = who === 'robot' ? 11 : 12;
    await cluster.add(Array.from({ length: distantPages }, (_, i) => `http://127.0.${net}.${i + 1}:${web.port}/page`));
    const words = ['--spacing', '100ms', '--contact'];
    cluster.run('robot', '--nats', who === 'robot' ? there : nats.url, ...words, 'far');
    const folder = mkdtempSync(join(tmpdir(), 'revisit-observer-'));
    if (who === 'observer')
      cluster.run('observer', '--nats', there, '--name', 'near', '--data', folder, ...words, 'near');
    return new Distant(who, cluster, link, nats);
  }

  /** All pages are looked at from where they shall be. */
  async ready(): Promise<boolean> {
    const { kept, observers } = await this.#cluster.robots();
    return this.#who === 'robot' ? kept >= 3 * distantPages : (observers[0]?.sites.length ?? 0) === distantPages;
  }

  async count(): Promise<{ readonly looks: number; readonly bytes: number }> {
    const { kept, observers } = await this.#cluster.robots();
    return { looks: this.#who === 'robot' ? kept : observers[0]!.looks, bytes: this.#link.bytes() };
  }

  async end(): Promise<void> {
    await this.#cluster.end();
    await this.#link.end();
    await this.#nats.end();
  }
}

interface Traffic {
  readonly looks: number;
  readonly bytesPerLook: number;
}

/** The same pages, the same changes, the same time: by a robot and by an observer. */
async function overTheLink(stores: Readonly<Record<Who, string>>, web: Web): Promise<Record<Who, Traffic>> {
  const distant = await Promise.all([
    Distant.start('robot', stores.robot, web),
    Distant.start('observer', stores.observer, web),
  ]);
  try {
    await until('the observer has its sites', async () =>
      (await Promise.all(distant.map((one) => one.ready()))).every(Boolean),
    );
    const before = await Promise.all(distant.map((one) => one.count()));
    for (let i = 0; i < distantChanges; i++) {
      await pause(distantChangeEveryMs / 2);
      web.change();
      await pause(distantChangeEveryMs / 2);
    }
    const after = await Promise.all(distant.map((one) => one.count()));
    const [robot, observer] = after.map(({ looks, bytes }, i) => ({
      looks: looks - before[i]!.looks,
      bytesPerLook: (bytes - before[i]!.bytes) / (looks - before[i]!.looks),
    }));
    return { robot: robot!, observer: observer! };
  } finally {
    await Promise.all(distant.map((one) => one.end()));
  }
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
  /** Enough that what sixteen partitions take when they are empty does not count. */
  const lookRounds = 24;
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
  // As in a language: the k-th most frequent of 20,000 words comes about 1/k as often as the first.
  let seed = 7;
  const word = (): string => {
    seed = (seed * 1664525 + 1013904223) >>> 0;
    return Math.floor(20_000 ** (seed / 2 ** 32))
      .toString(36)
      .padStart(5, 'w');
  };
  const words = (): string => Array.from({ length: 500 }, word).join(' ');
  const lookOf = (id: string, looks: number): Look => ({
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
    ...(looks === 1 ? { projection: { text: words(), format: 'text' } } : {}),
  });
  for (let i = 0; i < count; i += 250) await store.commit(ids.slice(i, i + 250).map((id) => lookOf(id, 1)));
  const filled = await size('%');
  const looksBefore = await size('looks%');
  for (let looks = 2; looks <= 1 + lookRounds; looks++)
    for (let i = 0; i < count; i += 250) await store.commit(ids.slice(i, i + 250).map((id) => lookOf(id, looks)));
  const looked = await size('looks%');
  await connection.close();
  return { page: (filled - before) / count, look: (looked - looksBefore) / count / lookRounds };
}

/** A part of the benchmark that fails is a row that does not hold. */
async function part(what: string, rows: Measurement[], measure: () => Promise<readonly Measurement[]>): Promise<void> {
  try {
    rows.push(...(await measure()));
  } catch (error) {
    rows.push({ what, ours: (error as Error).message, rival: 'an end', holds: false });
  }
}

type Say = (line: string) => void;

async function robotRows(postgres: PostgresServer, nats: string, web: Web, say: Say): Promise<Measurement[]> {
  const alone = await looksPerSecond(web, 0, [], nats);
  const told = ({ perSecond, cpuMs, robotCpuMs }: Rate): string =>
    `${perSecond.toFixed(0)}/s, CPU ${cpuMs.toFixed(2)} ms + robots ${robotCpuMs.toFixed(2)} ms`;
  say(`a single process: ${told(alone)}`);
  const rates: Rate[] = [];
  for (const robots of [1, 2, 4]) {
    const store = await postgres.database(`rate${robots}`);
    rates.push(await looksPerSecond(web, robots, ['--store', store, '--nats', nats], nats));
    say(`${robots} robots: ${told(rates.at(-1)!)}`);
  }
  const [one, two, four] = rates as [Rate, Rate, Rate];
  const what = (robots: string): string =>
    `looks a second, ${robots} of breadth ${breadth}, sites that answer in ${siteMs} ms`;
  const row = (robots: string, rate: Rate, rival: string, least: number, than: number): Measurement => ({
    what: what(robots),
    ours: `${rate.perSecond.toFixed(0)}/s`,
    rival,
    ratio: (rate.perSecond / than).toFixed(2),
    holds: rate.perSecond >= least * than,
  });
  return [
    row('one robot', one, `${alone.perSecond.toFixed(0)}/s by one process alone`, 0.7, alone.perSecond),
    row('two robots', two, `${one.perSecond.toFixed(0)}/s with one robot`, 1.6, one.perSecond),
    row('four robots', four, `${one.perSecond.toFixed(0)}/s with one robot`, 2.5, one.perSecond),
    {
      what: 'scheduling: CPU of the coordinator for a look that a robot makes (plan, dispatch, detect, keep), against a single process, which fetches too',
      ours: `${one.cpuMs.toFixed(2)} ms; with four robots ${four.cpuMs.toFixed(2)} ms; a robot ${one.robotCpuMs.toFixed(2)} ms`,
      rival: `${alone.cpuMs.toFixed(2)} ms; docs/scale.md reckons with 10 ms`,
      ratio: (one.cpuMs / alone.cpuMs).toFixed(2),
      holds: Math.max(one.cpuMs, four.cpuMs) < 10,
    },
  ];
}

async function storeRows(postgres: PostgresServer): Promise<Measurement[]> {
  const { page, look } = await storage(await postgres.database('storage'));
  return [
    {
      what: 'PostgreSQL: a page with its state, 64 bytes of model and a first version of 500 words',
      ours: `${page.toFixed(0)} B`,
      rival: '10,000 B',
      holds: page < 10_000,
    },
    { what: 'PostgreSQL: a look that found nothing', ours: `${look.toFixed(0)} B`, rival: '100 B', holds: look < 100 },
  ];
}

async function dispatchRows(nats: string): Promise<Measurement[]> {
  const { ms, cpuMs } = await dispatchCost(nats);
  return [
    {
      what: 'dispatch of a probe: out, taken, answered, back (both ends in one process)',
      ours: `${(1000 * ms).toFixed(0)} µs, ${(1000 * cpuMs).toFixed(0)} µs of CPU`,
      rival: '1 ms',
      holds: ms < 1,
    },
  ];
}

async function linkRows(postgres: PostgresServer, web: Web): Promise<Measurement[]> {
  const stores = { robot: await postgres.database('bytes1'), observer: await postgres.database('bytes2') };
  const { robot, observer } = await overTheLink(stores, web);
  const fewer = robot.bytesPerLook / observer.bytesPerLook;
  return [
    {
      what: `bytes over the link for a look, side by side, ${distantPages} pages of 20 KB of which a line changes every ${distantChangeEveryMs / 1000} s, about one look a page and second`,
      ours: `${observer.bytesPerLook.toFixed(0)} B by an observer (${observer.looks} looks)`,
      rival: `${robot.bytesPerLook.toFixed(0)} B by a robot (${robot.looks} looks)`,
      ratio: `${fewer.toFixed(1)}× fewer`,
      holds: fewer >= 20,
    },
  ];
}

export const bench: Bench = async (say) => {
  const rows: Measurement[] = [];
  const [web, postgres, nats] = await Promise.all([startWeb(), startPostgres(), startNats()]);
  try {
    say('looks with robots');
    await part('looks with robots', rows, () => robotRows(postgres, nats.url, web, say));
    say('what dispatch costs');
    await part('dispatch', rows, () => dispatchRows(nats.url));
    say('bytes over the link');
    await part('bytes over the link', rows, () => linkRows(postgres, web));
    say('bytes in the store');
    await part('bytes in the store', rows, () => storeRows(postgres));
  } finally {
    web.close();
    await Promise.all([postgres.end(), nats.end()]);
  }
  return rows;
};
