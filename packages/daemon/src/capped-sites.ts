/**
 * Requests to sites that have a cap, over restarts: when they went out is kept as they go, and a new process counts on from
 * there. A robot elsewhere that keeps its own count has none of this.
 */
import type { LoopParts } from './loop-parts.ts';

/** Of a large cap not every request is written at once: one more than this share of it may be unknown after a kill. */
const unwrittenShare = 1 / 128;

type CappedParts = Pick<LoopParts, 'clock' | 'observer' | 'siteRules' | 'store'>;

const keyOf = (site: string): string => `starts ${site}`;

export class CappedSites {
  readonly #parts: CappedParts;
  /** Requests since the last that was written, by site. */
  readonly #unwritten = new Map<string, number>();

  constructor(parts: CappedParts) {
    this.#parts = parts;
    parts.observer.onCounted?.((site, startsMs) => this.#counted(site, startsMs));
  }

  #counted(site: string, startsMs: readonly number[]): void {
    const unwritten = (this.#unwritten.get(site) ?? 0) + 1;
    const write = unwritten > startsMs.length * unwrittenShare;
    this.#unwritten.set(site, write ? 0 : unwritten);
    if (write) void this.#parts.store.remember(keyOf(site), new Uint8Array(Float64Array.from(startsMs).buffer));
  }

  /** Tells the observer what earlier processes asked of the site; what may not have been written counts as asked for now. */
  async recall(site: string): Promise<void> {
    const { clock, observer, siteRules, store } = this.#parts;
    if (!observer.recallStarts || !siteRules?.(site)?.cap) return;
    const saved = await store.recall(keyOf(site));
    if (!saved) return;
    const startsMs = Array.from(new Float64Array(Uint8Array.from(saved).buffer));
    const unknown = Math.floor(startsMs.length * unwrittenShare);
    observer.recallStarts(site, [...startsMs, ...Array<number>(unknown).fill(clock.nowMs())]);
  }
}
