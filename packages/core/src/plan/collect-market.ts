/**
 * Collecting as a market: rows are instants, then a row for each instant of each site that has a capacity of its own; a
 * plan is a page's looks. What clearing.ts and assign.ts need to know of it.
 */
import type { Market, Plan } from './clearing.ts';
import { type PageMarket, type Search, pageMarket } from './collect-page.ts';
import type { CollectProblem } from './collect.ts';

export interface CollectMarket extends Market {
  readonly instants: number;
  readonly inner: PageMarket;
  /** Every page's best path at these prices, one call a page; the prices must not change meanwhile. */
  searchAt(price: Float64Array, anySign: boolean): Search;
  planOf(page: number, looks: readonly number[], gain: number): Plan;
  /** The rows that a look of the page at an instant uses: one, or two where its site is limited. */
  siteRowOf(page: number): number;
}

export function collectMarket({ instants, capacity, pages, siteCapacity }: CollectProblem): CollectMarket {
  const inner = pageMarket(pages, instants);
  const sites = siteCapacity?.length ?? 0;
  const capacities: number[] = Array<number>(instants).fill(capacity);
  for (let site = 0; site < sites; site++) {
    for (let j = 0; j < instants; j++) capacities.push(siteCapacity?.[site] ?? capacity);
  }
  const siteRowOf = (page: number) => (sites > 0 ? (1 + (pages[page].site ?? 0)) * instants : -1);
  const planOf = (page: number, looks: readonly number[], gain: number): Plan => {
    const more = siteRowOf(page);
    const rows = looks.map((look) => look - 1);
    return { rows: Int32Array.from(more >= 0 ? [...rows, ...rows.map((row) => more + row)] : rows), value: gain };
  };
  const searchAt = (price: Float64Array, anySign: boolean): Search => {
    if (sites === 0) return inner.at(price, anySign);
    return (page) => {
      const more = siteRowOf(page);
      return inner.at(
        Float64Array.from({ length: instants }, (_, j) => price[j] + price[more + j]),
        anySign,
      )(page);
    };
  };
  return {
    pages: pages.length,
    capacity: capacities,
    instants,
    inner,
    siteRowOf,
    planOf,
    searchAt,
    best: (page, price, anySign = true) => {
      const { looks, gain } = searchAt(price, anySign)(page);
      return planOf(page, looks, gain);
    },
  };
}
