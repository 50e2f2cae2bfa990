/** Saves now and then what was learned that belongs to no page, so a killed process loses little of it. */
import type { AccessTimes } from '@revisit/core';
import type { ClockBook } from './clock-book.ts';
import type { Collection } from './collection.ts';
import type { Discovery } from './discovery.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { LoopParts } from './loop-parts.ts';
import type { SiteDoors } from './site-doors.ts';

const everyMs = 60_000;
/** Access times change slowly, and a site's take a kilobyte. */
const accessEveryMs = 3_600_000;
/** robots.txt as it was read, and sites in trouble: a few hundred bytes each. */
const mannersEveryMs = 600_000;

interface Known {
  readonly clockBook: ClockBook;
  readonly access: AccessTimes;
  readonly collection: Collection;
  readonly discovery: Discovery;
  readonly lifetimes: Lifetimes;
  readonly doors: SiteDoors;
}

type SavingParts = Pick<LoopParts, 'clock' | 'observer' | 'policy' | 'store'>;

export class Saving {
  readonly #parts: SavingParts;
  readonly #known: Known;
  #savedMs = 0;
  #savedAccessMs: number;
  #savedMannersMs = 0;

  constructor(parts: SavingParts, known: Known) {
    this.#parts = parts;
    this.#known = known;
    this.#savedAccessMs = parts.clock.nowMs();
  }

  /** What is due to be saved, or all of it now. */
  async save(now: boolean): Promise<void> {
    const { clock, observer, policy, store } = this.#parts;
    const { access, clockBook, collection, discovery, doors, lifetimes } = this.#known;
    const nowMs = clock.nowMs();
    if (!now && nowMs - this.#savedMs < everyMs) return;
    this.#savedMs = nowMs;
    await clockBook.alive();
    // Times are saved as they would be had nobody set the clock: of no use to one who does not know that somebody did.
    if (!clockBook.isKept) return;
    if (now || nowMs - this.#savedAccessMs >= accessEveryMs) {
      this.#savedAccessMs = nowMs;
      await store.remember('access-times', access.save());
    }
    if (now || nowMs - this.#savedMannersMs >= mannersEveryMs) {
      this.#savedMannersMs = nowMs;
      const manners = observer.save?.();
      if (manners) await store.remember('manners', manners);
    }
    const servers = doors.saveServers();
    if (servers) await store.remember('shared-servers', servers);
    if (policy.saveAll) await store.remember(`policy:${policy.name}`, policy.saveAll(collection.groups));
    if (discovery.hasLearned) await store.remember('index-trust', discovery.save());
    if (lifetimes.hasLearned) await store.remember('lifetime-trust', lifetimes.save());
  }
}
