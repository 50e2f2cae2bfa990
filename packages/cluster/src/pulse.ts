/**
 * Whether this process was stopped for so long that what it had is with others by now: by a signal, or with its whole machine. When it
 * goes on it knows nothing of that, and what it was about to ask for is asked for by another; so it asks for nothing until all of
 * that has come to its end.
 */
import type { Clock } from 'revisit/ports';

const beatEveryMs = 100;
/** Shorter than any lease. */
const sleptMsMin = 1_500;
/** What waited for its turn, and what came and was not read yet, is done with by then. */
const drowsyMs = 5_000;

export class Pulse {
  readonly #clock: Pick<Clock, 'nowMs'>;
  #beatMs: number;
  #wokeMs = -Infinity;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
    this.#beatMs = clock.nowMs();
    setInterval(() => this.#beat(), beatEveryMs).unref();
  }

  /** Also before each answer: whoever asks may be called before the timer is. */
  #beat(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#beatMs >= sleptMsMin) this.#wokeMs = nowMs;
    this.#beatMs = nowMs;
    return nowMs;
  }

  /** It has just gone on. */
  get isDrowsy(): boolean {
    return this.#beat() - this.#wokeMs < drowsyMs;
  }

  sleptSince(ms: number): boolean {
    this.#beat();
    return this.#wokeMs >= ms;
  }
}
