/** Saves now and then what was learned that belongs to no page, so a killed process loses little of it. */
import type { AccessTimes } from '@revisit/core';
import type { ClockBook } from './dispatch/clock-book.ts';
import type { Collection } from './collection/collection.ts';
import type { Discovery } from './collection/discovery.ts';
import type { Lifetimes } from './dispatch/lifetimes.ts';
import type { LoopParts } from './loop-parts.ts';
import type { SiteDoors } from './dispatch/site-doors.ts';

const everyMs = 60_000;
/** Access times change slowly, and a site's take a kilobyte. */
const accessEveryMs = 3_600_000;
/** robots.txt as it was read, and sites in trouble: a few hundred bytes each, written together. */
const mannersEveryMs = 600_000;
/**
 * A robots.txt that was read is not to be read again by a process that follows a kill, and a site that answers again is not to be left
 * alone by it, so they are saved as soon as this.
 */
const pressingMsMin = 2_000;
/** And no more than so much is written for it over time, while a large collection reads its first ones. */
const pressingBytesPerMs = 20;

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
  #savedMannersBytes = 0;

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
    if (!now && clockBook.isKept) await this.#savePressing(nowMs);
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
      await this.#keepManners(observer.save?.(), nowMs);
    }
    const servers = doors.saveServers();
    if (servers) await store.remember('shared-servers', servers);
    if (policy.saveAll) await store.remember(`policy:${policy.name}`, policy.saveAll(collection.groups));
    if (discovery.hints.hasLearned) await store.remember('index-trust', discovery.hints.save());
    if (lifetimes.hasLearned) await store.remember('lifetime-trust', lifetimes.save());
  }

  async #savePressing(nowMs: number): Promise<void> {
    const restMs = Math.max(pressingMsMin, this.#savedMannersBytes / pressingBytesPerMs);
    if (nowMs - this.#savedMannersMs < restMs) return;
    const manners = this.#parts.observer.save?.(true);
    if (manners) await this.#keepManners(manners, nowMs);
  }

  async #keepManners(manners: Uint8Array | undefined, nowMs: number): Promise<void> {
    this.#savedMannersMs = nowMs;
    if (!manners) return;
    this.#savedMannersBytes = manners.length;
    await this.#parts.store.remember('manners', manners);
  }
}
