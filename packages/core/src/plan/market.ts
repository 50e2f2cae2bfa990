/**
 * Many sources, one budget (the open question of Eckstein, Gal and Reiner §7): choose looks m_p for every page p to
 *
 *     min Σ_p k_p·c_p(m_p)   subject to   Σ_p m_p ≤ budget   and   Σ_{p on site s} m_p ≤ cap_s,
 *
 * where c_p is the convex curve of loss against looks of the page's shape and k_p = rate × weight. At a price π a page wants
 * the looks that minimise c(m) + (π ⁄ k)·m: all pages of a shape share one curve, read at price ⁄ (rate × weight), O(1) or a
 * short search a page.
 *
 * Invariant: budgets are nested (a page's site, then everything), so the price of a page is max(μ, μ_s): μ for the whole
 * budget, μ_s the price at which the site alone would meet its cap. μ_s does not depend on μ, so sites are cleared once and
 * then the whole. For any prices
 *
 *     Σ_p min_m (k_p·c_p(m) + π_p·m) − μ·budget − Σ_s (μ_s − μ)⁺·cap_s
 *
 * bounds every feasible plan from below; with integer looks the greedy fill of what ties left over reaches it up to one look.
 *
 * Cost: about 40 readings of each page's curve. Numerically delicate: pages with equal k all change their mind at one price;
 * the price is closed in on to 1e-12 and the leftover is given out one look at a time.
 */

/** The looks a page wants at a price, in units of its rate × weight; one object for all pages of the shape. */
export interface Demand {
  /** The looks that minimise loss + ratio·looks; non-increasing in the ratio. */
  looks(ratio: number): number;
  /** The loss with these looks, for a page of rate × weight 1. */
  loss(looks: number): number;
  /** A lower bound of min (loss + ratio·looks) over all looks, attainable or not. */
  value(ratio: number): number;
  /** Looks come one by one (then what one more saves does not rise), or in any amount. */
  readonly whole: boolean;
}

export interface Market {
  /** For each page: which of `demands` describes it, its rate × weight, and its site (−1 for none). */
  readonly demand: ArrayLike<number>;
  readonly scale: Float64Array;
  readonly site: Int32Array;
  readonly demands: readonly Demand[];
  /** The most looks on each site; Infinity where there is no cap. */
  readonly caps: Float64Array;
  readonly budget: number;
}

export interface Cleared {
  /** Looks of each page. */
  readonly looks: Float64Array;
  /** What one more look in the budget saves, at the margin. */
  readonly price: number;
  /** What one more look on each site saves beyond that; 0 where the cap does not bind. */
  readonly sitePrices: Float64Array;
  readonly loss: number;
  readonly lowerBound: number;
}

export function clear(market: Market): Cleared {
  const groups = bySite(market);
  const own = groups.map((pages, site) =>
    clearingPrice((price) => demandOf(market, pages, price), market.caps[site], startingPrice(market, pages)),
  );
  const loose = Int32Array.from(market.scale.keys()).filter((page) => market.site[page] < 0);
  const everywhere = (price: number): number => {
    let sum = demandOf(market, loose, price);
    // Below its own price a site wants its whole cap, though at that price ties may leave some of it over.
    groups.forEach((pages, site) => {
      sum += price < own[site] ? market.caps[site] : demandOf(market, pages, price);
    });
    return sum;
  };
  const all = Int32Array.from(market.scale.keys());
  const price = clearingPrice(everywhere, market.budget, startingPrice(market, all));
  const looks = Float64Array.from(market.scale, (_, page) => {
    const site = market.site[page];
    return wanted(market, page, site < 0 ? price : Math.max(price, own[site]));
  });
  if (market.demands.some((demand) => demand.whole)) giveOutRest(market, looks);
  const sitePrices = Float64Array.from(own, (ownPrice) => Math.max(0, ownPrice - price));
  let loss = 0;
  for (let page = 0; page < looks.length; page++) loss += lossOn(market, page, looks[page]);
  return { looks, price, sitePrices, loss, lowerBound: Math.min(loss, bound(market, price, sitePrices)) };
}

function demandOf(market: Market, pages: Int32Array, price: number): number {
  let sum = 0;
  for (const page of pages) sum += wanted(market, page, price);
  return sum;
}

function wanted(market: Market, page: number, price: number): number {
  const scale = market.scale[page];
  return scale > 0 ? market.demands[market.demand[page]].looks(price / scale) : 0;
}

function lossOn(market: Market, page: number, looks: number): number {
  const scale = market.scale[page];
  return scale > 0 ? scale * market.demands[market.demand[page]].loss(looks) : 0;
}

