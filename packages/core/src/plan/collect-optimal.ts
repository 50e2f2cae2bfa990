/**
 * The best schedule that can be certified for a whole epoch (the paper's OPTIMAL, §3.1, which its authors thought too
 * expensive): pages decouple at prices per instant, each takes its longest path over gaps, and prices clear the capacities.
 *
 * Small epochs: the linear programme over paths, exact, with branching where it splits a page (assign.ts). Where that does not
 * come to an end, and in larger ones: prices by descent (price-descent.ts), a schedule from them (collect-ahead.ts), pages
 * planned again one by one and two by two in what the others leave (exchange.ts), and for a few pages a search over all their last
 * looks (last-look-search.ts). The better of all for schedule and bound is given, with the gap between them. All effort is counted
 * in steps, never in time: the same problem has the same answer everywhere. `utility ≤ optimum ≤ upperBound` always.
 */
import { type Collected, isSparse, urgencyGrowth } from '../loss/capture.ts';
import { type Assignment, assign } from './assign.ts';
import type { Plan } from './clearing.ts';
import { scheduleAtPrices } from './collect-ahead.ts';
import { pricedValue, pricesByCrowding } from './collect-bound.ts';
import { collectComplete } from './collect-complete.ts';
import { type CollectMarket, collectMarket } from './collect-market.ts';
import type { Path } from './collect-page.ts';
import { pathOf, pathsOf, scheduler } from './collect-paths.ts';
import { exchangeLooks, refill, searchLooks } from './collect-repair.ts';
import { pricesOfInstants } from './collect-settled.ts';
import { type Collection, type CollectProblem, collect } from './collect.ts';
import { priceBoundByDescent } from './price-descent.ts';

export interface CertifiedCollection extends Collection {
  readonly upperBound: number;
  /** Of each instant, what one more look in it would be worth; undefined where the epoch is too large for prices. */
  readonly price: Float64Array | undefined;
  readonly proven: boolean;
}

export interface CollectEffort {
  /** Elementary steps of path search that may be spent; eight million are about a second. */
  readonly stepsMax: number;
  /** Good enough: the gap at which the search for prices stops. */
  readonly gapRelative: number;
}

const usualEffort: CollectEffort = { stepsMax: 8e6, gapRelative: 1e-6 };

// Pivots cost rows² and searches, and their number grows faster than that: beyond the first of these instants prices come
// first, and beyond the second the programme does not end.
const exactInstantsMax = 12;
const triedInstantsMax = 40;
const exactWork = 2e7;
const triedWork = 4e6;

export function collectOptimal(problem: CollectProblem, effort: CollectEffort = usualEffort): CertifiedCollection {
  const greedy = collect(problem, false);
  const { upperBound, proven, growth } = guaranteed(greedy, problem);
  // Only the moment counts, or nothing can be looked at: greedy is optimal, and needs no programme to prove it.
  if (growth === 0 || problem.capacity === 0) return settled(greedy, pricesOfInstants(problem, greedy.schedule));
  // Everything there is.
  if (proven) return settled(greedy, new Float64Array(problem.instants));
  const market = marketWithin(problem, effort);
  // Not even one search for every page: the paper's guarantee is the certificate.
  if (!market) return { ...greedy, price: undefined, proven, upperBound };
  const exact = problem.instants <= exactInstantsMax ? exactly(problem, market, greedy, exactWork) : undefined;
  if (exact?.proven) return exact;
  const priced = byPrices(problem, market, exact ?? greedy, effort, exact?.upperBound ?? Infinity);
  if (exact || priced.proven || problem.instants > triedInstantsMax) return priced;
  const tried = exactly(problem, market, priced, triedWork);
  return tried.proven ? tried : { ...priced, upperBound: Math.min(priced.upperBound, tried.upperBound) };
}

/** Only the bound, for a schedule made otherwise: that of the prices, without branching. */
export function collectUpperBound(problem: CollectProblem, known: Collection, effort = usualEffort): number {
  if (problem.pages.length === 0 || problem.capacity === 0) return 0;
  const { upperBound, proven } = guaranteed(known, problem);
  const market = proven ? undefined : marketWithin(problem, effort);
  if (!market) return upperBound;
  if (problem.instants <= triedInstantsMax) {
    const { relaxed, cleared } = programme(problem, market, known, 1, triedWork);
    if (cleared) return Math.min(upperBound, relaxed);
  }
  const iterations = iterationsWithin(market, effort);
  const start = pricesByCrowding(market, usualGain(known), iterations / 3);
  const { bound } = priceBoundByDescent(
    pricedValue(market),
    start,
    known.utility,
    iterations,
    effort.gapRelative,
    () => 0,
  );
  return Math.min(upperBound, bound);
}

