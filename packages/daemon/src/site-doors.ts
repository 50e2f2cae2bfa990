/**
 * What each site allows, before anything leaves: its gate, as wide as the operator and its robots.txt want it, and shut while it
 * asked to be left alone, also over restarts.
 */
import { Gates } from '@revisit/core';
import type { Collection } from './collection.ts';
import type { LoopParts, SiteLimits } from './loop-parts.ts';
import type { ClockSetByMs, SiteClosed, SiteServer } from './values/observation.ts';

type DoorParts = Pick<LoopParts, 'clock' | 'siteRules'>;

interface Server {
  readonly address: string;
  readonly number: number;
  readonly sites: Set<number>;
}

export class SiteDoors {
  readonly #parts: DoorParts;
  readonly #collection: Collection;
  readonly #spacingMs: number;
  readonly gates = new Gates();
  /** What sites' robots.txt asked for. */
  readonly #crawlDelays = new Map<string, number>();
  readonly #openShares = new Map<string, number>();
  /** Sites that are left alone, and until when. */
  readonly #holds = new Map<string, number>();
  clockSetByMs: ClockSetByMs = 0;
  /** By address; and of each site that was reached, where it stands. */
  readonly #servers = new Map<string, Server>();
  readonly #standsAt = new Map<number, Server>();

  constructor(parts: DoorParts, collection: Collection, spacingMs: number) {
    this.#parts = parts;
    this.#collection = collection;
    this.#spacingMs = spacingMs;
  }

  /** The site's gate as the operator, or the site itself, wants it; answers the most looks a second that leaves. */
  space(site: string, crawlDelayMs?: number): number {
    if (crawlDelayMs !== undefined) this.#crawlDelays.set(site, crawlDelayMs);
    const rules = this.#parts.siteRules?.(site);
    const spacingMs = Math.max(rules?.spacingMs ?? this.#spacingMs, this.#crawlDelays.get(site) ?? 0);
    this.gates.setSpacing(this.#collection.sites.index(site), spacingMs, rules?.connections);
    const spaced = spacingMs > 0 ? 1000 / spacingMs : Infinity;
    const capped = rules?.cap ? (1000 * rules.cap.count) / rules.cap.periodMs : Infinity;
    return Math.min(spaced, capped) * this.#openShare(site, rules);
  }

  /** The share of a week in which the site may be asked, by the hour. */
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
  stand(site: string, { address, spacingMs, connections }: SiteServer): void {
    const index = this.#collection.sites.index(site);
    const before = this.#standsAt.get(index);
    if (before?.address !== address) before?.sites.delete(index);
    let server = this.#servers.get(address);
    if (!server) this.#servers.set(address, (server = { address, number: this.#servers.size, sites: new Set() }));
    server.sites.add(index);
    this.#standsAt.set(index, server);
    if (server.sites.size === 1) this.gates.stand(index, undefined);
    // The first hears of it with the second; whoever has a request under way then, with its own next look.
    const joining = server.sites.size === 2 ? server.sites : [index];
    if (server.sites.size > 1)
      for (const member of joining) this.gates.stand(member, server.number, spacingMs, connections);
  }

  /** The site was asked for something at that time. */
  recall(site: string, atMs: number): void {
    this.gates.recall(this.#collection.sites.index(site), atMs);
  }

  heldUntil(site: string): number {
    return this.#holds.get(site) ?? 0;
  }

  hold(site: string, untilMs: number): void {
    const now = this.#parts.clock.nowMs();
    if (untilMs <= now) return;
    this.gates.holdUntil(this.#collection.sites.index(site), untilMs);
    for (const [other, until] of this.#holds) if (until <= now) this.#holds.delete(other);
    this.#holds.set(site, Math.max(untilMs, this.#holds.get(site) ?? 0));
  }

  saveHolds(): Uint8Array {
    const kept = Array.from(this.#holds, ([site, untilMs]) => [site, untilMs - this.clockSetByMs] as const);
    return new TextEncoder().encode(JSON.stringify(Object.fromEntries(kept)));
  }

  /** Sites that asked to be left alone, for as long as they asked, whatever happened to the process and the clock since. */
  restoreHolds(saved: Uint8Array): readonly SiteClosed[] {
    const holds = JSON.parse(new TextDecoder().decode(saved)) as Record<string, number>;
    const closed = Object.entries(holds).map(([site, untilMs]) => ({ site, untilMs: untilMs + this.clockSetByMs }));
    for (const { site, untilMs } of closed) this.hold(site, untilMs);
    return closed;
  }
}
