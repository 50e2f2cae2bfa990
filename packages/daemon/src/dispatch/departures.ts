/**
 * Who leaves next, and when: what the policy wants, a sweep and single requests stand in line before the gates of their
 * sites, and leave as the budget allows. Knows nothing of what comes back.
 */
import type { AccessTimes, Gates } from '@revisit/core';
import type { Collection, Entry } from '../collection/collection.ts';
import type { Lifetimes } from './lifetimes.ts';
import { errandFor, ProbeIds, sharingWith } from './errand.ts';
import type { LoopParts, LoopSettings } from '../loop-parts.ts';
import { Outflow } from './outflow.ts';
import type { Patience } from './left-for-later.ts';
import type { Wait } from './page-waits.ts';
import { type PlannedLimits, SiteDoors } from './site-doors.ts';
import { plannedOrder, type SweepContext, SweepLine } from './sweep.ts';
import { type OpeningHours, closedUntilMs, parseHours } from '../values/hours.ts';
import type { Observation } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';
import { WantedLooks } from './wanted-looks.ts';

type DepartureParts = Pick<LoopParts, 'clock' | 'random' | 'policy' | 'siteRules' | 'sweepOrder' | 'websub'>;

/** Pages stand in line for about so long at most, and some always do: of slow sites, so that others can pass them. */
const linedUpMs = 60_000;
const linedUpLeast = 8;
/** Of a small collection no more than this share, or the line and not the plan would say who is next. */
const linedUpShare = 1 / 8;
/** Whoever waits for no longer than this waits for nobody in particular. */
const momentMs = 3_000;
const alwaysOpen: OpeningHours = { only: [], never: [] };

export interface Leaving {
  readonly probes: readonly Probe[];
  /** How long nothing more can leave. */
  readonly waitMs: number;
}

export class Departures {
  readonly #parts: DepartureParts;
  readonly #collection: Collection;
  readonly #access: AccessTimes;
  readonly #wanted: WantedLooks;
  #settings: LoopSettings;
  readonly #budget: Outflow;
  /** What each site allows. */
  readonly doors: SiteDoors;
  readonly #gates: Gates;
  /** Pages of a sweep that are asked for and have not joined a line yet. */
  readonly #sweepLine = new SweepLine();
  /** Pages never seen, which the next dispatch takes as one sweep. */
  readonly #unseen = new Set<string>();
  /** Pages that were asked for, and how long after their last look the plan wanted them, where it did. */
  readonly #asked = new Map<number, number | undefined>();
  /** Of those, the pages that a person asked for. */
  readonly #hurried = new Set<number>();
  /** Under way, and nobody waits for them any more. */
  readonly #passed = new WeakSet<Probe>();
  #sweepTurn = false;
  /** Hours in which nothing leaves by the plan. */
  #quiet: OpeningHours = alwaysOpen;
  readonly #probeIds: ProbeIds;
  readonly #isUnread: (entry: Entry) => boolean;

  constructor(
    parts: DepartureParts,
    collection: Collection,
    /** What is known of sites that may make a look wait, and the plan, which hears what they allow. */
    known: { readonly access: AccessTimes; readonly lifetimes: Lifetimes; readonly market: PlannedLimits },
    settings: LoopSettings,
    /** Whether a page is to be asked for in full, as what it lists has not been read as it is wanted now. */
    isUnread: (entry: Entry) => boolean = () => false,
  ) {
    this.#parts = parts;
    this.#collection = collection;
    this.#access = known.access;
    this.#wanted = new WantedLooks(parts, collection, known.access, known.lifetimes);
    this.#isUnread = isUnread;
    this.#settings = settings;
    this.doors = new SiteDoors(parts, collection, known.market, settings.spacingMs);
    this.#gates = this.doors.gates;
    const now = parts.clock.nowMs();
    this.setQuiet(settings.quiet ?? []);
    this.#budget = new Outflow(settings.looksPerSecond, now, settings.budgetSeconds);
    this.#probeIds = new ProbeIds(now, parts.random);
  }

  /** Pages that were asked for and have not left. */
  get asked(): number {
    return this.#asked.size;
  }

  get waiting(): number {
    return this.#gates.waiting + this.#sweepLine.size;
  }

  /** Whether pages of a sweep wait for the budget, and would for longer than a moment. */
  get behind(): boolean {
    const now = this.#parts.clock.nowMs();
    return this.#budget.readyAt(now) > now && this.#sweepLine.size > this.#budget.until(now + momentMs, now);
  }

  setBudget(settings: LoopSettings): void {
    this.#settings = settings;
    this.#budget.setBudget(settings.looksPerSecond, this.#parts.clock.nowMs());
  }

