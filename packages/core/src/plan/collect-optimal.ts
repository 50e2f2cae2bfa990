/**
 * The best schedule that can be certified for a whole epoch (the paper's OPTIMAL, §3.1, which its authors thought too
 * expensive): pages decouple at prices per instant, each takes its longest path over gaps, and prices clear the capacities.
 *
 * Small epochs: the linear programme over paths, exact, with branching where it splits a page (assign.ts). Large ones:
 * prices by descent (collect-bound.ts), a schedule from them (collect-ahead.ts), single pages planned again within the
 * capacity left over; the gap between schedule and bound is reported. `utility ≤ optimum ≤ upperBound` always.
 */
import { type Collected, isSparse, urgencyGrowth } from '../loss/capture.ts';
import { type Assignment, assign } from './assign.ts';
import type { Plan } from './clearing.ts';
import { scheduleAtPrices } from './collect-ahead.ts';
import { priceBoundByDescent, pricesByCrowding } from './collect-bound.ts';
import { collectComplete } from './collect-complete.ts';
import { type CollectMarket, collectMarket } from './collect-market.ts';
import type { Path } from './collect-page.ts';
import { type Collection, type CollectProblem, collect } from './collect.ts';

export interface CertifiedCollection extends Collection {
  readonly upperBound: number;
  /** Of each instant, what one more look in it would be worth. */
  readonly price: Float64Array;
  readonly proven: boolean;
}

export interface CollectEffort {
  /** Elementary steps of path search that may be spent; two thousand million are about ten seconds. */
  readonly stepsMax: number;
  /** Good enough: the gap at which the search for prices stops. */
  readonly gapRelative: number;
}

const usualEffort: CollectEffort = { stepsMax: 2e9, gapRelative: 1e-6 };

// Pivots cost rows² and searches; beyond these sizes prices by descent are faster than the exact programme.
const exactRowsMax = 240;
const exactStepsMax = 1_500_000;

export function collectOptimal(problem: CollectProblem, effort: CollectEffort = usualEffort): CertifiedCollection {
  const greedy = collect(problem);
  if (problem.pages.length === 0 || problem.capacity === 0) return settled(greedy, problem);
  // Only the moment counts: greedy is optimal, and needs no prices to prove it.
  if (guaranteed(greedy, problem).proven) return settled(greedy, problem);
  const market = marketWithin(problem, effort);
  // Not even one search for every page: the paper's guarantee is the certificate.
  if (!market) return { ...settled(greedy, problem), ...guaranteed(greedy, problem) };
  return isSmall(market) ? exactly(problem, market, greedy) : byPrices(problem, market, greedy, effort);
}

/** Only the bound, for a schedule made otherwise. */
export function collectUpperBound(problem: CollectProblem, known: Collection, effort = usualEffort): number {
  if (problem.pages.length === 0 || problem.capacity === 0) return 0;
  const { upperBound } = guaranteed(known, problem);
  const market = marketWithin(problem, effort);
  if (!market) return upperBound;
  if (isSmall(market)) return Math.min(upperBound, exactly(problem, market, known).upperBound);
  const iterations = iterationsWithin(market, effort);
  const start = pricesByCrowding(market, usualGain(known), iterations / 3);
  const { bound } = priceBoundByDescent(market, start, known.utility, iterations, effort.gapRelative, () => 0);
  return Math.min(upperBound, bound);
}

// A possible change costs about 60 bytes in the market: 1.2 GB.
const changesMax = 20_000_000;

function marketWithin(problem: CollectProblem, effort: CollectEffort): CollectMarket | undefined {
  let changes = 0;
  for (const { change } of problem.pages) changes += isSparse(change) ? change.at.length : problem.instants;
  if (changes > changesMax) return undefined;
  const market = collectMarket(problem);
  return market.inner.steps * 4 > effort.stepsMax ? undefined : market;
}

function isSmall(market: CollectMarket): boolean {
  return market.capacity.length <= exactRowsMax && market.inner.steps <= exactStepsMax;
}

// Prices move little after this many.
const iterationsMost = 450;

function iterationsWithin(market: CollectMarket, { stepsMax }: CollectEffort): number {
  return Math.min(iterationsMost, Math.max(4, Math.floor(stepsMax / market.inner.steps)));
}

function settled(greedy: Collection, { instants }: CollectProblem): CertifiedCollection {
  return { ...greedy, upperBound: greedy.utility, price: new Float64Array(instants), proven: true };
}

