/**
 * A cluster of real processes in trouble, round after round: every page gets a new edition, something dies or goes away,
 * and the round ends when the newest version of every page says what its server says. At the end the log is compared with
 * what was seen, and what the servers were asked with the spacing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { random as seeded } from '@revisit/core';
import { eventually, loopbackWeb, serve, type LoopbackWeb, type Serving } from '../../../daemon/src/trial/command.ts';
import { type NatsServer, startNats } from './nats-server.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import { type TroubledLink, troubledLink } from './troubled-link.ts';

const bin = join(import.meta.dirname, '../../../daemon/bin/revisit.js');
const open = ['--allow-network', '127.0.0.0/8'];
const spacingMs = 50;
/** Arrival times at the server jitter by a few milliseconds against the times of sending, more on a busy machine. */
const jitterMs = 30;
const hosts = 12;
/** Longer than a lease: a process that slept through it has lost its shards without knowing. */
const frozenMs = 6_000;

/** Links are away for up to so long, and slower by so much. */
const cutMsMax = 6_000;
const slowMs = 300;
const skewSecondsMax = 600;

/** Options of Node that put a process's clock wrong. */
function skewed(seconds: number): string[] {
  if (seconds === 0) return [];
  const module = `const now = Date.now; Date.now = () => now() + ${seconds * 1000};`;
  return ['--import', `data:text/javascript,${encodeURIComponent(module)}`];
}

export const faults = [
  'robot-killed',
  'coordinator-killed',
  'nats-killed',
  'postgres-restarted',
  'coordinator-frozen',
  'robot-leaves',
  'coordinator-leaves',
  'links-cut',
  'links-slow',
  'clock-skewed',
] as const;
export type FaultKind = (typeof faults)[number];

interface PageBody {
  readonly id: string;
  readonly url: string;
  readonly version: number;
}

interface ChangeBody {
  readonly id: string;
  readonly cursor: string;
  readonly pageId: string;
  readonly toVersion: number;
}

export interface Round {
  readonly fault: FaultKind;
  /** From the end of the trouble to the last page. */
  readonly recoveredMs: number;
}

