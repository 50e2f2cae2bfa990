/**
 * What each site allows, before anything leaves: its gate, as wide as the operator and its robots.txt want it, and shut while it
 * asked to be left alone, also over restarts.
 */
import { type AccessTimes, Gates } from '@revisit/core';
import type { CollectionMarket } from '../plan/collection-market.ts';
import type { Collection } from '../collection/collection.ts';
import type { LoopParts, SiteLimits } from '../loop-parts.ts';
import { type Hold, type Wait, waitAt } from './page-waits.ts';
import { type ClockSetByMs, type SiteClosed, type SiteServer, unnotedSpacingMsMax } from '../values/observation.ts';

type DoorParts = Pick<LoopParts, 'clock' | 'siteRules'>;

/** The plan, as far as it is told what sites and servers allow, in looks a second. */
export type PlannedLimits = Pick<CollectionMarket, 'setCap' | 'standAt'>;

/** A look that comes to nothing after so long kept its robot from a dozen others, whose sites answer within half a second. */
const slowMs = 5_000;
/** Of the robots, those that slow sites may keep, and those that slow sites and unknown ones may: the others stay for sites that answer. */
const slowShare = 1 / 2;
const unsureShare = 3 / 4;
/** To the plan slow sites stand together at a server of so few looks a second: what they cannot use of the budget is for the others. */
const slowPlace = -1;
/** It hears of them once this share of the sites has turned slow or well again: new prices cost as much as there are sites. */
const toldShare = 1 / 64;
/** How long a look there takes: as long as the wire waits for a first byte. */
const slowLookSeconds = 30;
/** As long as the wire keeps somebody waiting who wants to see a page; between two looks at a gate that others pass as well. */
const turnMsMax = 10_000;
const turnPollMs = 10;
/** A turn that is further away is nobody's yet: whoever takes the site over waits until those that were given are over. */
const bookedMsMax = 3_000;
/** As long as it takes until a request is there after it was let go. */
const underWayMs = 250;

/** Some hundred kilobytes; those that were first led to long ago are forgotten first. */
const ledToMax = 10_000;
/** As long as a robots.txt is believed without being read again. */
const delayKeptMs = 86_400_000;
/** Two of them: whoever reads it daily has said so since. */
const isRecent = (atMs: number, nowMs: number): boolean => Math.abs(nowMs - atMs) < 2 * delayKeptMs;

interface Server {
  said: SiteServer;
  readonly number: number;
  readonly sites: Set<number>;
}

/** A server that several sites share, as it is kept. */
interface SavedServer {
  readonly server: SiteServer;
  readonly sites: readonly string[];
}

export class SiteDoors {
  readonly #parts: DoorParts;
  readonly #collection: Collection;
  readonly #plan: PlannedLimits;
  readonly #spacingMs: number;
  readonly gates = new Gates();
  /** What sites' robots.txt asked for. */
  readonly #crawlDelays = new Map<string, number>();
  readonly #ledTo = new Set<string>();
  /** When each of them was last to be kept. */
  readonly #delaysKeptMs = new Map<string, number>();
  readonly #openShares = new Map<string, number>();
  /** Sites that have a cap or are widely spaced: requests to them are noted as they go out. */
  readonly #noted = new Set<number>();
  /** Sites that are left alone, and until when. */
  readonly #holds = new Map<string, Hold>();
  clockSetByMs: ClockSetByMs = 0;
  /** Sites that the plan takes for slow, and those of which it has yet to hear that they are, or no longer are. */
  readonly #plannedSlow = new Set<number>();
  readonly #turned = new Set<number>();
  /** The robots that slow sites may have, and the looks a second that the plan was told they are good for. */
  #slowMax = 1;
  #slowLooksPerSecond = 0;
  /** By address; and of each site that was reached, where it stands. */
  readonly #servers = new Map<string, Server>();
  readonly #standsAt = new Map<number, Server>();
  /** Sites came to or left a shared server since that was saved. */
  #serversMoved = false;

  constructor(parts: DoorParts, collection: Collection, plan: PlannedLimits, spacingMs: number) {
    this.#parts = parts;
    this.#collection = collection;
    this.#plan = plan;
    this.#spacingMs = spacingMs;
  }

