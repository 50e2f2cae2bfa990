/**
 * One coordinator of a cluster: the daemon's own loop and API over the shared store, looking after the shards whose leases
 * it holds, with robots elsewhere carrying its probes. Without NATS it fetches by itself; the store is shared all the same.
 */
import { hostname } from 'node:os';
import type { NatsConnection } from '@nats-io/transport-node';
import type {
  Change,
  Elsewhere,
  Observation,
  ObserverReport,
  Page,
  PageState,
  RobotReport,
  WatchedPage,
} from 'revisit/ports';
import { Asking } from './dispatch/asking.ts';
import { Carrier } from './dispatch/carrier.ts';
import { ChangeStream } from './dispatch/change-stream.ts';
import { unlink } from './dispatch/link.ts';
import { serveReaders } from './dispatch/reader-consumers.ts';
import type { Seal } from './dispatch/seal.ts';
import { allShards, shardOf, subjects } from './dispatch/streams.ts';
import { unpackNotice } from './dispatch/wire.ts';
import { Leases } from './leases.ts';
import { Observers } from './observers/observers.ts';
import type { Connection } from './store/connection.ts';
import type { PostgresStore } from './store/postgres.ts';
import { SharedClock } from './store/shared-clock.ts';
import { SpokenStore } from './store/spoken-store.ts';
import { type AskedLoop, Wishes } from './wishes.ts';

/** Often enough that a lease survives a lost renewal or two. */
const renewalsPerLease = 4;
const publishEveryMs = 1_000;
/** How soon subscriptions and settings that were made elsewhere count in the plan; what is found here is told to them at once. */
const followEveryMs = 3_000;
/** Demand is a sum over all pages and changes slowly. */
const demandEveryMs = 60_000;
/** Changes a day below which a page counts as much as one at this rate: it is looked at now and then all the same. */
const rateMin = 1e-3;
/** Less than the loop's own grace, so that it hears of what was given up. */
const finishMsMax = 3_000;
const finishPollMs = 20;
/** Pages that are read at once when others speak of them. */
const rereadBatch = 1_000;

export interface ClusterConfig {
  readonly store: string;
  readonly nats: string | undefined;
  readonly natsKey?: string | undefined;
  readonly natsCa?: string | undefined;
  /** How many servers keep each message. */
  readonly natsReplicas: number;
  readonly spacingMs: number;
  /** How long an observer may go on alone. */
  readonly mandateMs: number;
  /** How long a coordinator or a robot may be silent. */
  readonly leaseMs: number;
  readonly log: (level: 'info' | 'warn', message: string, fields?: Record<string, unknown>) => void;
}

interface TurnedPage {
  readonly page: Page;
  readonly state: PageState;
  readonly index: number;
  readonly aims: { readonly weight: number };
}

/** The part of the daemon's loop that a coordinator turns. */
export interface TurnedLoop extends AskedLoop<TurnedPage> {
  readonly policy: {
    readonly name: string;
    belief(page: number, nowSeconds: number): { readonly ratePerDay: number; readonly expectedPerDay?: number };
  };
  readonly collection: Iterable<TurnedPage> & {
    readonly size: number;
    byId(id: string): TurnedPage | undefined;
  };
  watch(watched: WatchedPage): void;
  unwatch(id: string): void;
  recallSites(): Promise<void>;
  resume(unfinished: Awaited<ReturnType<PostgresStore['unfinished']>>): Promise<void>;
  readonly settings: { readonly looksPerSecond: number };
  readonly wholeBudget: number;
  setBudget(whole: number, share?: number): void;
  behind(): boolean;
  lend(requestsPerSecond: number): void;
  bookTurn(site: string): Promise<number | undefined>;
  giveBack(requests: number): void;
  stir(): void;
  probeSoon(id: string): boolean;
  late(observation: Observation): boolean;
  batchOver(): Promise<void>;
  counts(): { readonly inFlight: number; readonly queued: number };
  onKept(listener: (changes: readonly Change[]) => void): () => void;
}