/** 1 + a times what greedy has, or everything there is to capture, whichever is less. */
function guaranteed(greedy: Collection, { pages, instants }: CollectProblem): { upperBound: number; proven: boolean } {
  const growths = new Map<Collected['urgency'], number>();
  let growth = 0;
  let everything = 0;
  for (const { urgency, weight, change } of pages) {
    if (!growths.has(urgency)) growths.set(urgency, urgencyGrowth(urgency, instants));
    growth = Math.max(growth, growths.get(urgency) ?? 0);
    if (typeof change === 'number') everything += weight * change * instants;
    else everything = Infinity;
  }
  const rising = growth > 1;
  const upperBound = Math.min((1 + growth) * greedy.utility, rising ? Infinity : everything);
  return { upperBound, proven: upperBound <= greedy.utility };
}

function exactly(problem: CollectProblem, market: CollectMarket, greedy: Collection): CertifiedCollection {
  const none = problem.pages.map((): Plan => ({ rows: new Int32Array(0), value: 0 }));
  const start = pathsOf(problem, market, greedy.schedule).map((path, page) =>
    market.planOf(page, path.looks, path.gain),
  );
  const found: Assignment = assign(market, start, none, {
    branchRows: problem.instants,
    nodesMax: 3000,
    pivotsMax: 20_000,
  });
  const paths = found.plans.map((plan, page): Path => {
    const looks = Array.from(plan.rows, (row) => row + 1).filter((look) => look <= problem.instants);
    return pathOf(market, page, looks);
  });
  const { schedule, utility } = scheduleOf(paths, problem.instants);
  return {
    schedule,
    utility,
    upperBound: Math.max(utility, found.proven ? utility : found.bound),
    price: found.price.subarray(0, problem.instants),
    proven: found.proven,
  };
}

function byPrices(
  problem: CollectProblem,
  market: CollectMarket,
  greedy: Collection,
  effort: CollectEffort,
): CertifiedCollection {
  const complete = collectComplete(problem);
  let best: Collection = complete && complete.utility > greedy.utility ? complete : greedy;
  const iterationsMax = iterationsWithin(market, effort);
  // Making a schedule costs about six searches: only now and then, and at the end.
  const attempt = (price: Float64Array) => {
    const found = scheduleOf(refill(market, scheduleAtPrices(market, price)), problem.instants);
    if (found.utility > best.utility) best = found;
  };
  let next = 0;
  const priced = priceBoundByDescent(
    market,
    pricesByCrowding(market, usualGain(greedy), iterationsMax / 3),
    greedy.utility,
    iterationsMax,
    effort.gapRelative,
    (price, _, iteration) => {
      if (iteration >= next) {
        attempt(price);
        next = iteration + Math.max(10, iterationsMax / 12);
      }
      return best.utility;
    },
  );
  attempt(priced.price);
  return {
    schedule: best.schedule,
    utility: best.utility,
    upperBound: Math.max(best.utility, priced.bound),
    price: priced.price.subarray(0, problem.instants),
    proven: priced.bound - best.utility <= 1e-9 * priced.bound,
  };
}

/** What a look of greedy gains on average: the size of a price. */
function usualGain({ schedule, utility }: Collection): number {
  return (
    utility /
    Math.max(
      1,
      schedule.reduce((sum, list) => sum + list.length, 0),
    )
  );
}

/** Pages one by one plan again within what the others leave, while anyone gains. */
function refill(market: CollectMarket, paths: Path[]): Path[] {
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

/** A page's looks with their gain, without those that capture nothing. */
function pathOf(market: CollectMarket, page: number, looks: readonly number[]): Path {
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

function pathsOf({ pages }: CollectProblem, market: CollectMarket, schedule: readonly Int32Array[]): Path[] {
  const looks: number[][] = pages.map(() => []);
  schedule.forEach((list, index) => list.forEach((page) => looks[page].push(index + 1)));
  return looks.map((list, page) => pathOf(market, page, list));
}

function scheduleOf(paths: readonly Path[], instants: number): Collection {
  const lists: number[][] = Array.from({ length: instants }, () => []);
  let utility = 0;
  paths.forEach(({ looks, gain }, page) => {
    utility += gain;
    for (const look of looks) lists[look - 1].push(page);
  });
  return { schedule: lists.map((list) => Int32Array.from(list)), utility };
}
