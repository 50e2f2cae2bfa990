/** The indexing queue and what empties it: detect, learn, keep. */
import type { Finding } from '@revisit/core';
import type { Collection, Entry } from './collection.ts';
import { verdict } from './detect/verdict.ts';
import { Discovery } from './discovery.ts';
import type { Keeping } from './keeping.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { Detected, Fetched, LoopParts } from './loop-parts.ts';
import type { Detection } from './values/change.ts';
import type { Look, PageState, WatchedPage } from './values/look.ts';
import type { Observation } from './values/observation.ts';
import type { Page } from './values/page.ts';
import type { Probe } from './values/probe.ts';

/** A transaction of many looks costs little more than one of a few; more would delay the first of them. */
const batchMax = 512;
/** How many observations, or for how long, are gathered under load; short against any request over a network. */
const gatherMax = 512;
const gatherMs = 20;
/** How often somebody who waits for a batch looks whether it is over. */
const batchPollMs = 5;

/** What indexing asks of the loop around it. */
export interface Around {
  /** A page was found, or is to be watched with other settings. */
  readonly watch: (watched: WatchedPage) => void;
  /** The policy has a new model of the page. */
  readonly learned: (entry: Entry) => void;
  /** Another look at the page is wanted that soon. */
  readonly askLater: (id: string, afterMs: number) => void;
  /** What was found of the page could not be used. */
  readonly dueAgain: (id: string, atMs: number) => void;
  /** The page may not be visited before then. */
  readonly putOff: (id: string, look: Look, untilMs: number | undefined) => void;
  /** So many observations were indexed in that time. */
  readonly indexed: (observations: number, looks: number, tookMs: number) => void;
  /** All that follows from a batch is done. */
  readonly batchEnded: () => Promise<void>;
  /** Nothing is left to index. */
  readonly idle: () => void;
}

/** Detections that have begun, by page, and for the page as it was then. */
type Early = Map<string, { readonly entry: Entry; readonly detected: Detected | Promise<Detected> }>;

/** A body that was recognised as it came, and what it was held against. */
interface Recognised {
  readonly page: Page;
  readonly state: PageState;
  readonly detected: Detected;
}

const noBody = new Uint8Array(0);

export class Indexing {
  readonly #parts: Pick<LoopParts, 'clock' | 'store' | 'policy' | 'detect' | 'recognise' | 'planned' | 'websub'>;
  readonly #collection: Collection;
  readonly #discovery: Discovery;
  readonly #lifetimes: Lifetimes;
  readonly #keeping: Keeping;
  readonly #queueMax: number;
  readonly #around: Around;
  readonly #queue: Observation[] = [];
  /** By probe; most serve one page, and only those are tried. */
  readonly #recognised = new Map<string, Recognised>();
  readonly #secondLooks = new Set<string>();
  /** Probes and pages that were removed while they were under way, as `probe page`. */
  readonly #disowned = new Set<string>();
  /** What the batch under way has found so far. */
  #looks: Look[] = [];
  #gathering = false;
  #dead = false;
  #batches = 0;
  #running: Promise<void> | undefined;

