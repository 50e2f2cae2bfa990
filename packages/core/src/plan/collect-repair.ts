/**
 * What a schedule of collecting gains after it was made: pages planned again one by one and two by two in what the others
 * leave, a few pages searched over all their last looks, and looks that capture nothing left out.
 */
import type { Collected } from '../loss/capture.ts';
import type { CollectMarket } from './collect-market.ts';
import type { Path } from './collect-page.ts';
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
function gainBetween(market: CollectMarket): (page: number, e: number, f: number) => number {
  const { moments } = market.inner;
  const states = moments.map(() => undefined as Int32Array | undefined);
  const stateOf = (page: number): Int32Array => {
    const known = states[page];
    if (known) return known;
    const state = new Int32Array(market.instants + 1);
    for (const instant of moments[page].at) state[instant]++;
    for (let f = 1; f <= market.instants; f++) state[f] += state[f - 1];
    states[page] = state;
    return state;
  };
  return (page, e, f) => {
    if (f > market.instants) return 0;
    const state = stateOf(page);
    return state[e] < state[f] ? market.inner.gain(page, state[e], f) : 0;
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

/** A page's looks with their gain, without those that capture nothing. */
export function pathOf(market: CollectMarket, page: number, looks: readonly number[]): Path {
  const { at } = market.inner.moments[page];
  const useful: number[] = [];
  let gain = 0;
  let captured = 0;
  for (const look of looks) {
    const from = captured;
    while (captured < at.length && at[captured] <= look) captured++;
    const more = captured > from ? market.inner.gain(page, from, look) : 0;
    if (more > 0) useful.push(look);
    gain += more;
  }
  return { looks: useful, gain };
}

export function pathsOf({ pages }: CollectProblem, market: CollectMarket, schedule: readonly Int32Array[]): Path[] {
  const looks: number[][] = pages.map(() => []);
  schedule.forEach((list, index) => list.forEach((page) => looks[page].push(index + 1)));
  return looks.map((list, page) => pathOf(market, page, list));
}

/** Pages that are alike share their looks so that the lowest has the earliest. */
export function scheduleOf({ pages, instants }: CollectProblem, paths: readonly Path[]): Collection {
  const lists: number[][] = Array.from({ length: instants }, () => []);
  let utility = 0;
  lowestFirst(pages, paths).forEach(({ looks, gain }, page) => {
    utility += gain;
    for (const look of looks) lists[look - 1].push(page);
  });
  return { schedule: lists.map((list) => Int32Array.from(list)), utility };
}

function lowestFirst(pages: readonly Collected[], paths: readonly Path[]): readonly Path[] {
  const alike = new Map<string, number[]>();
  pages.forEach((page, n) => {
    if (paths[n].looks.length === 0 && paths[n].gain === 0 && typeof page.change === 'object' && pages.length > 2000)
      return;
    const name = JSON.stringify([page.weight, page.change, page.life, page.urgency, page.site]);
    const list = alike.get(name);
    if (list) list.push(n);
    else alike.set(name, [n]);
  });
  const sorted = [...paths];
  for (const list of alike.values()) {
    if (list.length === 1) continue;
    const own = list.map((page) => paths[page]).sort((a, b) => earlier(a.looks, b.looks));
    list.forEach((page, n) => (sorted[page] = own[n]));
  }
  return sorted;
}

/** By the first look in which they differ; a look comes before none. */
function earlier(a: readonly number[], b: readonly number[]): number {
  for (let n = 0; n < Math.max(a.length, b.length); n++) {
    const difference = (a[n] ?? Infinity) - (b[n] ?? Infinity);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
  }
  return 0;
}