// A possible change costs about 60 bytes in the market: 1.2 GB.
const changesMax = 20_000_000;

// Few prices are better than none: large epochs may take some seconds more.
const stepsAtLeast = 2e9;
const iterationsAtLeast = 60;

function marketWithin(problem: CollectProblem, effort: CollectEffort): CollectMarket | undefined {
  let changes = 0;
  for (const { change } of problem.pages) changes += isSparse(change) ? change.at.length : problem.instants;
  if (changes > changesMax) return undefined;
  const market = collectMarket(problem);
  return market.inner.steps * 4 > Math.max(stepsAtLeast, effort.stepsMax) ? undefined : market;
}

// A tenth of a second for each schedule that is made.
const exchangeSteps = 3_000_000;

// Prices move little after this many.
const iterationsMost = 450;

function iterationsWithin(market: CollectMarket, { stepsMax }: CollectEffort): number {
  const { steps } = market.inner;
  const least = Math.max(4, Math.min(iterationsAtLeast, Math.floor(stepsAtLeast / steps)));
  return Math.min(iterationsMost, Math.max(least, Math.floor(stepsMax / steps)));
}

function settled(greedy: Collection, price: Float64Array): CertifiedCollection {
  return { ...greedy, upperBound: greedy.utility, price, proven: true };
}

/** 1 + a times what greedy has, or everything there is to capture, whichever is less. */
function guaranteed({ utility }: Collection, { pages, instants }: CollectProblem) {
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
  const upperBound = Math.min((1 + growth) * utility, rising ? Infinity : everything);
  return { upperBound, growth, proven: upperBound <= utility };
}

function programme(
  problem: CollectProblem,
  market: CollectMarket,
  greedy: Collection,
  nodesMax: number,
  workMax: number,
): Assignment {
  const none = problem.pages.map((): Plan => ({ rows: new Int32Array(0), value: 0 }));
  const start = pathsOf(problem, market, greedy.schedule).map((path, page) =>
    market.planOf(page, path.looks, path.gain),
  );
  const rows = market.capacity.length;
  const pivotsMax = Math.floor(workMax / (rows * rows + 20 * problem.instants));
  return assign(market, start, none, { branchRows: problem.instants, nodesMax, pivotsMax });
}

function exactly(
  problem: CollectProblem,
  market: CollectMarket,
  greedy: Collection,
  workMax: number,
): CertifiedCollection {
  const found = programme(problem, market, greedy, 3000, workMax);
  const paths = found.plans.map((plan, page): Path => {
    const looks = Array.from(plan.rows, (row) => row + 1).filter((look) => look <= problem.instants);
    return pathOf(market, page, looks);
  });
  const { schedule, utility } = scheduler(problem, market)(paths);
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
  known: Collection,
  effort: CollectEffort,
  boundKnown: number,
): CertifiedCollection {
  const complete = collectComplete(problem);
  let best: Collection = complete && complete.utility > known.utility ? complete : known;
  const iterationsMax = iterationsWithin(market, effort);
  const scheduleOf = scheduler(problem, market);
  const consider = (paths: readonly Path[]) => {
    const found = scheduleOf(paths);
    if (found.utility > best.utility) best = found;
  };
  // Making a schedule costs many searches: only now and then, and at the end.
  const attempt = (price: Float64Array) =>
    consider(exchangeLooks(market, refill(market, scheduleAtPrices(market, price)), exchangeSteps));
  let next = 0;
  const priced = priceBoundByDescent(
    pricedValue(market),
    pricesByCrowding(market, usualGain(known), iterationsMax / 3),
    best.utility,
    iterationsMax,
    effort.gapRelative,
    (price, _, iteration) => {
      if (iteration >= next) {
        attempt(price);
        next = iteration + Math.max(10, iterationsMax / 4);
      }
      return best.utility;
    },
  );
  attempt(priced.price);
  consider(exchangeLooks(market, pathsOf(problem, market, best.schedule), exchangeSteps));
  let bound = Math.min(priced.bound, boundKnown);
  const searched = searchLooks(problem, market, best, priced.price, bound);
  if (searched) {
    consider(searched.paths);
    bound = Math.min(bound, searched.bound);
  }
  return {
    schedule: best.schedule,
    utility: best.utility,
    upperBound: Math.max(best.utility, bound),
    price: priced.price.subarray(0, problem.instants).map((p) => (p > 1e-9 * usualGain(known) ? p : 0)),
    proven: bound - best.utility <= 1e-9 * bound,
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
