/**
 * Who may be in the browser. A page that never comes to an end keeps its place for as long as a limit allows, and there are few
 * places: one is kept for pages that were shown the last time, and a page that ran out of time comes back later each time.
 *
 * Whoever waits is let in first come first served, of those for whom there is a place.
 */
import type { Clock } from '../values/clock.ts';

/** First wait after a page ran out of time; doubles. */
const lateMsMin = 5 * 60_000;
/** A page that is mended is still seen within hours. */
const lateMsMax = 6 * 3_600_000;
/** Pages of which it is kept how they were shown; about 200 bytes each. */
const pagesKept = 10_000;

interface Waiting {
  readonly isProven: boolean;
  readonly go: (entered: boolean) => void;
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
  readonly #waiting: Waiting[] = [];
  /** Pages that were shown the last time. */
  readonly #shown = new Set<string>();
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
    if (this.#hasRoom(isProven)) return this.#take(isProven);
    const entered = await new Promise<boolean>((go) => {
      const turn = { isProven, go };
      this.#waiting.push(turn);
      setTimeout(() => {
        const at = this.#waiting.indexOf(turn);
        if (at >= 0) this.#waiting.splice(at, 1);
        go(false);
      }, patienceMs).unref();
    });
    return entered ? this.#place(isProven) : undefined;
  }

  showed(page: string): void {
    this.#late.delete(page);
    this.#shown.delete(page);
    this.#shown.add(page);
    if (this.#shown.size > pagesKept) this.#shown.delete(this.#shown.values().next().value!);
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

  #hasRoom(isProven: boolean): boolean {
    return this.#open < this.#pagesMax && (isProven || this.#unproven < Math.max(1, this.#pagesMax - 1));
  }

  #take(isProven: boolean): Place {
    this.#open++;
    if (!isProven) this.#unproven++;
    return this.#place(isProven);
  }

  #place(isProven: boolean): Place {
    return {
      leave: () => {
        this.#open--;
        if (!isProven) this.#unproven--;
        this.#letIn();
      },
    };
  }

  #letIn(): void {
    for (;;) {
      const at = this.#waiting.findIndex(({ isProven }) => this.#hasRoom(isProven));
      if (at < 0) return;
      const [turn] = this.#waiting.splice(at, 1);
      this.#take(turn!.isProven);
      turn!.go(true);
    }
  }
}