  /** Before anything leaves: when something was last asked for, by the processes before. */
  begin(askedUntilMs: number): void {
    this.#budget.begin(askedUntilMs, this.#parts.clock.nowMs());
  }

  lend(requestsPerSecond: number): void {
    this.#budget.lend(requestsPerSecond, this.#parts.clock.nowMs());
  }

  setQuiet(quiet: readonly string[]): void {
    this.#quiet = { only: [], never: quiet.flatMap((text) => parseHours(text) ?? []) };
  }

  /** When quiet hours end; undefined outside of them. */
  quietUntil(atMs: number): number | undefined {
    return this.#quiet.never.length === 0 ? undefined : closedUntilMs(this.#quiet, atMs);
  }

  /** Requests that a probe took beyond the one it was counted for. */
  settle(requests: number): void {
    this.#budget.settle(requests, this.#parts.clock.nowMs());
  }

  /** A page that nobody has looked at yet. */
  unseen(id: string): void {
    this.#unseen.add(id);
  }

  /** The page is no longer watched. */
  forget(entry: Entry): void {
    this.#unseen.delete(entry.page.id);
    this.#wanted.forget(entry);
    this.#hurried.delete(entry.index);
    if (this.#asked.delete(entry.index)) this.#gates.leave(entry.site, entry.index);
  }

  isAsked(entry: Entry): boolean {
    return this.#asked.has(entry.index);
  }

  /** Whether a person waits for a look that has not left. */
  isHurried(entry: Entry): boolean {
    return this.#hurried.has(entry.index);
  }

  /** What a person asks for is hurried: the next look of its site, and before those of the plan where the budget is short. */
  ask(entry: Entry, hurried = false): void {
    const { site, index } = entry;
    const claimed = this.#claim(entry, this.#wanted.plannedMs(entry, this.#parts.clock.nowMs()));
    if (hurried && !this.#hurried.has(index)) {
      if (!claimed) this.#gates.leave(site, index);
      this.#hurried.add(index);
      this.#gates.hurry(site, index);
    } else if (claimed) this.#gates.wait(site, index);
  }

  /** The page is asked for, in line or not; false when it was already. */
  #claim(entry: Entry, plannedMs?: number): boolean {
    if (this.#asked.has(entry.index)) return false;
    this.#asked.set(entry.index, plannedMs);
    this.#wanted.forget(entry);
    if (!entry.page.paused) this.#parts.policy.started(entry.index, this.#parts.clock.nowMs() / 1000);
    return true;
  }

  /** Many pages at once: they join the lines in the order of the sweep, when their sites are free. */
  askInOrder(entries: readonly Entry[]): void {
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
    return { access: this.#access, nowMs: this.#parts.clock.nowMs(), robots, looksPerSecond, gate };
  }

  /** Lets the next stop of a sweep whose site is free join its line, or go ahead of it; false when there is none. */
  #feed(now: number, first = false): boolean {
    this.#sweepLine.refresh(this.#parts.sweepOrder ?? plannedOrder, () => this.#sweepContext(), now);
    const ready = (site: number) => {
      if (this.#gates.admits(site)) return first ? this.#gates.open(site, now) : this.#gates.free(site, now);
      // Ahead in the order, pages of slow sites would hide those behind them: they wait where they are in nobody's way.
      return !first && this.#gates.promptnessOf(site) === 'slow';
    };
    const stop = this.#sweepLine.take((site) => ready(this.#collection.sites.index(site)));
    if (!stop) return false;
    const entry = this.#collection.at(stop.page);
    if (!entry || !this.#asked.has(stop.page) || this.#hurried.has(stop.page)) return true;
    if (first) this.#gates.waitFirst(entry.site, entry.index);
    else this.#gates.wait(entry.site, entry.index);
    return true;
  }

  /** When the next of a sweep's sites opens by itself. */
  #sweepOpensAt(now: number): number {
    const sites = [...this.#sweepLine.sitesAhead()].map((site) => this.#collection.sites.index(site));
    return Math.min(...sites.map((site) => this.#gates.opensAt(site)).filter((at) => at > now));
  }

  /** What keeps a page that was asked for from leaving for longer than that, its site or the budget, and until when. */
  keptBackFor({ siteMs, budgetMs }: Patience, entry: Entry): Wait | undefined {
    const now = this.#parts.clock.nowMs();
    const readyMs = this.#budget.readyAt(now);
    const byBudget = readyMs > now + budgetMs ? { why: 'the budget', untilMs: readyMs } : undefined;
    return this.#keptBackBySite(siteMs, entry, now) ?? byBudget;
  }

  #keptBackBySite(ms: number, { page, site }: Entry, now: number): Wait | undefined {
    const opensMs = this.#gates.opensAt(site);
    const shut = this.doors.wait(page.site, now, this.quietUntil(now));
    const wait = shut && shut.untilMs >= opensMs ? shut : { why: `spacing of ${page.site}`, untilMs: opensMs };
    return wait.untilMs > now + ms ? wait : undefined;
  }

  /** Lets go of the pages whose sites may not be asked for longer than that, and tells what each waits for. */
  letGo(ms: number): readonly Wait[] {
    const waits: Wait[] = [];
    const now = this.#parts.clock.nowMs();
    for (const index of this.#asked.keys()) {
      const entry = this.#collection.at(index);
      const wait = entry && this.#keptBackBySite(ms, entry, now);
      if (!wait) continue;
      waits.push(wait);
      this.#asked.delete(index);
      this.#hurried.delete(index);
      this.#gates.leave(entry.site, index);
    }
    return waits;
  }

  /** One request outside the plan; `returned` when it has ended. */
  outside(what: Pick<Probe, 'url' | 'site' | 'headers' | 'render'>): Probe {
    const now = this.#parts.clock.nowMs();
    this.#budget.take(now);
    this.doors.recall(what.site, now);
    this.#gates.begin(this.#collection.sites.index(what.site));
    return { ...what, id: this.#probeIds.next(), pageIds: [], atMs: now, validators: {} };
  }

  /** All that may leave now, at most so many. */
  leave(most: number, planned: boolean): Leaving {
    const now = this.#parts.clock.nowMs();
    const probes: Probe[] = [];
    const quietUntilMs = this.quietUntil(now);
    if (quietUntilMs !== undefined) return { probes, waitMs: quietUntilMs - now };
    let waitMs = planned ? this.#line(now) : Infinity;
    while (probes.length < most) {
      const ready = this.#budget.readyAt(now);
      if (ready > now) {
        this.#keepWaiting(now, ready);
        waitMs = Math.min(waitMs, this.waiting > 0 ? ready - now : Infinity);
        break;
      }
      // Planned looks and a sweep take turns, or a small budget would be used up by the one that stands in line.
      const fed = this.#sweepTurn && this.#feed(now, true);
      const passed = this.#gates.pass(now);
      if (!passed) {
        if (this.#feed(now)) continue;
        if (this.#gates.crowd === 0 || this.#budget.hasPlenty(now)) this.#budget.waitingSinceMs = undefined;
        waitMs = Math.min(waitMs, this.#gates.nextPassAt() - now, this.#sweepOpensAt(now) - now);
        break;
      }
      const entry = this.#collection.at(passed.page);
      if (!entry || !this.#asked.has(passed.page)) {
        this.#gates.done(passed.site);
        continue;
      }
      this.#budget.take(now);
      this.#sweepTurn = !fed;
      probes.push(this.#probe(this.#untriedBefore(entry) ?? entry, now));
    }
    return { probes, waitMs };
  }

  /** Nobody leaves before `readyMs`. That the plan waits while a sweep takes turns with it does not mean that it wants too much. */
  #keepWaiting(now: number, readyMs: number): void {
    if (this.#gates.crowd === 0 || this.#sweepLine.size > 0) this.#budget.waitingSinceMs = undefined;
    else if (this.#gates.nextPassAt() <= readyMs) this.#budget.waitingSinceMs ??= now;
  }

  /** A page whose looks have come to nothing so far stays in line for those of its site that nobody has tried. */
  #untriedBefore({ page, state, site, index }: Entry): Entry | undefined {
    if (state.status !== 'new' || state.lastLookMs === undefined || this.#hurried.has(index)) return undefined;
    const stop = this.#sweepLine.take((other) => other === page.site);
    const isWaiting = stop && this.#asked.has(stop.page) && !this.#hurried.has(stop.page);
    const untried = isWaiting ? this.#collection.at(stop.page) : undefined;
    if (untried) this.#gates.waitFirst(site, index);
    return untried;
  }

  /** The probe never went out: its site may be asked. */
  recalled(probe: Probe): void {
    this.#gates.done(this.#collection.sites.index(probe.site));
  }

  /** The probe never went out, as its site or the server it stands on takes no more for now. */
  turnedBack({ site }: Probe): void {
    this.#gates.turnedBack(this.#collection.sites.index(site));
  }

  /** The probe is under way for long, and others of its site need not wait for it. */
  letPass(probe: Probe): void {
    this.#passed.add(probe);
    this.#gates.done(this.#collection.sites.index(probe.site), this.#parts.clock.nowMs());
  }

  /** The probe's requests are over: its site may be asked again, as the wire counts from when the last was seen. */
  returned({ probe, requests, startedAtMs, endedAtMs, latencyMs, server, heldMs }: Observation): void {
    const seenMs = latencyMs === undefined ? endedAtMs : startedAtMs + latencyMs;
    // The second request of a look waits for the first, and for nobody else.
    const keptForMs = requests === 1 ? heldMs : undefined;
    if (!this.#passed.has(probe))
      this.#gates.done(this.#collection.sites.index(probe.site), requests > 0 ? seenMs : undefined, keptForMs);
    else if (requests > 0) this.doors.recall(probe.site, seenMs);
    if (server) this.doors.stand(probe.site, server);
  }

  /**
   * Its pages stand in line again, where they stood: at the end, a page that comes to the gate whenever its site's cap is reached would
   * never be looked at. Requests that were made for nothing are paid for as those of a look that failed. Answers how many pages there are.
   */
  askAgain(probe: Probe, requests = 0): number {
    const entries = this.pagesOf(probe);
    const paying = requests > 0 ? entries.find(({ page }) => !page.paused) : undefined;
    if (paying) this.#parts.policy.looked(paying.index, this.#parts.clock.nowMs() / 1000, { kind: 'failed' });
    for (const entry of entries) if (this.#claim(entry)) this.#gates.waitFirst(entry.site, entry.index);
    return entries.length;
  }

  /** Those that are still watched. */
  pagesOf({ pageIds }: Probe): readonly Entry[] {
    return pageIds.flatMap((id) => this.#collection.byId(id) ?? []);
  }

  /** When the probe's site may be asked, as far as its spacing goes. */
  opensAt({ site }: Probe): number {
    return this.#gates.opensAt(this.#collection.sites.index(site));
  }

  /** The probe of another process is under way still, and its pages wait for its answer. */
  rejoin(probe: Probe): void {
    this.#gates.begin(this.#collection.sites.index(probe.site));
    for (const entry of this.pagesOf(probe)) this.awaits(entry);
  }

  /** A look at the page is under way. */
  awaits({ page, index }: Entry): void {
    this.#unseen.delete(page.id);
    if (!page.paused) this.#parts.policy.started(index, this.#parts.clock.nowMs() / 1000);
  }

  /** Moves what the policy wants now into the lines before the gates; answers when it wants the next. */
  #line(now: number): number {
    this.#firstCrawl();
    const room = {
      pages: this.#room(now) - this.#gates.crowd,
      waitingSinceMs: this.#budget.waitingSinceMs ?? now,
      looksPerSecond: this.#settings.looksPerSecond,
    };
    const { entries, waitMs } = this.#wanted.take(now, room, (entry, plannedMs) => this.#claim(entry, plannedMs));
    for (const { site, index } of entries) this.#gates.wait(site, index);
    return waitMs;
  }

  /**
   * How many may stand in line: no more than the robots could take at once and the budget lets out soon. The rest stays with
   * the policy, which may think again; whoever stands in line leaves in the order of the line.
   */
  #room(now: number): number {
    const soon = this.#budget.until(now + linedUpMs, now);
    const least = Math.min(linedUpLeast, Math.max(2, Math.ceil(linedUpShare * this.#collection.size)));
    return Math.min(Math.max(64, 4 * this.#settings.robots), Math.max(least, soon));
  }

  /** Pages nobody has seen yet are one sweep, in planned order: whoever adds a page is told nothing before its first look. */
  #firstCrawl(): void {
    if (this.#unseen.size === 0) return;
    const entries = [...this.#unseen].flatMap((id) => this.#collection.byId(id) ?? []);
    this.#unseen.clear();
    this.askInOrder(entries.filter(({ page, state }) => !page.paused && state.lastLookMs === undefined));
  }

  #probe(entry: Entry, now: number): Probe {
    const hasHeaders = (site: string): boolean => this.#parts.siteRules?.(site)?.headers !== undefined;
    const sharing = sharingWith(this.#collection, entry, hasHeaders);
    const plannedMs = this.#asked.get(entry.index);
    const afresh = sharing.some(({ index }) => this.#hurried.has(index)) ? { afresh: true as const } : {};
    const noted = this.doors.isNoted(entry.site) ? { noted: true as const } : {};
    for (const other of sharing) {
      if (other !== entry) {
        if (this.#asked.has(other.index)) this.#gates.leave(other.site, other.index);
        else this.#parts.policy.started(other.index, now / 1000);
      }
      this.#asked.delete(other.index);
      this.#hurried.delete(other.index);
    }
    const errand = {
      ...errandFor(entry, sharing, this.#isUnread),
      id: this.#probeIds.next(),
      atMs: now,
      ...afresh,
      ...noted,
    };
    return plannedMs === undefined ? errand : { ...errand, plannedMs };
  }
}
