/**
 * A date in a sitemap or feed that is newer than our copy is a hint. How much it is worth is learned for each index: the share
 * of its hints after which the next look found a change. Where that is most of them, the date is also when the change happened
 * that such a look finds, unless it cannot be: a date that names a day, the moment at which the index was read, or most of its pages
 * alike, which is when the index was written.
 */
import type { Collection, Entry } from './collection.ts';
import type { Listed } from '../observe/discover/listed.ts';

export interface Hint {
  readonly entry: Entry;
  /** How much the index's word is worth. */
  readonly chance: number;
}

/** Two hints believed and two not, before anything is known. */
const doubt = 2;
/** Hints that wait for a look; more are not kept, and count for nothing. */
const openHintsMax = 100_000;

/** A page that more indexes than these speak of at once is hinted at all the same. */
const openOfPageMax = 4;
/** Three hints that were right and none that was not make an index's dates believed, or two thirds in the long run. */
const provenMin = 0.7;
/** A date so little before the index was read is that of the reading: nobody knows of a change at once. */
const restMsMin = 5_000;
/** With fewer pages it says nothing that most have one date. */
const alikeMin = 3;

interface Trust {
  right: number;
  wrong: number;
}

/** A hint that waits for a look. */
interface Open {
  readonly index: string;
  readonly modifiedMs: number;
  /** The date may be that of the change. */
  readonly isTime: boolean;
}

export class IndexHints {
  readonly #collection: Collection;
  readonly #trust = new Map<string, Trust>();
  /** Hints given and not yet put to the test, by page. */
  readonly #open = new Map<string, readonly Open[]>();

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
    const chance = this.#chanceOf(index.page.id);
    const isTime = timesAmong(listed, nowMs);
    for (const one of listed) {
      const { url, modifiedMs } = one;
      if (modifiedMs === undefined || modifiedMs > nowMs) continue;
      for (const entry of this.#collection.withUrl(url)) {
        const { lastSeenMs } = entry.state;
        if (entry === index || lastSeenMs === undefined || modifiedMs <= lastSeenMs) continue;
        const hint = { index: index.page.id, modifiedMs, isTime: isTime(one) };
        if (this.#opened(entry.page.id, hint)) hints.push({ entry, chance });
      }
    }
    return hints;
  }

  #chanceOf(index: string): number {
    const { right, wrong } = this.#trust.get(index) ?? { right: 0, wrong: 0 };
    return (right + doubt) / (right + wrong + 2 * doubt);
  }

  /** False where the index has said so before, or there are too many. */
  #opened(id: string, hint: Open): boolean {
    const open = this.#open.get(id) ?? [];
    if (open.some(({ index, modifiedMs }) => index === hint.index && modifiedMs === hint.modifiedMs)) return false;
    if (this.#open.size >= openHintsMax && open.length === 0) return false;
    const others = open.filter(({ index }) => index !== hint.index);
    this.#open.set(id, [...others.slice(1 - openOfPageMax), hint]);
    return true;
  }

  /** When the change happened that a look at `atMs` found, by the index that has proven the truest; before `looked`. */
  changedAtMs(entry: Entry, atMs: number): number | undefined {
    const { lastSeenMs = Infinity } = entry.state;
    let truest = provenMin;
    let changedMs: number | undefined;
    for (const { index, modifiedMs, isTime } of this.#open.get(entry.page.id) ?? []) {
      if (!isTime || modifiedMs <= lastSeenMs || modifiedMs > atMs) continue;
      const chance = this.#chanceOf(index);
      if (chance < truest) continue;
      truest = chance;
      changedMs = modifiedMs;
    }
    return changedMs;
  }

  /** A look puts hints to the test. */
  looked(entry: Entry, changed: boolean): void {
    const open = this.#open.get(entry.page.id);
    if (!open) return;
    this.#open.delete(entry.page.id);
    for (const { index } of open) {
      const trust = this.#trust.get(index) ?? { right: 0, wrong: 0 };
      if (changed) trust.right++;
      else trust.wrong++;
      // What was long ago counts less and less: an index may get better, or be left to itself.
      if (trust.right + trust.wrong > 100) {
        trust.right /= 2;
        trust.wrong /= 2;
      }
      this.#trust.set(index, trust);
    }
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

/** Tells which dates of an index that was read at `nowMs` may be those of changes. */
function timesAmong(listed: readonly Listed[], nowMs: number): (one: Listed) => boolean {
  const dates = new Map<number, number>();
  for (const { modifiedMs } of listed)
    if (modifiedMs !== undefined) dates.set(modifiedMs, (dates.get(modifiedMs) ?? 0) + 1);
  const most = Math.max(alikeMin, listed.length / 2);
  return ({ modifiedMs, isDay }) =>
    modifiedMs !== undefined && !isDay && modifiedMs <= nowMs - restMsMin && dates.get(modifiedMs)! < most;
}

/** When the entries changed of an index that is watched itself, earliest first: as many of its dates as lie in (from, now). */
export function ownTimes(listed: readonly Listed[], fromMs: number, nowMs: number): Float64Array {
  const isTime = timesAmong(listed, nowMs);
  const times = listed
    .filter((one) => isTime(one) && one.modifiedMs! > fromMs)
    .map(({ modifiedMs }) => modifiedMs! / 1000);
  return Float64Array.from(times).sort();
}
