/**
 * Requests to sites that have a cap, or are widely spaced, over restarts: when they went out is kept as they go, when they were seen as
 * they are answered, and a new process counts on from there once it first asks the site for something, be it watched or only
 * redirected to. A robot elsewhere that keeps its own count has none of this.
 */
import type { ClockBook } from './clock-book.ts';
import type { LoopParts } from '../loop-parts.ts';
import type { Store } from '../store/port.ts';
import type { CapBook } from '../values/observation.ts';

/** Of a large cap not every request is written at once: one more than this share of it may be unknown after a kill. */
const unwrittenShare = 1 / 128;
/** Longer than a write takes; a busy disk is written to once more. */
const notedAheadMs = 1_000;
/** A request reaches its server within this time, or not at all: as long as the wire waits for the first byte of an answer. */
const onTheWayMs = 30_000;
/** In the place of how far ahead the last was noted: nothing is on its way, and all times are those at which requests were seen. */
const allSeen = -Infinity;

interface CappedParts extends Pick<LoopParts, 'clock' | 'observer'> {
  readonly store: Pick<Store, 'recall' | 'remember'>;
}

const keyOf = (site: string): string => `starts ${site}`;

export class CappedSites implements CapBook {
  readonly #parts: CappedParts;
  /** Requests since the last that was written, by site. */
  readonly #unwritten = new Map<string, number>();
  /** What is being written of requests that were seen, by site: what is noted after it is written after it. */
  readonly #writing = new Map<string, Promise<unknown>>();
  readonly #clockBook: Pick<ClockBook, 'totalMs' | 'isKept'>;
  readonly robotsRead: () => void;

  constructor(parts: CappedParts, clockBook: Pick<ClockBook, 'totalMs' | 'isKept'>, robotsRead = () => {}) {
    this.#parts = parts;
    this.#clockBook = clockBook;
    this.robotsRead = robotsRead;
    parts.observer.countIn?.(this);
  }

  counted(site: string, startsMs: readonly number[]): true | Promise<boolean> {
    const unwritten = (this.#unwritten.get(site) ?? 0) + 1;
    const write = unwritten > startsMs.length * unwrittenShare;
    this.#unwritten.set(site, write ? 0 : unwritten);
    if (!write) return true;
    return this.#note(site, startsMs);
  }

  /** It goes out once it is noted, and so is noted for a moment that is not over by then. */
  async #note(site: string, startsMs: readonly number[]): Promise<boolean> {
    const { clock, store } = this.#parts;
    const { totalMs, isKept } = this.#clockBook;
    // The next process would take the times for those of another clock.
    if (!isKept) return this.#notNoted(site);
    await this.#writing.get(site);
    // Twice as far ahead each time, so that a disk that is always slow is no reason never to ask.
    for (let aheadMs = notedAheadMs; ; aheadMs *= 2) {
      const untilMs = clock.nowMs() + aheadMs;
      const times = [...startsMs.slice(0, -1), untilMs].map((atMs) => atMs - totalMs);
      // Below zero, as no time is: notes that were kept without it were made as little ahead as any.
      const kept = Float64Array.from([...times, -aheadMs]);
      const { kind } = await store.remember(keyOf(site), new Uint8Array(kept.buffer));
      if (kind === 'failed') return this.#notNoted(site);
      if (clock.nowMs() <= untilMs) return true;
    }
  }

  /** Whoever follows need not take it for as late as it could have been. Of those that were not noted, this says nothing either. */
  seen(site: string, seenMs: readonly number[]): void {
    if (this.#unwritten.get(site) === 0 && this.#clockBook.isKept) void this.#keepSeen(site, seenMs);
  }

  async #keepSeen(site: string, seenMs: readonly number[]): Promise<void> {
    const { totalMs } = this.#clockBook;
    const kept = Float64Array.from([...seenMs.map((atMs) => atMs - totalMs), allSeen]);
    const write = this.#parts.store.remember(keyOf(site), new Uint8Array(kept.buffer));
    this.#writing.set(site, write);
    await write;
    if (this.#writing.get(site) === write) this.#writing.delete(site);
  }

  #notNoted(site: string): false {
    this.#unwritten.set(site, Infinity);
    return false;
  }

  /**
   * What may not have been written counts as asked for now, and what was on its way when that was written, as nobody noted when it
   * arrived, as seen as late as it can have been: by the end of the process that sent it, so by now, which is kept for those who follow.
   */
  async recall(site: string): Promise<readonly number[]> {
    const { clock, store } = this.#parts;
    const saved = await store.recall(keyOf(site));
    if (!saved) return [];
    const kept = Array.from(new Float64Array(Uint8Array.from(saved).buffer));
    const mark = kept.at(-1)! < 0 ? kept.pop()! : -notedAheadMs;
    const aheadMs = mark === allSeen ? 0 : -mark;
    const nowMs = clock.nowMs();
    // None went out later than now: where the clock was set back unseen, the last is taken for just over.
    const setByMs = Math.min(this.#clockBook.totalMs, nowMs + aheadMs - kept.at(-1)!);
    const notedMs = mark === allSeen ? Infinity : kept.at(-1)! - aheadMs;
    const seen = kept.map((atMs) => Math.min(nowMs, (atMs < notedMs ? atMs : atMs + onTheWayMs) + setByMs));
    if (mark !== allSeen && this.#clockBook.isKept) void this.#keepSeen(site, seen);
    return [...seen, ...Array<number>(Math.floor(kept.length * unwrittenShare)).fill(nowMs)];
  }
}
