/**
 * The market of a collection that is watched for ever: looks a second instead of looks in a horizon,
 *
 *     min Σ_p k_p·ℓ(q_p)   subject to   Σ_p q_p ≤ budget,  Σ_{p on site s} q_p ≤ cap_s,  q_p ≤ 1 ⁄ spacing_p,
 *
 * and Σ_{s on server v} Σ_{p on site s} q_p ≤ cap_v where sites stand on one server,
 * where a page of rate × weight k that is looked at q times a second has k·ℓ(q) weighted changes waiting on average. ℓ is that
 * of the collection's week (steady-curve.ts); without one it is 1 ⁄ 2q: looks at even distances are then the best there are.
 * A page whose changes fade (loss/fading.ts) has a curve of its own kind: looks a·L(x), loss b·l(x) at x = π·a ⁄ b; for the others a = 1, b = k.
 * At a price π pages of one kind and of about the same b ⁄ a on a site want the same multiple of Σ a, or of Σ √(a·b) where looks go
 * with 1 ⁄ √π: two numbers for each size (a factor of b ⁄ a: 2^¼, and 2^1⁄16 for pages that fade) answer for all pages of a site.
 *
 * Invariant: as in market.ts a page's price is the greatest of the whole's, its server's and its site's own (limits lie within each
 * other, so each is found with the greater ones left out); the dual value bounds every plan of looks made ahead from below.
 * Cost: a page's new model costs O(1); new prices cost O(sites × sizes + pages with a spacing of their own), whatever the number
 * of pages (a collection has a few dozen sizes); the certificate of a week reads the curve once a page. Memory: four numbers a page.
 */
import { type Fading, type FadingPage, bestLooks, lossAt } from '../loss/fading.ts';
import { type Wants, costAt, every } from './page-cost.ts';
import { type SteadyCurve, evenCurve } from './steady-curve.ts';

export interface Prices {
  /** What one more look saves, in weighted change-seconds. */
  readonly price: number;
  /** Looks a second that the prices call for. */
  readonly looksPerSecond: number;
  /** Sites whose cap binds, or that of their server, with what one more look there saves beyond the price, and the looks a second they have. */
  readonly dearSites: readonly { readonly site: number; readonly price: number; readonly looksPerSecond: number }[];
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
  server: ServerBook | undefined;
}

/** Sites that stand on one server. */
interface ServerBook {
  cap: number;
  readonly sites: Set<number>;
}

interface Solved {
  readonly price: number;
  /** By site: its own price, or its server's where that is greater; of use where it is above the whole's. */
  readonly own: Float64Array;
  /** What the limits of sites and servers are worth beyond that of the whole: Σ price beyond the next wider limit's × cap. */
  readonly rents: number;
}

const sizesPerDoubling = 4;
/** Where looks do not go with 1 ⁄ √price one number for a size is an approximation: sizes are so small that it is 10⁻⁴ off or less. */
const fadingSizesPerDoubling = 16;
/** Sizes of numbers lie within this; kinds of loss are this far apart. */
const sizesMost = 1 << 16;

