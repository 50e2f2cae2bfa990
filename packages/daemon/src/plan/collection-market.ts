/**
 * The market of the running collection (core's standing market), kept up to date page by page: a page that was looked at
 * brings its new rate, a page or a site that comes, goes or is given other limits changes its own entry, and nothing else is
 * worked out again. When the policy hears the prices, core's kept market says. They are those of even pages: the curve of a
 * week takes a moment that only somebody who asks for the plan waits for.
 *
 * Pages that one request serves are one entry, under the first of them, with the sum of their rates × weights.
 */
import {
  expectedPerDay,
  type FadingPage,
  KeptMarket,
  type Policy,
  type Prices,
  type Standing,
  type StandingMarket,
  type SteadyCurve,
  evenCurve,
  fadingOf,
  profile,
  steadyCurve,
  weekSeconds,
} from '@revisit/core';
import type { Collection, Entry } from '../collection/collection.ts';

const daySeconds = 86_400;
/** The week is read again when an hour of it has moved by this much of the average hour. */
const weekMoved = 0.1;
/** What is believed of a page that was looked at less often is mostly a guess. */
const looksUntilKnown = 8;
/** Such guesses are read again now and then, so many at once: a small collection in a second, a large one over minutes. */
const guesses = { everySeconds: 1, atOnce: 64 };

export class CollectionMarket {
  readonly #kept: KeptMarket;
  readonly #policy: Policy;
  readonly #collection: Collection;
  /** The week that the curve was made of; even at first. */
  #week: readonly number[] = [];
  #curve: SteadyCurve = evenCurve;
  #guessesReadAt = -Infinity;
  /** The page from which they are read next. */
  #nextGuess = 0;

  constructor(policy: Policy, collection: Collection, looksPerSecond: number) {
    this.#policy = policy;
    this.#collection = collection;
    this.#kept = new KeptMarket(policy, looksPerSecond);
  }

  get market(): StandingMarket {
    return this.#kept.market;
  }

  get looksPerSecond(): number {
    return this.#kept.looksPerSecond;
  }

  setBudget(looksPerSecond: number, now: number): void {
    this.#kept.setBudget(looksPerSecond, now);
  }

  /** The most looks a second that a site allows. */
  setCap(site: number, looksPerSecond: number): void {
    this.#kept.setCap(site, looksPerSecond);
  }

  /** The site stands on a server with others, which takes so many looks a second; or on none. */
  standAt(site: number, server: number | undefined, looksPerSecond?: number): void {
    this.#kept.standAt(site, server, looksPerSecond);
  }

  watched(entry: Entry, now: number): void {
    this.#kept.changing();
    this.#enter(entry, now);
  }

  /** The page has left the collection. */
  unwatched(entry: Entry, now: number): void {
    this.#kept.changing();
    this.market.remove(entry.index);
    for (const other of this.#collection.withUrl(entry.page.url)) this.#enter(other, now);
  }

  /** The page has a new model. */
  learned(entry: Entry, now: number): void {
    this.#enter(entry, now);
    this.#kept.learned();
    if (entry.state.looks < looksUntilKnown) this.#kept.guessed();
  }

  /**
   * What is guessed of a page falls as time passes and with what is found of others, also while nobody looks at it: prices that rest on
   * what was guessed before would put off the look for days.
   */
  #readGuesses(now: number): void {
    if (Math.abs(now - this.#guessesReadAt) < guesses.everySeconds) return;
    this.#guessesReadAt = now;
    for (let n = 0; n < Math.min(guesses.atOnce, this.#collection.end); n++) {
      this.#nextGuess = (this.#nextGuess + 1) % this.#collection.end;
      const entry = this.#collection.at(this.#nextGuess);
      if (entry && entry.state.looks < looksUntilKnown) this.#enter(entry, now);
    }
    this.#kept.guessed();
  }

  /** Every page anew: after what belongs to no page was restored. */
  survey(now: number): void {
    for (const entry of this.#collection) this.#enter(entry, now);
    this.#kept.surveyed();
  }

  /** What such a budget comes to, with the week as it is known now. */
  standing(looksPerSecond: number): Standing {
    return this.market.clear(looksPerSecond, this.#curveNow());
  }

  /** The prices as they were last told. */
  get prices(): Prices | undefined {
    return this.#kept.prices;
  }

  /** Tells the policy the prices, when there is news. */
  tell(now: number): void {
    this.#readGuesses(now);
    this.#kept.tell(now);
  }

  /** The pages that are looked at by the request that looks at this one. */
  #request(entry: Entry): readonly Entry[] {
    const sharing = this.#collection.sharing(entry);
    return sharing.some(({ page }) => page.paused) ? sharing.filter(({ page }) => !page.paused) : sharing;
  }

  #enter(entry: Entry, now: number): void {
    const request = this.#request(entry);
    if (request.length === 1 && request[0] === entry) return this.#enterAlone(entry, now);
    const [first, ...others] = request;
    if (first !== entry) this.market.remove(entry.index);
    if (!first) return;
    for (const other of others) this.market.remove(other.index);
    let scale = 0;
    const fading: FadingPage[] = [];
    for (const { index, aims } of [first, ...others]) {
      const rate = expectedPerDay(this.#policy.belief(index, now)) / daySeconds;
      if (!Number.isFinite(rate) || !(rate > 0)) continue;
      scale += aims.weight * rate;
      const fades = fadingOf(rate, aims.weight, aims);
      if (fades) fading.push(fades);
    }
    // Pages of one request whose changes fade by different laws count by how long they wait, as do those that do not fade.
    const one = fading.length === 1 + others.length && new Set(fading.map((page) => page.fading.name)).size === 1;
    this.market.set(first.index, scale, first.site, first.page.spacingSeconds ?? 0, one ? together(fading) : undefined);
  }

  /** As nearly every page is asked for: by a request of its own. */
  #enterAlone({ index, aims, site, page }: Entry, now: number): void {
    const rate = expectedPerDay(this.#policy.belief(index, now)) / daySeconds;
    const known = Number.isFinite(rate) && rate > 0;
    const fades = known ? fadingOf(rate, aims.weight, aims) : undefined;
    this.market.set(index, known ? aims.weight * rate : 0, site, page.spacingSeconds ?? 0, fades && together([fades]));
  }

  /** The curve of the week as the policy has learned it; made anew only when the week has moved. */
  #curveNow(): SteadyCurve {
    const week = this.#policy.weekShape?.();
    if (!week) return evenCurve;
    const hours = Array.from({ length: week.length }, (_, i) => week[i]!);
    const moved = Math.max(...hours.map((value, i) => Math.abs(value - (this.#week[i] ?? 1))));
    if (moved > weekMoved) {
      this.#week = hours;
      this.#curve = steadyCurve(weekOf(hours));
    }
    return this.#curve;
  }
}

/** Pages of one kind that are looked at together, as one. */
function together(pages: readonly FadingPage[]): FadingPage {
  const b = pages.reduce((sum, page) => sum + page.b, 0);
  return { fading: pages[0]!.fading, a: pages.reduce((sum, page) => sum + page.a * page.b, 0) / b, b };
}

function weekOf(hours: readonly number[]): ReturnType<typeof profile> {
  const mean = hours.reduce((sum, value) => sum + value, 0) / hours.length;
  return profile(
    Array.from({ length: hours.length + 1 }, (_, i) => (i * weekSeconds) / hours.length),
    hours.map((value) => value / mean),
    weekSeconds,
  );
}
