/**
 * An upper bound on what any schedule can collect, by prices per instant (and per site and instant):
 *
 *   D(p) = Σ_pages max over looks of (Σ g − Σ p) + Σ_rows capacity · p  ≥  optimum   for every p ≥ 0.
 *
 * D is convex and its slope at p is capacity − looks wanted at p. Prices go down the slope by Polyak's step towards the best
 * schedule known, deflected by the last direction (Camerini, Fratta and Maffioli 1975) so that they do not zigzag; the
 * step is halved when nothing is gained. The best bound met is kept, and is true whenever the search is stopped. Cost:
 * one best path for every page an iteration.
 */
import type { CollectMarket } from './collect-market.ts';

export interface Priced {
  readonly bound: number;
  readonly price: Float64Array;
  readonly iterations: number;
}

/** D(p) of a market; `slope` gets the capacities less what is wanted at the prices. */
export type PricedValue = (price: Float64Array, slope: Float64Array) => number;

/** `visit` sees each new best price vector and may return a better schedule's utility. */
export function priceBoundByDescent(
  valueAt: PricedValue,
  start: Float64Array,
  utility: number,
  iterationsMax: number,
  gapRelative: number,
  visit: (price: Float64Array, bound: number, iteration: number) => number,
): Priced {
  const rows = start.length;
  let price = Float64Array.from(start);
  let best: Float64Array = Float64Array.from(start);
  let bound = Infinity;
  let target = utility;
  let relax = 1;
  let stalled = 0;
  const direction = new Float64Array(rows);
  const slope = new Float64Array(rows);
  let iteration = 0;
  for (; iteration < iterationsMax; iteration++) {
    const value = valueAt(price, slope);
    if (value < bound) {
      stalled = bound - value > 1e-5 * Math.abs(value) * relax ? 0 : stalled + 1;
      bound = value;
      best = Float64Array.from(price);
      target = Math.max(target, visit(best, bound, iteration));
    } else stalled++;
    if (bound - target <= gapRelative * Math.abs(bound)) break;
    if (stalled >= 8) {
      relax *= 0.6;
      stalled = 0;
      price = Float64Array.from(best);
      direction.fill(0);
    }
    step(price, direction, slope, relax * Math.max(value - target, 1e-12 * Math.abs(value)));
  }
  return { bound, price: best, iterations: iteration };
}

/**
 * Prices to begin with. Where many pages are indifferent between many instants the slope alone sends all of them to the
 * same one, so here pages choose in turn and each instant shows a surcharge while it is full: prices then move by what is
 * still wanted too much or too little, and surcharge and moves fade.
 */
export function pricesByCrowding(market: CollectMarket, scale: number, rounds: number): Float64Array {
  const rows = market.capacity.length;
  const price = new Float64Array(rows);
  const shown = new Float64Array(rows);
  const used = new Int32Array(rows);
  const held: (readonly number[])[] = Array.from({ length: market.pages }, () => []);
  const use = (page: number, by: number) => {
    const more = market.siteRowOf(page);
    for (const look of held[page]) {
      used[look - 1] += by;
      if (more >= 0) used[more + look - 1] += by;
    }
  };
  let fade = 1;
  for (let round = 0; round < rounds; round++, fade *= 0.975) {
    let search = market.searchAt(price, false);
    for (let page = 0; page < market.pages; page++) {
      // New surcharges for every hundredth of the pages are as good as for each, and cost nothing.
      if (page % Math.ceil(market.pages / 100) === 0) {
        for (let row = 0; row < rows; row++) {
          const over = used[row] + 1 - market.capacity[row];
          shown[row] = price[row] + (over > 0 ? (0.5 * fade * scale * over) / (market.capacity[row] + 1) : 0);
        }
        search = market.searchAt(shown, false);
      }
      use(page, -1);
      held[page] = search(page).looks;
      use(page, 1);
    }
    for (let row = 0; row < rows; row++) {
      const over = (used[row] - market.capacity[row]) / (market.capacity[row] + 1);
      price[row] = Math.max(0, price[row] + 0.2 * fade * scale * over);
    }
  }
  return price;
}

export function pricedValue(market: CollectMarket): PricedValue {
  return (price, slope) => evaluate(market, price, slope);
}

function evaluate(market: CollectMarket, price: Float64Array, slope: Float64Array): number {
  let value = 0;
  for (let row = 0; row < slope.length; row++) {
    slope[row] = market.capacity[row];
    value += market.capacity[row] * price[row];
  }
  const search = market.searchAt(price, false);
  for (let page = 0; page < market.pages; page++) {
    const { looks, gain } = search(page);
    const more = market.siteRowOf(page);
    value += gain;
    for (const look of looks) {
      value -= price[look - 1];
      slope[look - 1]--;
      if (more < 0) continue;
      value -= price[more + look - 1];
      slope[more + look - 1]--;
    }
  }
  return value;
}

function step(price: Float64Array, direction: Float64Array, slope: Float64Array, distance: number): void {
  let along = 0;
  let norm = 0;
  for (let row = 0; row < price.length; row++) {
    // A free row that is not wanted cannot fall further: its slope says nothing.
    if (price[row] === 0 && slope[row] > 0) slope[row] = 0;
    along += slope[row] * direction[row];
    norm += direction[row] * direction[row];
  }
  const deflect = along < 0 ? (-1.5 * along) / norm : 0;
  let length = 0;
  for (let row = 0; row < price.length; row++) {
    direction[row] = slope[row] + deflect * direction[row];
    length += direction[row] * direction[row];
  }
  if (length === 0) return;
  const size = distance / length;
  for (let row = 0; row < price.length; row++) price[row] = Math.max(0, price[row] - size * direction[row]);
}