function bySite(market: Market): readonly Int32Array[] {
  const counts = new Int32Array(market.caps.length);
  for (const site of market.site) if (site >= 0) counts[site]++;
  const groups = Array.from(counts, (count) => new Int32Array(count));
  counts.fill(0);
  market.site.forEach((site, page) => {
    if (site >= 0) groups[site][counts[site]++] = page;
  });
  return groups;
}

/** Demand that misses the cap by less than this share of it is near enough: the rest is given out look by look. */
const near = 1e-7;

/** The least price, up to rounding, at which no more than the cap is wanted; 0 where never more is. */
function clearingPrice(demandAt: (price: number) => number, cap: number, start: number): number {
  if (cap === Infinity || demandAt(0) <= cap) return 0;
  let [low, high] = [0, Infinity];
  let [above, below] = [0, 0];
  let price = start;
  for (let turn = 0; turn < 200 && !(high < Infinity && high - low <= 1e-10 * high); turn++) {
    const demand = demandAt(price);
    if (demand <= cap) [high, below] = [price, demand];
    else [low, above] = [price, demand];
    if (demand <= cap && cap > 0 && cap - demand <= near * cap) break;
    price = turn % 3 === 2 ? middle(low, high) : guessed(price, demand, cap, low, high, above, below);
    if (low === 0 && high < 1e-280) return 0;
  }
  return high;
}

function middle(low: number, high: number): number {
  if (low > 0 && high < Infinity) return Math.sqrt(low * high);
  return high < Infinity ? high / 1e3 : low * 1e3;
}

/** Where demand would meet the cap if it fell by a power of the price: of minus one half, or as between the two ends. */
function guessed(
  price: number,
  demand: number,
  cap: number,
  low: number,
  high: number,
  above: number,
  below: number,
): number {
  let guess = price * Math.min(1e6, Math.max(1e-6, (demand / cap) ** 2));
  if (low > 0 && high < Infinity && below > 0)
    guess = low * (high / low) ** Math.min(0.99, Math.max(0.01, Math.log(above / cap) / Math.log(above / below)));
  return guess > low && guess < high ? guess : middle(low, high);
}

function startingPrice(market: Market, pages: Int32Array): number {
  let sum = 0;
  for (const page of pages) sum += lossOn(market, page, 0) === Infinity ? market.scale[page] : lossOn(market, page, 0);
  return sum > 0 ? sum / pages.length : 1;
}

/** Looks that ties at the clearing price left over, each to the page where it saves most and all caps allow it. */
function giveOutRest(market: Market, looks: Float64Array): void {
  let rest = market.budget;
  const room = Float64Array.from(market.caps);
  looks.forEach((count, page) => {
    rest -= count;
    if (market.site[page] >= 0) room[market.site[page]] -= count;
  });
  if (!(rest >= 1)) return;
  const saving = (page: number): number => lossOn(market, page, looks[page]) - lossOn(market, page, looks[page] + 1);
  const offers: { page: number; saves: number }[] = [];
  for (let page = 0; page < looks.length; page++) {
    const saves = saving(page);
    if (saves > 0) offers.push({ page, saves });
  }
  // Ties go to the lowest index. A page may be offered again after its look, for what a further one saves.
  offers.sort((a, b) => b.saves - a.saves || a.page - b.page);
  const again: { page: number; saves: number }[] = [];
  for (let i = 0; rest >= 1 && (i < offers.length || again.length > 0);) {
    const useAgain = again.length > 0 && (i >= offers.length || again[0].saves > offers[i].saves);
    const { page } = useAgain ? again.shift()! : offers[i++];
    const site = market.site[page];
    if (site >= 0 && room[site] < 1) continue;
    looks[page]++;
    rest--;
    if (site >= 0) room[site]--;
    const saves = saving(page);
    if (saves > 0) {
      const place = again.findIndex((offer) => offer.saves < saves);
      again.splice(place < 0 ? again.length : place, 0, { page, saves });
      // Far more than ties leave over; the tail would never be reached.
      if (again.length > 1_000) again.pop();
    }
  }
}

function bound(market: Market, price: number, sitePrices: Float64Array): number {
  let sum = -price * market.budget;
  sitePrices.forEach((extra, site) => {
    if (extra > 0) sum -= extra * market.caps[site];
  });
  for (let page = 0; page < market.scale.length; page++) {
    const scale = market.scale[page];
    const site = market.site[page];
    const due = price + (site >= 0 ? sitePrices[site] : 0);
    if (scale > 0) sum += scale * market.demands[market.demand[page]].value(due / scale);
  }
  return sum;
}
