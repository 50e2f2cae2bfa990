/**
 * The market of a collection that is watched for ever: looks a second instead of looks in a horizon,
 *
 *     min Σ_p k_p·τ_p ⁄ 2   subject to   Σ_p 1 ⁄ τ_p ≤ budget,  Σ_{p on site s} 1 ⁄ τ_p ≤ cap_s,  τ_p ≥ spacing_p,
 *
 * where a page of rate × weight k that is looked at every τ seconds has k·τ ⁄ 2 weighted changes waiting on average (the
 * obsolescence of an even page; looks at even distances are then the best there are). At a price π a page wants
 * τ = √(2π ⁄ k), so all pages of a site want Σ √k ⁄ √(2π): one number a site answers for all its pages.
 *
 * Invariant: as in market.ts a page's price is the greater of the whole's and its site's own; the dual value bounds every
 * plan of looks made ahead from below.
 * Cost: a page's new model costs O(1); new prices cost O(sites + pages with a spacing of their own), whatever the number of
 * pages. Memory: four numbers a page.
 */

export interface Standing {
  /** What one more look saves, in weighted change-seconds. */
  readonly price: number;
  /** Looks a second that the prices call for. */
  readonly looksPerSecond: number;
  /** Weighted changes waiting to be seen, on average. */
  readonly loss: number;
  readonly lowerBound: number;
  /** Sites whose cap binds, with what one more look there saves beyond the price. */
  readonly dearSites: readonly { readonly site: number; readonly price: number }[];
}

interface SiteBook {
  /** Σ √k over pages without a spacing of their own. */
  roots: number;
  cap: number;
  readonly limited: Set<number>;
}

export class StandingMarket {
  readonly #scale: number[] = [];
  readonly #site: number[] = [];
  readonly #spacing: number[] = [];
  readonly #sites: SiteBook[] = [];
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
      this.#sites.push({ roots: 0, cap: Infinity, limited: new Set() });
    return this.#sites[site];
  }

  /** The most looks a second on a site; Infinity for none. */
  setCap(site: number, looksPerSecond: number): void {
    this.#book(site).cap = looksPerSecond;
  }

  /** The page's model, now: rate × weight a second. Takes the place of what was known of this page. */
  set(page: number, scale: number, site: number, spacingSeconds = 0): void {
    this.remove(page);
    this.#scale[page] = scale;
    this.#site[page] = site;
    this.#spacing[page] = spacingSeconds;
    this.#scaleSum += scale;
    this.#pages++;
    const book = this.#book(site);
    if (spacingSeconds > 0) book.limited.add(page);
    else book.roots += Math.sqrt(scale);
  }

  remove(page: number): void {
    const site = this.#site[page];
    if (site === undefined || site < 0) return;
    const book = this.#sites[site];
    if (!book.limited.delete(page)) book.roots = Math.max(0, book.roots - Math.sqrt(this.#scale[page]));
    this.#scaleSum = Math.max(0, this.#scaleSum - this.#scale[page]);
    this.#site[page] = -1;
    this.#pages--;
  }

  /** The prices at which the collection lives within this many looks a second. */
  clear(looksPerSecond: number): Standing {
    const own = this.#sites.map((book) => this.#leastPrice((price) => this.#demand(book, price), book.cap));
    const everywhere = (price: number): number =>
      this.#sites.reduce((sum, book, s) => sum + (price < own[s] ? book.cap : this.#demand(book, price)), 0);
    const price = this.#leastPrice(everywhere, looksPerSecond);
    if (price === Infinity) return { price, looksPerSecond: 0, loss: Infinity, lowerBound: Infinity, dearSites: [] };
    let loss = 0;
    let looks = 0;
    let lowerBound = -price * looksPerSecond;
    const dearSites: { site: number; price: number }[] = [];
    this.#sites.forEach((book, site) => {
      const due = Math.max(price, own[site]);
      if (own[site] > price) {
        dearSites.push({ site, price: own[site] - price });
        lowerBound -= (own[site] - price) * book.cap;
      }
      looks += this.#demand(book, due);
      loss += book.roots * Math.sqrt(due / 2);
      lowerBound += book.roots * Math.sqrt(2 * due);
      for (const page of book.limited) {
        const every = this.#every(page, due);
        loss += (this.#scale[page] * every) / 2;
        lowerBound += (this.#scale[page] * every) / 2 + due / every;
      }
    });
    return { price, looksPerSecond: looks, loss, lowerBound: Math.min(loss, lowerBound), dearSites };
  }

  /** Seconds between looks at a page under these prices; Infinity for a page that never changes. */
  every(page: number, standing: Standing): number {
    const dear = standing.dearSites.find(({ site }) => site === this.#site[page]);
    return this.#every(page, standing.price + (dear?.price ?? 0));
  }

  #every(page: number, price: number): number {
    const scale = this.#scale[page];
    return scale > 0 ? Math.max(this.#spacing[page], Math.sqrt((2 * price) / scale)) : Infinity;
  }

  #demand(book: SiteBook, price: number): number {
    let sum = book.roots > 0 ? book.roots / Math.sqrt(2 * price) : 0;
    for (const page of book.limited) sum += 1 / this.#every(page, price);
    return sum;
  }

  /** The least price at which no more than the cap is wanted. Demand falls with the root of the price, or not at all. */
  #leastPrice(demand: (price: number) => number, cap: number): number {
    if (cap === Infinity || demand(0) <= cap) return 0;
    if (!(cap > 0)) return Infinity;
    let price = demand(1) ** 2 / cap ** 2;
    // Where all demand goes with 1 ⁄ √price this is exact at once; spacings and caps take a few rounds more.
    let [low, high] = [0, Infinity];
    for (let turn = 0; turn < 100; turn++) {
      const ratio = demand(price) / cap;
      if (Math.abs(ratio - 1) < 1e-12) return price;
      if (ratio > 1) low = price;
      else high = price;
      const guess = price * ratio * ratio;
      price = guess > low && guess < high ? guess : high < Infinity ? (low + high) / 2 : low * 4;
    }
    return high < Infinity ? high : price;
  }
}
