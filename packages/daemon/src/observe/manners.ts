/**
 * What politeness has learned, over a restart: robots.txt for as long as it holds, and sites that failed or asked to be left
 * alone. Kept as one text, since it is read whole at the start and small against the pages.
 */
import type { Clock } from '../values/clock.ts';
import type { ClockSetByMs } from '../values/observation.ts';
import { siteOf } from '../values/url.ts';
import type { RobotsMemory, SavedRobots } from './robots.ts';
import type { SiteGates, SiteStanding } from './site-gate.ts';

interface SavedManners {
  readonly robots: readonly SavedRobots[];
  readonly sites: readonly SiteStanding[];
}

export class Manners {
  readonly #clock: Clock;
  readonly #robots: RobotsMemory;
  readonly #gates: SiteGates;
  #savedText = '';
  #savedRevision = -1;
  #savedRecoveries = 0;
  #clockSetByMs: ClockSetByMs = 0;

  constructor(clock: Clock, robots: RobotsMemory, gates: SiteGates) {
    this.#clock = clock;
    this.#robots = robots;
    this.#gates = gates;
  }

  /**
   * Undefined while nothing was learned since the last time, or, where only what cannot wait is wanted, no robots.txt was read and no
   * site has recovered: one that answers again would be left alone for hours by a process that knows only that it kept failing.
   */
  save(ifPressing = false): Uint8Array | undefined {
    const isAsRead = this.#robots.revision === this.#savedRevision;
    if (ifPressing && isAsRead && this.#gates.recoveries === this.#savedRecoveries) return undefined;
    this.#savedRecoveries = this.#gates.recoveries;
    const nowMs = this.#clock.nowMs();
    const sites = this.#gates.troubled(nowMs).map((standing) => setBy(standing, -this.#clockSetByMs));
    const troubles = JSON.stringify(sites);
    if (isAsRead && troubles === this.#savedText) return undefined;
    this.#savedRevision = this.#robots.revision;
    this.#savedText = troubles;
    const robots = this.#robots.save(nowMs, this.#clockSetByMs);
    return new TextEncoder().encode(JSON.stringify({ robots, sites } satisfies SavedManners));
  }

  restore(saved: Uint8Array | undefined, clockSetByMs: ClockSetByMs): void {
    this.#clockSetByMs = clockSetByMs;
    if (!saved) return;
    const { robots, sites } = JSON.parse(new TextDecoder().decode(saved)) as SavedManners;
    this.#robots.restore(robots, this.#clock.nowMs(), clockSetByMs);
    for (const standing of sites) this.#gates.restore(setBy(standing, clockSetByMs));
    for (const { origin, delayMs, readMs } of this.#robots.crawlDelays())
      if (readMs + delayMs > this.#clock.nowMs())
        this.#gates.restUntil(siteOf(new URL(origin).hostname), readMs + delayMs);
    this.#savedRevision = this.#robots.revision;
    this.#savedText = JSON.stringify(sites);
  }
}

const setBy = (standing: SiteStanding, byMs: number): SiteStanding => ({
  ...standing,
  nextStartMs: standing.nextStartMs + byMs,
  closedUntilMs: standing.closedUntilMs + byMs,
});
