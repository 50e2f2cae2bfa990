/**
 * The market of a collection that is watched for ever: looks a second instead of looks in a horizon,
 *
 *     min Σ_p k_p·ℓ(q_p)   subject to   Σ_p q_p ≤ budget,  Σ_{p on site s} q_p ≤ cap_s,  q_p ≤ 1 ⁄ spacing_p,
 *
 * where a page of rate × weight k that is looked at q times a second has k·ℓ(q) weighted changes waiting on average. ℓ is that
 * of the collection's week (steady-curve.ts); without one it is 1 ⁄ 2q: looks at even distances are then the best there are.
 * At a price π a page wants the looks of the curve at π ⁄ k, about √(k ⁄ 2π), so all pages of one size on a site want the
 * same multiple of Σ √k: two numbers for each size (a factor 2^¼) answer for all pages of a site.
 *
 * Invariant: as in market.ts a page's price is the greater of the whole's and its site's own; the dual value bounds every
 * plan of looks made ahead from below.
 * Cost: a page's new model costs O(1); new prices cost O(sites × sizes + pages with a spacing of their own), whatever the number
 * of pages (a collection has a few dozen sizes); the certificate of a week reads the curve once a page. Memory: four numbers a page.
 */
import { type SteadyCurve, evenCurve } from './steady-curve.ts';

export interface Prices {
  /** What one more look saves, in weighted change-seconds. */
  readonly price: number;
  /** Looks a second that the prices call for. */
  readonly looksPerSecond: number;
  /** Sites whose cap binds, with what one more look there saves beyond the price. */
  readonly dearSites: readonly { readonly site: number; readonly price: number }[];
}

export interface Standing extends Prices {
  /** Weighted changes waiting to be seen, on average. */
  readonly loss: number;
  readonly lowerBound: number;
}

/** Pages of one site whose rate × weight is about the same. */
interface Size {
  count: number;
  roots: number;
}

type Sizes = Map<number, Size>;

interface SiteBook {
  /** Pages without a spacing of their own, by size. */
  readonly sizes: Sizes;
  cap: number;
  readonly limited: Set<number>;
}

const sizesPerDoubling = 4;
const sizeOf = (scale: number): number => Math.floor(Math.log2(scale) * sizesPerDoubling);

export class StandingMarket {
  readonly #scale: number[] = [];
  readonly #site: number[] = [];
  readonly #spacing: number[] = [];
  readonly #sites: SiteBook[] = [];
  /** Those of all sites together. */
  readonly #sizes: Sizes = new Map();
  /** Σ k of all pages: what a mean delay is a mean over. */
  #scaleSum = 0;
  #pages = 0;

  get pages(): number {
    return this.#pages;
  }

  /** Weighted changes a second. */
  get scale(): number {
    return this.#scaleSum;
  }

  #book(site: number): SiteBook {
    for (let next = this.#sites.length; next <= site; next++)
      this.#sites.push({ sizes: new Map(), cap: Infinity, limited: new Set() });
    return this.#sites[site];
  }

  /** The most looks a second on a site; Infinity for none. */
  setCap(site: number, looksPerSecond: number): void {
    this.#book(site).cap = looksPerSecond;
  }

  capOf(site: number): number {
    return this.#sites[site]?.cap ?? Infinity;
  }

