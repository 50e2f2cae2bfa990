/**
 * Whether the store answers, for whoever asks after our health. A server that stands still says nothing of itself, and what is being
 * kept waits for it for long; so it is asked for something small, and who asks meanwhile hears of the same question.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../store/port.ts';
import { steadyClock } from '../values/clock.ts';

/** A store that takes longer for one row stands still, or has more to do than it can. */
const answerMsMax = 2_000;
/** However often we are asked, the store is asked no more often. */
const freshMs = 1_000;

export class StoreAnswers {
  readonly #store: Pick<Store, 'recall'>;
  #heardMs = -Infinity;
  #question: { readonly answered: Promise<boolean>; readonly sinceMs: number } | undefined;

  constructor(store: Pick<Store, 'recall'>) {
    this.#store = store;
  }

  async now(): Promise<boolean> {
    const nowMs = steadyClock.nowMs();
    if (nowMs - this.#heardMs < freshMs) return true;
    this.#question ??= { answered: this.#ask(), sinceMs: nowMs };
    const { answered, sinceMs } = this.#question;
    const patienceMs = sinceMs + answerMsMax - nowMs;
    return patienceMs > 0 && Promise.race([answered, sleep(patienceMs, false, { ref: false })]);
  }

  async #ask(): Promise<boolean> {
    // Until it is known that we ask.
    await Promise.resolve();
    try {
      // Nobody remembers anything under this name; that it is not there is an answer.
      await this.#store.recall('health');
      this.#heardMs = steadyClock.nowMs();
      return true;
    } catch {
      return false;
    } finally {
      this.#question = undefined;
    }
  }
}
