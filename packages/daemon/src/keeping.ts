/** Keeps what was found, however long the store needs, and tells whoever listens: nothing is announced before it is kept. */
import type { LoopParts } from './loop-parts.ts';
import type { Change } from './values/change.ts';
import type { Look } from './values/look.ts';

/** How long to wait after the store could not keep something, doubled up to the second value. */
const storeRestMs = { first: 1_000, most: 5_000 };

export class Keeping {
  readonly #parts: Pick<LoopParts, 'clock' | 'store' | 'log'>;
  readonly #stopping: () => boolean;
  readonly #listeners = new Set<(changes: readonly Change[]) => void>();
  #down = false;

  constructor(parts: Pick<LoopParts, 'clock' | 'store' | 'log'>, stopping: () => boolean) {
    this.#parts = parts;
    this.#stopping = stopping;
  }

  /** True while the disk is full or the server is lost. */
  get down(): boolean {
    return this.#down;
  }

  onKept(listener: (changes: readonly Change[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  announce(changes: readonly Change[]): void {
    for (const listener of this.#listeners) listener(changes);
  }

  /** Keeps trying until the store takes the looks; false when the loop stops first. */
  async keep(looks: readonly Look[]): Promise<boolean> {
    const { store, clock, log } = this.#parts;
    for (let rest = storeRestMs.first; ; rest = Math.min(2 * rest, storeRestMs.most)) {
      const kept = await store.commit(looks);
      if (kept.kind === 'kept') {
        if (this.#down) log('info', 'the store takes changes again');
        this.#down = false;
        if (kept.value.length > 0) this.announce(kept.value);
        return true;
      }
      this.#down = true;
      log('error', kept.fault.sentence, { code: kept.fault.code });
      if (this.#stopping()) return false;
      await clock.sleep(rest);
    }
  }

  /** After the store refused to write: asks again now and then until it can. */
  async awaitStore(): Promise<void> {
    this.#down = true;
    const { store, clock } = this.#parts;
    for (let rest = storeRestMs.first; !this.#stopping(); rest = Math.min(2 * rest, storeRestMs.most)) {
      await clock.sleep(rest);
      if ((await store.remember('alive', new Uint8Array([1]))).kind === 'kept') break;
    }
    this.#down = false;
  }
}
