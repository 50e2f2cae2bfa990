/**
 * The database server's time, as far as this process can tell: coordinators that disagree about the time by minutes would
 * hold each other's looks for looks to come, and tell of changes at times that never were. Each answer of the server says
 * between which bounds our clock is off; what we believe moves only when it lies outside of them.
 */
import { type Clock, steadyClock } from 'revisit/ports';

/** Steps back that are smaller are waited out; larger ones mean that the server's clock was put right. */
const waitedOutMs = 1_000;

export class SharedClock implements Clock {
  readonly #own: Clock;
  #offMs = 0;
  #lastMs = -Infinity;

  constructor(own: Clock = steadyClock) {
    this.#own = own;
  }

  nowMs(): number {
    const nowMs = this.#own.nowMs() + this.#offMs;
    const back = this.#lastMs - nowMs;
    this.#lastMs = back > 0 && back < waitedOutMs ? this.#lastMs : nowMs;
    return this.#lastMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#own.sleep(ms, signal);
  }

  /** Our own time; for `heard`. */
  ownMs(): number {
    return this.#own.nowMs();
  }

  /** The server said what time it was, at some moment since we asked, by our own clock. */
  heard(serverMs: number, askedAtMs: number): void {
    const [least, most] = [serverMs - this.#own.nowMs(), serverMs - askedAtMs];
    if (!(least <= most) || (this.#offMs >= least && this.#offMs <= most)) return;
    this.#offMs = Math.round((least + most) / 2);
  }
}
