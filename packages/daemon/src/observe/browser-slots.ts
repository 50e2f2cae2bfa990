/**
 * Who may be in the browser. A page that never comes to an end keeps its place for as long as a limit allows, and there are few
 * places: one is kept for pages that were shown the last time, and a page that ran out of time comes back later each time.
 *
 * Whoever waits is let in first come first served, of those for whom there is a place, and pages that had one in vain the last time
 * after all others. A page that never had a place, and waits long because others do not come to an end, is lent the one that is kept;
 * where that comes to nothing it is not lent again for a while, so that the pages it is kept for have most of its time.
 */
import type { Clock } from '../values/clock.ts';

/** First wait after a page ran out of time; doubles. */
const lateMsMin = 5 * 60_000;
/** A page that is mended is still seen within hours. */
const lateMsMax = 6 * 3_600_000;
/** Pages of which it is kept how they were shown; about 200 bytes each. */
const pagesKept = 10_000;

/** Most pages are shown within seconds: who has a place for longer may never come to an end. */
const lendAfterMs = 30_000;
/** Times as long as it was lent in vain: pages that come to nothing have a quarter of its time at most. */
const lendAgainTimes = 3;

interface Turn {
  readonly page: string;
  readonly isProven: boolean;
  /** Whether it had a place the last time and was not shown. */
  readonly wasInVain: boolean;
  mayBorrow: boolean;
}

interface Waiting extends Turn {
  readonly go: (place: Place | undefined) => void;
}

/** A place in the browser, until it is left. */
export interface Place {
  leave(): void;
}

export class BrowserSlots {
  readonly #pagesMax: number;
  readonly #clock: Clock;
  #open = 0;
  #unproven = 0;
  #isLent = false;
  #lentFromMs = -Infinity;
  readonly #waiting: Waiting[] = [];
  /** Pages that were shown the last time. */
  readonly #shown = new Set<string>();
  /** Pages that had a place the last time and were not shown. */
  readonly #inVain = new Set<string>();
  /** How often in a row a page ran out of time. */
  readonly #late = new Map<string, number>();

  constructor(pagesMax: number, clock: Clock) {
    this.#pagesMax = pagesMax;
    this.#clock = clock;
  }

  get isIdle(): boolean {
    return this.#open === 0 && this.#waiting.length === 0;
  }

  /** A place for the page; undefined where none was free for so long. */
  async enter(page: string, patienceMs: number): Promise<Place | undefined> {
    const isProven = this.#shown.has(page);
    const turn: Turn = { page, isProven, wasInVain: this.#inVain.has(page), mayBorrow: false };
    if (this.#hasRoom(turn)) return this.#take(turn);
    return new Promise((go) => {
      const waiting: Waiting = { ...turn, go };
      this.#waiting.push(waiting);
      setTimeout(() => {
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
        go(undefined);
      }, patienceMs).unref();
      if (isProven || turn.wasInVain) return;
      setTimeout(() => {
        waiting.mayBorrow = true;
        this.#letIn();
      }, lendAfterMs).unref();
    });
  }

  showed(page: string): void {
    this.#late.delete(page);
    this.#inVain.delete(page);
    keep(this.#shown, page);
  }

  /** The browser had the page, and it came to nothing. */
  failed(page: string): void {
    keep(this.#inVain, page);
  }

  /** The page ran out of time; answers when it may come again. */
  ranLate(page: string): number {
    this.#shown.delete(page);
    const times = (this.#late.get(page) ?? 0) + 1;
    this.#late.delete(page);
    this.#late.set(page, times);
    if (this.#late.size > pagesKept) this.#late.delete(this.#late.keys().next().value!);
    return this.#clock.nowMs() + Math.min(lateMsMax, lateMsMin * 2 ** (times - 1));
  }

  #hasRoom({ isProven, mayBorrow }: Turn): boolean {
    if (this.#open >= this.#pagesMax) return false;
    if (isProven || this.#unproven < Math.max(1, this.#pagesMax - 1)) return true;
    return mayBorrow && !this.#isLent && this.#clock.nowMs() >= this.#lentFromMs;
  }

  #take({ page, isProven }: Turn): Place {
    const isBorrowed = !isProven && this.#unproven >= Math.max(1, this.#pagesMax - 1);
    const sinceMs = this.#clock.nowMs();
    this.#open++;
    if (!isProven) this.#unproven++;
    if (isBorrowed) this.#isLent = true;
    return {
      leave: () => {
        this.#open--;
        if (!isProven) this.#unproven--;
        if (isBorrowed) this.#returned(page, sinceMs);
        this.#letIn();
      },
    };
  }

  #returned(page: string, sinceMs: number): void {
    this.#isLent = false;
    const nowMs = this.#clock.nowMs();
    if (!this.#shown.has(page)) this.#lentFromMs = nowMs + lendAgainTimes * (nowMs - sinceMs);
  }

  #letIn(): void {
    for (;;) {
      const fits = this.#waiting.filter((turn) => this.#hasRoom(turn));
      const turn = fits.find(({ wasInVain }) => !wasInVain) ?? fits[0];
      if (!turn) return;
      this.#waiting.splice(this.#waiting.indexOf(turn), 1);
      turn.go(this.#take(turn));
    }
  }
}

/** The newest last; the oldest makes room. */
function keep(pages: Set<string>, page: string): void {
  pages.delete(page);
  pages.add(page);
  if (pages.size > pagesKept) pages.delete(pages.values().next().value!);
}
