/**
 * What Brewington's policies remember of each page: when it was last seen and how old it was then, how often it changed at
 * which age (learn/age-hazard.ts), how long it takes to fetch, and whether pages rest at weekends. 53 bytes a page when saved.
 */
import { AgeHazards, hazardBytes } from '../learn/age-hazard.ts';
import { RetrievalTimes } from '../learn/retrieval-time.ts';
import { WeekendFactor } from '../learn/weekend.ts';
import type { Belief, Finding, Watched } from './policy.ts';

// An age for pages of which nothing is known.
const unknownAge = 86_400;

// The first byte of what is saved: other policies' bytes begin otherwise.
const mark = 0xa6;
const savedBytes = 17 + hazardBytes;

export interface Seen {
  readonly watched: Watched;
  /** When last looked at, and how old the page was then. */
  at: number;
  age: number;
  known: boolean;
  inFlight: boolean;
}

export class AgeBook {
  readonly hazards = new AgeHazards();
  readonly times = new RetrievalTimes();
  readonly weekend = new WeekendFactor();
  readonly #pages: (Seen | undefined)[] = [];

  open(watched: Watched, now: number): Seen {
    this.hazards.open(watched.page);
    this.times.forget(watched.page);
    const seen: Seen = { watched, at: now, age: unknownAge, known: false, inFlight: false };
    this.#pages[watched.page] = seen;
    return seen;
  }

  close(page: number): void {
    this.#pages[page] = undefined;
  }

  get(page: number): Seen | undefined {
    return this.#pages[page];
  }

  /** Every page, in order of their indices. */
  *[Symbol.iterator](): IterableIterator<Seen> {
    for (const seen of this.#pages) if (seen) yield seen;
  }

  /** A look that told something. */
  learn(seen: Seen, at: number, finding: Finding): void {
    const { page } = seen.watched;
    const wait = Math.max(0, at - seen.at);
    if (finding.kind === 'first' || !seen.known) {
      seen.age = finding.modifiedAt === undefined ? unknownAge : Math.max(0, at - finding.modifiedAt);
    } else if (finding.kind === 'unchanged') {
      this.weekend.learn(seen.at, at, this.#meanRate(seen, wait), undefined);
      this.hazards.add(page, seen.age, seen.age + wait, false);
      seen.age += wait;
    } else {
      const date = finding.changedAt ?? finding.modifiedAt;
      const changedAt = date !== undefined && date > seen.at && date <= at ? date : (seen.at + at) / 2;
      this.weekend.learn(seen.at, at, this.#meanRate(seen, wait), changedAt);
      this.hazards.add(page, seen.age, seen.age + changedAt - seen.at, true);
      this.hazards.add(page, 0, at - changedAt, false);
      seen.age = at - changedAt;
    }
    seen.at = at;
    seen.known = true;
  }

  /** The page's whole history over (from, to]. */
  teach(seen: Seen, changes: Float64Array, from: number, to: number): void {
    const { page } = seen.watched;
    let last = from;
    for (const change of changes) {
      if (last > from) this.hazards.add(page, 0, change - last, true);
      last = change;
    }
    const age = last > from ? to - last : to - from;
    this.hazards.add(page, 0, age, false);
    Object.assign(seen, { at: to, age, known: true });
  }

  belief(page: number, now: number): Belief {
    const seen = this.#pages[page];
    if (!seen) return { current: 0, ratePerDay: 0, rateInterval: [0, Infinity] };
    const wait = Math.max(0, now - seen.at);
    const ratePerDay = 86_400 * this.hazards.rateAt(page, seen.age + wait);
    return { current: this.hazards.unchanged(page, seen.age, wait), ratePerDay, rateInterval: [0, Infinity] };
  }

  #meanRate(seen: Seen, wait: number): number {
    return wait > 0 ? this.hazards.expected(seen.watched.page, seen.age, seen.age + wait) / wait : 0;
  }

  save(page: number): Uint8Array {
    const bytes = new Uint8Array(savedBytes);
    const seen = this.#pages[page];
    if (!seen?.known) return bytes;
    const view = new DataView(bytes.buffer);
    view.setUint8(0, mark);
    view.setFloat64(1, seen.at);
    view.setFloat32(9, seen.age);
    view.setFloat32(13, this.times.save(page));
    this.hazards.save(page, bytes, 17);
    return bytes;
  }

  /** False when the bytes are somebody else's. */
  restore(page: number, saved: Uint8Array, now: number): boolean {
    const seen = this.#pages[page];
    if (!seen || saved.length !== savedBytes || saved[0] !== mark) return false;
    const view = new DataView(saved.buffer, saved.byteOffset, saved.byteLength);
    Object.assign(seen, { at: Math.min(view.getFloat64(1), now), age: view.getFloat32(9), known: true });
    this.times.restore(page, view.getFloat32(13));
    this.hazards.restore(page, saved, 17);
    return true;
  }

  saveShared(): unknown {
    return { hazards: this.hazards.saveShared(), times: this.times.saveShared(), weekend: this.weekend.save() };
  }

  restoreShared(saved: unknown): void {
    const { hazards, times, weekend } = saved as { hazards: number[][]; times: number[]; weekend: number[] };
    this.hazards.restoreShared(hazards);
    this.times.restoreShared(times);
    this.weekend.restore(weekend);
  }
}
