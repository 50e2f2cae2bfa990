/**
 * A date in a sitemap or feed that is newer than our copy is a hint. How much it is worth is learned for each index: the share
 * of its hints after which the next look found a change.
 */
import type { Collection, Entry } from './collection.ts';
import type { Listed } from './observe/discover/listed.ts';

export interface Hint {
  readonly entry: Entry;
  /** How much the index's word is worth. */
  readonly chance: number;
}

/** Two hints believed and two not, before anything is known. */
const doubt = 2;
/** Hints that wait for a look; more are not kept, and count for nothing. */
const openHintsMax = 100_000;

interface Trust {
  right: number;
  wrong: number;
}

export class IndexHints {
  readonly #collection: Collection;
  readonly #trust = new Map<string, Trust>();
  /** Hints given and not yet put to the test: page id to the index and the date it named. */
  readonly #open = new Map<string, { readonly index: string; readonly modifiedMs: number }>();

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  /** The page is no longer watched. */
  forget(id: string): void {
    this.#open.delete(id);
  }

  /** What the index says has changed among what is watched. */
  of(index: Entry, listed: readonly Listed[], nowMs: number): readonly Hint[] {
    const hints: Hint[] = [];
    const trust = this.#trust.get(index.page.id) ?? { right: 0, wrong: 0 };
    const chance = (trust.right + doubt) / (trust.right + trust.wrong + 2 * doubt);
    for (const { url, modifiedMs } of listed) {
      if (modifiedMs === undefined || modifiedMs > nowMs) continue;
      for (const entry of this.#collection.withUrl(url)) {
        const { lastSeenMs } = entry.state;
        if (entry === index || lastSeenMs === undefined || modifiedMs <= lastSeenMs) continue;
        if (this.#open.get(entry.page.id)?.modifiedMs === modifiedMs || this.#open.size >= openHintsMax) continue;
        this.#open.set(entry.page.id, { index: index.page.id, modifiedMs });
        hints.push({ entry, chance });
      }
    }
    return hints;
  }

  /** A look puts a hint to the test. */
  looked(entry: Entry, changed: boolean): void {
    const hint = this.#open.get(entry.page.id);
    if (!hint) return;
    this.#open.delete(entry.page.id);
    const trust = this.#trust.get(hint.index) ?? { right: 0, wrong: 0 };
    if (changed) trust.right++;
    else trust.wrong++;
    // What was long ago counts less and less: an index may get better, or be left to itself.
    if (trust.right + trust.wrong > 100) {
      trust.right /= 2;
      trust.wrong /= 2;
    }
    this.#trust.set(hint.index, trust);
  }

  get hasLearned(): boolean {
    return this.#trust.size > 0;
  }

  save(): Uint8Array {
    return new TextEncoder().encode(JSON.stringify([...this.#trust]));
  }

  restore(saved: Uint8Array): void {
    const entries = JSON.parse(new TextDecoder().decode(saved)) as [string, Trust][];
    for (const [index, trust] of entries) this.#trust.set(index, trust);
  }
}