  /** The site's gate as the operator, or the site itself, wants it; the plan hears how many looks a second that leaves. */
  space(site: string, crawlDelayMs?: number): void {
    if (crawlDelayMs !== undefined) this.#crawlDelays.set(site, crawlDelayMs);
    const rules = this.#parts.siteRules?.(site);
    const spacingMs = Math.max(rules?.spacingMs ?? this.#spacingMs, this.#crawlDelays.get(site) ?? 0);
    const index = this.#collection.sites.index(site);
    this.gates.setSpacing(index, spacingMs, rules?.connections);
    if (rules?.cap || spacingMs > unnotedSpacingMsMax) this.#noted.add(index);
    else this.#noted.delete(index);
    this.#plan.setCap(index, looksPerSecondMost(spacingMs, rules?.cap) * this.#openShare(site, rules));
  }

  /** A look has told what the site's robots.txt asks for; true where whoever follows is to know. */
  heard(site: string, crawlDelayMs: number): boolean {
    const nowMs = this.#parts.clock.nowMs();
    const isKnown = this.#crawlDelays.get(site) === crawlDelayMs;
    if (!isKnown) this.space(site, crawlDelayMs);
    if (isKnown && nowMs - (this.#delaysKeptMs.get(site) ?? -Infinity) < delayKeptMs) return false;
    this.#delaysKeptMs.set(site, nowMs);
    return true;
  }

  /** With what others have kept, as far as somebody has heard it lately: sites change their minds. */
  saveDelays(before: Uint8Array | undefined): Uint8Array {
    const nowMs = this.#parts.clock.nowMs();
    const kept = new Map(
      Object.entries(before ? readDelays(before) : {}).filter(([, [, atMs]]) => isRecent(atMs, nowMs)),
    );
    for (const [site, atMs] of this.#delaysKeptMs)
      if (isRecent(atMs, nowMs)) kept.set(site, [this.#crawlDelays.get(site)!, atMs]);
    return new TextEncoder().encode(JSON.stringify(Object.fromEntries(kept)));
  }

  restoreDelays(saved: Uint8Array): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const [site, [delayMs, atMs]] of Object.entries(readDelays(saved))) {
      if (!isRecent(atMs, nowMs) || this.#crawlDelays.has(site)) continue;
      this.#crawlDelays.set(site, delayMs);
      if (this.#collection.sites.has(site)) this.space(site);
    }
  }

  isNoted(site: number): boolean {
    return this.#noted.has(site);
  }

  /** So many robots may be out. One that is alone serves everybody, and of two slow sites have one. */
  share(robots: number): void {
    this.#slowMax = Math.max(1, Math.floor(slowShare * robots));
    this.gates.share(this.#slowMax, Math.max(this.#slowMax + 1, Math.floor(unsureShare * robots)));
  }

  /** A look at the site kept its robot for so long. One that answers is as good as any, whatever time it takes. */
  looked(site: string, tookMs: number, answered: boolean): void {
    const isSlow = !answered && tookMs >= slowMs;
    const index = this.#collection.sites.index(site);
    if (!isSlow && this.gates.promptnessOf(index) === 'prompt') return;
    this.gates.setPromptness(index, isSlow ? 'slow' : 'prompt');
    if (isSlow === this.#plannedSlow.has(index)) this.#turned.delete(index);
    else this.#turned.add(index);
    if (this.#turned.size > toldShare * this.#collection.sites.size) this.#tellSlow();
  }

  #tellSlow(): void {
    this.#slowLooksPerSecond = this.#slowMax / slowLookSeconds;
    for (const site of this.#turned) {
      if (!this.#plannedSlow.delete(site)) this.#plannedSlow.add(site);
      this.#place(site);
    }
    this.#turned.clear();
  }

  /** Sites that answered soon for an earlier process; of others nobody knows whether they answered. */
  recallAnswers(access: AccessTimes): void {
    const now = this.#parts.clock.nowMs() / 1000;
    for (const site of access.sites)
      if (this.#collection.sites.has(site) && 1000 * access.expected(site, now) < slowMs) this.looked(site, 0, true);
  }

  /** What its robots.txt asked for, where a look has told it. */
  crawlDelayMs(site: string): number | undefined {
    return this.#crawlDelays.get(site);
  }

  /** The share of a week in which the site, or the server at an address, may be asked, by the hour. */
  #openShare(site: string, rules: SiteLimits | undefined): number {
    if (!rules?.quietUntilMs) return 1;
    let share = this.#openShares.get(site);
    if (share === undefined) {
      const now = this.#parts.clock.nowMs();
      const hours = Array.from({ length: 168 }, (_, hour) => now + hour * 3_600_000);
      // A site that is never open for a whole hour is open now and then all the same.
      share = Math.max(1, hours.filter((at) => !((rules.quietUntilMs!(at) ?? 0) > at)).length) / hours.length;
      this.#openShares.set(site, share);
    }
    return share;
  }

  /** The site was reached at that address. Where others stand as well, they have its gate in common, as they have at the wire. */
  stand(site: string, said: SiteServer): void {
    const index = this.#collection.sites.index(site);
    const before = this.#standsAt.get(index);
    let server = this.#servers.get(said.address);
    if (!server) this.#servers.set(said.address, (server = { said, number: this.#servers.size, sites: new Set() }));
    server.said = said;
    if (before !== server) {
      if (before && before.sites.size > 1) this.#serversMoved = true;
      before?.sites.delete(index);
      server.sites.add(index);
      this.#standsAt.set(index, server);
      if (server.sites.size > 1) this.#serversMoved = true;
    }
    // The first hears of it with the second; whoever has a request under way then, with its own next look.
    const joining = server.sites.size === 2 ? server.sites : [index];
    for (const member of joining) this.#join(member, server);
  }

  /** The server that the site shares with others, as far as that is known. */
  sharedServer(site: string): SiteServer | undefined {
    const server = this.#standsAt.get(this.#collection.sites.index(site));
    return server && server.sites.size > 1 ? server.said : undefined;
  }

  #join(site: number, { said, number, sites }: Server): void {
    this.gates.stand(site, sites.size > 1 ? number : undefined, said.spacingMs, said.connections);
    this.#place(site);
  }

  /** Tells the plan with which others the site shares looks: those on its server, or else, while it is slow, those that are as well. */
  #place(site: number): void {
    const server = this.#standsAt.get(site);
    if (server && server.sites.size > 1) {
      const { address, spacingMs, cap } = server.said;
      const open = this.#openShare(address, this.#parts.siteRules?.(address));
      this.#plan.standAt(site, server.number, looksPerSecondMost(spacingMs, cap) * open);
    } else if (this.#plannedSlow.has(site)) this.#plan.standAt(site, slowPlace, this.#slowLooksPerSecond);
    else this.#plan.standAt(site, undefined);
  }

  /** Servers that several sites share; undefined while they are what was saved last. */
  saveServers(): Uint8Array | undefined {
    if (!this.#serversMoved) return undefined;
    this.#serversMoved = false;
    const shared = [...this.#servers.values()].filter(({ sites }) => sites.size > 1);
    const saved = shared.map(({ said, sites }): SavedServer => ({
      server: said,
      sites: Array.from(sites, (site) => this.#collection.sites.name(site)),
    }));
    return new TextEncoder().encode(JSON.stringify(saved));
  }

  /** Where sites stood for an earlier process: they may stand elsewhere by now, as their first look will show. */
  restoreServers(saved: Uint8Array): void {
    for (const { server, sites } of JSON.parse(new TextDecoder().decode(saved)) as readonly SavedServer[])
      for (const site of sites) if (this.#collection.sites.has(site)) this.stand(site, server);
    this.#serversMoved = false;
  }

  /** The site was asked for something at that time. */
  recall(site: string, atMs: number): void {
    this.gates.recall(this.#collection.sites.index(site), atMs);
  }

  /**
   * For whoever was led to the site by another, in a process that knows of its own requests alone: the next turn is theirs, in so many
   * milliseconds; undefined while somebody is at it, or it is to be left alone for long.
   */
  bookTurn(site: string): number | undefined {
    const nowMs = this.#parts.clock.nowMs();
    if (!this.#collection.sites.has(site)) this.space(site);
    const index = this.#collection.sites.index(site);
    const atMs = Math.max(nowMs, this.gates.opensAt(index));
    if (atMs > nowMs + bookedMsMax || !this.gates.open(index, atMs)) return undefined;
    this.#ledTo.add(site);
    this.recall(site, atMs + underWayMs);
    return atMs - nowMs;
  }

  /** Sites to which somebody was led; whoever takes one over does not know when. */
  get ledTo(): ReadonlySet<string> {
    return this.#ledTo;
  }

  saveLedTo(before: Uint8Array | undefined): Uint8Array {
    const sites = [...new Set([...(before ? readSites(before) : []), ...this.#ledTo])];
    return new TextEncoder().encode(JSON.stringify(sites.slice(-ledToMax)));
  }

  /** Turns that others gave there may be used yet. */
  restoreLedTo(saved: Uint8Array): void {
    const untilMs = this.#parts.clock.nowMs() + bookedMsMax;
    for (const site of readSites(saved)) {
      this.space(site);
      this.recall(site, untilMs);
    }
  }

  /** Whether the site may be asked now, or so soon that somebody waits for it. */
  async turnOf(site: string, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#parts;
    const index = this.#collection.sites.index(site);
    for (const untilMs = clock.nowMs() + turnMsMax; clock.nowMs() < untilMs && !signal.aborted;) {
      if (this.gates.open(index, clock.nowMs())) return true;
      await clock.sleep(turnPollMs, signal);
    }
    return false;
  }

  heldUntil(site: string): number {
    return this.#holds.get(site)?.untilMs ?? 0;
  }

  /** What keeps the site from being asked at that time, where quiet hours of all pages last until then. */
  wait(site: string, atMs: number, quietUntilMs: number | undefined): Wait | undefined {
    const rulesOf = (name: string) => this.#parts.siteRules?.(name);
    const known = { site, server: this.sharedServer(site), hold: this.#holds.get(site) };
    return waitAt(atMs, { ...known, rulesOf, quietUntilMs });
  }

  /** The site is left alone until then, by our own limits or its own word and state. */
  hold(site: string, untilMs: number, byLimits = false): void {
    const now = this.#parts.clock.nowMs();
    if (untilMs <= now) return;
    this.gates.holdUntil(this.#collection.sites.index(site), untilMs);
    for (const [other, hold] of this.#holds) if (hold.untilMs <= now) this.#holds.delete(other);
    if (untilMs > this.heldUntil(site)) this.#holds.set(site, { untilMs, byLimits });
  }

  /** With what is kept already and lasts: of several coordinators each knows what its own sites asked for. */
  saveHolds(before: Uint8Array | undefined): Uint8Array {
    const nowMs = this.#parts.clock.nowMs() - this.clockSetByMs;
    const kept = new Map(Object.entries(before ? readHolds(before) : {}).filter(([, untilMs]) => untilMs > nowMs));
    for (const [site, { untilMs }] of this.#holds)
      kept.set(site, Math.max(untilMs - this.clockSetByMs, kept.get(site) ?? 0));
    return new TextEncoder().encode(JSON.stringify(Object.fromEntries(kept)));
  }

  /** Sites that asked to be left alone, for as long as they asked, whatever happened to the process and the clock since. */
  restoreHolds(saved: Uint8Array): readonly SiteClosed[] {
    const closed = Object.entries(readHolds(saved)).map(([site, untilMs]) => ({
      site,
      untilMs: untilMs + this.clockSetByMs,
    }));
    for (const { site, untilMs } of closed) this.hold(site, untilMs);
    return closed;
  }
}

const readDelays = (saved: Uint8Array): Record<string, readonly [delayMs: number, atMs: number]> =>
  JSON.parse(new TextDecoder().decode(saved)) as Record<string, readonly [delayMs: number, atMs: number]>;

const readSites = (saved: Uint8Array): readonly string[] =>
  JSON.parse(new TextDecoder().decode(saved)) as readonly string[];

const readHolds = (saved: Uint8Array): Record<string, number> =>
  JSON.parse(new TextDecoder().decode(saved)) as Record<string, number>;

function looksPerSecondMost(spacingMs: number, cap: SiteLimits['cap']): number {
  const spaced = spacingMs > 0 ? 1000 / spacingMs : Infinity;
  return Math.min(spaced, cap ? (1000 * cap.count) / cap.periodMs : Infinity);
}
