/**
 * Virtual time: it stands still while anything is being worked out and jumps to the next sleeper when nothing is. The
 * whole daemon runs on it unchanged, a month in seconds, and the same seed gives the same run.
 *
 * Sleepers wake in order of their time, and of their going to sleep where times are equal. After each wake-up, all promise
 * reactions run (one turn of the event loop) before time moves on; work that waits for real input or output would be
 * overtaken by time, so a simulation must not contain any.
 */
import type { Clock } from '../values/clock.ts';

interface Sleeper {
  readonly atMs: number;
  readonly order: number;
  resolve: (() => void) | undefined;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class VirtualClock implements Clock {
  #nowMs: number;
  #order = 0;
  readonly #heap: Sleeper[] = [];

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || ms === Infinity) {
      return ms === Infinity && !signal?.aborted ? untilAborted(signal) : Promise.resolve();
    }
    return new Promise((resolve) => {
      const sleeper: Sleeper = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, resolve };
      const abort = (): void => {
        sleeper.resolve = undefined;
        resolve();
      };
      if (signal) {
        sleeper.resolve = () => {
          signal.removeEventListener('abort', abort);
          resolve();
        };
        signal.addEventListener('abort', abort, { once: true });
      }
      this.#push(sleeper);
    });
  }

  /** Lets time pass until the promise settles or the end is reached; then time stops. */
  async runUntil(endMs: number, finished?: Promise<unknown>): Promise<void> {
    let done = false;
    void finished?.finally(() => (done = true));
    await turn();
    while (!done) {
      const next = this.#heap[0];
      if (!next || next.atMs > endMs) {
        this.#nowMs = Math.max(this.#nowMs, endMs === Infinity ? this.#nowMs : endMs);
        return;
      }
      this.#pop();
      if (!next.resolve) continue;
      this.#nowMs = next.atMs;
      next.resolve();
      await turn();
    }
  }

  #before(a: Sleeper, b: Sleeper): boolean {
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  #push(sleeper: Sleeper): void {
    const heap = this.#heap;
    let i = heap.push(sleeper) - 1;
    while (i > 0) {
      const up = (i - 1) >> 1;
      if (!this.#before(sleeper, heap[up]!)) break;
      heap[i] = heap[up]!;
      i = up;
    }
    heap[i] = sleeper;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.#before(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#before(heap[child]!, last)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
}
