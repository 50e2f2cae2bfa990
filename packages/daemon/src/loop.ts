/**
 * The arrows. This is the only file that knows the order of the loop:
 *
 *   plan (policy) ► dispatch (departures) ► observe ► [indexing queue] ► detect ► learn (policy) ► keep ► told
 *
 * Rules that hold at every moment, also over restarts:
 * - a probe is remembered before its request goes out, and over with the transaction that keeps its look;
 * - what is not kept is not announced, and what was not finished is due again;
 * - while the store cannot keep anything, nothing new is asked for.
 */
import { AccessTimes, type Policy, RobotPool } from '@revisit/core';
import { AskedBefore } from './dispatch/asked-before.ts';
import { CappedSites } from './dispatch/capped-sites.ts';
import { ClockBook } from './dispatch/clock-book.ts';
import { CollectionMarket } from './plan/collection-market.ts';
import { Collection, type Entry } from './collection/collection.ts';
import { Departures } from './dispatch/departures.ts';
import { Discovery, type Found } from './collection/discovery.ts';
import { Flights } from './dispatch/flights.ts';
import { Indexing } from './indexing/indexing.ts';
import { Keeping } from './indexing/keeping.ts';
import { Running } from './running.ts';
import { Saving } from './saving.ts';
import { type Later, patienceOf } from './dispatch/left-for-later.ts';
import { Lifetimes } from './dispatch/lifetimes.ts';
import type { LoopCounts, LoopParts, LoopSettings, Manners } from './loop-parts.ts';
import { type OutsideWays, type Peeked, peek, submit } from './dispatch/outside-plan.ts';
import type { Wait } from './dispatch/page-waits.ts';
import { PutOff, type Rest } from './dispatch/put-off.ts';
import { mannersOf } from './dispatch/site-manners.ts';
import { recallSites, resume, takeUp } from './taking-up.ts';
import type { Change } from './values/change.ts';
import type { WatchedPage } from './values/look.ts';
import type { Observation } from './values/observation.ts';
import type { Page } from './values/page.ts';
import type { Probe } from './values/probe.ts';
import { Watching } from './watching.ts';

/** Starved time and lost pages weigh the same. */
const starvationWeight = 1;

export class Loop {
  readonly collection = new Collection();
  readonly #discovery: Discovery;
  readonly #parts: LoopParts;
  #settings: LoopSettings;
  readonly #pool: RobotPool;
  readonly #flights: Flights;
  /** How long sites take to answer, by hour of week. */
  readonly access = new AccessTimes();
  /** What looks are worth, over all pages. */
  readonly market: CollectionMarket;
  readonly #departures: Departures;
  readonly #watching: Watching;
  readonly #lifetimes: Lifetimes;
  readonly #indexing: Indexing;
  readonly #keeping: Keeping;
  readonly #askedBefore: AskedBefore;
  readonly #clockBook: ClockBook;
  readonly #saving: Saving;
  readonly #putOff: PutOff;
  readonly #running: Running;
  /** Looks a second for all processes on the same store, and how much of that is this one's. */
  #budget: { readonly whole: number; readonly share: number };
  #kept = 0;
  readonly #sinceMs: number;

