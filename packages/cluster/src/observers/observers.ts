/** A coordinator's dealings with observers over time: hears them, measures them, and keeps who has which site. */
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock, ObserverReport, Page, PageState } from 'revisit/ports';
import type { Carrier } from '../dispatch/carrier.ts';
import { ensureErrands, shardOf, subjects } from '../dispatch/streams.ts';
import type { SpokenStore } from '../store/spoken-store.ts';
import { Fleet } from './fleet.ts';
import type { Giving } from './placement.ts';
import { type Word, readWord } from './roster.ts';

/** How often links are measured and places thought over: they change slowly, and a move costs something. */
const thinkEveryMs = 5_000;
/** How soon what home needs is asked back. */
const recallEveryMs = 500;
/** A name is part of subjects and of what people read. */
const nameForm = /^[a-z0-9][a-z0-9-]{0,39}$/;

export interface ObserversParts {
  readonly nats: NatsConnection;
  readonly carrier: Carrier;
  readonly store: SpokenStore;
  readonly clock: Clock;
  readonly mandateMs: number;
  readonly leaseMs: number;
  readonly spacingMs: number;
  readonly log: (level: 'info' | 'warn', message: string, fields?: Record<string, unknown>) => void;
}

interface WatchedLoop {
  readonly collection: Iterable<{ readonly page: Page; readonly state: PageState }> & {
    readonly size: number;
    byId(id: string): { readonly page: Page; readonly state: PageState } | undefined;
  };
  readonly settings: { readonly looksPerSecond: number };
  behind(): boolean;
  lend(requestsPerSecond: number): void;
  giveBack(requests: number): void;
  probeSoon(id: string): boolean;
}

export class Observers {
  readonly #parts: ObserversParts;
  /** Who has which site, shard by shard, as the store has it. */
  readonly #given = new Map<number, Map<string, Given>>();
  readonly #known = new Set<string>();
  #loop: WatchedLoop | undefined;
  /** What is kept of who has which site, one after the other: each says all of its shard. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #fleet: Fleet;

  constructor(parts: ObserversParts) {
    this.#parts = parts;
    this.#fleet = new Fleet({
      clock: parts.clock,
      connection: parts.nats,
      mandateMs: parts.mandateMs,
      spacingMs: parts.spacingMs,
      budgetPerSecond: () => this.#loop?.settings.looksPerSecond ?? 0,
      behind: () => this.#loop?.behind() ?? false,
      lend: (perSecond) => this.#loop?.lend(perSecond),
      giveBack: (requests) => this.#loop?.giveBack(requests),
      pageOf: (id) => this.#loop?.collection.byId(id),
      everyPage: () => this.#loop?.collection ?? [],
      pageCount: () => this.#loop?.collection.size ?? 0,
      probeSoon: (id) => this.#loop?.probeSoon(id),
      remember: (...what) => this.#inTurn(() => this.#remember(...what)),
      // Where that cannot be kept, whoever follows asks for its pages once more.
      outlive: (observer, life) => void this.#inTurn(() => this.#outlive(observer, life)).catch(() => {}),
      log: parts.log,
    });
    parts.carrier.fleet = this.#fleet;
  }

  /** All that follows from these probes is kept, or nothing does. */
  ended(probeIds: readonly string[]): void {
    this.#fleet.kept(probeIds);
  }

  reports(): readonly ObserverReport[] {
    return this.#fleet.reports();
  }

  async run(loop: WatchedLoop, signal: AbortSignal): Promise<void> {
    const { nats, clock } = this.#parts;
    this.#loop = loop;
    const ears = nats.subscribe(subjects.word('*'), {
      callback: (error, message) => {
        const name = message.subject.split('.').at(-1)!;
        const word = error ? undefined : readWord(message.string());
        if (word && nameForm.test(name)) void this.#heard(name, word);
      },
    });
    const recalling = this.#recall(signal);
    while (!signal.aborted) {
      try {
        await this.#fleet.measure();
        await this.#fleet.decide();
      } catch {
        // A server is away; what was decided and not kept is decided again.
      }
      await clock.sleep(thinkEveryMs, signal);
    }
    await recalling;
    // Not for so long that the shards are another's by then.
    await this.#fleet.bringHome(this.#parts.leaseMs / 2).catch(() => {});
    ears.unsubscribe();
  }

