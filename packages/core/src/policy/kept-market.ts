/**
 * A market that is kept for a policy: every page stands in it with the rate that the policy believes, and the policy hears the
 * prices soon after pages, limits or the budget changed, and otherwise after so many new models. A page's new model costs O(1),
 * telling prices about as much for each model since (standing-market.ts).
 *
 * The prices told are those of even pages: the week hardly moves them.
 */
import { type Prices, StandingMarket } from '../plan/standing-market.ts';
import type { DearSite, Policy } from './policy.ts';

/** Prices are told again after this many new models, and this share of the pages. */
const modelsBetweenPrices = 64;
const pagesBetweenPrices = 1 / 8;
/** Once no more than this is left of the changes by which prices were told, they rested on guesses. */
const guessedShare = 1 / 2;
/** Where limits of sites bind before the budget does, a look elsewhere costs next to nothing: in weighted change-seconds. */
const priceMin = 1e-6;

export class KeptMarket {
  readonly market = new StandingMarket();
  readonly #policy: Policy;
  #looksPerSecond: number;
  /** The price before pages or limits began to change; undefined when they have not since prices were told. */
  #before: number | undefined;
  #modelsSince = Infinity;
  /** Weighted changes a second by which prices were told. */
  #scaleTold = 0;
  #prices: Prices | undefined;

  constructor(policy: Policy, looksPerSecond: number) {
    this.#policy = policy;
    this.#looksPerSecond = looksPerSecond;
  }

  get looksPerSecond(): number {
    return this.#looksPerSecond;
  }

  /** The prices as they were last told. */
  get prices(): Prices | undefined {
    return this.#prices;
  }

  setBudget(looksPerSecond: number, now: number): void {
    this.tell(now);
    this.#looksPerSecond = looksPerSecond;
    this.#modelsSince = Infinity;
  }

  /** The most looks a second that a site allows. */
  setCap(site: number, looksPerSecond: number): void {
    if (this.market.capOf(site) === looksPerSecond) return;
    this.changing();
    this.market.setCap(site, looksPerSecond);
  }

  /** The site stands on a server with others, which takes so many looks a second; or on none. */
  standAt(site: number, server: number | undefined, looksPerSecond?: number): void {
    if (this.market.standsAt(site, server, looksPerSecond)) return;
    this.changing();
    this.market.standAt(site, server, looksPerSecond);
  }

  /** Pages are about to come or go, or to be given other terms. */
  changing(): void {
    if (this.#before !== undefined) return;
    const known = this.market.pages > 0 && this.#looksPerSecond > 0;
    this.#before = known ? this.market.prices(this.#looksPerSecond).price : 0;
  }

  /** A page has a new model, in the market already. */
  learned(): void {
    this.#modelsSince++;
  }

  /**
   * What is guessed of a page is another now, in the market already. It may have been a thousand times too high: prices that rest on it
   * are told again before they have put off the looks that would show it.
   */
  guessed(): void {
    if (this.market.scale < guessedShare * this.#scaleTold) this.#modelsSince = Infinity;
  }

  /** Every page has one, and prices are known from nothing before. */
  surveyed(): void {
    this.#before = undefined;
    this.#modelsSince = Infinity;
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
    this.#scaleTold = this.market.scale;
    this.#prices = prices;
    if (!Number.isFinite(prices.price)) return;
    const price = Math.max(priceMin, prices.price);
    const dear = new Map<number, DearSite>();
    let looksPerSecond = this.#looksPerSecond;
    for (const { site, price: more, looksPerSecond: own } of prices.dearSites) {
      dear.set(site, { price: prices.price + more, factor: (prices.price + more) / price, looksPerSecond: own });
      looksPerSecond -= own;
    }
    this.#policy.setPrices?.({ price, looksPerSecond: Math.max(0, looksPerSecond), moved, dear }, now);
  }
}
