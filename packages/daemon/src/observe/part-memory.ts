/** What is known of the parts of pages from one showing to the next: which fail, and copies of those that may be used again. */
import type { Clock } from '../values/clock.ts';
import type { Answered } from './ask.ts';
import { headerOf } from './ask.ts';
import { lifetimeSeconds } from './outcome.ts';

/** Parts kept for later pages, by the lifetime their server states. */
const keptBytesMax = 64 * 2 ** 20;

/** Parts that fail, and since when they have at every look. */
export class PartTroubles {
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly sinceMs: number; times: number }>();
  /** From then on the page is what it is without the part. */
  static readonly lastingMs = 86_400_000;
  static readonly lastingTimes = 3;
  static readonly keptMax = 10_000;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  forget(url: string): void {
    this.#known.delete(url);
  }

  /** It has failed again; whether it has for long. */
  isLasting(url: string): boolean {
    const nowMs = this.#clock.nowMs();
    const trouble = this.#known.get(url) ?? { sinceMs: nowMs, times: 0 };
    trouble.times++;
    this.#known.set(url, trouble);
    if (this.#known.size > PartTroubles.keptMax) this.#known.delete(this.#known.keys().next().value!);
    return trouble.times >= PartTroubles.lastingTimes && nowMs - trouble.sinceMs >= PartTroubles.lastingMs;
  }
}

/** Scripts, styles and data that pages ask for in the same words, for as long as their server says. */
export class PartMemory {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly part: Answered; readonly untilMs: number }>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): Answered | undefined {
    const kept = this.#kept.get(key);
    if (!kept) return undefined;
    if (kept.untilMs > this.#clock.nowMs()) return kept.part;
    this.#forget(key);
    return undefined;
  }

  /** `key`: the address, and all that was said to its server: who says something else may be given something else. */
  set(key: string, part: Answered): void {
    const spent = Number(headerOf(part.headers, 'age') ?? 0) || 0;
    const seconds = part.status === 200 ? (lifetimeSeconds(part.headers) ?? 0) - spent : 0;
    if (seconds <= 0 || headerOf(part.headers, 'vary')?.includes('*') || part.body.length > keptBytesMax / 8) return;
    this.#forget(key);
    this.#kept.set(key, { part, untilMs: this.#clock.nowMs() + seconds * 1000 });
    this.#bytes += part.body.length;
    while (this.#bytes > keptBytesMax) this.#forget(this.#kept.keys().next().value!);
  }

  #forget(key: string): void {
    const old = this.#kept.get(key);
    if (!old) return;
    this.#bytes -= old.part.body.length;
    this.#kept.delete(key);
  }
}
