/**
 * A cluster of real processes in trouble, round after round: every page gets a new edition, something dies or goes away,
 * and the round ends when the newest version of every page says what its server says and the coordinators share the shards
 * evenly. At the end the log is compared with what was seen, and what the servers were asked with the spacing.
 */
import { random as seeded } from '@revisit/core';
import { eventually, type Serving } from '../../../daemon/src/trial/command.ts';
import { shardCount } from '../dispatch/streams.ts';
import { type Connection, connect } from '../store/connection.ts';
import { Crew, type ObserverName, budgetPerSecond, hosts, leaseMs, observerNames, pathOf } from './crew.ts';
import { followed } from './followed.ts';
import { Restless, type Tally } from './restless.ts';
import { type PageBody, allChanges, json, overspent, rushed, wrongInLog } from './verdict.ts';

/** What the design promises after any trouble, on a machine that has time for us. */
const recoveredMsMax = 10_000;
/** On the slowest: what takes longer is no matter of the machine. */
const recoveredMsLimit = 45_000;
/** Longer than a lease: a process that slept through it has lost its shards without knowing. */
const frozenMs = 1.5 * leaseMs;
/** Links are away for up to so long, and slower by so much. */
const cutMsMax = 3_000;
const slowMs = 300;
/** A message may be late by more than it takes to be taken for lost. */
const lateMsMax = 1_000;
const skewSecondsMax = 600;
/** Pages that do not wait are left to themselves for up to so long between two troubles. */
const restlessMsMax = 3_000;

export const faults = [
  'robot-killed',
  'coordinator-killed',
  'observer-killed',
  'nats-killed',
  'postgres-restarted',
  'coordinator-frozen',
  'robot-leaves',
  'coordinator-leaves',
  'observer-leaves',
  'links-cut',
  'coordinator-cut',
  'observer-cut',
  'cable-pulled',
  'links-slow',
  'messages-twice',
  'messages-late',
  'messages-twice-and-late',
  'clocks-jump',
  'robot-skewed',
  'coordinator-skewed',
] as const;
export type FaultKind = (typeof faults)[number];

export interface Round {
  readonly fault: FaultKind;
  /** From the end of the trouble to the last page. */
  readonly recoveredMs: number;
  /** How many times longer than on an idle machine everything took meanwhile. */
  readonly slowness: number;
  /** Whether it was soon enough, for a machine that slow. */
  readonly inTime: boolean;
}

