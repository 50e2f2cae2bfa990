/**
 * D(p) of collecting (price-descent.ts), by prices per instant (and per site and instant), and prices to begin with. A page's plan
 * is its looks, worth Σ g. Cost: one best path for every page and price vector.
 */
import type { CollectMarket } from './collect-market.ts';
import type { PricedValue } from './price-descent.ts';

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
  return (price, slope) => {
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
  };
}