  async #recall(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#fleet.recall();
      await this.#parts.clock.sleep(recallEveryMs, signal);
    }
  }

  async #heard(name: string, word: Word): Promise<void> {
    if (!this.#known.has(name)) {
      await ensureErrands(this.#parts.nats, name, this.#parts.leaseMs).catch(() => {});
      this.#known.add(name);
    }
    this.#fleet.heard(name, word);
  }

  /** What the last holder of the shard had given to observers. */
  async takeUp(shard: number): Promise<void> {
    const kept = await this.#parts.store.recall(keyOf(shard));
    const words = kept ? (JSON.parse(Buffer.from(kept).toString()) as Record<string, string>) : {};
    const past = await this.#past(shard);
    const given = new Map(Object.entries(words).map(([site, said]) => [site, givenOf(said)]));
    this.#given.set(shard, given);
    // In the same breath as their pages are taken up: a word that came in between would find none of them to be asked for.
    for (const [site, { observer, name, life }] of given) this.#fleet.restore(site, observer, name, life);
    for (const [site, ends] of Object.entries(past)) this.#fleet.restorePast(site, new Map(Object.entries(ends)));
  }

  /** By site, whose mandates there ran out unheard, and when. */
  async #past(shard: number): Promise<Record<string, Record<string, number>>> {
    const kept = await this.#parts.store.recall(pastKeyOf(shard));
    return kept ? (JSON.parse(Buffer.from(kept).toString()) as Record<string, Record<string, number>>) : {};
  }

  lose(shard: number): void {
    this.#given.delete(shard);
    this.#fleet.forget((site) => shardOf(site) === shard);
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#last.then(work, work);
    this.#last = turn;
    return turn;
  }

  async #outlive(observer: string, life: string): Promise<void> {
    for (const [shard, given] of this.#given) {
      const isOther = ([, to]: [string, Given]): boolean => to.observer === observer && to.life !== life;
      const others = [...given].filter(isOther);
      if (others.length === 0) continue;
      const lives = others.map(([site, to]): [string, Given] => [site, { ...to, life }]);
      await this.#keepGiven(shard, new Map([...given, ...lives]));
    }
  }

  /** Fails where the store does, so that nothing is given away that a successor would not know of. */
  async #remember(
    site: string,
    observer: string | undefined,
    past: ReadonlyMap<string, number>,
    giving: Giving,
  ): Promise<void> {
    const shard = shardOf(site);
    const given = this.#given.get(shard);
    if (!given) throw new Error("The site is another coordinator's.");
    const next = new Map(given);
    if (observer === undefined) next.delete(site);
    else next.set(site, { observer, ...giving });
    const { [site]: before, ...others } = await this.#past(shard);
    const ends = Object.fromEntries(past);
    if (JSON.stringify(before ?? {}) !== JSON.stringify(ends))
      await this.#write(shard, pastKeyOf(shard), past.size > 0 ? { ...others, [site]: ends } : others);
    await this.#keepGiven(shard, next);
  }

  async #keepGiven(shard: number, next: Map<string, Given>): Promise<void> {
    const words = [...next].map(([each, { observer, name, life = '' }]) => [each, `${observer} ${name} ${life}`]);
    await this.#write(shard, keyOf(shard), Object.fromEntries(words));
    this.#given.set(shard, next);
  }

  async #write(shard: number, key: string, words: unknown): Promise<void> {
    const kept = await this.#parts.store.rememberOf(shard, key, Buffer.from(JSON.stringify(words)));
    if (kept.kind === 'failed') throw new Error(kept.fault.sentence);
    if (!kept.value) throw new Error("The site is another coordinator's.");
  }
}

/** Who has a site, and by which giving of it. */
interface Given extends Giving {
  readonly observer: string;
}

function givenOf(said: string): Given {
  const [observer = '', name = '', life = ''] = said.split(' ');
  return { observer, name, life: life || undefined };
}

const keyOf = (shard: number): string => `observers:${shard}`;
const pastKeyOf = (shard: number): string => `past-observers:${shard}`;
