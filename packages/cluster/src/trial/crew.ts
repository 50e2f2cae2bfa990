/** The processes of a cluster in trouble: servers, the links to them, coordinators, robots and observers, all real. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopbackWeb, serve, type LoopbackWeb, type Serving } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { type Cable, cable } from './cable.ts';
import { CrewKeys } from './crew-keys.ts';
import { type NatsServer, startNats } from './nats-server.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { type TroubledLink, troubledLink } from './troubled-link.ts';

const bin = join(import.meta.dirname, '../../../daemon/bin/revisit.js');
const open = ['--allow-network', '127.0.0.0/8'];
export const spacingMs = 50;
export const hosts = 12;
/** Of all coordinators together. */
export const budgetPerSecond = 60;
/** Shorter than in real life, so that a round takes seconds; whoever is silent for so long has lost its work. */
export const leaseMs = 2_000;
/** How long sites are left to an observer that is away. */
const mandateMs = 4_000;
/** What a site takes longer for those who are far from it. */
const farMs = 250;

export const observerNames = ['east', 'west'] as const;
export type ObserverName = (typeof observerNames)[number];

/** The first sites are near to one of the observers each, the others are as far from everybody. */
const nearTo = (host: number): ObserverName | undefined => (host < 3 ? 'east' : host < 6 ? 'west' : undefined);
export const pathOf = (host: number): string => `/c/${host}`;

function delayMs(path: string, agent: string): number {
  const near = nearTo(Number(path.slice(3)));
  return near === undefined || agent.includes(near) ? 0 : farMs;
}

/** Options of Node that put a process's clock wrong, and wrong by something else whenever it gets this signal. */
const jumpSignal = 'SIGUSR2';
function skewed(seconds: number): string[] {
  const module = `
    const { now } = Date, Real = Date;
    let [offMs, jumps] = [${seconds * 1000}, 0];
    globalThis.Date = class extends Real {
      constructor(...words) { words.length ? super(...words) : super(Date.now()); }
      static now() { return now() + offMs; }
    };
    process.on('${jumpSignal}', () => { offMs = (jumps++ % 2 ? 1 : -1) * 420_000; });`;
  return ['--import', `data:text/javascript,${encodeURIComponent(module)}`];
}

interface Stationed {
  readonly link: TroubledLink;
  readonly process: ChildProcess;
}

interface Servers {
  readonly web: LoopbackWeb;
  readonly postgres: PostgresServer;
  readonly nats: NatsServer;
  /** Undefined where NATS lets everybody in. */
  readonly keys: CrewKeys | undefined;
  /** Everybody's way to NATS and to PostgreSQL, as coordinators and robots take it. */
  readonly toNats: TroubledLink;
  readonly toPostgres: TroubledLink;
  readonly store: string;
  /** On the way from the observer in the west to NATS; undefined where the machine makes no network namespaces. */
  readonly cable: Cable | undefined;
}

export class Crew {
  readonly servers: Servers;
  readonly robots: ChildProcess[] = [];
  readonly coordinators: Serving[] = [];
  /** Each coordinator's own way to where everybody's way to NATS begins. */
  readonly ways = new Map<Serving, TroubledLink>();
  readonly observers = new Map<ObserverName, Stationed>();
  /** Before there was anybody who could look. */
  readonly startedMs = Date.now();
  readonly #folder = mkdtempSync(join(tmpdir(), 'revisit-observers-'));

  private constructor(servers: Servers) {
    this.servers = servers;
  }

  /** Two coordinators, two robots and two observers, each of which has a link of its own; `hasKeys`: and a key of its own. */
  static async start(luck: () => number, hasKeys: boolean): Promise<Crew> {
    const making = hasKeys ? CrewKeys.make(observerNames) : Promise.resolve(undefined);
    const [web, postgres, keys, nats] = await Promise.all([
      loopbackWeb('0.0.0.0', delayMs),
      startPostgres(),
      making,
      making.then((made) => startNats('0.0.0.0', made)),
    ]);
    const natsAt = { host: '127.0.0.1', port: Number(new URL(nats.url).port) };
    const toNats = await troubledLink(natsAt, 'nats', luck);
    const toPostgres = await troubledLink({ host: '127.0.0.1', port: postgres.port });
    const store = (await postgres.database('cluster')).replace(String(postgres.port), String(toPostgres.port));
    const wired = await cable(process.pid % 250, natsAt.port);
    const crew = new Crew({ web, postgres, nats, keys, toNats, toPostgres, store, cable: wired });
    await Promise.all([crew.coordinator(), crew.coordinator()]);
    crew.robot();
    crew.robot();
    for (const name of observerNames) {
      const link = await troubledLink(name === 'west' && wired ? wired : natsAt, 'nats', luck);
      crew.#station(name, link);
    }
    return crew;
  }

