/**
 * The market of a collection that is watched for ever: looks a second instead of looks in a horizon,
 *
 *     min Σ_p k_p·ℓ(q_p)   subject to   Σ_p q_p ≤ budget,  Σ_{p on site s} q_p ≤ cap_s,  q_p ≤ 1 ⁄ spacing_p,
 *
 * where a page of rate × weight k that is looked at q times a second has k·ℓ(q) weighted changes waiting on average. ℓ is that
 * of the collection's week (steady-curve.ts); without one it is 1 ⁄ 2q: looks at even distances are then the best there are.
 * A page whose changes fade (loss/fading.ts) has a curve of its own kind: looks a·L(x), loss b·l(x) at x = π·a ⁄ b; for the others a = 1, b = k.
 * At a price π pages of one kind and of about the same b ⁄ a on a site want the same multiple of Σ a, or of Σ √(a·b) where looks go
 * with 1 ⁄ √π: two numbers for each size (a factor of b ⁄ a: 2^¼, and 2^1⁄16 for pages that fade) answer for all pages of a site.
 *
 * Invariant: as in market.ts a page's price is the greater of the whole's and its site's own; the dual value bounds every
 * plan of looks made ahead from below.
 * Cost: a page's new model costs O(1); new prices cost O(sites × sizes + pages with a spacing of their own), whatever the number
 * of pages (a collection has a few dozen sizes); the certificate of a week reads the curve once a page. Memory: four numbers a page.
 */
import { type Fading, type FadingPage, bestDistance, bestLooks, lossAt } from '../loss/fading.ts';
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

/** Pages of one site and one kind of loss whose b ⁄ a is about the same. */
interface Size {
  count: number;
  /** Σ a and Σ √(a·b). */
  sum: number;
  roots: number;
  readonly fading: Fading | undefined;
}

type Sizes = Map<number, Size>;

interface SiteBook {
  /** Pages without a spacing of their own, by size. */
  readonly sizes: Sizes;
  cap: number;
  readonly limited: Set<number>;
}

const sizesPerDoubling = 4;
/** Where looks do not go with 1 ⁄ √price one number for a size is an approximation: sizes are so small that it is 10⁻⁴ off or less. */
const fadingSizesPerDoubling = 16;
/** Sizes of numbers lie within this; kinds of loss are this far apart. */
const sizesMost = 1 << 16;

/** A page as the market has it: its kind of loss, a and b. */
type Wants = FadingPage | { readonly fading?: undefined; readonly a: number; readonly b: number };

export class StandingMarket {
  readonly #scale: number[] = [];
  readonly #site: number[] = [];
  readonly #spacing: number[] = [];
  /** Pages whose changes fade. */
  readonly #fading = new Map<number, FadingPage>();
  readonly #kinds = new Map<string, number>();
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

  /** Takes the place of what was known of this page: its rate × weight, and how its changes fade, if they do. */
  set(page: number, scale: number, site: number, spacingSeconds = 0, fading?: FadingPage): void {
    this.remove(page);
    this.#scale[page] = scale;
    this.#site[page] = site;
    this.#spacing[page] = spacingSeconds;
    this.#scaleSum += scale;
    this.#pages++;
    const { limited } = this.#book(site);
    if (!(scale > 0)) return;
    if (fading) this.#fading.set(page, fading);
    if (spacingSeconds > 0) limited.add(page);
    else this.#count(page, 1);
  }

  remove(page: number): void {
    const site = this.#site[page];
    if (site === undefined || site < 0) return;
    const scale = this.#scale[page];
    if (!this.#sites[site].limited.delete(page) && scale > 0) this.#count(page, -1);
    this.#fading.delete(page);
    this.#pages--;
    this.#scaleSum = this.#pages > 0 ? Math.max(0, this.#scaleSum - scale) : 0;
    this.#site[page] = -1;
  }

  #wants(page: number): Wants {
    return this.#fading.get(page) ?? { a: 1, b: this.#scale[page] };
  }

