/**
 * What politeness has learned, over a restart: robots.txt for as long as it holds, and sites that failed or asked to be left
 * alone. Kept as one text, since it is read whole at the start and small against the pages.
 */
import type { Clock } from '../values/clock.ts';
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

  constructor(clock: Clock, robots: RobotsMemory, gates: SiteGates) {
    this.#clock = clock;
    this.#robots = robots;
    this.#gates = gates;
  }

  /** Undefined while nothing was learned since the last time. */
  save(): Uint8Array | undefined {
    const nowMs = this.#clock.nowMs();
    const sites = this.#gates.troubled(nowMs);
    const troubles = JSON.stringify(sites);
    if (this.#robots.revision === this.#savedRevision && troubles === this.#savedText) return undefined;
    this.#savedRevision = this.#robots.revision;
    this.#savedText = troubles;
    return new TextEncoder().encode(JSON.stringify({ robots: this.#robots.save(nowMs), sites } satisfies SavedManners));
  }

  restore(saved: Uint8Array): void {
    const { robots, sites } = JSON.parse(new TextDecoder().decode(saved)) as SavedManners;
    this.#robots.restore(robots, this.#clock.nowMs());
    for (const standing of sites) this.#gates.restore(standing);
    this.#savedRevision = this.#robots.revision;
  }
}