/** Whether NATS lets in only who has a key, as it is deployed, where answers come between accounts; for each second seed, beginning with the first. */
export const hasKeys = (seed: number): boolean => seed % 2 !== 0;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Rounds {
  readonly #crew: Crew;
  readonly #leases: Connection;
  readonly #seed: number;
  readonly #random: () => number;
  #edition = 0;
  /** Where pages do not wait until they have been seen. */
  #restless: Restless | undefined;

  private constructor(crew: Crew, leases: Connection, seed: number) {
    this.#crew = crew;
    this.#leases = leases;
    this.#seed = seed;
    this.#random = seeded(seed);
  }

  /** A page on each of a dozen sites, all of them seen, and each observer with a site at least. */
  static async start(seed: number, isRestless = false): Promise<Rounds> {
    // Links have a luck of their own: how many messages go over them must not decide which faults come.
    const crew = await Crew.start(seeded(-seed), hasKeys(seed));
    const { postgres, store, toPostgres } = crew.servers;
    // Not by the link that is cut.
    const connected = await connect(store.replace(String(toPostgres.port), String(postgres.port)));
    if (connected.kind === 'failed') throw new Error(connected.sentence);
    const rounds = new Rounds(crew, connected.connection, seed);
    try {
      await rounds.#begin(isRestless);
      return rounds;
    } catch (error) {
      await rounds.end();
      throw error;
    }
  }

  async #begin(isRestless: boolean): Promise<void> {
    this.#edit();
    // Loopback addresses are sites of their own, so the shards have work to share.
    const { url } = this.#crew.servers.web;
    const urls = Array.from({ length: hosts }, (_, i) => url.replace('127.0.0.1', `127.0.0.${i + 1}`) + pathOf(i));
    const answer = await fetch(`${this.#crew.coordinators[0]!.url}/api/pages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(urls.map((page) => ({ url: page }))),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    if (isRestless) this.#restless = new Restless(this.#crew, seeded(this.#seed + 1_000_000));
    else await this.#allSeen();
    await this.#eventually(async () => (await this.observed()).every((sites) => sites > 0));
    this.#restless?.start();
  }

  /** How many sites each observer has. */
  async observed(): Promise<readonly number[]> {
    const all = await Promise.all(
      this.#crew.coordinators.map(({ url }) =>
        json<{ observers: { name: string; sites: string[] }[] }>(`${url}/api/robots`),
      ),
    );
    const observers = all.flatMap((body) => body.observers);
    return observerNames.map((name) =>
      observers.filter((one) => one.name === name).reduce((sum, { sites }) => sum + sites.length, 0),
    );
  }

  /** Asks again while it does not hold or somebody does not answer, as long as the coordinators live. */
  #eventually<Value>(look: () => Promise<Value | undefined | false>): Promise<Value> {
    return eventually(async () => {
      for (const { process: child, err } of this.#crew.coordinators)
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`A coordinator ended (${child.exitCode ?? child.signalCode}): ${err()}`);
      return look().catch(() => undefined);
    });
  }

  #any<Value>(among: readonly Value[]): Value {
    return among[Math.floor(this.#random() * among.length)]!;
  }

  #edit(): void {
    this.#edition++;
    for (let host = 0; host < hosts; host++)
      this.#crew.servers.web.pages.set(pathOf(host), `<p>edition ${this.#edition}</p>`);
  }

  /** Waits until the newest version of every page says what its server says. */
  #allSeen(): Promise<readonly PageBody[]> {
    const coordinator = this.#crew.coordinators[0]!;
    const edition = `edition ${this.#edition}`;
    const seen = new Map<string, string>();
    return this.#eventually(async () => {
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

  /** Waits until each coordinator that lives has its even share of the shards. */
  #sharedEvenly(): Promise<boolean> {
    return this.#eventually(async () => {
      const rows = await this.#leases.query<{ shards: number }>(
        `SELECT count(*)::int AS shards FROM leases JOIN coordinators USING (holder)
         WHERE coordinators.until > now() GROUP BY holder`,
      );
      const even = shardCount / this.#crew.coordinators.length;
      return rows.length === this.#crew.coordinators.length && rows.every(({ shards }) => shards === even);
    });
  }

  /** Where NATS listens. */
  get nats(): string {
    return this.#crew.servers.nats.url;
  }

  /** Whether the machine allows it. */
  canSuffer(fault: FaultKind): boolean {
    return fault !== 'cable-pulled' || this.#crew.servers.cable !== undefined;
  }

  draw(): FaultKind {
    return this.#any(faults.filter((fault) => this.canSuffer(fault)));
  }

  /** One edition and one fault. */
  async round(fault: FaultKind = this.draw()): Promise<Round> {
    if (!this.#restless) this.#edit();
    // At some moment of the looking, not always at its beginning.
    await pause(this.#random() * 300);
    const slowness = this.#crew.slowness();
    this.#restless?.troubled(fault);
    await this.#suffer(fault);
    const beganMs = performance.now();
    if (!this.#restless) await this.#allSeen();
    await this.#sharedEvenly();
    if (this.#restless) await pause(this.#random() * restlessMsMax);
    const recoveredMs = performance.now() - beganMs;
    const slow = slowness();
    return {
      fault,
      recoveredMs,
      slowness: slow,
      inTime: recoveredMs <= Math.min(recoveredMsLimit, recoveredMsMax * slow),
    };
  }

  async #suffer(fault: FaultKind): Promise<void> {
    const { robots, coordinators, observers, servers } = this.#crew;
    const skew = (): number => Math.round((this.#random() - 0.5) * 2 * skewSecondsMax);
    switch (fault) {
      case 'robot-killed':
      case 'robot-leaves':
      case 'robot-skewed':
        this.#restless?.killed('robot');
        robots.shift()!.kill(fault === 'robot-leaves' ? 'SIGTERM' : 'SIGKILL');
        return this.#crew.robot(fault === 'robot-skewed' ? skew() : 0);
      case 'coordinator-killed':
      case 'coordinator-leaves':
      case 'coordinator-skewed': {
        const gone = coordinators.shift()!;
        await gone.end(fault === 'coordinator-leaves' ? 'SIGTERM' : 'SIGKILL');
        return this.#crew.coordinator(fault === 'coordinator-skewed' ? skew() : 0);
      }
      case 'coordinator-frozen': {
        const [, { process: frozen }] = coordinators as [Serving, Serving];
        frozen.kill('SIGSTOP');
        await pause(frozenMs);
        frozen.kill('SIGCONT');
        return;
      }
      case 'observer-killed':
      case 'observer-leaves':
        return this.#replace(this.#any(observerNames), fault === 'observer-killed' ? 'SIGKILL' : 'SIGTERM');
      case 'coordinator-cut': {
        // It renews its leases, and reaches nobody else.
        const way = this.#crew.ways.get(this.#any(coordinators))!;
        way.cut();
        await pause(this.#random() * cutMsMax);
        way.mend();
        return;
      }
      case 'observer-cut': {
        const { link } = observers.get(this.#any(observerNames))!;
        link.cut();
        await pause(this.#random() * cutMsMax);
        link.mend();
        return;
      }
      case 'cable-pulled': {
        const { cable } = servers;
        cable!.pull();
        await pause(this.#random() * cutMsMax);
        cable!.plug();
        return;
      }
      case 'links-cut':
        servers.toNats.cut();
        if (this.#random() < 0.5) servers.toPostgres.cut();
        await pause(this.#random() * cutMsMax);
        servers.toNats.mend();
        servers.toPostgres.mend();
        return;
      case 'links-slow': {
        servers.toNats.slow(slowMs);
        servers.toPostgres.slow(slowMs / 10);
        await pause(cutMsMax / 2);
        servers.toNats.slow(0);
        servers.toPostgres.slow(0);
        return;
      }
      case 'messages-twice':
      case 'messages-late':
      case 'messages-twice-and-late': {
        const how = {
          twice: fault === 'messages-late' ? 0 : 0.5,
          lateMsMax: fault === 'messages-twice' ? 0 : lateMsMax,
        };
        for (const link of this.#crew.messageLinks()) link.unreliable(how);
        await pause(cutMsMax);
        for (const link of this.#crew.messageLinks()) link.unreliable(undefined);
        return;
      }
      case 'clocks-jump':
        return this.#crew.jumpClocks();
      case 'nats-killed':
        await servers.nats.kill();
        return servers.nats.start();
      case 'postgres-restarted':
        await servers.postgres.stop();
        return servers.postgres.start();
    }
  }

  #replace(name: ObserverName, signal: NodeJS.Signals): Promise<void> {
    if (signal === 'SIGKILL') this.#restless?.killed(name);
    return this.#crew.replaceObserver(name, signal);
  }

  /** What does not hold of the whole history, in sentences. */
  async wrong(): Promise<readonly string[]> {
    const { web } = this.#crew.servers;
    if (this.#restless) return [...rushed(web), ...overspent(web, this.#crew.startedMs)];
    const pages = await this.#allSeen();
    const log = await wrongInLog(this.#crew.coordinators[0]!.url, pages, this.#edition);
    return [...log, ...(await this.#wrongInStream()), ...rushed(web), ...overspent(web, this.#crew.startedMs)];
  }

  /** Where there are keys, a reader must have heard what is in the log, once and in order. */
  async #wrongInStream(): Promise<readonly string[]> {
    const { keys, nats } = this.#crew.servers;
    if (!keys) return [];
    const ids = (await allChanges(this.#crew.coordinators[0]!.url)).map(({ id }) => id);
    const heard = await followed({ ...keys.reader, nats: nats.url }, ids.length);
    const at = ids.findIndex((id, i) => heard[i] !== id);
    if (at < 0 && heard.length === ids.length) return [];
    return [`of ${ids.length} changes a reader of the stream heard ${heard.length}, as the log has them up to ${at}`];
  }

  /** Of pages that do not wait: what became of their editions. */
  async tally(): Promise<Tally | undefined> {
    this.#restless?.stop();
    return this.#restless?.tally(this.#crew.coordinators[0]!.url);
  }

  /** How much was asked for, and how many times the budget that was in the busiest ten seconds. */
  get looks(): { readonly count: number; readonly peak: number } {
    const { asked } = this.#crew.servers.web;
    let [count, from] = [0, 0];
    asked.forEach(({ atMs }, i) => {
      while (asked[from]!.atMs < atMs - 10_000) from++;
      count = Math.max(count, i - from + 1);
    });
    return { count: asked.length, peak: count / (10 * budgetPerSecond) };
  }

  async end(): Promise<void> {
    await this.#leases.close();
    await this.#crew.end();
  }
}
