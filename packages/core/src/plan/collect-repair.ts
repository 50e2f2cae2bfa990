/**
 * What a schedule of collecting gains after it was made: pages planned again one by one and two by two in what the others
 * leave, and a few pages searched over all their last looks.
 */
import type { CollectMarket } from './collect-market.ts';
import type { Path } from './collect-page.ts';
import { pathOf } from './collect-paths.ts';
import type { Collection, CollectProblem } from './collect.ts';
import { type Gaps, exchangePairs } from './exchange.ts';
import { type LastLooks, choicesMax, choicesOf, searchLastLooks, searchPagesMax } from './last-look-search.ts';

/** Pages one by one plan again within what the others leave, while anyone gains. */
export function refill(market: CollectMarket, paths: Path[]): Path[] {
  const left = Int32Array.from(market.capacity);
  const use = (page: number, path: Path, by: number) => {
    for (const row of market.planOf(page, path.looks, 0).rows) left[row] += by;
  };
  paths.forEach((path, page) => use(page, path, -1));
  const price = new Float64Array(market.capacity.length);
  for (let round = 0; round < 3; round++) {
    let gained = 0;
    for (let page = 0; page < market.pages; page++) {
      use(page, paths[page], 1);
      for (let row = 0; row < price.length; row++) price[row] = left[row] > 0 ? 0 : Infinity;
      const again = market.best(page, price, false);
      if (again.value > paths[page].gain + 1e-12) {
        gained += again.value - paths[page].gain;
        const looks = Array.from(again.rows, (row) => row + 1).filter((look) => look <= market.instants);
        paths[page] = { looks, gain: again.value };
      }
      use(page, paths[page], -1);
    }
    if (gained === 0) break;
  }
  return paths;
}

/** Pages two by two plan again; an urgency that rises makes looks harmful, which exchanges do not expect. */
export function exchangeLooks(market: CollectMarket, paths: Path[], stepsMax: number): Path[] {
  if (!market.inner.falling) return paths;
  const looks = paths.map((path) => path.looks.slice());
  const { gained } = exchangePairs(gapsOf(market), looks, stepsMax);
  return gained > 0 ? looks.map((list, page) => pathOf(market, page, list)) : paths;
}

function gapsOf(market: CollectMarket): Gaps {
  return {
    pages: market.pages,
    instants: market.instants,
    capacity: market.capacity,
    siteRowOf: (page) => market.siteRowOf(page),
    worth: gainBetween(market),
  };
}

/** g(e, f), 0 for f beyond the last instant: what is not looked at is not captured. */
function gainBetween({ inner, instants }: CollectMarket): (page: number, e: number, f: number) => number {
  return (page, e, f) => {
    if (f > instants) return 0;
    const state = inner.statesOf(page);
    return state[e] < state[f] ? inner.gain(page, state[e], f) : 0;
  };
}

// A second.
const searchSteps = 2_000_000;

/** For a few pages: the best by search from what is known, and a bound. */
export function searchLooks(
  problem: CollectProblem,
  market: CollectMarket,
  known: Collection,
  price: Float64Array,
  bound: number,
): { paths: Path[]; bound: number } | undefined {
  const { instants, capacity, pages, siteCapacity } = problem;
  if (siteCapacity || !market.inner.falling || pages.length > searchPagesMax) return undefined;
  if (choicesOf(pages.length, capacity) > choicesMax || bound - known.utility <= 1e-9 * bound) return undefined;
  const worth = gainBetween(market);
  const { moments } = market.inner;
  const lastChange = pages.map((_, page) => {
    const last = new Int32Array(instants + 1);
    for (const instant of moments[page].at) last[instant] = instant;
    for (let f = 1; f <= instants; f++) if (last[f] === 0) last[f] = last[f - 1];
    return last;
  });
  const searched: LastLooks = {
    pages: pages.length,
    instants,
    capacity,
    unseen: () => 0,
    seen: (page, e, d) => -worth(page, e, d),
    same: (page, e) => lastChange[page][e],
  };
  const looks = new Uint8Array(pages.length * instants);
  known.schedule.forEach((list, j) => list.forEach((page) => (looks[page * instants + j] = 1)));
  const best = searchLastLooks(
    searched,
    { looks, cost: -known.utility, lowerBound: -bound, prices: price },
    searchSteps,
  );
  const paths = pages.map((_, page) => {
    const list = Array.from({ length: instants }, (_, j) => j + 1).filter((f) => best.looks[page * instants + f - 1]);
    return pathOf(market, page, list);
  });
  return { paths, bound: -best.lowerBound };
}