export class StandingMarket {
  readonly #scale: number[] = [];
  readonly #site: number[] = [];
  readonly #spacing: number[] = [];
  /** Pages whose changes fade. */
  readonly #fading = new Map<number, FadingPage>();
  readonly #kinds = new Map<string, number>();
  readonly #sites: SiteBook[] = [];
  readonly #servers = new Map<number, ServerBook>();
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
      this.#sites.push({ sizes: new Map(), cap: Infinity, limited: new Set(), server: undefined });
    return this.#sites[site];
  }

  /** The most looks a second on a site; Infinity for none. */
  setCap(site: number, looksPerSecond: number): void {
    this.#book(site).cap = looksPerSecond;
  }

  capOf(site: number): number {
    return this.#sites[site]?.cap ?? Infinity;
  }

  /** The site stands on a server with others, numbered as the caller likes, which takes so many looks a second; or on none. */
  standAt(site: number, server: number | undefined, looksPerSecond = Infinity): void {
    const book = this.#book(site);
    book.server?.sites.delete(site);
    book.server = undefined;
    if (server === undefined) return;
    const known = this.#servers.get(server) ?? { cap: looksPerSecond, sites: new Set() };
    this.#servers.set(server, known);
    known.cap = looksPerSecond;
    known.sites.add(site);
    book.server = known;
  }

  /** Whether the site stands there by what was said last. */
  standsAt(site: number, server: number | undefined, looksPerSecond = Infinity): boolean {
    const known = this.#sites[site]?.server;
    if (server === undefined || !known) return server === undefined && !known;
    return known === this.#servers.get(server) && known.cap === looksPerSecond;
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
    return this.#told(this.#solve(looksPerSecond, curve), curve);
  }

  #told({ price, own }: Solved, curve: SteadyCurve): Prices {
    if (price === Infinity) return { price, looksPerSecond: 0, dearSites: [] };
    let looksPerSecond = 0;
    const dearSites: { site: number; price: number; looksPerSecond: number }[] = [];
    this.#sites.forEach((book, site) => {
      const looks = this.#wanted(book.sizes, book.limited, Math.max(price, own[site]), curve);
      if (own[site] > price) dearSites.push({ site, price: own[site] - price, looksPerSecond: looks });
      looksPerSecond += looks;
    });
    return { price, looksPerSecond, dearSites };
  }

  /** The prices, what they lead to, and what no plan can be better than. */
  clear(looksPerSecond: number, curve = evenCurve): Standing {
    const solved = this.#solve(looksPerSecond, curve);
    const prices = this.#told(solved, curve);
    if (prices.price === Infinity) return { ...prices, loss: Infinity, lowerBound: Infinity };
    let loss = 0;
    let lowerBound = -prices.price * looksPerSecond - solved.rents;
    const due = solved.own.map((own) => Math.max(own, prices.price));
    const charge = (wants: Wants, spacing: number, price: number): void => {
      const cost = costAt(wants, spacing, price, curve);
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
   * Sites and servers whose cap binds at the price without them are dear; what they leave over makes looks cheaper elsewhere, which
   * may make others dear, never the other way round. Few are, so the rest is told from the sizes of all pages together.
   */
  #solve(looksPerSecond: number, curve: SteadyCurve): Solved {
    const own = new Float64Array(this.#sites.length);
    const rest: Sizes = new Map(Array.from(this.#sizes, ([size, known]) => [size, { ...known }]));
    let limited = this.#sites.flatMap((book) => [...book.limited]);
    const served = new Map<ServerBook, number>();
    let left = looksPerSecond;
    const setApart = (site: number): void => {
      const book = this.#sites[site];
      for (const [size, gone] of book.sizes) add(rest, size, gone, -1);
      if (book.limited.size > 0) limited = limited.filter((page) => this.#site[page] !== site);
    };
    const ownPrice = (site: number): number =>
      leastPrice((price) => this.#wantedOn(site, price, curve), this.#sites[site].cap);
    for (;;) {
      const demand = (price: number): number => this.#wanted(rest, limited, price, curve);
      const price = left > 0 ? leastPrice(demand, left) : Infinity;
      let more = false;
      for (const server of this.#servers.values()) {
        const wanted = (atPrice: number): number => this.#servedAt(server, atPrice, curve);
        if (served.has(server) || !exceeds(wanted(price), server.cap)) continue;
        const atServer = leastPrice(wanted, server.cap);
        served.set(server, atServer);
        left -= server.cap;
        for (const site of server.sites) {
          if (this.#isEmpty(site)) continue;
          // One that was dear by itself has its looks from the server now.
          if (own[site] > 0) left += this.#sites[site].cap;
          else setApart(site);
          own[site] = Math.max(atServer, ownPrice(site));
        }
        more = true;
      }
      this.#sites.forEach(({ cap }, site) => {
        if (own[site] > 0 || !exceeds(this.#wantedOn(site, price, curve), cap)) return;
        own[site] = ownPrice(site);
        left -= cap;
        setApart(site);
        more = true;
      });
      if (!more) return { price, own, rents: this.#rents(price, own, served) };
    }
  }

  #rents(price: number, own: Float64Array, served: ReadonlyMap<ServerBook, number>): number {
    let rents = 0;
    for (const [{ cap }, atServer] of served) rents += Math.max(0, atServer - price) * cap;
    this.#sites.forEach(({ cap, server }, site) => {
      const beyond = own[site] - Math.max(price, (server && served.get(server)) ?? 0);
      if (beyond > 0) rents += beyond * cap;
    });
    return rents;
  }

  /** Looks a second on a server whose sites keep to their own caps. */
  #servedAt({ sites }: ServerBook, price: number, curve: SteadyCurve): number {
    let sum = 0;
    for (const site of sites) sum += Math.min(this.#sites[site].cap, this.#wantedOn(site, price, curve));
    return sum;
  }

  #isEmpty(site: number): boolean {
    const { sizes, limited } = this.#sites[site];
    return sizes.size + limited.size === 0;
  }

  #wantedOn(site: number, price: number, curve: SteadyCurve): number {
    const { sizes, limited } = this.#sites[site];
    return this.#wanted(sizes, limited, price, curve);
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

/** A limit that is met to the last digit does not bind: one that takes the whole budget would leave nothing, at no price. */
const exceeds = (wanted: number, cap: number): boolean => wanted > cap * (1 + 1e-9);

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