  constructor(
    parts: Pick<LoopParts, 'clock' | 'store' | 'policy' | 'detect' | 'recognise' | 'planned' | 'websub'>,
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
    this.#queueMax = queueMax;
    this.#around = around;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Resolves when the run that is under way ends; undefined when there is none. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** When what is being kept now is kept, or could not be. */
  async batchOver(): Promise<void> {
    const batch = this.#batches;
    while (this.#running && this.#batches === batch) await this.#parts.clock.sleep(batchPollMs);
  }

  /** False when the queue is full: the observation is lost and its pages stay due. */
  take(observation: Observation): boolean {
    if (this.#queue.length >= this.#queueMax) return false;
    this.#queue.push(this.#recognise(observation));
    return true;
  }

  /** The page was removed while the probe was under way for it: it is no longer the page that was asked for. */
  disown(probe: Probe, id: string): void {
    if (probe.pageIds.includes(id)) this.#disowned.add(`${probe.id} ${id}`);
  }

  /** The page was removed: nothing that was found of it is kept. Resolves when none of it is being written. */
  async forget(id: string): Promise<void> {
    for (const { probe } of this.#queue) this.disown(probe, id);
    this.#looks = this.#looks.filter((look) => look.pageId !== id);
    while (this.#keeping.isWriting(id)) await this.#parts.clock.sleep(batchPollMs);
  }

  /** The next look at the page is the second one that detection asked for. */
  secondLook(id: string): void {
    this.#secondLooks.add(id);
  }

  die(): void {
    this.#dead = true;
  }

  /** Under load, observations are gathered for a moment: one transaction costs as much as the next. */
  soon(underLoad: boolean): void {
    if (this.#running) return;
    if (!underLoad || this.#queue.length >= gatherMax) {
      this.#now();
    } else if (!this.#gathering) {
      this.#gathering = true;
      void this.#parts.clock.sleep(gatherMs).then(() => {
        this.#gathering = false;
        if (!this.#dead && this.#queue.length > 0) this.#now();
      });
    }
  }

  #now(): void {
    this.#running ??= this.#index().finally(() => {
      this.#running = undefined;
      this.#around.idle();
    });
  }

  /** Empties the indexing queue: detect, learn, keep, announce. */
  async #index(): Promise<void> {
    while (this.#queue.length > 0) {
      const begunMs = this.#parts.clock.nowMs();
      // A small queue drains in small batches, or it would stay full while one is worked through.
      const batch = this.#queue.slice(0, Math.max(1, Math.min(batchMax, this.#queueMax >> 3)));
      this.#looks = [];
      const early = this.#detectEarly(batch);
      for (const observation of batch) await this.#look(observation, early);
      const kept = await this.#keeping.keep(() => this.#looks);
      this.#batches++;
      if (!kept) return;
      const looks = this.#looks;
      const paged = new Set(looks.map(({ probeId }) => probeId));
      const pageless = batch.filter(({ probe }) => !paged.has(probe.id));
      if (pageless.length > 0) await this.#parts.store.finished(pageless.map(({ probe }) => probe.id));
      this.#queue.splice(0, batch.length);
      for (const { probe } of batch) this.#recognised.delete(probe.id);
      for (const { probe } of this.#disowned.size > 0 ? batch : [])
        for (const id of probe.pageIds) this.#disowned.delete(`${probe.id} ${id}`);
      this.#around.indexed(batch.length, looks.length, this.#parts.clock.nowMs() - begunMs);
      await this.#retire(looks);
      await this.#around.batchEnded();
    }
  }

  /**
   * A body that is what it was is let go as it comes: most are, and a queue of them is memory that lives long enough to be
   * costly.
   */
  #recognise(observation: Observation): Observation {
    const { outcome, probe } = observation;
    if (outcome.kind !== 'fetched' || probe.pageIds.length !== 1) return observation;
    const entry = this.#askedFor(probe.pageIds[0]!, observation);
    const detected = entry && this.#parts.recognise?.(entry, outcome);
    if (!detected) return observation;
    this.#secondLooks.delete(entry.page.id);
    this.#recognised.set(probe.id, { page: entry.page, state: entry.state, detected });
    return { ...observation, outcome: { ...outcome, body: noBody } };
  }

  /** Detections of a batch go on side by side; a page's second look in it waits for what the first one says. */
  #detectEarly(batch: readonly Observation[]): Early {
    const early: Early = new Map();
    for (const observation of batch) {
      if (observation.outcome.kind !== 'fetched' || observation.outcome.body === noBody) continue;
      for (const id of observation.probe.pageIds) {
        const entry = early.has(id) ? undefined : this.#askedFor(id, observation);
        if (entry) early.set(id, { entry, detected: this.#detect(entry, observation.outcome, observation) });
      }
    }
    return early;
  }

  #detect(entry: Entry, fetched: Fetched, { finalUrl, probe, startedAtMs }: Observation): Detected | Promise<Detected> {
    const second = this.#secondLooks.delete(entry.page.id);
    return this.#parts.detect(entry, fetched, { url: finalUrl ?? probe.url, ms: startedAtMs, second });
  }

  /** What an observation says about its pages. */
  async #look(observation: Observation, early: Early): Promise<void> {
    for (const id of observation.probe.pageIds) {
      const entry = this.#askedFor(id, observation);
      if (!entry) continue;
      const look = await this.#found(entry, observation, early);
      if (look) this.#looks.push(look);
      // Its user changed it meanwhile: what was found is of another page.
      else if (this.#collection.byId(id)) this.#around.dueAgain(id, observation.startedAtMs);
    }
  }

  /** The page that the observation is of; undefined when it was removed or went to another URL since it was asked for. */
  #askedFor(id: string, { probe }: Observation): Entry | undefined {
    const entry = this.#collection.byId(id);
    if (this.#disowned.size > 0 && this.#disowned.has(`${probe.id} ${id}`)) return undefined;
    return entry?.page.url === (probe.movedFrom ?? probe.url) ? entry : undefined;
  }

  #isThere(entry: Entry): boolean {
    return this.#collection.at(entry.index) === entry;
  }

