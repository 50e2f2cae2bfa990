/** The indexing queue and what empties it: detect, learn, keep. */
import {
  type Begun,
  type Queued,
  holdUntilRead,
  isLarge,
  isSettled,
  nextBatch,
  nothingBegun,
  stillOf,
  unreadBytesMax,
  without,
} from './begun.ts';
import type { Collection, Entry } from '../collection/collection.ts';
import { verdict } from '../detect/verdict.ts';
import type { Discovery } from '../collection/discovery.ts';
import { originOf } from '../collection/origin.ts';
import { contentOf, findingOf, worthOf } from './finding.ts';
import { FoundPages, nothingRevealed, type Read } from './found-pages.ts';
import { withNewIn } from './kept-look.ts';
import type { Keeping } from './keeping.ts';
import type { Lifetimes } from '../dispatch/lifetimes.ts';
import type { Detected, Fetched, LoopParts } from '../loop-parts.ts';
import { Overtaken } from './overtaken.ts';
import { putOffBy, type Rest } from '../dispatch/put-off.ts';
import type { Detection } from '../values/change.ts';
import type { Look, WatchedPage } from '../values/look.ts';
import { type Observation, lookedAtMs } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

/** A transaction of many looks costs little more than one of a few; more would delay the first of them. */
const batchMax = 512;
/**
 * How many observations, or for how long, are gathered under load: a look in a transaction of 500 costs the writer two thirds of
 * what it does in one of 100. Short against any request over a network.
 */
const gatherMax = batchMax;
const gatherMs = 50;
/** How often somebody who waits for a batch looks whether it is over. */
const batchPollMs = 5;

/** What indexing asks of the loop around it. */
export interface Around {
  /** A page was found, or is to be watched with other settings. */
  readonly watch: (watched: WatchedPage) => void;
  /** The page is about to be removed. */
  readonly release: (id: string) => Promise<void>;
  /** Nothing of the look is kept, as its page is gone. */
  readonly forgone: (observation: Observation) => Promise<void>;
  /** The policy has a new model of the page. */
  readonly learned: (entry: Entry) => void;
  /** Another look at the page is wanted that soon. */
  readonly askLater: (id: string, afterMs: number) => void;
  /** What was found of the page could not be used. */
  readonly dueAgain: (id: string, atMs: number) => void;
  /** The page may not be visited before then. */
  readonly putOff: (id: string, rest: Rest) => void;
  /** So many observations were indexed in that time. */
  readonly indexed: (observations: number, looks: number, tookMs: number) => void;
  /** All that follows from a batch is done. */
  readonly batchEnded: () => Promise<void>;
  /** Nothing is left to index. */
  readonly idle: () => void;
}

const notModified: Detected = { detection: { kind: 'unchanged' } };
const noBody = new Uint8Array(0);

export class Indexing {
  readonly #parts: Pick<LoopParts, 'clock' | 'store' | 'policy' | 'detect' | 'planned' | 'websub' | 'log'>;
  readonly #collection: Collection;
  readonly #discovery: Discovery;
  readonly #lifetimes: Lifetimes;
  readonly #keeping: Keeping;
  readonly #overtaken: Overtaken;
  readonly #queueMax: number;
  readonly #around: Around;
  readonly #foundPages: FoundPages;
  #queue: Queued[] = [];
  /** Pages with a look in the batch under way: what the store has of them is not yet what the look found. */
  readonly #unkept = new Set<string>();
  readonly #secondLooks = new Set<string>();
  /** Probes and pages that were removed while they were under way, as `probe page`. */
  readonly #disowned = new Set<string>();
  /** What the batch under way has found so far. */
  #looks: Look[] = [];
  #underLoad = false;
  /** Ends the gathering that is under way. */
  #gathered: () => void = () => {};
  #unreadBytes = 0;
  /** Ends the wait for large bodies. */
  #woken: () => void = () => {};
  #dead = false;
  #batches = 0;
  /** Nothing can be kept before a large body is read. */
  #waits = false;
  #running: Promise<void> | undefined;