  constructor(parts: LoopParts, settings: LoopSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#budget = { whole: settings.looksPerSecond, share: 1 };
    this.#sinceMs = parts.clock.nowMs();
    this.market = new CollectionMarket(parts.policy, this.collection, settings.looksPerSecond);
    this.#lifetimes = new Lifetimes(parts.random);
    this.#discovery = new Discovery(this.collection, (url) => parts.observer.allows?.(url));
    const known = { access: this.access, collection: this.collection, lifetimes: this.#lifetimes };
    const isUnread = (entry: Entry) => this.#discovery.isUnread(entry);
    this.#departures = new Departures(parts, this.collection, { ...known, market: this.market }, settings, isUnread);
    this.#watching = new Watching(parts, {
      ...known,
      discovery: this.#discovery,
      departures: this.#departures,
      market: this.market,
      isUnderWay: (id) => this.#flights.isUnderWay(id),
    });
    this.#keeping = new Keeping(parts);
    this.#putOff = new PutOff((untilMs) => parts.clock.sleep(untilMs - parts.clock.nowMs(), this.#running.ended));
    this.#clockBook = new ClockBook(parts.clock, parts.store);
    const capped = new CappedSites(parts, this.#clockBook, () => void this.#running.saveSoon());
    this.#askedBefore = new AskedBefore(parts, this.#clockBook, capped);
    this.#saving = new Saving(parts, {
      ...known,
      clockBook: this.#clockBook,
      discovery: this.#discovery,
      doors: this.#departures.doors,
    });
    const into = {
      collection: this.collection,
      discovery: this.#discovery,
      lifetimes: this.#lifetimes,
      keeping: this.#keeping,
    };
    this.#indexing = new Indexing(parts, into, settings.queueMax, {
      watch: (watched) => this.watch(watched),
      release: (id) => this.release(id),
      forgone: ({ probe, endedAtMs }) => this.#askedBefore.goes(probe.site, endedAtMs),
      learned: (entry) => this.market.learned(entry, parts.clock.nowMs() / 1000),
      askLater: (id, afterMs) => void this.#askLater(id, afterMs),
      dueAgain: (id, atMs) => this.#watching.dueAgain(id, atMs),
      putOff: (id, rest) => void this.#putOffUntil(id, rest),
      indexed: (observations, looks, tookMs) => {
        this.#pool.indexed(this.#indexing.queued, observations, tookMs, parts.clock.nowMs());
        this.#running.wake();
        this.#kept += looks;
      },
      batchEnded: () => this.#saving.save(false),
      idle: () => this.#running.wake(),
    });
    const { robots: robotsMax, robotsMin = 0, queueMax } = settings;
    const limits = { robotsMin: Math.min(robotsMin, robotsMax), robotsMax, queueMax, starvationWeight };
    this.#pool = new RobotPool(limits, this.#sinceMs);
    this.#flights = new Flights(
      parts,
      {
        departures: this.#departures,
        indexing: this.#indexing,
        keeping: this.#keeping,
        pool: this.#pool,
        access: this.access,
      },
      settings.robots,
      {
        wake: () => this.#running.wake(),
        dueAgain: (id, atMs) => this.#watching.dueAgain(id, atMs),
        putOff: ({ page, state }, rest) => void this.#putOffUntil(page.id, { ...rest, looks: state.looks }, true),
      },
    );
    this.#running = new Running(parts, this.market, {
      departures: this.#departures,
      flights: this.#flights,
      indexing: this.#indexing,
      keeping: this.#keeping,
      saving: this.#saving,
    });
    parts.policy.setBudget(settings.looksPerSecond, this.#sinceMs / 1000);
  }

  get policy(): Policy {
    return this.#parts.policy;
  }

  get settings(): LoopSettings {
    return this.#settings;
  }

  /** What a root of discovery has found. */
  foundBy({ page }: Entry): Found | undefined {
    return this.#discovery.foundBy(page);
  }

  counts(): LoopCounts {
    return {
      ...this.#flights.counts(),
      kept: this.#kept,
      queued: this.#indexing.queued,
      waiting: this.#departures.waiting,
      pool: this.#pool.state(this.#parts.clock.nowMs()),
    };
  }

  get startedAtMs(): number {
    return this.#sinceMs;
  }

  /** What politeness knows of a site and, from one of its pages, of its robots.txt. */
  manners(site: string, pageUrl: string): Manners {
    return mannersOf(this.#parts, this.#departures.doors, this.#settings.spacingMs, site, pageUrl);
  }

  /** Whether the store takes what is found; false while the disk is full or the server is lost. */
  get healthy(): boolean {
    return !this.#keeping.down;
  }

  /** Another process kept changes in the same log: whoever follows it looks again. */
  stir(): void {
    this.#keeping.announce([]);
  }

  onKept(listener: (changes: readonly Change[]) => void): () => void {
    return this.#keeping.onKept(listener);
  }

  /** Resolves when the looks that are being kept now are in the store. */
  batchOver(): Promise<void> {
    return this.#indexing.batchOver();
  }

  /** Hours in which nothing is asked for; requests under way come home. */
  setQuiet(quiet: readonly string[]): void {
    this.#settings = { ...this.#settings, quiet };
    this.#departures.setQuiet(quiet);
    this.#running.wake();
  }

  /** What would keep the page from being looked at at that time, and until when; Infinity where no look is planned. */
  wait(entry: Entry, atMs: number): Wait | undefined {
    const awaited = this.#parts.observer.awaited?.(entry.page.site);
    if (awaited || !(atMs < Infinity)) return awaited ?? this.#putOff.wait(entry);
    return this.#departures.doors.wait(entry.page.site, atMs, this.#departures.quietUntil(atMs));
  }

  /** What may be asked for in all; `settings` has this loop's part of it. */
  get wholeBudget(): number {
    return this.#budget.whole;
  }

  setBudget(whole: number, share = this.#budget.share): void {
    const now = this.#parts.clock.nowMs();
    const looksPerSecond = whole * share;
    this.#budget = { whole, share };
    this.#settings = { ...this.#settings, looksPerSecond };
    this.#departures.setBudget(this.#settings);
    this.market.setBudget(looksPerSecond, now / 1000);
    this.policy.setBudget(looksPerSecond, now / 1000);
    this.#running.wake();
  }

  /** Whether pages of a sweep wait for the budget, and would for longer than a moment. */
  behind(): boolean {
    return this.#departures.behind;
  }

  /** In how many milliseconds a site that a redirect leads to may be asked, by whoever asks here; undefined where that is not known. */
  async bookTurn(site: string): Promise<number | undefined> {
    const { doors } = this.#departures;
    const { size } = doors.ledTo;
    const waitMs = doors.bookTurn(site);
    // Whoever follows must know before it is used.
    if (doors.ledTo.size > size)
      await this.#parts.store.revise('led-to', (before) => ({ after: doors.saveLedTo(before), value: undefined }));
    return waitMs;
  }

  /** Of the budget, so many requests a second are made by somebody who looks by itself, until this is said again. */
  lend(requestsPerSecond: number): void {
    this.#departures.lend(requestsPerSecond);
  }

  /** So many of the requests that were lent are counted one by one after all. */
  giveBack(requests: number): void {
    this.#departures.settle(-requests);
    this.#running.wake();
  }

  /** Takes up every stored page and what an earlier process left unfinished; the clock may have been set since then. */
  async load(clockSetByMs = 0): Promise<void> {
    await takeUp(this.#parts, this.#ways(), clockSetByMs);
    this.#running.wake();
  }

  /** What sites have asked of other processes, before pages of theirs are looked at from here. */
  recallSites(): Promise<void> {
    return recallSites(this.#parts, this.#departures.doors);
  }

  /** Takes up what another process had asked for and not kept. */
  async resume(unfinished: readonly Probe[]): Promise<void> {
    await resume(this.#parts, this.#ways(), unfinished);
    this.#running.wake();
  }

  #ways() {
    return {
      access: this.access,
      askedBefore: this.#askedBefore,
      clockBook: this.#clockBook,
      collection: this.collection,
      departures: this.#departures,
      discovery: this.#discovery,
      flights: this.#flights,
      keeping: this.#keeping,
      lifetimes: this.#lifetimes,
      market: this.market,
      watching: this.#watching,
    };
  }

  watch(watched: WatchedPage): void {
    if (this.#watching.watch(watched)) this.#running.wake();
  }

  /** Pages whose subscriptions ask something else of the plan than before are planned anew. */
  renew(asksOther: (page: Page) => boolean): void {
    const concerned = [...this.collection].filter(({ page }) => !page.paused && asksOther(page));
    for (const { page, state } of concerned) this.watch({ page, state });
  }

  unwatch(id: string): void {
    this.#watching.unwatch(id);
  }

  /** The page is being removed: nothing that is under way for it counts, for it or for one that is added in its place. */
  async release(id: string): Promise<void> {
    const entry = this.collection.byId(id);
    const { asked, unkept } = this.underWay();
    const askedMs = asked.has(id) || unkept.has(id) ? this.#parts.clock.nowMs() : entry?.state.lastLookMs;
    if (entry && askedMs !== undefined) await this.#askedBefore.goes(entry.page.site, askedMs);
    this.#watching.unwatch(id);
    for (const probe of this.#flights.underWay) this.#indexing.disown(probe, id);
    await this.#indexing.forget(id);
  }

  /** What detection remembers of a page was changed by its user. */
  setDetectState(id: string, detectState: string): void {
    const entry = this.collection.byId(id);
    // Where it is not held in memory, the next look reads it from the store.
    if (entry?.state.detectState !== undefined) entry.state = { ...entry.state, detectState };
  }

  /** What keeps a page that stands in line there for longer than whoever checks waits. */
  leftForLater(entry: Entry, all: boolean): Wait | undefined {
    const awaited = this.#parts.observer.awaited?.(entry.page.site);
    return awaited ?? this.#departures.keptBackFor(patienceOf(all), entry);
  }

  /** Whether the page was asked for and has not left. */
  isInLine(entry: Entry): boolean {
    return this.#departures.isAsked(entry);
  }

  /** A person asks for this page: it is looked at as soon as politeness allows, before whatever the plan wants. */
  probeNow(id: string, hurried = true): boolean {
    const entry = this.collection.byId(id);
    if (entry) this.#departures.ask(entry, hurried);
    this.#running.wake();
    return entry !== undefined;
  }

  /** The page is looked at as one that is due now, whatever the plan says. */
  probeSoon(id: string): boolean {
    return this.probeNow(id, false);
  }

  /** Whether pages of the site are this loop's. */
  looksAfter(site: string): boolean {
    return this.#parts.accepts?.(site) ?? true;
  }

  peek(what: Peeked): Promise<Pick<Observation, 'finalUrl' | 'outcome'>> {
    return peek(this.#parts, this.#outside, what);
  }

  /**
   * A look that was given up has come home: what it saw is kept, and the one asked for in its place goes on. When it was made nobody
   * knows: where a page has been looked at since it was asked for, kept or not, it tells of what was there before that, if the page has
   * changed since. Answers whether it is to be kept.
   */
  late(observation: Observation): boolean {
    const { atMs, pageIds } = observation.probe;
    const isSeen = pageIds.some((id) => (this.collection.byId(id)?.state.lastLookMs ?? -Infinity) > atMs);
    return !this.#running.stopping && this.#flights.late(observation, isSeen);
  }

  submit(url: string, form: Readonly<Record<string, string>>): Promise<number | undefined> {
    return submit(this.#parts, this.#outside, url, form);
  }

  get #outside(): OutsideWays {
    return { departures: this.#departures, flights: this.#flights, ended: this.#running.ended };
  }

  /** A second look that detection wants; if the process ends before, the plan's next look serves as well. */
  async #askLater(id: string, afterMs: number): Promise<void> {
    await this.#parts.clock.sleep(afterMs, this.#running.ended);
    if (!this.#running.stopping && this.probeSoon(id)) this.#indexing.secondLook(id);
  }

  /** Ends as a killed process does: whatever is under way comes to nothing. For simulations. */
  die(): void {
    this.#running.die();
  }

  /** Runs until the signal, then finishes what is under way within the time given. */
  run(signal: AbortSignal, graceMs?: number): Promise<void> {
    return this.#running.run(signal, graceMs);
  }

  /** Looks at what is due, or at every page when asked, and returns when all of it is kept or left for later. The loop need not run. */
  sweep(signal: AbortSignal, all: boolean): Promise<readonly Later[]> {
    this.askFor(all);
    return this.#running.sweep(signal, patienceOf(all));
  }

  /** Asks for what is due now, or for every page, ahead of the plan; answers which pages that are. */
  askFor(all: boolean): readonly string[] {
    const nowSeconds = this.#parts.clock.nowMs() / 1000;
    const entries: Entry[] = [];
    for (const entry of this.collection) {
      if (entry.page.paused || (!all && this.policy.due(entry.index, nowSeconds) > nowSeconds)) continue;
      entries.push(entry);
    }
    this.#departures.askInOrder(entries);
    this.#running.wake();
    return entries.map(({ page }) => page.id);
  }

  /** Pages with a look that was asked for and has no answer yet, and those with an answer that is not kept yet. */
  underWay(): { readonly asked: ReadonlySet<string>; readonly unkept: ReadonlySet<string> } {
    const asked = new Set([...this.#flights.underWay].flatMap(({ pageIds }) => pageIds));
    return { asked, unkept: new Set(this.#indexing.unkept.flatMap(({ pageIds }) => pageIds)) };
  }

  /** Lets go of connections and threads; after `run` or `sweep`. */
  async close(): Promise<void> {
    await this.#parts.forms?.close();
    await this.#parts.observer.close();
    await this.#parts.detectEnds?.();
  }

  async #putOffUntil(id: string, rest: Rest, unasked = false): Promise<void> {
    if (!(await this.#putOff.until(id, rest))) return;
    const entry = this.collection.byId(id);
    if (!entry || entry.page.paused || this.#running.stopping || this.#departures.isAsked(entry)) return;
    if (unasked) this.probeSoon(id);
    else this.policy.looked(entry.index, this.#parts.clock.nowMs() / 1000, { kind: 'failed' });
    this.#running.wake();
  }
}
