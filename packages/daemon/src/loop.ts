/**
 * The arrows. This is the only file that knows the order of the loop:
 *
 *   plan (policy) ► dispatch (budget, gates) ► observe ► [indexing queue] ► detect ► learn (policy) ► keep ► told
 *
 * Rules that hold at every moment, also over restarts:
 * - a probe is remembered before its request goes out, and forgotten in the transaction that keeps its look;
 * - what is not kept is not announced, and what was not finished is due again;
 * - while the store cannot keep anything, nothing new is asked for.
 */
import {
  AccessTimes,
  Allowance,
  Gates,
  RobotPool,
  type Finding,
  type Policy,
  type Random,
  type RobotPoolState,
} from '@revisit/core';
import { Collection, type Entry } from './collection.ts';
import { Discovery } from './discovery.ts';
import { verdict } from './detect/verdict.ts';
import type { Store } from './store/port.ts';
import { plannedOrder, type SweepContext, SweepLine, type SweepOrder } from './sweep.ts';
import type { Change, Detection } from './values/change.ts';
import type { Clock } from './values/clock.ts';
import type { Look, WatchedPage } from './values/look.ts';
import type { Observation, Observer, Outcome, RobotsUnderstood } from './values/observation.ts';
import type { PlannedDelivery } from './values/outbox.ts';
import type { Page } from './values/page.ts';
import type { Probe } from './values/probe.ts';

export interface LoopSettings {
  readonly looksPerSecond: number;
  /** The least milliseconds between two requests to one site. */
  readonly spacingMs: number;
  /** The most requests that may be under way at once; how many do follows the indexing queue. */
  readonly robots: number;
  /** How many may always be, however full the queue is; none unless given. */
  readonly robotsMin?: number;
  /** How many observations may wait for detection; what comes on top is dropped and stays due. */
  readonly queueMax: number;
}

export type Fetched = Extract<Outcome, { kind: 'fetched' }>;

export interface Detected {
  readonly detection: Detection;
  readonly state?: string;
  /** Another look is wanted that soon. */
  readonly again?: { readonly afterMs: number };
  /** The whole page, where it is kept beside the projection. */
  readonly raw?: string;
}

export interface LoopParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly observer: Observer;
  readonly policy: Policy;
  /** Sites whose pages this loop looks after; all of them unless it shares the work. */
  readonly accepts?: (site: string) => boolean;
  readonly detect: (
    watched: WatchedPage,
    fetched: Fetched,
    /** `second`: this look was asked for by the last one. */
    at: { readonly url: string; readonly ms: number; readonly second: boolean },
  ) => Promise<Detected>;
  /** In which order the pages of a sweep leave; as planned from access times unless given. */
  readonly sweepOrder?: SweepOrder;
  /** What the operator set for single sites. */
  readonly siteRules?: (site: string) => { readonly spacingMs?: number; readonly connections?: number } | undefined;
  /** What the subscriptions ask of the plan for a page; what its user set comes first. */
  readonly needs?: (page: Page) => Pick<Page, 'life' | 'urgency'>;
  /** Who is to be told of what a look found; kept with it. */
  readonly planned?: (look: Look) => Promise<readonly PlannedDelivery[]>;
  readonly log: (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>) => void;
}

export interface LoopCounts {
  readonly sent: number;
  readonly kept: number;
  readonly overflowed: number;
  readonly inFlight: number;
  readonly queued: number;
  readonly waiting: number;
  /** The pool between dispatch and the indexing queue: robots that may run, starvation, measured times. */
  readonly pool: RobotPoolState;
}

export interface Manners {
  readonly spacingMs: number;
  readonly leftAloneUntilMs: number | undefined;
  readonly failures: number;
  readonly robots: RobotsUnderstood | undefined;
}

/** A transaction of many looks costs little more than one of a few; more would delay the first of them. */
const batchMax = 256;
/** How many observations, or for how long, are gathered under load; short against any request over a network. */
const gatherMax = 64;
const gatherMs = 5;
/** How long to wait after the store could not keep something, doubled up to the second value. */
const storeRestMs = { first: 1_000, most: 30_000 };
/** What belongs to no page is saved this often, so a killed process loses little of it. */
const saveAllEveryMs = 60_000;
/** Tokens that may gather while nothing is due, in seconds of budget: a burst after a pause stays small. */
const burstSeconds = 60;
/** When a page that may not be visited is tried again, where nobody says when: rules are read anew once a day. */
const putOffMs = 86_400_000;

/** Starved time and lost pages weigh the same. */
const starvationWeight = 1;
/** A look may be late by this share of the time since the last one, and by no more than this, to meet its site at a fast hour. */
const shiftShareMost = 0.05;
const shiftMsMost = 7_200_000;
/** What must be won by it: seconds of waiting, and as a share of them. */
const shiftGain = { seconds: 0.5, share: 1 / 3 };
/** Access times are kept this often: they change slowly, and a site's take a kilobyte. */
const saveAccessEveryMs = 3_600_000;

