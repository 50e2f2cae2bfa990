/**
 * HTTP caching lifetimes, believed as far as they have proven true. A server that states how long its answer may be used
 * without asking (RFC 9111) says that nothing will change before; many say so of everything, and are wrong. So each site's
 * word is put to the test by looks that fall within a stated lifetime: a change found there was denied, no change was
 * foretold. From so many tests on, a site that was hardly ever wrong is believed: a look that would fall within the lifetime
 * waits for its end, but for one in so many, which tests it again. A lifetime only ever lengthens a wait. So does somebody
 * who stays with the page and tells of its changes, whose word needs no test: what it misses is missed by its looks, too.
 *
 * Cost: O(1) a look; 24 bytes for each page whose lifetime still runs.
 */
import type { Random } from '@revisit/core';
import type { Entry } from '../collection/collection.ts';

/** Shorter ones lengthen nothing: no page is looked at so often. */
const lifetimeMsMin = 60_000;
/** However long the word, a page is looked at once a day as the plan wants it: caches are set once and forgotten. */
const lifetimeMsMax = 86_400_000;
/** Tests before a site is believed, and how many of them it may fail. */
const testsMin = 20;
const wrongShareMax = 0.02;
/** One look in so many goes out all the same. */
const testEvery = 10;
/** Tests are halved from here on: a site may change its ways. */
const testsMax = 400;
/** Running lifetimes remembered; further ones are not believed. */
const pagesMax = 200_000;

/** Whoever looks by itself must hear of it when the plan wants the page in less than this share of what it wanted then. */
const muchSooner = 0.5;

interface Watch {
  /** When it is to be asked. */
  readonly untilMs: number;
  /** How long after its last look the plan wanted the page when it was told. */
  readonly plannedMs?: number;
}

interface Trust {
  right: number;
  wrong: number;
}

export class Lifetimes {
  readonly #random: Random;
  readonly #until = new Map<number, number>();
  /** Pages that somebody else looks at meanwhile. */
  readonly #watched = new Map<number, Watch>();
  readonly #trust = new Map<string, Trust>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** A look brought an answer that states its lifetime, or none. */
  stated(entry: Entry, atMs: number, seconds: number | undefined): void {
    const lifetimeMs = Math.min(lifetimeMsMax, 1000 * (seconds ?? 0));
    if (lifetimeMs >= lifetimeMsMin && (this.#until.size < pagesMax || this.#until.has(entry.index)))
      this.#until.set(entry.index, atMs + lifetimeMs);
    else this.#until.delete(entry.index);
  }

  /** Somebody looks on until then, or nobody does. */
  watched(entry: Entry, watch: Watch | undefined): void {
    if (watch === undefined) this.#watched.delete(entry.index);
    else this.#watched.set(entry.index, { ...this.#watched.get(entry.index), ...watch });
  }

  /** A look puts a lifetime that still runs to the test. Before `stated` of the same look. */
  looked(entry: Entry, atMs: number, changed: boolean): void {
    if (!(atMs < (this.#until.get(entry.index) ?? 0))) return;
    let trust = this.#trust.get(entry.page.site);
    if (!trust) this.#trust.set(entry.page.site, (trust = { right: 0, wrong: 0 }));
    if (changed) trust.wrong++;
    else trust.right++;
    if (trust.right + trust.wrong < testsMax) return;
    trust.right /= 2;
    trust.wrong /= 2;
  }

  /** Until when a look at the page, wanted so long after the last, may wait; now where it may not. */
  until(entry: Entry, nowMs: number, plannedMs?: number): number {
    const watch = this.#watched.get(entry.index);
    const sooner = (plannedMs ?? Infinity) < muchSooner * (watch?.plannedMs ?? 0);
    if (watch && watch.untilMs > nowMs && !sooner) return watch.untilMs;
    const untilMs = this.#until.get(entry.index) ?? 0;
    if (untilMs <= nowMs) return nowMs;
    const { right = 0, wrong = 0 } = this.#trust.get(entry.page.site) ?? {};
    const believed = right + wrong >= testsMin && wrong <= wrongShareMax * (right + wrong);
    return believed && this.#random() * testEvery >= 1 ? untilMs : nowMs;
  }

  forget(entry: Entry): void {
    this.#until.delete(entry.index);
    this.#watched.delete(entry.index);
  }

  get hasLearned(): boolean {
    return this.#trust.size > 0;
  }

  save(): Uint8Array {
    return new TextEncoder().encode(JSON.stringify([...this.#trust]));
  }

  restore(saved: Uint8Array): void {
    for (const [site, trust] of JSON.parse(new TextDecoder().decode(saved)) as [string, Trust][])
      this.#trust.set(site, trust);
  }
}