/** Whether a part of the budget has moved so far that it is planned with anew; a small part is as much to those who live on it. */
export const isOtherShare = (from: number, to: number): boolean => Math.abs(to - from) > 0.01 * from;

export class Coordinator {
  readonly #config: ClusterConfig;
  readonly #connections: readonly Connection[];
  readonly #nats: NatsConnection | undefined;
  readonly #clock: SharedClock;
  readonly store: SpokenStore;
  readonly leases: Leases;
  readonly carrier: Carrier | undefined;
  /** Shards whose pages are in memory and whose answers come here. */
  readonly #ready = new Set<number>();
  /** How often each shard was lost. */
  readonly #losses = allShards.map(() => 0);
  /** Pages that others spoke of before their shard was ready. */
  readonly #missed = new Set<string>();
  readonly #observers: Observers | undefined;
  readonly #asking: Asking;
  readonly #wishes: Wishes;
  #others = 0;
  #takingUp = false;
  /** When it was last without its link. */
  #unlinkedMs = -Infinity;
  #saidLinked = true;
  #share = 1;
  /** Of the other coordinators, as they last said. */
  #othersDemand = 0;
  #demand = { value: 1, size: -1, untilMs: 0 };

  constructor(
    config: ClusterConfig,
    connections: { readonly work: Connection; readonly leases: Connection },
    nats: NatsConnection | undefined,
    clock: SharedClock,
    seal: Seal,
  ) {
    this.#config = config;
    this.#connections = [connections.work, connections.leases];
    this.#nats = nats;
    this.#clock = clock;
    this.carrier = nats && new Carrier(nats, clock, seal, config.natsReplicas, config.leaseMs);
    const holder = `${hostname()}-${process.pid}-${Math.floor(clock.nowMs() % 1e6)}`;
    this.leases = new Leases(connections.leases, holder, config.leaseMs, clock);
    this.store = new SpokenStore(connections.work, this.leases);
    this.#wishes = new Wishes(this.store, this.#ready);
    this.#asking = new Asking(
      nats,
      holder,
      () => this.#others,
      () => this.linked,
    );
    this.#observers =
      nats && this.carrier && new Observers({ ...config, nats, carrier: this.carrier, store: this.store, clock });
    this.store.tell = (ids) => this.carrier?.notice('pages', ids);
    this.store.onEnded = (probeIds) => {
      this.carrier?.ended(probeIds);
      this.#observers?.ended(probeIds);
    };
  }

  /** Whether robots can be asked; without NATS this process is its own robot. */
  get linked(): boolean {
    return this.carrier?.linked ?? true;
  }

  observers(): readonly ObserverReport[] {
    return this.#observers?.reports() ?? [];
  }

  /** Undefined where this process is its own robot. */
  robots(): readonly RobotReport[] | undefined {
    return this.carrier?.robots();
  }

  accepts(site: string): boolean {
    return this.#ready.has(shardOf(site));
  }

  /** Turns with the others until the signal. */
  async run(loop: TurnedLoop, signal: AbortSignal, follow: () => Promise<void>): Promise<void> {
    signal.addEventListener('abort', () => this.#connections.forEach((connection) => connection.hurry()), {
      once: true,
    });
    const unhear = this.#hear(loop);
    if (this.carrier) {
      this.carrier.onLate = (observation) => loop.late(observation);
      this.carrier.turn = (site) => loop.bookTurn(site);
    }
    const unasked = this.#asking.hear();
    const unread = this.#nats && serveReaders(this.#nats);
    const publishing = this.#publish(loop, signal);
    const observing = this.#observers?.run(loop, signal);
    const following = this.#follow(signal, () => Promise.all([follow(), this.#wishes.takeUp(loop)]));
    while (!signal.aborted) {
      this.#sayLink();
      const demand = this.#demandOf(loop);
      const turn = await this.leases.renew(demand, this.#isAble());
      for (const shard of turn.lost) this.#lose(loop, shard);
      void this.#takeUp(loop);
      if (turn.coordinators !== undefined) this.#others = turn.coordinators - 1;
      if (turn.share !== undefined) {
        this.#othersDemand = demand / turn.share - demand;
        this.#useShare(loop, turn.share);
      }
      await this.#clock.sleep(this.#config.leaseMs / renewalsPerLease, signal);
    }
    unhear();
    unasked();
    unread?.();
    await Promise.all([publishing, observing, following]);
    await this.#finish(loop);
    await this.leases.release();
  }

  /** Whether it may have shards. After its link has been away, others keep them until it has been there for a while, or they would go to and fro. */
  #isAble(): boolean {
    const nowMs = this.#clock.nowMs();
    if (!this.linked) this.#unlinkedMs = nowMs;
    return nowMs - this.#unlinkedMs >= this.#config.leaseMs;
  }

  #sayLink(): void {
    const { linked } = this;
    if (linked === this.#saidLinked) return;
    this.#saidLinked = linked;
    if (linked) this.#config.log('info', 'the robots can be reached again');
    else this.#config.log('warn', 'no robot can be reached: NATS does not answer; nothing is looked at until it does');
  }

  #useShare(loop: TurnedLoop, share: number): void {
    if (!isOtherShare(this.#share, share)) return;
    this.#share = share;
    loop.setBudget(loop.wholeBudget, share);
  }

  /** What is under way is kept where that takes a moment only; the rest goes on elsewhere, so it stays in the store. */
  async #finish(loop: TurnedLoop): Promise<void> {
    const untilMs = this.#clock.nowMs() + finishMsMax;
    const busy = (): boolean => loop.counts().inFlight > 0 || loop.counts().queued > 0;
    while (busy() && this.#clock.nowMs() < untilMs) await this.#clock.sleep(finishPollMs);
    for (const shard of this.leases.held()) this.#lose(loop, shard);
  }

  /**
   * What this one's pages would take at a price that all coordinators have in common, up to a factor that is the same for
   * all: the best look rate of a page goes as the root of its weight and rate. Shares of the budget that follow it make the
   * prices equal (experiments/scale.ts).
   */
  #demandOf(loop: TurnedLoop): number {
    const nowMs = this.#clock.nowMs();
    const { size } = loop.collection;
    if (nowMs < this.#demand.untilMs && size === this.#demand.size) return this.#demand.value;
    let value = 0;
    for (const { page, index, aims } of loop.collection) {
      if (page.paused) continue;
      const belief = loop.policy.belief(index, nowMs / 1000);
      const rate = loop.policy.name === 'uniform' ? 1 : (belief.expectedPerDay ?? belief.ratePerDay);
      value += Math.sqrt(aims.weight * Math.max(rateMin, Number.isFinite(rate) ? rate : 0));
    }
    this.#demand = { value: Math.max(rateMin, value), size, untilMs: nowMs + demandEveryMs };
    return this.#demand.value;
  }

  /**
   * Reads what is held and not in memory yet, beside the renewing, which must not wait for it. What fails because a server
   * is away is tried again at the next turn.
   */
  async #takeUp(loop: TurnedLoop): Promise<void> {
    if (this.#takingUp) return;
    this.#takingUp = true;
    try {
      const free = [...this.leases.held()].filter((shard) => !this.#ready.has(shard));
      for (const shard of free) await this.#gain(loop, shard);
      if (free.length > 0) await this.#wishes.takeUp(loop);
    } catch {
      // Nothing of the shard is in memory, so nothing is half done.
    } finally {
      this.#takingUp = false;
    }
  }

  async #gain(loop: TurnedLoop, shard: number): Promise<void> {
    const losses = this.#losses[shard];
    this.carrier?.listen(shard);
    // A shard that was given up a moment ago: what its last looks found must be read with its pages.
    await loop.batchOver();
    const batches: (readonly WatchedPage[])[] = [];
    for await (const batch of this.store.pagesOf([shard])) batches.push(batch);
    const unfinished = await this.store.unfinishedOf([shard]);
    await loop.recallSites();
    await this.#observers?.takeUp(shard);
    // Lost meanwhile, and perhaps held again: what was read is old, and nobody listens.
    if (!this.leases.held().has(shard) || this.#losses[shard] !== losses) {
      this.#observers?.lose(shard);
      return this.carrier?.silence(shard);
    }
    // From here to the loop's knowing of open probes without a pause, or it would look beside them.
    this.#ready.add(shard);
    for (const batch of batches) for (const watched of batch) loop.watch(watched);
    // Not only at the next turn: until then it would have the budget of one without pages, and lend of that.
    const demand = this.#demandOf(loop);
    this.#useShare(loop, demand / (demand + this.#othersDemand));
    const resumed = loop.resume(unfinished);
    this.carrier?.admit(shard, () => this.leases.surelyHolds(shard));
    const missed = [...this.#missed];
    this.#missed.clear();
    await resumed;
    await this.#reread(loop, missed);
  }

  #lose(loop: TurnedLoop, shard: number): void {
    this.#losses[shard]!++;
    this.#ready.delete(shard);
    const gone = [...loop.collection].filter(({ page }) => shardOf(page.site) === shard).map(({ page }) => page.id);
    for (const id of gone) loop.unwatch(id);
    this.carrier?.silence(shard);
    this.#observers?.lose(shard);
  }

  /** What the other coordinators say: pages that were edited, changes that were kept. */
  #hear(loop: TurnedLoop): () => void {
    if (!this.#nats) return () => {};
    const ears = this.#nats.subscribe(subjects.notice, {
      callback: (error, message) => {
        if (error) return;
        const kind = message.headers?.get('kind');
        if (kind === 'kept') loop.stir();
        else if (kind === 'look') for (const id of unpackNotice(message.data)) loop.probeNow(id);
        else void this.#reread(loop, unpackNotice(message.data));
      },
    });
    return () => ears.unsubscribe();
  }

  async #reread(loop: TurnedLoop, ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += rereadBatch) {
      const batch = ids.slice(from, from + rereadBatch);
      const found = await this.store.pagesById(batch).catch(() => undefined);
      if (!found) return;
      const there = new Map(found.map((watched) => [watched.page.id, watched]));
      for (const id of batch) this.#take(loop, id, there.get(id));
    }
  }

  #take(loop: TurnedLoop, id: string, watched: WatchedPage | undefined): void {
    if (watched && this.#ready.has(shardOf(watched.page.site))) return loop.watch(watched);
    loop.unwatch(id);
    if (watched && this.leases.held().has(shardOf(watched.page.site))) this.#missed.add(id);
  }

  async #follow(signal: AbortSignal, follow: () => Promise<unknown>): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(followEveryMs, signal);
      // A read fails only when the server is away and this process wants to end.
      await follow().catch(() => {});
    }
  }

  /** The other coordinators, and the pages that they look after as these stand in the store. */
  readonly elsewhere: Elsewhere = {
    pages: () => this.store.pagesOf(allShards.filter((shard) => !this.#ready.has(shard))),
    probeNow: (ids) => this.carrier?.notice('look', ids),
    ask: (question, patienceMs) => this.#asking.ask(question, patienceMs),
    answerWith: (answer) => this.#asking.answerWith(answer),
  };

  /** Whoever holds the first shard copies the log into the stream of changes. */
  async #publish(loop: TurnedLoop, signal: AbortSignal): Promise<void> {
    if (!this.#nats) return;
    const { natsReplicas: replicas, log } = this.#config;
    const stream = new ChangeStream({ connection: this.#nats, store: this.store, clock: this.#clock, replicas, log });
    const unsubscribe = loop.onKept((changes) => {
      if (changes.length > 0) this.carrier?.notice('kept', []);
    });
    while (!signal.aborted) {
      try {
        if (this.leases.held().has(0)) await stream.copy();
      } catch {
        // The server is away: the next round goes on.
      }
      await this.#clock.sleep(publishEveryMs, signal);
    }
    unsubscribe();
  }

  /** Also of one that never began: what looks after probes would hold the process. */
  async close(): Promise<void> {
    await this.carrier?.close();
    if (this.#nats) await unlink(this.#nats);
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }
}