/** How often somebody who waits for a sweep looks whether it is over. */
const settlePollMs = 50;

export class Loop {
  readonly collection = new Collection();
  readonly #discovery = new Discovery(this.collection);
  readonly #parts: LoopParts;
  #settings: LoopSettings;
  readonly #budget: Allowance;
  readonly #gates = new Gates();
  readonly #pool: RobotPool;
  /** How long sites take to answer, by hour of week. */
  readonly access = new AccessTimes();
  /** Pages of a sweep that are asked for and have not joined a line yet. */
  readonly #sweepLine = new SweepLine();
  /** Pages never seen, which the next dispatch takes as one sweep. */
  readonly #unseen = new Set<string>();
  /** Looks that wait for a faster hour of their site, and until when. */
  readonly #shifted = new Map<number, number>();
  readonly #queue: Observation[] = [];
  readonly #listeners = new Set<(changes: readonly Change[]) => void>();
  readonly #asked = new Set<number>();
  readonly #secondLooks = new Set<string>();
  /** Sites that are left alone, and until when. */
  readonly #holds = new Map<string, number>();
  /** Aborted at the end, so that no sleeper keeps the process alive. */
  readonly #ended = new AbortController();
  #inFlight = 0;
  #gathering = false;
  #sweepTurn = false;
  #gatheringProbes = false;
  #indexing: Promise<void> | undefined;
  #storeDown = false;
  #stopping = false;
  #dead = false;
  #probes = 0;
  #sent = 0;
  #kept = 0;
  #overflowed = 0;
  readonly #sinceMs: number;
  #savedAllMs = 0;
  #savedAccessMs = 0;
  #wake: () => void = () => {};
  readonly #run: string;