  #sizeOf({ fading, a, b }: Wants): number {
    const doublings = Math.log2(b / a);
    if (!fading) return Math.floor(doublings * sizesPerDoubling);
    const kind = this.#kinds.get(fading.name) ?? this.#kinds.size + 1;
    this.#kinds.set(fading.name, kind);
    return kind * sizesMost + Math.floor(doublings * fadingSizesPerDoubling);
  }

  /** Puts the page into its size, on its site and in all, or takes it out. */
  #count(page: number, sign: 1 | -1): void {
    const wants = this.#wants(page);
    const { a, b, fading } = wants;
    const one: Size = { count: 1, sum: a, roots: Math.sqrt(a * b), fading };
    const size = this.#sizeOf(wants);
    for (const sizes of [this.#sites[this.#site[page]].sizes, this.#sizes]) add(sizes, size, one, sign);
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
    const charge = (wants: Wants, spacing: number, price: number): void => {
      const cost = wants.fading ? fadingCost(wants, spacing, price) : evenCost(wants, spacing, price, curve);
      loss += cost.loss;
      lowerBound += cost.lower;
    };
    this.#sites.forEach(({ sizes, limited }, site) => {
      for (const page of limited) charge(this.#wants(page), this.#spacing[page], due[site]);
      if (curve !== evenCurve) return;
      for (const { roots, fading } of sizes.values()) {
        if (fading) continue;
        loss += roots * Math.sqrt(due[site] / 2);
        lowerBound += roots * Math.sqrt(2 * due[site]);
      }
    });
    // Sizes stand a little inexactly for pages whose changes fade: looks that the prices lead to beyond the limits are paid for.
    const more = new Float64Array(this.#sites.length);
    const each = curve === evenCurve ? this.#fading.keys() : this.#site.keys();
    for (const page of each) {
      const site = this.#site[page] ?? -1;
      if (site < 0 || !(this.#scale[page] > 0) || this.#spacing[page] > 0) continue;
      const wants = this.#wants(page);
      charge(wants, 0, due[site]);
      if (wants.fading) more[site] += 1 / every(wants, 0, due[site], curve) - this.#counted(page, due[site]);
    }
    loss += prices.price * Math.max(0, prices.looksPerSecond - looksPerSecond);
    more.forEach((looks, site) => (loss += due[site] * Math.max(0, looks)));
    return { ...prices, loss, lowerBound: Math.min(loss, lowerBound) };
  }

  /** The looks a second that a page whose changes fade has in the sum of its size. */
  #counted(page: number, price: number): number {
    const wants = this.#wants(page);
    const { sum, roots } = this.#sites[this.#site[page]].sizes.get(this.#sizeOf(wants))!;
    return wants.a * bestLooks(wants.fading!, price / (roots / sum) ** 2);
  }

  /** What a page loses a second when it is looked at at this distance. */
  lossOf(page: number, everySeconds: number): number {
    const { fading, a, b } = this.#wants(page);
    return fading ? b * lossAt(fading, a * everySeconds) : (b * everySeconds) / 2;
  }

  /** Seconds between looks at a page under these prices; Infinity for a page that never changes. */
  every(page: number, prices: Prices, curve = evenCurve): number {
    const dear = prices.dearSites.find(({ site }) => site === this.#site[page]);
    return every(this.#wants(page), this.#spacing[page], prices.price + (dear?.price ?? 0), curve);
  }

  /**
   * Sites whose cap binds at the price without them are dear; what they leave over makes looks cheaper elsewhere, which may make
   * others dear, never the other way round. Few are, so the rest is told from the sizes of all pages together.
   */
  #solve(looksPerSecond: number, curve: SteadyCurve): { readonly own: Float64Array; readonly price: number } {
    const own = new Float64Array(this.#sites.length);
    const rest: Sizes = new Map(Array.from(this.#sizes, ([size, known]) => [size, { ...known }]));
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
        for (const [size, gone] of book.sizes) add(rest, size, gone, -1);
        if (book.limited.size > 0) limited = limited.filter((page) => this.#site[page] !== site);
        more = true;
      });
      if (!more) return { own, price };
    }
  }

  #wanted(sizes: Sizes, limited: Iterable<number>, price: number, curve: SteadyCurve): number {
    let sum = 0;
    for (const { sum: all, roots, fading } of sizes.values()) {
      const x = price / (roots / all) ** 2;
      sum += price > 0 ? all * (fading ? bestLooks(fading, x) : curve.looks(x)) : Infinity;
    }
    for (const page of limited) sum += 1 / every(this.#wants(page), this.#spacing[page], price, curve);
    return sum;
  }
}

function add(sizes: Sizes, size: number, more: Size, sign: 1 | -1): void {
  const known = sizes.get(size);
  if (!known) {
    sizes.set(size, { ...more });
    return;
  }
  known.count += sign * more.count;
  known.sum += sign * more.sum;
  known.roots += sign * more.roots;
  if (known.count === 0) sizes.delete(size);
}

/** Seconds between looks at a price; Infinity for a page that never changes, or that no look is worth. */
function every({ fading, a, b }: Wants, spacing: number, price: number, curve: SteadyCurve): number {
  if (!(b > 0)) return Infinity;
  if (!(price > 0)) return spacing;
  return Math.max(spacing, fading ? bestDistance(fading, (price * a) / b) / a : 1 / curve.looks(price / b));
}

interface Cost {
  readonly loss: number;
  /** The least of loss + price × looks. */
  readonly lower: number;
}

function evenCost(wants: Wants, spacing: number, price: number, curve: SteadyCurve): Cost {
  const scale = wants.b;
  // At no price at all, pages are looked at as often as they may be.
  if (spacing > 0 && every(wants, spacing, price, curve) === spacing) {
    const loss = (scale * spacing) / 2;
    return { loss, lower: scale * curve.lower((spacing * spacing) / 2) + price / spacing - loss };
  }
  const ratio = price / scale;
  return price > 0 ? { loss: scale * curve.loss(ratio), lower: scale * curve.lower(ratio) } : { loss: 0, lower: 0 };
}

/** Even distances are the best there are, so loss and bound are one. */
function fadingCost(page: FadingPage, spacing: number, price: number): Cost {
  const seconds = every(page, spacing, price, evenCurve);
  const loss = page.b * lossAt(page.fading, page.a * seconds);
  return { loss, lower: loss + (seconds > 0 && seconds < Infinity ? price / seconds : 0) };
}

/** The least price at which no more than the cap is wanted. Demand falls about with the root of the price, or not at all. */
function leastPrice(demand: (price: number) => number, cap: number): number {
  if (cap === Infinity || demand(0) <= cap) return 0;
  if (!(cap > 0)) return Infinity;
  let price = demand(1) ** 2 / cap ** 2;
  // Where all demand goes with 1 ⁄ √price this is exact at once; weeks, spacings and caps take a few rounds more.
  let [low, high] = [0, Infinity];
  if (!(price > 0)) [price, high] = [1 / 4, 1];
  for (let turn = 0; turn < 100; turn++) {
    const ratio = demand(price) / cap;
    if (Math.abs(ratio - 1) < 1e-12) return price;
    if (ratio > 1) low = price;
    else high = price;
    if (high < Infinity && high - low <= 1e-13 * high) return high;
    const guess = price * ratio * ratio;
    // Demand that falls faster than that would be overshot for ever: every third step halves instead.
    if (guess > low && guess < high && turn % 3 < 2) price = guess;
    else price = high === Infinity ? low * 4 : low > 0 ? (low + high) / 2 : high / 16;
  }
  return high < Infinity ? high : price;
}