  has(page: number): boolean {
    return (this.#site[page] ?? -1) >= 0;
  }

  /** Rate × weight of a page; 0 where it is not in the market. */
  scaleOf(page: number): number {
    return this.has(page) ? this.#scale[page] : 0;
  }

  /** Takes the place of what was known of this page. */
  set(page: number, scale: number, site: number, spacingSeconds = 0): void {
    this.remove(page);
    this.#scale[page] = scale;
    this.#site[page] = site;
    this.#spacing[page] = spacingSeconds;
    this.#scaleSum += scale;
    this.#pages++;
    const { limited, sizes } = this.#book(site);
    if (!(scale > 0)) return;
    if (spacingSeconds > 0) {
      limited.add(page);
      return;
    }
    for (const all of [sizes, this.#sizes]) put(all, sizeOf(scale), 1, Math.sqrt(scale));
  }

  remove(page: number): void {
    const site = this.#site[page];
    if (site === undefined || site < 0) return;
    const { limited, sizes } = this.#sites[site];
    const scale = this.#scale[page];
    if (!limited.delete(page) && scale > 0) {
      for (const all of [sizes, this.#sizes]) take(all, sizeOf(scale), 1, Math.sqrt(scale));
    }
    this.#pages--;
    this.#scaleSum = this.#pages > 0 ? Math.max(0, this.#scaleSum - scale) : 0;
    this.#site[page] = -1;
  }

  /** The prices at which the collection lives within this many looks a second; `curve` is the week of all pages. */
  prices(looksPerSecond: number, curve = evenCurve): Prices {
    const { own, price } = this.#solve(looksPerSecond, curve);
    if (price === Infinity) return { price, looksPerSecond: 0, dearSites: [] };
    let looks = 0;
    const dearSites: { site: number; price: number }[] = [];
    this.#sites.forEach((book, site) => {
      if (own[site] > price) dearSites.push({ site, price: own[site] - price });
      looks += this.#wanted(book.sizes, book.limited, Math.max(price, own[site]), curve);
    });
    return { price, looksPerSecond: looks, dearSites };
  }

  /** The prices, what they lead to, and what no plan can be better than. */
  clear(looksPerSecond: number, curve = evenCurve): Standing {
    const prices = this.prices(looksPerSecond, curve);
    if (prices.price === Infinity) return { ...prices, loss: Infinity, lowerBound: Infinity };
    let loss = 0;
    let lowerBound = -prices.price * looksPerSecond;
    const due = new Float64Array(this.#sites.length).fill(prices.price);
    for (const { site, price } of prices.dearSites) {
      due[site] += price;
      lowerBound -= price * this.#sites[site].cap;
    }
    const add = (scale: number, spacing: number, price: number): void => {
      const ratio = price / scale;
      // At no price at all, pages are looked at as often as they may be.
      if (spacing > 0 && every(scale, spacing, price, curve) === spacing) {
        loss += (scale * spacing) / 2;
        lowerBound += scale * curve.lower((spacing * spacing) / 2) + price / spacing - (scale * spacing) / 2;
      } else if (price > 0) {
        loss += scale * curve.loss(ratio);
        lowerBound += scale * curve.lower(ratio);
      }
    };
    this.#sites.forEach(({ sizes, limited }, site) => {
      for (const page of limited) add(this.#scale[page], this.#spacing[page], due[site]);
      if (curve !== evenCurve) return;
      for (const { roots } of sizes.values()) {
        loss += roots * Math.sqrt(due[site] / 2);
        lowerBound += roots * Math.sqrt(2 * due[site]);
      }
    });
    if (curve !== evenCurve)
      for (let page = 0; page < this.#site.length; page++) {
        const site = this.#site[page] ?? -1;
        if (site >= 0 && this.#scale[page] > 0 && !(this.#spacing[page] > 0)) add(this.#scale[page], 0, due[site]);
      }
    return { ...prices, loss, lowerBound: Math.min(loss, lowerBound) };
  }

  /** Seconds between looks at a page under these prices; Infinity for a page that never changes. */
  every(page: number, prices: Prices, curve = evenCurve): number {
    const dear = prices.dearSites.find(({ site }) => site === this.#site[page]);
    return every(this.#scale[page], this.#spacing[page], prices.price + (dear?.price ?? 0), curve);
  }

  /**
   * Sites whose cap binds at the price without them are dear; what they leave over makes looks cheaper elsewhere, which may make
   * others dear, never the other way round. Few are, so the rest is told from the sizes of all pages together.
   */
  #solve(looksPerSecond: number, curve: SteadyCurve): { readonly own: Float64Array; readonly price: number } {
    const own = new Float64Array(this.#sites.length);
    const rest = new Map(Array.from(this.#sizes, ([size, { count, roots }]) => [size, { count, roots }]));
    let limited = this.#sites.flatMap((book) => [...book.limited]);
    let left = looksPerSecond;
    for (;;) {
      const demand = (price: number): number => this.#wanted(rest, limited, price, curve);
      const price = left > 0 ? leastPrice(demand, left) : Infinity;
      let more = false;
      this.#sites.forEach((book, site) => {
        if (own[site] > 0 || !(this.#wanted(book.sizes, book.limited, price, curve) > book.cap)) return;
        own[site] = leastPrice((p) => this.#wanted(book.sizes, book.limited, p, curve), book.cap);
        left -= book.cap;
        for (const [size, { count, roots }] of book.sizes) take(rest, size, count, roots);
        if (book.limited.size > 0) limited = limited.filter((page) => this.#site[page] !== site);
        more = true;
      });
      if (!more) return { own, price };
    }
  }

  #wanted(sizes: Sizes, limited: Iterable<number>, price: number, curve: SteadyCurve): number {
    let sum = 0;
    for (const { count, roots } of sizes.values())
      sum += price > 0 ? count * curve.looks(price / (roots / count) ** 2) : Infinity;
    for (const page of limited) sum += 1 / every(this.#scale[page], this.#spacing[page], price, curve);
    return sum;
  }
}

function put(sizes: Sizes, size: number, count: number, roots: number): void {
  const known = sizes.get(size);
  if (known) {
    known.count += count;
    known.roots += roots;
  } else sizes.set(size, { count, roots });
}

function take(sizes: Sizes, size: number, count: number, roots: number): void {
  const known = sizes.get(size)!;
  known.count -= count;
  known.roots -= roots;
  if (known.count === 0) sizes.delete(size);
}

/** Seconds between looks at a price; Infinity for a page that never changes. */
function every(scale: number, spacing: number, price: number, curve: SteadyCurve): number {
  if (!(scale > 0)) return Infinity;
  return Math.max(spacing, price > 0 ? 1 / curve.looks(price / scale) : 0);
}

/** The least price at which no more than the cap is wanted. Demand falls about with the root of the price, or not at all. */
function leastPrice(demand: (price: number) => number, cap: number): number {
  if (cap === Infinity || demand(0) <= cap) return 0;
  if (!(cap > 0)) return Infinity;
  let price = demand(1) ** 2 / cap ** 2;
  // Where all demand goes with 1 ⁄ √price this is exact at once; weeks, spacings and caps take a few rounds more.
  let [low, high] = [0, Infinity];
  for (let turn = 0; turn < 100; turn++) {
    const ratio = demand(price) / cap;
    if (Math.abs(ratio - 1) < 1e-12) return price;
    if (ratio > 1) low = price;
    else high = price;
    if (high < Infinity && high - low <= 1e-13 * high) return high;
    const guess = price * ratio * ratio;
    price = guess > low && guess < high ? guess : high < Infinity ? (low + high) / 2 : low * 4;
  }
  return high < Infinity ? high : price;
}