  constructor(parts: LoopParts, settings: LoopSettings) {
    this.#parts = parts;
    this.#settings = settings;
    const now = parts.clock.nowMs();
    this.#sinceMs = now;
    this.#budget = new Allowance(settings.looksPerSecond / 1000, burstOf(settings), now);
    const { robots: robotsMax, robotsMin = 0, queueMax } = settings;
    this.#pool = new RobotPool(
      { robotsMin: Math.min(robotsMin, robotsMax), robotsMax, queueMax, starvationWeight },
      now,
    );
    this.#savedAccessMs = now;
    // Probe ids of two runs never meet: the start and a random number tell the runs apart.
    this.#run = `${now.toString(36)}${Math.floor(parts.random() * 36 ** 4)
      .toString(36)
      .padStart(4, '0')}`;
    parts.policy.setBudget(settings.looksPerSecond, now / 1000);
  }

  get policy(): Policy {
    return this.#parts.policy;
  }

  get settings(): LoopSettings {
    return this.#settings;
  }

  counts(): LoopCounts {
    return {
      sent: this.#sent,
      kept: this.#kept,
      overflowed: this.#overflowed,
      inFlight: this.#inFlight,
      queued: this.#queue.length,
      waiting: this.#gates.waiting + this.#sweepLine.size,
      pool: this.#pool.state(this.#parts.clock.nowMs()),
    };
  }

  get startedAtMs(): number {
    return this.#sinceMs;
  }

  /** What politeness knows of a site and, from one of its pages, of its robots.txt. */
  manners(site: string, pageUrl: string): Manners {
    const { observer, siteRules, clock } = this.#parts;
    const robots = observer.robotsOf?.(new URL(pageUrl).origin);
    const held = this.#holds.get(site) ?? 0;
    const standing = observer.standing?.(site);
    return {
      spacingMs: Math.max(siteRules?.(site)?.spacingMs ?? this.#settings.spacingMs, robots?.crawlDelayMs ?? 0),
      leftAloneUntilMs:
        Math.max(held, standing?.closedUntilMs ?? 0) > clock.nowMs()
          ? Math.max(held, standing?.closedUntilMs ?? 0)
          : undefined,
      failures: standing?.failures ?? 0,
      robots,
    };
  }

  /** Whether the store takes what is found; false while the disk is full or the server is lost. */
  get healthy(): boolean {
    return !this.#storeDown;
  }

  /** Another process kept changes in the same log: whoever follows it looks again. */
  stir(): void {
    for (const listener of this.#listeners) listener([]);
  }

  onKept(listener: (changes: readonly Change[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  setBudget(looksPerSecond: number): void {
    const now = this.#parts.clock.nowMs();
    this.#settings = { ...this.#settings, looksPerSecond };
    this.#budget.setRate(looksPerSecond / 1000, burstOf(this.#settings), now);
    this.policy.setBudget(looksPerSecond, now / 1000);
    this.#wake();
  }

  /** Takes up every stored page and what an earlier process left unfinished. */
  async load(): Promise<void> {
    const { store, policy, clock } = this.#parts;
    const learned = await store.recall(`policy:${policy.name}`);
    const access = await store.recall('access-times');
    if (access) this.access.restore(access);
    for await (const batch of store.everyPage()) for (const watched of batch) this.watch(watched);
    const trusted = await store.recall('index-trust');
    if (trusted) this.#discovery.restore(trusted);
    if (learned) policy.restoreAll?.(learned, clock.nowMs() / 1000);
    await this.resume(await store.unfinished());
    this.#restoreHolds(await store.recall('site-holds'));
  }

  /** Takes up what another process had asked for and not kept. */
  async resume(unfinished: readonly Probe[]): Promise<void> {
    const { store, clock } = this.#parts;
    for (const probe of unfinished) {
      const site = this.collection.sites.index(probe.site);
      this.#space(probe.site);
      // When exactly its last request went out nobody knows: robots.txt and redirects may have come before the page.
      this.#gates.recall(site, clock.nowMs());
      for (const id of probe.pageIds) this.#resume(id, probe.atMs);
    }
    await store.finished(unfinished.map((probe) => probe.id));
    this.#wake();
  }

  /** The site's gate as the operator, or the site itself, wants it. */
  #space(site: string, crawlDelayMs = 0): void {
    const rules = this.#parts.siteRules?.(site);
    const spacingMs = Math.max(rules?.spacingMs ?? this.#settings.spacingMs, crawlDelayMs);
    this.#gates.setSpacing(this.collection.sites.index(site), spacingMs, rules?.connections);
  }

  /** Sites that asked to be left alone, for as long as they asked, whatever happened to the process since. */
  #restoreHolds(saved: Uint8Array | undefined): void {
    if (!saved) return;
    const holds = JSON.parse(new TextDecoder().decode(saved)) as Record<string, number>;
    for (const [site, untilMs] of Object.entries(holds)) this.#hold(site, untilMs);
  }

  #hold(site: string, untilMs: number): void {
    const now = this.#parts.clock.nowMs();
    if (untilMs <= now) return;
    this.#gates.holdUntil(this.collection.sites.index(site), untilMs);
    for (const [other, until] of this.#holds) if (until <= now) this.#holds.delete(other);
    this.#holds.set(site, Math.max(untilMs, this.#holds.get(site) ?? 0));
  }

  async #saveHolds(): Promise<void> {
    const text = JSON.stringify(Object.fromEntries(this.#holds));
    await this.#parts.store.remember('site-holds', new TextEncoder().encode(text));
  }

  /** A look that was asked for and not kept: due again at once, or when the page's own spacing allows. */
  #resume(id: string, atMs: number): void {
    const entry = this.collection.byId(id);
    if (!entry || entry.page.paused) return;
    if (entry.page.spacingSeconds === undefined) this.#ask(entry);
    else this.policy.looked(entry.index, atMs / 1000, { kind: 'failed' });
  }

  watch(watched: WatchedPage): void {
    const { clock, policy } = this.#parts;
    const known = this.collection.byId(watched.page.id);
    if (known) this.unwatch(known.page.id);
    if (this.#parts.accepts && !this.#parts.accepts(watched.page.site)) return;
    const entry = this.collection.add(watched);
    this.#discovery.watched(watched.page);
    this.#space(watched.page.site);
    const { lastLookMs, model } = watched.state;
    if (lastLookMs !== undefined) this.#gates.recall(entry.site, lastLookMs);
    if (watched.page.paused) return;
    const nowSeconds = clock.nowMs() / 1000;
    const { index: page, site, folder, groups } = entry;
    const { weight, spacingSeconds = 0, loss } = watched.page;
    const { life, urgency } = { ...this.#parts.needs?.(watched.page), ...stated(watched.page) };
    policy.watch(
      {
        page,
        site,
        folder,
        groups,
        weight,
        spacingSeconds,
        ...(life ? { life } : {}),
        ...(urgency ? { urgency } : {}),
        ...(loss ? { loss } : {}),
      },
      nowSeconds,
    );
    if (watched.state.status === 'new' && lastLookMs === undefined) this.#unseen.add(watched.page.id);
    if (model && policy.restore) policy.restore(page, model, nowSeconds);
    else if (lastLookMs !== undefined) {
      policy.started(page, lastLookMs / 1000);
      policy.looked(page, lastLookMs / 1000, { kind: 'first' });
    }
    this.#wake();
  }

  unwatch(id: string): void {
    const entry = this.collection.remove(id);
    if (!entry) return;
    this.#discovery.unwatched(entry.page);
    this.#unseen.delete(id);
    this.#shifted.delete(entry.index);
    if (this.#asked.delete(entry.index)) this.#gates.leave(entry.site, entry.index);
    if (!entry.page.paused) this.policy.forget(entry.index, this.#parts.clock.nowMs() / 1000);
  }

  /** What detection remembers of a page was changed by its user. */
  setDetectState(id: string, detectState: string): void {
    const entry = this.collection.byId(id);
    if (entry) entry.state = { ...entry.state, detectState };
  }

  /** Look at this page as soon as politeness allows, whatever the plan says. */
  probeNow(id: string): boolean {
    const entry = this.collection.byId(id);
    if (!entry) return false;
    this.#ask(entry);
    this.#wake();
    return true;
  }

  /**
   * One request outside the plan, for a preview: it counts against the budget, the site's spacing holds at the wire, and
   * nothing is kept of it.
   */
  peek(what: Pick<Probe, 'url' | 'site' | 'headers' | 'render'>): Promise<Observation> {
    const { clock, observer } = this.#parts;
    const now = clock.nowMs();
    this.#budget.take(now);
    this.#sent++;
    this.#gates.recall(this.collection.sites.index(what.site), now);
    const id = `${this.#run}-${(this.#probes++).toString(36)}`;
    return observer.observe({ ...what, id, pageIds: [], atMs: now, validators: {} });
  }

  #ask(entry: Entry): void {
    if (this.#claim(entry)) this.#gates.wait(entry.site, entry.index);
  }

  /** The page is asked for, in line or not; false when it was already. */
  #claim(entry: Entry): boolean {
    if (this.#asked.has(entry.index)) return false;
    this.#asked.add(entry.index);
    this.#shifted.delete(entry.index);
    if (!entry.page.paused) this.policy.started(entry.index, this.#parts.clock.nowMs() / 1000);
    return true;
  }

  /** Many pages at once: they join the lines in the order of the sweep, when their sites are free. */
  #askInOrder(entries: readonly Entry[]): void {
    const claimed = entries.filter((entry) => this.#claim(entry));
    const stops = claimed.map((entry) => ({ page: entry.index, site: entry.page.site }));
    this.#sweepLine.add(stops, this.#parts.sweepOrder ?? plannedOrder, this.#sweepContext());
  }

  #sweepContext(): SweepContext {
    const { robots, looksPerSecond, spacingMs } = this.#settings;
    const gate = (site: string) => {
      const rules = this.#parts.siteRules?.(site);
      return { spacingMs: rules?.spacingMs ?? spacingMs, connections: rules?.connections ?? 1 };
    };
    return { access: this.access, nowMs: this.#parts.clock.nowMs(), robots, looksPerSecond, gate };
  }

  /** Lets the next stop of a sweep whose site is free join its line, or go ahead of it; false when there is none. */
  #feed(now: number, first = false): boolean {
    this.#sweepLine.refresh(this.#parts.sweepOrder ?? plannedOrder, () => this.#sweepContext(), now);
    const ready = (site: number) => (first ? this.#gates.open(site, now) : this.#gates.free(site, now));
    const stop = this.#sweepLine.take((site) => ready(this.collection.sites.index(site)));
    if (!stop) return false;
    const entry = this.collection.at(stop.page);
    if (!entry || !this.#asked.has(stop.page)) return true;
    if (first) this.#gates.waitFirst(entry.site, entry.index);
    else this.#gates.wait(entry.site, entry.index);
    return true;
  }

  /** When the next of a sweep's sites opens by itself. */
  #sweepOpensAt(now: number): number {
    let next = Infinity;
    for (const site of this.#sweepLine.sitesAhead()) {
      const at = this.#gates.opensAt(this.collection.sites.index(site));
      if (at > now) next = Math.min(next, at);
    }
    return next;
  }

  /** A second look that detection wants; if the process ends before, the plan's next look serves as well. */
  async #askLater(id: string, afterMs: number): Promise<void> {
    await this.#parts.clock.sleep(afterMs, this.#ended.signal);
    if (!this.#stopping && this.probeNow(id)) this.#secondLooks.add(id);
  }

  /** Ends as a killed process does: whatever is under way comes to nothing. For simulations. */
  die(): void {
    this.#dead = true;
    this.#stopping = true;
    this.#wake();
  }

  /** Runs until the signal, then finishes what is under way within the time given. */
  async run(signal: AbortSignal, graceMs = 4_000): Promise<void> {
    const { clock } = this.#parts;
    while (!signal.aborted && !this.#dead) {
      const wait = await this.#sendDue();
      if (signal.aborted || this.#dead) break;
      await this.#rest(wait, signal);
    }
    if (this.#dead) return;
    this.#stopping = true;
    const giveUp = new AbortController();
    const grace = clock.sleep(graceMs, giveUp.signal).then(() => 'late' as const);
    const drained = this.#drain().then(() => 'drained' as const);
    if ((await Promise.race([grace, drained])) === 'late')
      this.#parts.log('warn', 'stopped with requests under way; they are due again at the next start', {
        inFlight: this.#inFlight,
      });
    giveUp.abort();
    await this.#end();
  }

  /** Looks at what is due, or at every page when asked, and returns when all of it is kept. The loop need not run. */
  async sweep(signal: AbortSignal, all: boolean): Promise<void> {
    this.askFor(all);
    const busy = (): boolean => this.#asked.size > 0 || this.#inFlight > 0 || this.#indexing !== undefined;
    while (!signal.aborted && busy()) {
      const wait = await this.#sendDue(false);
      if (!busy()) break;
      await this.#rest(wait, signal);
    }
    this.#stopping = true;
    await this.#drain();
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#ended.abort('ended');
    await this.#saveAll(true);
  }

  /** Asks for what is due now, or for every page, ahead of the plan; answers how many pages that are. */
  askFor(all: boolean): number {
    const nowSeconds = this.#parts.clock.nowMs() / 1000;
    const entries: Entry[] = [];
    for (const entry of this.collection) {
      if (entry.page.paused || (!all && this.policy.due(entry.index, nowSeconds) > nowSeconds)) continue;
      entries.push(entry);
    }
    this.#askInOrder(entries);
    this.#wake();
    return entries.length;
  }

  /** Resolves when no page that was asked for is waiting, under way or unkept. */
  async settled(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (this.#asked.size > 0 || this.#inFlight > 0 || this.#indexing)) {
      await this.#parts.clock.sleep(settlePollMs, signal);
    }
  }

  /** Lets go of connections; after `run` or `sweep`. */
  close(): Promise<void> {
    return this.#parts.observer.close();
  }

  /** Sleeps, or until something happens that may let a request go out. */
  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    // A reason of our own: the standard one is an exception with a stack, and this happens at every look.
    const wake = (): void => woken.abort('woken');
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
    await this.#parts.clock.sleep(Math.min(ms, 3_600_000), woken.signal);
    signal.removeEventListener('abort', wake);
  }

  /** Sends all that may go out now; answers how long nothing more can. */
  async #sendDue(planned = true): Promise<number> {
    const { clock, store } = this.#parts;
    const now = clock.nowMs();
    const probes: Probe[] = [];
    let wait = Infinity;
    if (planned) wait = this.#line(now);
    while (!this.#storeDown && this.#inFlight < this.#pool.target) {
      const ready = this.#budget.readyAt(now);
      if (ready > now) {
        wait = Math.min(wait, this.#gates.waiting + this.#sweepLine.size > 0 ? ready - now : Infinity);
        break;
      }
      // Planned looks and a sweep take turns, or a small budget would be used up by the one that stands in line.
      const fed = this.#sweepTurn && this.#feed(now, true);
      const passed = this.#gates.pass(now);
      if (!passed) {
        if (this.#feed(now)) continue;
        wait = Math.min(wait, this.#gates.nextPassAt() - now, this.#sweepOpensAt(now) - now);
        break;
      }
      const entry = this.collection.at(passed.page);
      if (!entry || !this.#asked.has(passed.page)) {
        this.#gates.done(passed.site);
        continue;
      }
      this.#budget.take(now);
      this.#sweepTurn = !fed;
      probes.push(this.#probe(entry, now));
    }
    if (probes.length === 0) return Math.max(1, wait);
    const kept = await store.dispatched(probes);
    if (kept.kind === 'failed') {
      this.#parts.log('error', kept.fault.sentence, { code: kept.fault.code });
      for (const probe of probes) this.#fallBack(probe);
      this.#storeDown = true;
      void this.#awaitStore();
      return Infinity;
    }
    for (const probe of probes) void this.#observe(probe);
    this.#sent += probes.length;
    return 1;
  }

  /** Moves what the policy wants now into the lines before the gates; answers when it wants the next. */
  #line(now: number): number {
    const { policy } = this.#parts;
    this.#firstCrawl();
    const chosen: Entry[] = [];
    let wait = this.#returnShifted(now, chosen);
    // No more than the robots could take at once: the rest stays with the policy, which may think again.
    while (this.#gates.crowd + chosen.length < Math.max(64, 4 * this.#settings.robots)) {
      const choice = policy.next(now / 1000);
      if (!choice) break;
      if (choice.at * 1000 > now) {
        wait = Math.min(wait, choice.at * 1000 - now);
        break;
      }
      const entry = this.collection.at(choice.page)!;
      const later = this.#fasterHour(entry, now);
      if (later > now) {
        this.#shifted.set(entry.index, later);
        policy.started(entry.index, now / 1000);
        wait = Math.min(wait, later - now);
      } else if (this.#claim(entry)) chosen.push(entry);
      // Asked for again while its last look was under way: it stands in line already, and the policy must hear of it, or it
      // would offer the page for ever.
      else policy.started(entry.index, now / 1000);
    }
    // Between equals, the sites that answer fastest at this hour go first.
    const seconds = new Map(chosen.map((entry) => [entry, this.access.expected(entry.page.site, now / 1000)]));
    chosen.sort((a, b) => seconds.get(a)! - seconds.get(b)!);
    for (const entry of chosen) this.#gates.wait(entry.site, entry.index);
    return wait;
  }

  /** Pages nobody has seen yet are one sweep, in planned order; a single one needs no order. */
  #firstCrawl(): void {
    if (this.#unseen.size < 2) return;
    const entries = [...this.#unseen].flatMap((id) => this.collection.byId(id) ?? []);
    this.#unseen.clear();
    this.#askInOrder(entries.filter(({ page, state }) => !page.paused && state.lastLookMs === undefined));
  }

  /** Takes up looks whose faster hour has come; answers when the next one's does. */
  #returnShifted(now: number, into: Entry[]): number {
    let wait = Infinity;
    for (const [page, atMs] of this.#shifted) {
      if (atMs > now) {
        wait = Math.min(wait, atMs - now);
        continue;
      }
      this.#shifted.delete(page);
      const entry = this.collection.at(page);
      if (entry && !entry.page.paused && this.#claim(entry)) into.push(entry);
    }
    return wait;
  }

  /** The beginning of an hour within the look's tolerance at which its site is clearly faster; now when there is none. */
  #fasterHour(entry: Entry, now: number): number {
    const { lastLookMs } = entry.state;
    if (lastLookMs === undefined) return now;
    const latest = now + Math.min(shiftMsMost, shiftShareMost * (now - lastLookMs));
    const today = this.access.expected(entry.page.site, now / 1000);
    let [best, bestSeconds] = [now, Math.min(today - shiftGain.seconds, today * (1 - shiftGain.share))];
    for (let at = now - (now % 3_600_000) + 3_600_000; at <= latest; at += 3_600_000) {
      const seconds = this.access.expected(entry.page.site, at / 1000);
      if (seconds < bestSeconds) [best, bestSeconds] = [at, seconds];
    }
    return best;
  }

  #probe(entry: Entry, now: number): Probe {
    const { page, state } = entry;
    const sharing = this.collection.sharing(entry).filter((other) => other === entry || !other.page.paused);
    for (const other of sharing) {
      if (other !== entry) {
        if (this.#asked.has(other.index)) this.#gates.leave(other.site, other.index);
        else this.policy.started(other.index, now / 1000);
      }
      this.#asked.delete(other.index);
    }
    // A page that never had a full answer needs one, so validators go out only when all who share the request have a copy.
    const whole = sharing.some(
      (other) =>
        other.state.status !== 'present' ||
        other.state.validators.etag !== state.validators.etag ||
        other.state.validators.lastModified !== state.validators.lastModified,
    );
    this.#inFlight++;
    return {
      id: `${this.#run}-${(this.#probes++).toString(36)}`,
      url: page.url,
      site: page.site,
      pageIds: sharing.map((other) => other.page.id),
      atMs: now,
      validators: whole ? {} : state.validators,
      ...(page.headers ? { headers: page.headers } : {}),
      ...(page.render ? { render: true } : {}),
    };
  }

  /** The probe never went out: its pages stay due. */
  #fallBack(probe: Probe): void {
    this.#inFlight--;
    this.#gates.done(this.collection.sites.index(probe.site));
    for (const id of probe.pageIds) {
      const entry = this.collection.byId(id);
      if (entry) this.#ask(entry);
    }
  }

  /** Politeness kept the probe back at the wire: no look happened, and its pages wait in line again. */
  async #handBack(probe: Probe): Promise<void> {
    for (const id of probe.pageIds) {
      const entry = this.collection.byId(id);
      if (entry) this.#ask(entry);
    }
    await this.#parts.store.finished([probe.id]);
    this.#wake();
  }

  async #observe(probe: Probe): Promise<void> {
    const { observer, log } = this.#parts;
    const observation = await observer.observe(probe);
    if (this.#dead) return;
    this.#inFlight--;
    const site = this.collection.sites.index(probe.site);
    this.#gates.done(site);
    const { outcome, requests, crawlDelayMs } = observation;
    this.#budget.settle(requests - 1, this.#parts.clock.nowMs());
    if (crawlDelayMs !== undefined) this.#space(probe.site, crawlDelayMs);
    if (outcome.kind === 'refused' && outcome.siteUntilMs !== undefined) {
      this.#hold(probe.site, outcome.siteUntilMs);
      if (requests === 0) return this.#handBack(probe);
      await this.#saveHolds();
    }
    const tookMs = observation.endedAtMs - observation.startedAtMs;
    if (outcome.kind !== 'refused') this.access.learn(probe.site, observation.startedAtMs / 1000, tookMs / 1000);
    const fits = this.#queue.length < this.#settings.queueMax;
    if (fits) this.#queue.push(observation);
    this.#pool.arrived(this.#queue.length, tookMs, fits, this.#parts.clock.nowMs());
    if (!fits) {
      this.#overflowed++;
      log('warn', 'the indexing queue is full; the page stays due', { url: probe.url });
      for (const id of probe.pageIds) this.#resume(id, observation.startedAtMs);
      await this.#parts.store.finished([probe.id]);
    } else {
      this.#indexSoon();
    }
    this.#sendSoon();
  }

  /** While most robots are busy, observations are gathered for a moment: one transaction costs as much as the next. */
  #indexSoon(): void {
    if (this.#indexing) return;
    const busy = this.#inFlight > this.#settings.robots / 2 && this.#queue.length < gatherMax;
    if (!busy) {
      this.#indexNow();
    } else if (!this.#gathering) {
      this.#gathering = true;
      void this.#parts.clock.sleep(gatherMs).then(() => {
        this.#gathering = false;
        if (!this.#dead && this.#queue.length > 0) this.#indexNow();
      });
    }
  }

  #indexNow(): void {
    this.#indexing ??= this.#index().finally(() => {
      this.#indexing = undefined;
      this.#wake();
    });
  }

  /** The same for probes: a robot that is free while most are busy waits a moment for others. */
  #sendSoon(): void {
    if (this.#inFlight <= (3 * this.#settings.robots) / 4) {
      this.#wake();
    } else if (!this.#gatheringProbes) {
      this.#gatheringProbes = true;
      void this.#parts.clock.sleep(gatherMs).then(() => {
        this.#gatheringProbes = false;
        this.#wake();
      });
    }
  }

  /** Empties the indexing queue: detect, learn, keep, announce. */
  async #index(): Promise<void> {
    while (this.#queue.length > 0) {
      const begunMs = this.#parts.clock.nowMs();
      // A small queue drains in small batches, or it would stay full while one is worked through.
      const batch = this.#queue.slice(0, Math.max(1, Math.min(batchMax, this.#settings.queueMax >> 3)));
      const looks: Look[] = [];
      for (const observation of batch) looks.push(...(await this.#looksOf(observation)));
      if (!(await this.#keep(looks))) return;
      const pageless = batch.filter(({ probe }) => !looks.some((look) => look.probeId === probe.id));
      if (pageless.length > 0) await this.#parts.store.finished(pageless.map(({ probe }) => probe.id));
      this.#queue.splice(0, batch.length);
      const endedMs = this.#parts.clock.nowMs();
      this.#pool.indexed(this.#queue.length, batch.length, endedMs - begunMs, endedMs);
      this.#wake();
      this.#kept += looks.length;
      await this.#retire(looks);
      await this.#saveAll(false);
    }
  }

  async #looksOf(observation: Observation): Promise<readonly Look[]> {
    const { detect, policy } = this.#parts;
    const { outcome, probe } = observation;
    const looks: Look[] = [];
    for (const id of probe.pageIds) {
      const entry = this.collection.byId(id);
      if (!entry) continue;
      const detected =
        outcome.kind === 'fetched'
          ? await detect(entry, outcome, {
              url: observation.finalUrl ?? probe.url,
              ms: observation.startedAtMs,
              second: this.#secondLooks.delete(id),
            })
          : undefined;
      const look = await this.#completed(verdict(entry, observation, detected?.detection, detected?.state), detected);
      if (outcome.kind === 'refused' && outcome.siteUntilMs === undefined) void this.#putOff(id, look, outcome.untilMs);
      else if (!entry.page.paused) {
        const finding = findingOf(look, detected?.detection);
        const revealed = outcome.kind === 'fetched' ? await this.#discover(entry, outcome, observation, look) : 0;
        // A look that revealed new pages was worth as much as one that found so many changes.
        const worth =
          revealed > 0 ? { kind: 'changed' as const, count: Math.max(revealed, finding.count ?? 1) } : finding;
        policy.looked(entry.index, look.atMs / 1000, finding.kind === 'first' ? finding : { ...finding, ...worth });
        if (finding.kind !== 'failed') this.#discovery.looked(entry, finding.kind === 'changed');
      }
      const model = entry.page.paused ? undefined : policy.save?.(entry.index);
      looks.push(model ? { ...look, state: { ...look.state, model } } : look);
      const { model: _model, ...state } = look.state;
      entry.state = state;
    }
    return looks;
  }

  /** Takes in what the answer says about other pages; answers how many it revealed. */
  async #discover(entry: Entry, fetched: Fetched, observation: Observation, look: Look): Promise<number> {
    if (look.kind !== 'first' && look.kind !== 'changed') return 0;
    const { clock, policy, store } = this.#parts;
    const nowMs = clock.nowMs();
    const url = observation.finalUrl ?? observation.probe.url;
    const { pages, hints } = this.#discovery.read(entry, fetched, url, nowMs, look.kind === 'first');
    for (const hint of hints) policy.hinted?.(hint.entry.index, nowMs / 1000, hint.chance);
    if (pages.length === 0) return 0;
    const kept = await store.addPages(pages);
    if (kept.kind === 'failed') return 0;
    for (const { page, created } of kept.value) if (created) this.watch(page);
    return kept.value.length;
  }

  /** Pages that were found and are gone for good rest from now on, with all their versions. */
  async #retire(looks: readonly Look[]): Promise<void> {
    const { clock, store } = this.#parts;
    const retired = looks.flatMap((look) => {
      const page = this.collection.byId(look.pageId)?.page;
      return page && !page.paused && this.#discovery.retires(page, look.state, clock.nowMs()) ? [page.id] : [];
    });
    if (retired.length === 0) return;
    const kept = await store.updatePages(retired.map((id) => ({ id, settings: { paused: true } })));
    if (kept.kind === 'kept') for (const watched of kept.value) this.watch(watched);
  }

  async #completed(look: Look, detected: Detected | undefined): Promise<Look> {
    const raw = detected?.raw !== undefined && look.projection ? { raw: detected.raw } : {};
    const deliveries = look.change && this.#parts.planned ? { deliveries: await this.#parts.planned(look) } : {};
    if (!detected?.again) return { ...look, ...raw, ...deliveries };
    void this.#askLater(look.pageId, detected.again.afterMs);
    // A second look needs the page itself, so nothing goes into it that a server could answer with "not modified".
    return { ...look, ...raw, ...deliveries, state: { ...look.state, validators: {} } };
  }

  /** A page that may not be visited (robots.txt, its address) is not offered again before that may have changed. */
  async #putOff(id: string, look: Look, untilMs = look.endedAtMs + putOffMs): Promise<void> {
    const { clock, policy } = this.#parts;
    await clock.sleep(untilMs - clock.nowMs(), this.#ended.signal);
    const entry = this.collection.byId(id);
    if (!entry || entry.page.paused || this.#stopping || this.#dead || this.#asked.has(entry.index)) return;
    policy.looked(entry.index, clock.nowMs() / 1000, { kind: 'failed' });
    this.#wake();
  }

  /** Keeps trying until the store takes the looks; false when the loop stops first. */
  async #keep(looks: readonly Look[]): Promise<boolean> {
    const { store, clock, log } = this.#parts;
    for (let rest = storeRestMs.first; ; rest = Math.min(2 * rest, storeRestMs.most)) {
      const kept = await store.commit(looks);
      if (kept.kind === 'kept') {
        if (this.#storeDown) log('info', 'the store takes changes again');
        this.#storeDown = false;
        if (kept.value.length > 0) for (const listener of this.#listeners) listener(kept.value);
        return true;
      }
      this.#storeDown = true;
      log('error', kept.fault.sentence, { code: kept.fault.code });
      if (this.#stopping) return false;
      await clock.sleep(rest);
    }
  }

  /** After the store refused a dispatch: asks again now and then until it can write. */
  async #awaitStore(): Promise<void> {
    const { store, clock } = this.#parts;
    for (let rest = storeRestMs.first; !this.#stopping; rest = Math.min(2 * rest, storeRestMs.most)) {
      await clock.sleep(rest);
      if ((await store.remember('alive', new Uint8Array([1]))).kind === 'kept') break;
    }
    this.#storeDown = false;
    this.#wake();
  }

  async #drain(): Promise<void> {
    while (this.#inFlight > 0 || this.#indexing) {
      if (this.#indexing) await this.#indexing;
      else await this.#parts.clock.sleep(5);
    }
  }

  async #saveAll(now: boolean): Promise<void> {
    const { clock, policy, store } = this.#parts;
    if (!now && clock.nowMs() - this.#savedAllMs < saveAllEveryMs) return;
    if (now || clock.nowMs() - this.#savedAccessMs >= saveAccessEveryMs) {
      this.#savedAccessMs = clock.nowMs();
      await store.remember('access-times', this.access.save());
    }
    if (!policy.saveAll || (!now && clock.nowMs() - this.#savedAllMs < saveAllEveryMs)) return;
    this.#savedAllMs = clock.nowMs();
    if (policy.saveAll) await store.remember(`policy:${policy.name}`, policy.saveAll());
    if (this.#discovery.hasLearned) await store.remember('index-trust', this.#discovery.save());
  }
}

function stated({ life, urgency }: Page): Pick<Page, 'life' | 'urgency'> {
  return { ...(life ? { life } : {}), ...(urgency ? { urgency } : {}) };
}

function burstOf(settings: LoopSettings): number {
  return Math.max(1, settings.looksPerSecond * burstSeconds);
}

function findingOf(look: Look, detection: Detection | undefined): Finding {
  switch (look.kind) {
    case 'first':
      return { kind: 'first' };
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