  constructor(
    parts: Pick<LoopParts, 'clock' | 'store' | 'policy' | 'detect' | 'planned' | 'websub' | 'log'>,
    /** What is indexed, and where it is kept. */
    into: {
      readonly collection: Collection;
      readonly discovery: Discovery;
      readonly lifetimes: Lifetimes;
      readonly keeping: Keeping;
    },
    queueMax: number,
    around: Around,
  ) {
    this.#parts = parts;
    this.#collection = into.collection;
    this.#discovery = into.discovery;
    this.#lifetimes = into.lifetimes;
    this.#keeping = into.keeping;
    this.#overtaken = new Overtaken(parts);
    this.#queueMax = queueMax;
    this.#around = around;
    this.#foundPages = new FoundPages(parts, into, around);
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Probes with an answer that is not kept yet. */
  get unkept(): readonly Probe[] {
    return this.#queue.map(({ observation }) => observation.probe);
  }

  /** Resolves when the run that is under way ends; undefined when there is none. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** When what is being kept now is kept, or could not be. */
  async batchOver(): Promise<void> {
    const batch = this.#batches;
    while (this.#running && !this.#waits && this.#batches === batch) await this.#parts.clock.sleep(batchPollMs);
  }

  /** Whether so many bytes of large bodies could wait to be read. */
  hasRoomFor(bytes: number): boolean {
    return this.#unreadBytes + bytes <= unreadBytesMax;
  }

  /** False when the queue is full: the observation is lost and its pages stay due. */
  take(observation: Observation): boolean {
    const { outcome } = observation;
    const bytes = outcome.kind === 'fetched' && isLarge(outcome.body) ? outcome.body.length : 0;
    const full = this.#queue.length >= this.#queueMax || (bytes > 0 && !this.hasRoomFor(bytes));
    // Whoever found it lets go of it when the look has ended: there are never more of these than probes under way.
    if (full && observation.finding === undefined) return false;
    const queued = this.#begin(observation);
    this.#queue.push(queued);
    const isRead = (): void => {
      this.#unreadBytes -= bytes;
      this.#woken();
    };
    if (bytes > 0 && holdUntilRead(queued, isRead)) this.#unreadBytes += bytes;
    return true;
  }

  /** The page was removed while the probe was under way for it: it is no longer the page that was asked for. */
  disown(probe: Probe, id: string): void {
    if (probe.pageIds.includes(id)) this.#disowned.add(`${probe.id} ${id}`);
  }

  /** The page was removed: nothing that was found of it is kept. Resolves when none of it is being written. */
  async forget(id: string): Promise<void> {
    for (const { observation } of this.#queue) this.disown(observation.probe, id);
    this.#looks = this.#looks.filter((look) => look.pageId !== id);
    while (this.#keeping.isWriting(id)) await this.#parts.clock.sleep(batchPollMs);
  }

  /** The next look at the page is the second one that detection asked for. */
  secondLook(id: string): void {
    this.#secondLooks.add(id);
  }

  die(): void {
    this.#dead = true;
    this.#woken();
  }

  /** Under load, observations are gathered for a moment: one transaction costs as much as the next. */
  soon(underLoad: boolean): void {
    this.#underLoad = underLoad;
    if (this.#isGathered()) this.#gathered();
    this.#woken();
    this.#running ??= this.#index().finally(() => {
      this.#running = undefined;
      this.#around.idle();
    });
  }

  #isGathered(): boolean {
    return !this.#underLoad || this.#queue.length >= gatherMax;
  }

  async #gather(): Promise<void> {
    if (this.#isGathered()) return;
    const gathered = new AbortController();
    this.#gathered = () => gathered.abort('gathered');
    await this.#parts.clock.sleep(gatherMs, gathered.signal);
  }

  /** Empties the indexing queue: detect, learn, keep, announce. */
  async #index(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      if (this.#dead) return;
      const begunMs = this.#parts.clock.nowMs();
      // A small queue drains in small batches, or it would stay full while one is worked through.
      const batch = nextBatch(this.#queue, Math.max(1, Math.min(batchMax, this.#queueMax >> 3)));
      if (batch.length === 0) {
        this.#waits = true;
        await new Promise<void>((resolve) => (this.#woken = resolve));
        this.#waits = false;
        continue;
      }
      this.#looks = [];
      for (const queued of batch) if (!this.#calm(queued)) await this.#look(queued);
      const kept = await this.#keeping.keep(() => this.#looks);
      this.#batches++;
      if (!kept) return;
      const looks = this.#looks;
      const paged = new Set(looks.map(({ probeId }) => probeId));
      const pageless = batch.map(({ observation }) => observation).filter(({ probe }) => !paged.has(probe.id));
      for (const observation of pageless) await this.#around.forgone(observation);
      if (pageless.length > 0) await this.#parts.store.finished(pageless.map(({ probe }) => probe.id));
      this.#queue = without(this.#queue, batch);
      this.#unkept.clear();
      for (const { observation } of this.#disowned.size > 0 ? batch : [])
        for (const id of observation.probe.pageIds) this.#disowned.delete(`${observation.probe.id} ${id}`);
      for (const { observation } of batch)
        if (observation.overtaken)
          for (const id of observation.probe.pageIds) this.#around.dueAgain(id, observation.startedAtMs);
      this.#around.indexed(batch.length, looks.length, this.#parts.clock.nowMs() - begunMs);
      await this.#foundPages.retire(looks);
      await this.#around.batchEnded();
    }
  }

  /**
   * Detection begins as answers come, and goes on while those before them are kept. A body that is what it was is let go at
   * once: most are, and a queue of them is memory that lives long enough to be costly.
   */
  #begin(observation: Observation): Queued {
    const { outcome, probe } = observation;
    if (outcome.kind !== 'fetched' || observation.overtaken) return { observation, begun: nothingBegun };
    const begun = probe.pageIds.map((id) => {
      const entry = this.askedFor(id, observation.probe);
      if (!entry || this.#unkept.has(id)) return undefined;
      return this.#detect(entry, outcome, observation, this.#secondLooks.delete(id));
    });
    const [only] = begun;
    const letGo =
      begun.length === 1 &&
      only &&
      isSettled(only.detected) &&
      only.detected.detection.kind === 'unchanged' &&
      !this.#discovery.wants(only, outcome.body);
    return { observation: letGo ? { ...observation, outcome: { ...outcome, body: noBody } } : observation, begun };
  }

  #detect(entry: Entry, fetched: Fetched, observation: Observation, second: boolean): Begun {
    const { finalUrl, probe, unchangedLooks = 0 } = observation;
    const also = () => ({ reveals: this.#discovery.reads(entry, fetched), as: this.#discovery.readAs(entry) });
    const wanted = isLarge(fetched.body) ? { wanted: also() } : {};
    const at = { url: finalUrl ?? probe.url, ms: lookedAtMs(observation, entry), second, unchangedLooks, ...wanted };
    const detected = this.#parts.detect(entry, fetched, at);
    return { page: entry.page, state: entry.state, second, detected };
  }

  /** Takes in an answer that says nothing new of its one page; false leaves it to `#look`. Most are, and nobody waits for one. */
  #calm({ observation, begun }: Queued): boolean {
    const { outcome, probe } = observation;
    const entry = probe.pageIds.length === 1 ? this.askedFor(probe.pageIds[0]!, probe) : undefined;
    if (!entry || observation.overtaken) return false;
    if (outcome.kind !== 'fetched' && outcome.kind !== 'not-modified') return false;
    const known = outcome.kind === 'fetched' ? stillOf(entry, begun[0])?.detected : notModified;
    if (!known || !isSettled(known) || known.detection.kind !== 'unchanged' || known.again || known.raw) return false;
    if (observation.sitemaps || (outcome.kind === 'fetched' && this.#isToBeRead(entry, outcome))) return false;
    const look = verdict(entry, observation, known.detection, known.state);
    if (look.change) return false;
    this.#looks.push(this.#taken(entry, observation, look, known.detection, nothingRevealed));
    return true;
  }

  /** What an observation says about its pages. */
  async #look({ observation, begun }: Queued): Promise<void> {
    for (const [n, id] of observation.probe.pageIds.entries()) {
      const entry = this.askedFor(id, observation.probe);
      if (!entry) continue;
      if (observation.overtaken) {
        await this.#recount(entry, observation);
        continue;
      }
      let look = await this.#found(entry, observation, begun[n]);
      // It was edited meanwhile, or read again by somebody: what came back is held against the page as it is now.
      const anew = look ? undefined : this.askedFor(id, observation.probe);
      if (anew && anew !== entry) look = await this.#found(anew, observation, undefined);
      if (look) this.#looks.push(look);
      else if (this.#collection.byId(id)) this.#around.dueAgain(id, observation.startedAtMs);
    }
  }

  /** What was seen before our own last look: the page is due as it was, and nothing is learned of when it changes. */
  async #recount(entry: Entry, observation: Observation): Promise<void> {
    const looks = await this.#overtaken.looks(entry, observation);
    if (looks.length === 0 || !this.#isThere(entry)) return;
    this.#looks.push(...looks);
    this.#collection.looked(entry, looks.at(-1)!.state);
    this.#unkept.add(entry.page.id);
  }

  /** The page that an answer to the probe is of; undefined when it was removed or went to another URL since it was asked for. */
  askedFor(id: string, probe: Probe): Entry | undefined {
    const entry = this.#collection.byId(id);
    if (this.#disowned.size > 0 && this.#disowned.has(`${probe.id} ${id}`)) return undefined;
    if (entry?.page.url === (probe.movedFrom ?? probe.url)) return entry;
    return entry && (entry.page.url === probe.url || entry.state.movedTo === probe.url) ? entry : undefined;
  }

  /** Whether an answer that says nothing new of the page may do so of others. */
  #isToBeRead(entry: Entry, { body }: Fetched): boolean {
    return body !== noBody && !entry.page.paused && this.#discovery.wants(entry, body);
  }

  #isThere(entry: Entry): boolean {
    return this.#collection.at(entry.index) === entry;
  }

  /** What an observation says about one page; undefined when that was removed or edited before all was known. */
  async #found(entry: Entry, observation: Observation, begun: Begun | undefined): Promise<Look | undefined> {
    const { outcome } = observation;
    let detected: Detected | undefined;
    if (outcome.kind === 'fetched') {
      const own = stillOf(entry, begun);
      // It is another than it was when the answer came, edited or as a look before found it: its body is read anew.
      if (!own && outcome.body === noBody) return undefined;
      const second = begun?.second ?? this.#secondLooks.delete(entry.page.id);
      detected = await (own ?? this.#detect(entry, outcome, observation, second)).detected;
    }
    const plain = verdict(entry, observation, detected?.detection, detected?.state);
    const look = plain.change || detected?.again || detected?.raw ? await this.#completed(plain, detected) : plain;
    if (look.change && (await this.#overtaken.isTold(entry.page, observation))) return undefined;
    if (!this.#isThere(entry)) return undefined;
    const news = (look.kind === 'first' || look.kind === 'changed') && !entry.page.paused;
    const read =
      outcome.kind === 'fetched' && (news || (look.kind === 'unchanged' && this.#isToBeRead(entry, outcome)))
        ? await this.#foundPages.discover(entry, outcome, observation, look, detected?.revealed)
        : observation.sitemaps
          ? await this.#foundPages.takeNamed(entry, observation.sitemaps)
          : nothingRevealed;
    if (!read || !this.#isThere(entry)) return undefined;
    const { reading } = read;
    const kept = reading === undefined ? look : { ...look, state: { ...look.state, revealed: reading } };
    return this.#taken(entry, observation, kept, detected?.detection, read);
  }

  /** The look is learned from, with what it revealed of other pages, and the page is as it says. */
  #taken(entry: Entry, observation: Observation, look: Look, detection: Detection | undefined, revealed: Read): Look {
    this.#learn(entry, observation, look, detection, revealed);
    const model = entry.page.paused ? undefined : this.#parts.policy.save?.(entry.index);
    const kept = withNewIn(look, entry.state, model);
    this.#collection.looked(entry, look.state);
    this.#overtaken.forget(entry.page.id);
    this.#unkept.add(entry.page.id);
    return kept;
  }

  #learn(entry: Entry, observation: Observation, look: Look, detection: Detection | undefined, revealed: Read): void {
    const { policy } = this.#parts;
    const { outcome, watchedForMs, unchangedLooks = 0, probe } = observation;
    const untilMs = watchedForMs === undefined ? undefined : observation.endedAtMs + watchedForMs;
    const planned = probe.plannedMs === undefined ? undefined : { plannedMs: probe.plannedMs };
    this.#lifetimes.watched(entry, untilMs === undefined ? undefined : { untilMs, ...planned });
    const later = putOffBy(outcome, look);
    if (later) return this.#around.putOff(entry.page.id, later);
    if (entry.page.paused) return;
    const tookMs = observation.endedAtMs - observation.startedAtMs;
    const changedAtMs = this.#discovery.hints.changedAtMs(entry, look.atMs);
    const found = findingOf(look, detection, { changedAtMs, times: revealed.times });
    const finding = { ...found, ...contentOf(look, outcome), looks: 1 + unchangedLooks, seconds: tookMs / 1000 };
    policy.looked(entry.index, look.atMs / 1000, worthOf(finding, originOf(entry.page)?.index === true, revealed));
    this.#around.learned(entry);
    if (finding.kind === 'failed') return;
    this.#discovery.hints.looked(entry, finding.kind === 'changed');
    this.#parts.websub?.looked(entry, entry.state.lastSeenMs, finding.kind === 'changed');
    if (outcome.kind === 'fetched') void this.#parts.websub?.found(entry, outcome.hub);
    if (finding.kind !== 'first') this.#lifetimes.looked(entry, look.atMs, finding.kind === 'changed');
    if (outcome.kind === 'fetched' || outcome.kind === 'not-modified')
      this.#lifetimes.stated(entry, look.atMs, outcome.maxAgeSeconds);
  }

  async #completed(look: Look, detected: Detected | undefined): Promise<Look> {
    const raw = detected?.raw !== undefined && look.projection ? { raw: detected.raw } : {};
    const deliveries =
      look.change && this.#parts.planned ? { deliveries: await this.#parts.planned(look, detected?.words) } : {};
    if (!detected?.again) return { ...look, ...raw, ...deliveries };
    this.#around.askLater(look.pageId, detected.again.afterMs);
    // A second look needs the page itself, so nothing goes into it that a server could answer with "not modified".
    return { ...look, ...raw, ...deliveries, state: { ...look.state, validators: {} } };
  }
}
