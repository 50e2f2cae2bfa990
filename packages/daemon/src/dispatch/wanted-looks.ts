/**
 * What the plan wants, and when: pages that the policy wants now, those that wait for a better moment than the one it chose, and in
 * which order they join the lines. Knows nothing of gates and budgets.
 */
import { type AccessTimes, type Task, bestOrder } from '@revisit/core';
import type { Collection, Entry } from '../collection/collection.ts';
import { fasterHour } from './faster-hour.ts';
import type { Lifetimes } from './lifetimes.ts';
import type { LoopParts } from '../loop-parts.ts';
import { ShiftedLooks } from './shifted-looks.ts';

type WantedParts = Pick<LoopParts, 'policy' | 'websub'>;

/** While nothing is due the policy is asked again after the time of so many looks. */
const askAgainLooks = 16;
const askAgainMsMin = 250;

/** How much may be taken, and what the policy is to know of the budget. */
interface Room {
  readonly pages: number;
  /** Since when somebody waits whom only the budget keeps. */
  readonly waitingSinceMs: number;
  readonly looksPerSecond: number;
}

interface Wanted {
  /** In the order in which they are to leave. */
  readonly entries: readonly Entry[];
  /** How long nothing more is wanted, as far as is known now. */
  readonly waitMs: number;
}

export class WantedLooks {
  readonly #parts: WantedParts;
  readonly #collection: Collection;
  readonly #access: AccessTimes;
  readonly #lifetimes: Lifetimes;
  readonly #shifted = new ShiftedLooks();

  constructor(parts: WantedParts, collection: Collection, access: AccessTimes, lifetimes: Lifetimes) {
    this.#parts = parts;
    this.#collection = collection;
    this.#access = access;
    this.#lifetimes = lifetimes;
  }

  /** The page waits for no better moment: it is asked for, or no longer watched. */
  forget({ index }: Entry): void {
    this.#shifted.delete(index);
  }

  /** How long after its last look the plan wants the page, as far as it has said. */
  plannedMs({ index, state }: Entry, now: number): number | undefined {
    const shifted = this.#shifted.get(index);
    if (shifted || state.lastLookMs === undefined) return shifted?.plannedMs;
    const dueMs = 1000 * this.#parts.policy.due(index, now / 1000);
    return Number.isFinite(dueMs) ? Math.max(0, Math.round(dueMs - state.lastLookMs)) : undefined;
  }

  /** What is wanted now, as far as there is room; `claim` is false for a page that is asked for already. */
  take(now: number, room: Room, claim: (entry: Entry, plannedMs: number | undefined) => boolean): Wanted {
    const { policy } = this.#parts;
    const chosen: Entry[] = [];
    let waitMs = this.#shifted.release(now, (page, plannedMs) => {
      const entry = this.#collection.at(page);
      if (entry && !entry.page.paused && claim(entry, plannedMs)) chosen.push(entry);
    });
    while (chosen.length < room.pages) {
      const choice = policy.next(now / 1000, room.waitingSinceMs / 1000);
      if (!choice) {
        waitMs = Math.min(waitMs, Math.max(1, (policy.asksAgainAt?.() ?? Infinity) * 1000 - now));
        break;
      }
      if (choice.at * 1000 > now) {
        // Meanwhile the price falls, and with it what is worth a look: the policy is asked again before much is left unused.
        waitMs = Math.min(waitMs, choice.at * 1000 - now, askAgainMs(room.looksPerSecond));
        break;
      }
      const entry = this.#collection.at(choice.page)!;
      const { lastLookMs } = entry.state;
      const plannedMs = lastLookMs === undefined ? undefined : Math.max(0, Math.round(choice.at * 1000 - lastLookMs));
      const laterMs = this.#betterMoment(entry, now, plannedMs);
      if (laterMs > now) {
        this.#shifted.set(entry.index, { untilMs: laterMs, plannedMs });
        policy.started(entry.index, now / 1000);
        waitMs = Math.min(waitMs, laterMs - now);
      } else if (claim(entry, plannedMs)) chosen.push(entry);
      // Asked for again while its last look was under way: it stands in line already, and the policy must hear of it, or it
      // would offer the page for ever.
      else policy.started(entry.index, now / 1000);
    }
    return { entries: this.#ordered(chosen, now), waitMs };
  }

  #betterMoment(entry: Entry, now: number, plannedMs: number | undefined): number {
    return Math.max(
      fasterHour(this.#access, entry, now),
      this.#lifetimes.until(entry, now, plannedMs),
      this.#parts.websub?.until(entry, now) ?? now,
    );
  }

  /** What is wanted at the same time goes by benefit · probability ⁄ time (Brewington's eq. 38); all of it goes. */
  #ordered(chosen: readonly Entry[], now: number): readonly Entry[] {
    if (chosen.length < 2) return chosen;
    return Array.from(bestOrder(chosen.map((entry) => this.#task(entry, now))), (n) => chosen[n]!);
  }

  #task({ index, page, aims }: Entry, now: number): Task {
    const { current } = this.#parts.policy.belief(index, now / 1000);
    return { probability: 1 - current, time: this.#access.expected(page.site, now / 1000), benefit: aims.weight };
  }
}

const askAgainMs = (looksPerSecond: number): number => Math.max(askAgainMsMin, (1000 * askAgainLooks) / looksPerSecond);