  get #natsUrl(): string {
    return `nats://127.0.0.1:${this.servers.toNats.port}`;
  }

  #run(words: readonly string[], skewSeconds = 0): ChildProcess {
    const all = [...skewed(skewSeconds), bin, ...words, '--spacing', `${spacingMs}ms`, '--log-level', 'error', ...open];
    return leash(spawn(process.execPath, all, { cwd: tmpdir(), stdio: ['ignore', 'ignore', 'inherit'] }));
  }

  /** `skewSeconds`: how far its clock is off. */
  robot(skewSeconds = 0): void {
    const robot = this.#run(['robot', '--nats', this.#natsUrl, ...(this.servers.keys?.nextRobot() ?? [])], skewSeconds);
    this.robots.push(robot);
    // One that found no server in time ends with a sentence, and is started again by whoever looks after it.
    robot.once('close', (code) => {
      const at = this.robots.indexOf(robot);
      if (!code || at < 0) return;
      this.robots.splice(at, 1);
      this.robot(skewSeconds);
    });
  }

  async coordinator(skewSeconds = 0): Promise<void> {
    // Every page as often as every other, so that an edition is seen within seconds.
    const plan = ['--policy', 'uniform', '--budget', `${budgetPerSecond}/second`, '--spacing', `${spacingMs}ms`];
    const silence = ['--lease', `${leaseMs}ms`, '--mandate', `${mandateMs}ms`, '--log-level', 'silent'];
    const way = await troubledLink({ host: '127.0.0.1', port: this.servers.toNats.port });
    const nats = `nats://127.0.0.1:${way.port}`;
    const reach = ['--nats', nats, ...(this.servers.keys?.of('home') ?? [])];
    const words = ['--store', this.servers.store, ...reach, ...plan, ...silence, ...open];
    const serving = await serve(words, skewed(skewSeconds));
    this.ways.set(serving, way);
    this.coordinators.push(serving);
  }

  #station(name: ObserverName, link: TroubledLink): void {
    const reach = ['--nats', `nats://127.0.0.1:${link.port}`, ...(this.servers.keys?.of(name) ?? [])];
    const observer = this.#run(['observer', ...reach, '--name', name, '--contact', name, '--data', this.#folder]);
    this.observers.set(name, { link, process: observer });
    observer.once('close', (code) => {
      if (code && this.observers.get(name)?.process === observer) this.#station(name, link);
    });
  }

  /** The clock of each process is put minutes back, and minutes forward the next time. */
  jumpClocks(): void {
    for (const pid of this.#processes()) if (catches(pid, constants.signals[jumpSignal])) process.kill(pid, jumpSignal);
  }

  /** Every link over which messages go. */
  messageLinks(): readonly TroubledLink[] {
    return [this.servers.toNats, ...[...this.observers.values()].map(({ link }) => link)];
  }

  /** The observer ends, and one of the same name comes in its place. */
  async replaceObserver(name: ObserverName, signal: NodeJS.Signals): Promise<void> {
    const { process: observer, link } = this.observers.get(name)!;
    const gone = new Promise((done) => observer.once('close', done));
    observer.kill(signal);
    await gone;
    if (this.observers.get(name)!.process === observer) this.#station(name, link);
  }

  /**
   * Begins to measure how many times longer than on an idle machine everything takes: the time in which these processes ran
   * or waited for a core, for each that they ran.
   */
  slowness(): () => number {
    const before = new Map(this.#processes().map((pid) => [pid, scheduled(pid)]));
    return () => {
      let [ran, waited] = [0, 0];
      for (const pid of this.#processes()) {
        const [ranBefore, waitedBefore] = before.get(pid) ?? [0, 0];
        const [ranNow, waitedNow] = scheduled(pid);
        ran += ranNow - ranBefore;
        waited += waitedNow - waitedBefore;
      }
      return ran > 0 ? Math.max(1, (ran + waited) / ran) : 1;
    };
  }

  #processes(): number[] {
    const children = [...this.coordinators.map(({ process: child }) => child), ...this.robots];
    return [...children, ...[...this.observers.values()].map(({ process: child }) => child)].flatMap(
      ({ pid }) => pid ?? [],
    );
  }

  async end(): Promise<void> {
    for (const robot of this.robots) robot.kill('SIGKILL');
    for (const { process: child } of this.observers.values()) child.kill('SIGKILL');
    await Promise.all(this.coordinators.map((coordinator) => coordinator.end('SIGKILL')));
    const { web, postgres, nats, keys, toNats, toPostgres, cable: wired } = this.servers;
    wired?.end();
    const stationed = [...this.observers.values()].map(({ link }) => link);
    for (const link of [...this.ways.values(), ...stationed, toNats, toPostgres]) await link.end();
    await Promise.all([web.close(), postgres.end(), nats.end()]);
    keys?.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Whether the process has come so far that the signal does not end it. */
function catches(pid: number, signal: number): boolean {
  const [, mask] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

/** Nanoseconds that a process's main thread has run, and has waited to run, as Linux counts them. */
function scheduled(pid: number): [number, number] {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return [ran, waited];
  } catch {
    return [0, 0];
  }
}
