/**
 * How long changes wait to be seen: by the daemon, by looks at equal distances on the same budget, and at least, whatever is
 * planned ahead. The demonstration knows when each page changed and when it was shown, so nothing here is an estimate but
 * the bound's expectation.
 *
 * Mean delay over a window is the time changes spent unseen within it over the changes that fell into it (Little's law), so
 * what is still unseen counts too.
 */
import type { LivingPage } from './living-web.ts';

/** The grain of the series that the dashboard draws. */
export const bucketMs = 3_600_000;

interface Bucket {
  changes: number;
  oursMs: number;
  uniformMs: number;
}

interface Card {
  /** Undefined until the daemon has seen the page once: before that there is nothing to be late for. */
  seen: number | undefined;
  readonly phaseMs: number;
}

/** A change that looks at equal distances will see, or have seen, then. */
interface Awaited {
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface Delays {
  readonly changes: number;
  readonly oursHours: number | null;
  readonly uniformHours: number | null;
}

export class Scoreboard {
  readonly #startMs: number;
  readonly #everyMs: number;
  readonly #buckets: Bucket[] = [];
  readonly #cards = new Map<LivingPage, Card>();
  /** What uniform has not seen yet, for all that is known. */
  #awaited: Awaited[] = [];
  looks = 0;
  happened = 0;

  /** `looksPerSecond` is what uniform may spend, all of it. */
  constructor(pages: readonly LivingPage[], startMs: number, looksPerSecond: number) {
    this.#startMs = startMs;
    this.#everyMs = (pages.length / looksPerSecond) * 1000;
    pages.forEach((page, i) => this.#cards.set(page, { seen: undefined, phaseMs: (i / pages.length) * this.#everyMs }));
  }

  change(page: LivingPage, atMs: number): void {
    const card = this.#cards.get(page)!;
    if (card.seen === undefined) return;
    this.happened++;
    this.#bucket(atMs).changes++;
    const since = atMs - this.#startMs - card.phaseMs;
    const untilMs = this.#startMs + card.phaseMs + Math.ceil(since / this.#everyMs) * this.#everyMs;
    this.#awaited.push({ fromMs: atMs, untilMs });
  }

  shown(page: LivingPage, atMs: number): void {
    const card = this.#cards.get(page)!;
    this.looks++;
    if (card.seen !== undefined)
      for (const changeMs of page.changesMs.slice(card.seen)) this.#spread(changeMs, atMs, 'oursMs');
    card.seen = page.changesMs.length;
  }

  unseen(): number {
    let count = 0;
    for (const [page, card] of this.#cards) if (card.seen !== undefined) count += page.changesMs.length - card.seen;
    return count;
  }

  /** Changes from the beginning to then, whole buckets. */
  changesUntil(toMs: number): number {
    return this.#buckets.slice(0, this.#index(toMs) + 1).reduce((sum, bucket) => sum + (bucket?.changes ?? 0), 0);
  }

  /** Mean delays within (fromMs, toMs], whole buckets. */
  delays(fromMs: number, toMs: number): Delays {
    const waiting = { ours: this.#waiting(toMs), uniform: this.#awaiting(toMs) };
    const [first, last] = [this.#index(fromMs), this.#index(toMs)];
    let [changes, ours, uniform] = [0, 0, 0];
    for (let i = Math.max(0, first); i <= last; i++) {
      changes += this.#buckets[i]?.changes ?? 0;
      ours += (this.#buckets[i]?.oursMs ?? 0) + (waiting.ours[i] ?? 0);
      uniform += (this.#buckets[i]?.uniformMs ?? 0) + (waiting.uniform[i] ?? 0);
    }
    const hours = (ms: number): number | null => (changes > 0 ? ms / changes / 3_600_000 : null);
    return { changes, oursHours: hours(ours), uniformHours: hours(uniform) };
  }

  /** What is unseen now has waited until now; it is spread the same way, without being kept. */
  #waiting(nowMs: number): readonly number[] {
    const waiting: number[] = [];
    for (const [page, card] of this.#cards) {
      if (card.seen === undefined) continue;
      for (const changeMs of page.changesMs.slice(card.seen))
        this.#each(changeMs, nowMs, (i, ms) => (waiting[i] = (waiting[i] ?? 0) + ms));
    }
    return waiting;
  }

  /** The same for looks at equal distances: what they have seen by now is kept, the rest has waited until now. */
  #awaiting(nowMs: number): readonly number[] {
    const waiting: number[] = [];
    this.#awaited = this.#awaited.filter(({ fromMs, untilMs }) => {
      if (untilMs <= nowMs) this.#spread(fromMs, untilMs, 'uniformMs');
      else this.#each(fromMs, nowMs, (i, ms) => (waiting[i] = (waiting[i] ?? 0) + ms));
      return untilMs > nowMs;
    });
    return waiting;
  }

  #index(atMs: number): number {
    return Math.floor((atMs - this.#startMs) / bucketMs);
  }

  #bucket(atMs: number): Bucket {
    return (this.#buckets[Math.max(0, this.#index(atMs))] ??= { changes: 0, oursMs: 0, uniformMs: 0 });
  }

  #spread(fromMs: number, toMs: number, field: 'oursMs' | 'uniformMs'): void {
    this.#each(fromMs, toMs, (i, ms) => {
      (this.#buckets[i] ??= { changes: 0, oursMs: 0, uniformMs: 0 })[field] += ms;
    });
  }

  #each(fromMs: number, toMs: number, add: (index: number, ms: number) => void): void {
    for (let t = fromMs; t < toMs;) {
      const i = Math.max(0, this.#index(t));
      const end = Math.min(toMs, this.#startMs + (i + 1) * bucketMs);
      add(i, end - t);
      t = end;
    }
  }
}