async function json<Body>(url: string): Promise<Body> {
  return (await (await fetch(url)).json()) as Body;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Rounds {
  readonly #web: LoopbackWeb;
  readonly #postgres: PostgresServer;
  readonly #nats: NatsServer;
  readonly #store: string;
  readonly #random: () => number;
  readonly #robots: ChildProcess[] = [];
  readonly #coordinators: Serving[] = [];
  /** Everybody's way to NATS and to PostgreSQL, as coordinators and robots take it. */
  readonly #toNats: TroubledLink;
  readonly #toPostgres: TroubledLink;
  readonly #paths = Array.from({ length: hosts }, (_, i) => `/c/${i}`);
  #edition = 0;

  private constructor(
    web: LoopbackWeb,
    postgres: PostgresServer,
    nats: NatsServer,
    links: { readonly nats: TroubledLink; readonly postgres: TroubledLink },
    store: string,
    seed: number,
  ) {
    this.#web = web;
    this.#toNats = links.nats;
    this.#toPostgres = links.postgres;
    this.#postgres = postgres;
    this.#nats = nats;
    this.#store = store;
    this.#random = seeded(seed);
  }

  /** Two coordinators, two robots, a page on each of a dozen sites, all of them seen. */
  static async start(seed: number): Promise<Rounds> {
    const [web, postgres, nats] = await Promise.all([loopbackWeb('0.0.0.0'), startPostgres(), startNats()]);
    const host = '127.0.0.1';
    const links = {
      nats: await troubledLink({ host, port: Number(new URL(nats.url).port) }),
      postgres: await troubledLink({ host, port: postgres.port }),
    };
    const store = (await postgres.database('cluster')).replace(String(postgres.port), String(links.postgres.port));
    const rounds = new Rounds(web, postgres, nats, links, store, seed);
    await Promise.all([rounds.#coordinator(), rounds.#coordinator()]);
    rounds.#robot();
    rounds.#robot();
    rounds.#edit();
    // Loopback addresses are sites of their own, so the shards have work to share.
    const urls = rounds.#paths.map((path, i) => web.url.replace('127.0.0.1', `127.0.0.${i + 1}`) + path);
    const answer = await fetch(`${rounds.#any(rounds.#coordinators).url}/api/pages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(urls.map((url) => ({ url }))),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    await rounds.#allSeen();
    return rounds;
  }

  #any<Value>(among: readonly Value[]): Value {
    return among[Math.floor(this.#random() * among.length)]!;
  }

  get #natsUrl(): string {
    return `nats://127.0.0.1:${this.#toNats.port}`;
  }

  /** `skewSeconds`: how far the robot's clock is off. */
  #robot(skewSeconds = 0): void {
    const words = ['robot', '--nats', this.#natsUrl, '--spacing', `${spacingMs}ms`, '--log-level', 'error', ...open];
    this.#robots.push(
      spawn(process.execPath, [...skewed(skewSeconds), bin, ...words], {
        cwd: tmpdir(),
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    );
  }

  async #coordinator(): Promise<void> {
    // Every page as often as every other, so that an edition is seen within seconds.
    const plan = ['--policy', 'uniform', '--budget', '40/second', '--spacing', `${spacingMs}ms`];
    const words = ['--store', this.#store, '--nats', this.#natsUrl, ...plan, '--log-level', 'silent', ...open];
    this.#coordinators.push(await serve(words));
  }

  #edit(): void {
    this.#edition++;
    for (const path of this.#paths) this.#web.pages.set(path, `<p>edition ${this.#edition}</p>`);
  }

  /** Waits until the newest version of every page says what its server says. */
  #allSeen(): Promise<readonly PageBody[]> {
    const coordinator = this.#coordinators[0]!;
    const edition = `edition ${this.#edition}`;
    const seen = new Map<string, string>();
    return eventually(async () => {
      if (coordinator.process.exitCode !== null) throw new Error(`A coordinator ended: ${coordinator.err()}`);
      const { pages } = await json<{ pages: PageBody[] }>(`${coordinator.url}/api/pages?limit=1000`);
      if (pages.length < hosts) return undefined;
      for (const { id, version } of pages) {
        if (version === 0 || seen.get(id) === edition) continue;
        const text = await (await fetch(`${coordinator.url}/api/pages/${id}/versions/${version}`)).text();
        if (text.includes(edition)) seen.set(id, edition);
      }
      return seen.size === pages.length && pages;
    });
  }

  /** One edition and one fault. */
  async round(fault: FaultKind = this.#any(faults)): Promise<Round> {
    this.#edit();
    // At some moment of the looking, not always at its beginning.
    await pause(this.#random() * 500);
    await this.#suffer(fault);
    const beganMs = performance.now();
    await this.#allSeen();
    return { fault, recoveredMs: performance.now() - beganMs };
  }

  async #suffer(fault: FaultKind): Promise<void> {
    switch (fault) {
      case 'robot-killed':
      case 'robot-leaves': {
        this.#robots.shift()!.kill(fault === 'robot-killed' ? 'SIGKILL' : 'SIGTERM');
        return this.#robot();
      }
      case 'coordinator-killed':
      case 'coordinator-leaves': {
        const gone = this.#coordinators.shift()!;
        await gone.end(fault === 'coordinator-killed' ? 'SIGKILL' : 'SIGTERM');
        return this.#coordinator();
      }
      case 'coordinator-frozen': {
        const [, { process: frozen }] = this.#coordinators as [Serving, Serving];
        frozen.kill('SIGSTOP');
        await pause(frozenMs);
        frozen.kill('SIGCONT');
        return;
      }
      case 'links-cut':
        this.#toNats.cut();
        if (this.#random() < 0.5) this.#toPostgres.cut();
        await pause(this.#random() * cutMsMax);
        this.#toNats.mend();
        this.#toPostgres.mend();
        return;
      case 'links-slow': {
        this.#toNats.slow(slowMs);
        this.#toPostgres.slow(slowMs / 10);
        await pause(cutMsMax / 2);
        this.#toNats.slow(0);
        this.#toPostgres.slow(0);
        return;
      }
      case 'clock-skewed':
        this.#robots.shift()!.kill('SIGKILL');
        return this.#robot(Math.round((this.#random() - 0.5) * 2 * skewSecondsMax));
      case 'nats-killed':
        await this.#nats.kill();
        return this.#nats.start();
      case 'postgres-restarted':
        await this.#postgres.stop();
        return this.#postgres.start();
    }
  }

  /** What does not hold of the whole history, in sentences. */
  async wrong(): Promise<readonly string[]> {
    const wrong: string[] = [];
    const pages = await this.#allSeen();
    const { changes } = await json<{ changes: ChangeBody[] }>(`${this.#coordinators[0]!.url}/api/changes?limit=1000`);
    if (changes.some((change, i) => Number(change.cursor) !== i + 1)) wrong.push('the log has a hole');
    if (new Set(changes.map((change) => change.id)).size < changes.length) wrong.push('a change was told twice');
    for (const { id, url, version } of pages) {
      const told = changes.filter((change) => change.pageId === id).map((change) => change.toVersion);
      if (told.length !== version - 1 || told.some((to, i) => to !== i + 2))
        wrong.push(`${url} has ${version} versions and told of ${told.join(', ')}`);
    }
    for (const path of this.#paths) {
      const times = this.#web.asked.filter((entry) => entry.path === path).map((entry) => entry.atMs);
      times.forEach((atMs, i) => {
        const gapMs = i === 0 ? Infinity : atMs - times[i - 1]!;
        if (gapMs < spacingMs - jitterMs) wrong.push(`${path} was asked again after ${gapMs} ms`);
      });
    }
    return wrong;
  }

  get looks(): number {
    return this.#web.asked.length;
  }

  async end(): Promise<void> {
    for (const robot of this.#robots) robot.kill('SIGKILL');
    await Promise.all(this.#coordinators.map((coordinator) => coordinator.end('SIGKILL')));
    await Promise.all([this.#toNats.end(), this.#toPostgres.end()]);
    await Promise.all([this.#web.close(), this.#postgres.end(), this.#nats.end()]);
  }
}