  /**
   * What an observation says about one page; undefined when that was removed or edited before all was known. Most looks find
   * nothing new, and wait for nothing here.
   */
  async #found(entry: Entry, observation: Observation, early: Early): Promise<Look | undefined> {
    const { id } = entry.page;
    let detected: Detected | undefined;
    if (observation.outcome.kind === 'fetched') {
      detected = this.#recognisedAs(observation.probe, entry);
      // It is another than it was when the answer came: edited, or as a look before found it.
      if (!detected && observation.outcome.body === noBody) return undefined;
      const begun = early.get(id);
      early.delete(id);
      const own = begun?.entry === entry ? begun.detected : undefined;
      detected ??= await (own ?? this.#detect(entry, observation.outcome, observation));
    }
    const plain = verdict(entry, observation, detected?.detection, detected?.state);
    const look = plain.change || detected?.again || detected?.raw ? await this.#completed(plain, detected) : plain;
    if (!this.#isThere(entry) || !(await this.#learn(entry, observation, look, detected?.detection))) return undefined;
    const model = entry.page.paused ? undefined : this.#parts.policy.save?.(entry.index);
    const state = newIn(look.state, entry.state, model);
    this.#collection.looked(entry, look.state);
    return { ...look, state };
  }

  /** What was said of the answer as it came, if the page is still as it was then. */
  #recognisedAs({ id }: Probe, entry: Entry): Detected | undefined {
    const known = this.#recognised.get(id);
    return known && known.page === entry.page && known.state === entry.state ? known.detected : undefined;
  }

  /** False when the page was removed or edited meanwhile: then nothing was learned. */
  async #learn(entry: Entry, observation: Observation, look: Look, detection: Detection | undefined): Promise<boolean> {
    const { policy } = this.#parts;
    const { outcome, watchedForMs, probe } = observation;
    const untilMs = watchedForMs === undefined ? undefined : observation.endedAtMs + watchedForMs;
    const planned = probe.plannedMs === undefined ? {} : { plannedMs: probe.plannedMs };
    this.#lifetimes.watched(entry, untilMs === undefined ? undefined : { untilMs, ...planned });
    if (outcome.kind === 'refused' && outcome.siteUntilMs === undefined) {
      this.#around.putOff(entry.page.id, look, outcome.untilMs);
      return true;
    }
    if (entry.page.paused) return true;
    const tookMs = observation.endedAtMs - observation.startedAtMs;
    const finding = { ...findingOf(look, detection), seconds: tookMs / 1000 };
    const news = outcome.kind === 'fetched' && (look.kind === 'first' || look.kind === 'changed');
    const revealed = news ? await this.#discover(entry, outcome, observation, look) : 0;
    if (revealed === undefined || !this.#isThere(entry)) return false;
    // A look that revealed new pages was worth as much as one that found so many changes.
    const worth =
      revealed > 0 && finding.kind !== 'first'
        ? { ...finding, kind: 'changed' as const, count: Math.max(revealed, finding.count ?? 1) }
        : finding;
    policy.looked(entry.index, look.atMs / 1000, worth);
    this.#around.learned(entry);
    if (finding.kind === 'failed') return true;
    this.#discovery.looked(entry, finding.kind === 'changed');
    this.#parts.websub?.looked(entry, entry.state.lastSeenMs, finding.kind === 'changed');
    if (outcome.kind === 'fetched') void this.#parts.websub?.found(entry, outcome.hub);
    if (finding.kind !== 'first') this.#lifetimes.looked(entry, look.atMs, finding.kind === 'changed');
    if (outcome.kind === 'fetched' || outcome.kind === 'not-modified')
      this.#lifetimes.stated(entry, look.atMs, outcome.maxAgeSeconds);
    return true;
  }

