/**
 * Virtual time: it stands still while anything is being worked out and jumps to the next sleeper when nothing is. The
 * whole daemon runs on it unchanged, a month in seconds, and the same seed gives the same run.
 *
 * Sleepers wake in order of their time, and of their going to sleep where times are equal. After each wake-up, all promise
 * reactions run (one turn of the event loop) before time moves on. Work that waits for real input or output would be
 * overtaken by time, so time must be told to `hold` for it.
 */
import { DueQueue } from '@revisit/core';
import type { Clock } from '../values/clock.ts';

interface Sleeper {
  resolve: (() => void) | undefined;
}

/** All who wake at one time, in the order in which they went to sleep. */
interface Moment {
  readonly atMs: number;
  readonly sleepers: Sleeper[];
  woken: number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class VirtualClock implements Clock {
  #nowMs: number;
  readonly #moments: (Moment | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #slotAt = new Map<number, number>();
  readonly #next = new DueQueue();
  readonly #held = new Set<Promise<unknown>>();

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return Math.floor(this.#nowMs);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || ms === Infinity) {
      return ms === Infinity && !signal?.aborted ? untilAborted(signal) : Promise.resolve();
    }
    return new Promise((resolve) => {
      const sleeper: Sleeper = { resolve };
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
      this.#moment(Math.ceil(this.#nowMs + Math.max(0, ms))).sleepers.push(sleeper);
    });
  }

  /** The machine sleeps for so long: nothing happens, and whoever should have woken does so afterwards. */
  suspend(ms: number): void {
    this.#nowMs += ms;
  }

  /** Time stands still until the work has settled. */
  hold<Value>(work: Promise<Value>): Promise<Value> {
    this.#held.add(work);
    const done = (): boolean => this.#held.delete(work);
    work.then(done, done);
    return work;
  }

  /** All that follows from the last wake-up has been done. */
  async #rest(): Promise<void> {
    await turn();
    while (this.#held.size > 0) {
      await Promise.allSettled(this.#held);
      await turn();
    }
  }

  /** Lets time pass until the promise settles or the end is reached; then time stops. */
  async runUntil(endMs: number, finished?: Promise<unknown>): Promise<void> {
    let done = false;
    void finished?.finally(() => (done = true));
    await this.#rest();
    while (!done) {
      const slot = this.#next.first();
      const moment = this.#moments[slot];
      if (!moment || moment.atMs > endMs) {
        this.#nowMs = Math.max(this.#nowMs, endMs === Infinity ? this.#nowMs : endMs);
        return;
      }
      const { resolve } = moment.sleepers[moment.woken++]!;
      if (moment.woken === moment.sleepers.length) this.#close(slot, moment);
      if (!resolve) continue;
      // After a machine has slept, many wake late.
      this.#nowMs = Math.max(this.#nowMs, moment.atMs);
      resolve();
      await this.#rest();
    }
  }

  #moment(atMs: number): Moment {
    const known = this.#slotAt.get(atMs);
    if (known !== undefined) return this.#moments[known]!;
    const slot = this.#free.pop() ?? this.#moments.length;
    const moment: Moment = { atMs, sleepers: [], woken: 0 };
    this.#moments[slot] = moment;
    this.#slotAt.set(atMs, slot);
    this.#next.set(slot, atMs);
    return moment;
  }

  #close(slot: number, moment: Moment): void {
    this.#next.remove(slot);
    this.#slotAt.delete(moment.atMs);
    this.#moments[slot] = undefined;
    this.#free.push(slot);
  }
}

function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
}
