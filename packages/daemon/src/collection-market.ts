/**
 * The market of the running collection (core's standing market), kept up to date page by page: a page that was looked at
 * brings its new rate, a page or a site that comes, goes or is given other limits changes its own entry, and nothing else is
 * worked out again. From time to time, and soon after pages or limits changed, the policy hears the prices. They are those
 * of even pages: the week hardly moves them, and its curve takes a moment that only somebody who asks for the plan waits for.
 *
 * Pages that one request serves are one entry, under the first of them, with the sum of their rates × weights.
 */
import {
  type Policy,
  type Prices,
  type Standing,
  StandingMarket,
  type SteadyCurve,
  evenCurve,
  profile,
  steadyCurve,
  weekSeconds,
} from '@revisit/core';
import type { Collection, Entry } from './collection.ts';

const daySeconds = 86_400;
/** Prices are told again after this many new models, and this share of the pages. */
const modelsBetweenPrices = 64;
const pagesBetweenPrices = 1 / 8;
/** The week is read again when an hour of it has moved by this much of the average hour. */
const weekMoved = 0.1;

export class CollectionMarket {
  readonly market = new StandingMarket();
  readonly #policy: Policy;
  readonly #collection: Collection;
  #looksPerSecond: number;
  /** The week that the curve was made of; even at first. */
  #week: readonly number[] = [];
  #curve: SteadyCurve = evenCurve;
  /** The price before pages or limits began to change; undefined when they have not since prices were told. */
  #before: number | undefined;
  #modelsSince = Infinity;
  #prices: Prices | undefined;

  constructor(policy: Policy, collection: Collection, looksPerSecond: number) {
    this.#policy = policy;
    this.#collection = collection;
    this.#looksPerSecond = looksPerSecond;
  }

  get looksPerSecond(): number {
    return this.#looksPerSecond;
  }

  setBudget(looksPerSecond: number, now: number): void {
    this.tell(now);
    this.#looksPerSecond = looksPerSecond;
    this.#modelsSince = Infinity;
  }

  /** The most looks a second that a site allows. */
  setCap(site: number, looksPerSecond: number): void {
    if (this.market.capOf(site) === looksPerSecond) return;
    this.#changing();
    this.market.setCap(site, looksPerSecond);
  }

  watched(entry: Entry, now: number): void {
    this.#changing();
    this.#enter(entry, now);
  }

  /** The page has left the collection. */
  unwatched(entry: Entry, now: number): void {
    this.#changing();
    this.market.remove(entry.index);
    for (const other of this.#collection.withUrl(entry.page.url)) this.#enter(other, now);
  }

  /** The page has a new model. */
  learned(entry: Entry, now: number): void {
    this.#modelsSince++;
    this.#enter(entry, now);
  }

  /** Every page anew: after what belongs to no page was restored. */
  survey(now: number): void {
    for (const entry of this.#collection) this.#enter(entry, now);
    this.#before = undefined;
    this.#modelsSince = Infinity;
  }

  /** What such a budget comes to, with the week as it is known now. */
  standing(looksPerSecond: number): Standing {
    return this.market.clear(looksPerSecond, this.#curveNow());
  }

  /** The prices as they were last told. */
  get prices(): Prices | undefined {
    return this.#prices;
  }

  /** Tells the policy the prices, when there is news. */
  tell(now: number): void {
    const enough = Math.max(modelsBetweenPrices, pagesBetweenPrices * this.market.pages);
    if ((this.#before === undefined && this.#modelsSince < enough) || this.market.pages === 0) return;
    if (!(this.#looksPerSecond > 0)) return;
    const prices = this.market.prices(this.#looksPerSecond);
    const moved = this.#before && prices.price > 0 ? Math.log(prices.price / this.#before) : 0;
    this.#before = undefined;
    this.#modelsSince = 0;
    this.#prices = prices;
    if (prices.price > 0) this.#policy.setPrices?.({ price: prices.price, moved, dear: dearOf(prices) }, now);
  }

  #changing(): void {
    if (this.#before !== undefined) return;
    const known = this.market.pages > 0 && this.#looksPerSecond > 0;
    this.#before = known ? this.market.prices(this.#looksPerSecond).price : 0;
  }

  /** The pages that are looked at by the request that looks at this one. */
  #request(entry: Entry): readonly Entry[] {
    return this.#collection.sharing(entry).filter(({ page }) => !page.paused);
  }

  #enter(entry: Entry, now: number): void {
    const [first, ...others] = this.#request(entry);
    if (first !== entry) this.market.remove(entry.index);
    if (!first) return;
    for (const other of others) this.market.remove(other.index);
    let scale = 0;
    for (const { index, aims } of [first, ...others]) {
      const own = (aims.weight * this.#policy.belief(index, now).ratePerDay) / daySeconds;
      if (Number.isFinite(own) && own > 0) scale += own;
    }
    this.market.set(first.index, scale, first.site, first.page.spacingSeconds ?? 0);
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

function weekOf(hours: readonly number[]): ReturnType<typeof profile> {
  const mean = hours.reduce((sum, value) => sum + value, 0) / hours.length;
  return profile(
    Array.from({ length: hours.length + 1 }, (_, i) => (i * weekSeconds) / hours.length),
    hours.map((value) => value / mean),
    weekSeconds,
  );
}

/** By which factor a look is dearer on sites whose limits bind. */
function dearOf({ price, dearSites }: Prices): ReadonlyMap<number, number> {
  return new Map(dearSites.map((dear) => [dear.site, 1 + dear.price / price]));
}