  /** Takes in what the answer says about other pages; answers how many it revealed, undefined when the loop stops first. */
  async #discover(entry: Entry, fetched: Fetched, observation: Observation, look: Look): Promise<number | undefined> {
    const { clock, policy, store } = this.#parts;
    const nowMs = clock.nowMs();
    const url = observation.finalUrl ?? observation.probe.url;
    const { pages, back, hints } = this.#discovery.read(entry, fetched, url, nowMs, look.kind === 'first');
    for (const hint of hints) policy.hinted?.(hint.entry.index, nowMs / 1000, hint.chance);
    if (back.length > 0) await this.#setResting(back, false);
    if (pages.length === 0) return 0;
    let kept = await store.addPages(pages);
    // What the page reveals is read once, when it has changed: it waits for the store as its look does.
    while (kept.kind === 'failed') {
      if (!(await this.#keeping.awaitStore(kept.fault))) return undefined;
      kept = await store.addPages(pages);
    }
    for (const { page, created } of kept.value) if (created) this.#around.watch(page);
    return kept.value.length;
  }

  /** Pages that were found and are gone for good rest from now on, with all their versions. */
  async #retire(looks: readonly Look[]): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    const retired = looks.flatMap((look) => {
      const page = look.kind === 'gone' ? this.#collection.byId(look.pageId)?.page : undefined;
      return page && !page.paused && this.#discovery.retires(page, look.state, nowMs) ? [page] : [];
    });
    if (retired.length > 0) await this.#setResting(retired, true);
  }

  async #setResting(pages: readonly Page[], resting: boolean): Promise<void> {
    const changes = pages.map((page) => ({ id: page.id, settings: Discovery.rest(page, resting) }));
    const kept = await this.#parts.store.updatePages(changes);
    if (kept.kind === 'kept') for (const watched of kept.value) this.#around.watch(watched);
  }

  async #completed(look: Look, detected: Detected | undefined): Promise<Look> {
    const raw = detected?.raw !== undefined && look.projection ? { raw: detected.raw } : {};
    const deliveries = look.change && this.#parts.planned ? { deliveries: await this.#parts.planned(look) } : {};
    if (!detected?.again) return { ...look, ...raw, ...deliveries };
    this.#around.askLater(look.pageId, detected.again.afterMs);
    // A second look needs the page itself, so nothing goes into it that a server could answer with "not modified".
    return { ...look, ...raw, ...deliveries, state: { ...look.state, validators: {} } };
  }
}

/** A state as it goes to the store: with what was learned, and without what the store has. */
function newIn(state: PageState, before: PageState, model: Uint8Array | undefined): PageState {
  const { detectState, ...rest } = state;
  const other = detectState === undefined || detectState === before.detectState ? rest : state;
  return model ? { ...other, model } : other;
}

function findingOf(look: Look, detection: Detection | undefined): Finding {
  switch (look.kind) {
    case 'first':
      return { kind: 'first', ...modifiedOf(look) };
    case 'changed':
      return { kind: 'changed', count: detection?.kind === 'changed' ? detection.count : 1, ...modifiedOf(look) };
    case 'unchanged':
    case 'gone':
    case 'unreadable':
      // The server answered and there is nothing new to have: as far as learning goes, no change.
      return look.change && look.kind === 'gone' ? { kind: 'changed', count: 1 } : { kind: 'unchanged' };
    case 'refused':
    case 'failed':
      return { kind: 'failed' };
  }
}

/** The server's word on when the page last changed; how far it is believed is the policy's affair. */
function modifiedOf(look: Look): Pick<Finding, 'modifiedAt'> {
  const modifiedMs = Date.parse(look.state.validators.lastModified ?? '');
  return Number.isNaN(modifiedMs) ? {} : { modifiedAt: modifiedMs / 1000 };
}
