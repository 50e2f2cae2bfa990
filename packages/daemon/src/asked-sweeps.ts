/** Sweeps that somebody waits for, each by a name of the asker's choosing. */
import type { Entry } from './collection.ts';
import type { Loop } from './loop.ts';

/** More are never waited for at once; the oldest is forgotten. */
const sweepsMax = 16;

export interface SweepProgress {
  /** Pages that were asked for and are not looked at yet. */
  readonly left: number;
  /** Requests that went out since it began. */
  readonly requests: number;
}

export class AskedSweeps {
  readonly #sweeps = new Map<string, { left: readonly Entry[]; readonly sentBefore: number }>();

  /** Begins the sweep, unless it has begun; and says how far it is. */
  progress(loop: Loop, name: string, all: boolean): SweepProgress {
    let sweep = this.#sweeps.get(name);
    if (!sweep) {
      sweep = { sentBefore: loop.counts().sent, left: loop.askFor(all) };
      this.#sweeps.set(name, sweep);
      if (this.#sweeps.size > sweepsMax) this.#sweeps.delete(this.#sweeps.keys().next().value!);
    }
    sweep.left = loop.unsettled(sweep.left);
    return { left: sweep.left.length, requests: loop.counts().sent - sweep.sentBefore };
  }
}
