/**
 * The n-day plan (Brewington §2.3.3, eqs. 25–34, for every n): on which days to look at which pages, at most `capacity` a
 * day, so that the discounted cost of pages out of date over all days is least.
 *
 * A strategy's cost is a sum over gaps between looks (horizon-costs.ts), so at prices per day each page finds its best of 2ⁿ
 * strategies as a shortest path over n + 1 days, and prices that clear the days give the optimum; there is no search over
 * |OO|. Small problems are solved exactly: the linear programme over strategies, with branching where a page is split
 * (assign.ts; with costs from a change model that happens in 1 or 2 % of problems of eight days). Where that does not end, and
 * in larger ones: prices (horizon-scale.ts), whole plans repaired to the capacities, pages planned again two by two
 * (exchange.ts), a few pages over many days by search (last-look-search.ts). The better of all for plan and bound is given:
 * `lowerBound ≤ optimum ≤ cost`. Pages with one law, age, wait and weight are one kind and planned once; the lowest of them looks
 * first. Cost: O(n²) a kind and price vector.
 */
import { type Assignment, type AssignLimits, assign } from './assign.ts';
import { type Cleared, type Market, type Plan, clear } from './clearing.ts';
import { exchangePairs } from './exchange.ts';
import { type HorizonLoss, type HorizonPage, costCells, costIndex, gapCosts } from './horizon-costs.ts';
import { planAtScale } from './horizon-scale.ts';
import { choicesMax, choicesOf, searchLastLooks, searchPagesMax } from './last-look-search.ts';
import { lowestFirst } from './lowest-first.ts';

export interface HorizonProblem {
  readonly days: number;
  readonly capacity: number;
  readonly discount: number;
  readonly loss: HorizonLoss;
  readonly pages: readonly HorizonPage[];
}

export interface HorizonPlan {
  /** `looks[page · days + day]` is 1 where the page is observed, days from 0. */
  readonly looks: Uint8Array;
  readonly cost: number;
  readonly lowerBound: number;
  /** Of each day, what one more observation on it would save. */
  readonly prices: Float64Array;
}

// Beyond this many pages × days² the price method is as good, and much faster.
const exactCellsMax = 40_000;

// The programme of a long horizon has many equal solutions, and pivoting between them takes minutes.
const exactDaysMax = 14;

// Up to this many kinds × days² the programme itself is solved within a second.
const clearCellsMax = 25_000;

// Every pair of more pages would take too long, and prices alone are good enough there: gaps fall with the number of pages.
const exchangePagesMax = 1_500;
// A tenth of a second for each plan that is made.
const exchangeSteps = 4_000_000;
const exchangeStepsLast = 20_000_000;
const searchSteps = 3_000_000;

export function planHorizon(problem: HorizonProblem): HorizonPlan {
  const { days, capacity, pages } = problem;
  const kinds = kindsOf(problem);
  let exact: HorizonPlan | undefined;
  if (days <= exactDaysMax && pages.length * days * days <= exactCellsMax) {
    const market = gapMarket(kinds, days, capacity);
    const none = pages.map((_, page) => market.plan(page, []));
    const found = assign(market, none, none, limitsFor(days));
    exact = asPlan(found, days);
    if (found.proven) return inOrder(exact, kinds.kindOf, kinds.count.length, days);
  }
  const priced = planByPrices(problem, kinds);
  return inOrder(exact ? betterOf(exact, priced) : priced, kinds.kindOf, kinds.count.length, days);
}

function betterOf(a: HorizonPlan, b: HorizonPlan): HorizonPlan {
  const [best, other] = a.cost <= b.cost ? [a, b] : [b, a];
  return { ...best, lowerBound: Math.min(best.cost, Math.max(best.lowerBound, other.lowerBound)) };
}

/** By prices alone, for any size. */
export function planByPrices(problem: HorizonProblem, kinds = kindsOf(problem)): HorizonPlan {
  const { days, capacity } = problem;
  const few = kinds.count.length * days * days <= clearCellsMax && days <= exactDaysMax;
  const pages = kinds.kindOf.length;
  const repair = (plan: HorizonPlan): HorizonPlan =>
    pages > exchangePagesMax || isClosed(plan) ? plan : exchangeDays(kinds, days, capacity, plan, exchangeSteps);
  const found = planAtScale(kinds, days, capacity, repair, few ? clearKinds(kinds, days, capacity) : undefined);
  if (pages > exchangePagesMax || isClosed(found)) return found;
  const plan = exchangeDays(kinds, days, capacity, found, exchangeStepsLast);
  if (isClosed(plan) || pages > searchPagesMax || choicesOf(pages, capacity) > choicesMax) return plan;
  return searchDays(kinds, days, capacity, plan);
}

function isClosed({ cost, lowerBound }: HorizonPlan): boolean {
  return cost - lowerBound <= 1e-12 * cost;
}

/** The optimum and the value of the relaxation, in which a page may be split between strategies: equal where it is integral. */
export function relaxHorizon(problem: HorizonProblem): { readonly cost: number; readonly relaxed: number } {
  const market = gapMarket(kindsOf(problem), problem.days, problem.capacity);
  const none = problem.pages.map((_, page) => market.plan(page, []));
  const { value, relaxed } = assign(market, none, none, limitsFor(problem.days));
  return { cost: 0 - value, relaxed: 0 - relaxed };
}

/** What the days after a look on day e and before one on day f cost a page; f = days + 1 is after the last. */
function gapCost({ kindOf, weight, offset, costs }: Kinds, days: number) {
  return (page: number, e: number, f: number): number => {
    if (f === e + 1) return 0;
    const kind = kindOf[page];
    return weight[kind] * costs[offset[kind] + costIndex(days, e, f - 1)];
  };
}

/** Pages two by two plan again in what the others leave. */
function exchangeDays(kinds: Kinds, days: number, capacity: number, plan: HorizonPlan, stepsMax: number): HorizonPlan {
  const pages = kinds.kindOf.length;
  const gap = gapCost(kinds, days);
  const lists = Array.from({ length: pages }, (_, page) => looksOf(plan.looks, page, days));
  const { gained } = exchangePairs(
    {
      pages,
      instants: days,
      capacity: Array<number>(days).fill(capacity),
      siteRowOf: () => -1,
      worth: (page, e, f) => -gap(page, e, f),
    },
    lists,
    stepsMax,
  );
  if (gained <= 0) return plan;
  const looks = new Uint8Array(pages * days);
  let cost = 0;
  lists.forEach((list, page) => {
    let last = 0;
    for (const look of list) {
      looks[page * days + look - 1] = 1;
      cost += gap(page, last, look);
      last = look;
    }
    cost += gap(page, last, days + 1);
  });
  return { ...plan, looks, cost, lowerBound: Math.min(plan.lowerBound, cost) };
}

/** A few pages over as many days as one likes. */
function searchDays(kinds: Kinds, days: number, capacity: number, known: HorizonPlan): HorizonPlan {
  const { kindOf, offset, costs, weight } = kinds;
  const unseen = (page: number, e: number, d: number): number => {
    const kind = kindOf[page];
    const upTo = costs[offset[kind] + costIndex(days, e, d)];
    const before = d - 1 > e ? costs[offset[kind] + costIndex(days, e, d - 1)] : 0;
    return weight[kind] * (upTo - before);
  };
  return searchLastLooks({ pages: kindOf.length, instants: days, capacity, unseen, seen: () => 0 }, known, searchSteps);
}

function looksOf(looks: Uint8Array, page: number, days: number): number[] {
  const list: number[] = [];
  for (let d = 1; d <= days; d++) if (looks[page * days + d - 1]) list.push(d);
  return list;
}

/** The plan with the lowest page of each kind looking first. */
function inOrder(plan: HorizonPlan, kindOf: Int32Array, kinds: number, days: number): HorizonPlan {
  if (kinds === kindOf.length) return plan;
  const looks = plan.looks.slice();
  const compare = (a: number, b: number): number => {
    for (let d = 0; d < days; d++) {
      const difference = plan.looks[b * days + d] - plan.looks[a * days + d];
      if (difference !== 0) return difference;
    }
    return 0;
  };
  lowestFirst(kindOf, kinds, compare).forEach((from, page) => {
    if (from !== page) looks.set(plan.looks.subarray(from * days, (from + 1) * days), page * days);
  });
  return { ...plan, looks };
}

/** For a few kinds of very many pages: the programme itself, each kind as often as it is there. */
function clearKinds(kinds: Kinds, days: number, capacity: number): Cleared {
  const one = { ...kinds, kindOf: Int32Array.from(kinds.count.keys()) };
  const market = { ...gapMarket(one, days, capacity), count: (kind: number) => kinds.count[kind] };
  const none = Array.from(kinds.count, (_, kind) => market.plan(kind, []));
  return clear(market, none, (_, price) => price, 20_000);
}

/** Costs given by hand, one number a strategy and page: `costs[page][strategy]`, bit d of a strategy for a look on day d. */
export function planStrategies(costs: readonly Float64Array[], days: number, capacity: number): HorizonPlan {
  const rowsOf = (strategy: number) =>
    Int32Array.from(Array.from({ length: days }, (_, d) => d).filter((d) => strategy & (1 << d)));
  const rows = Array.from({ length: 1 << days }, (_, strategy) => rowsOf(strategy));
  const planOf = (page: number, strategy: number): Plan => ({ rows: rows[strategy], value: -costs[page][strategy] });
  const market: Market = {
    pages: costs.length,
    capacity: Array<number>(days).fill(capacity),
    best: (page, price) => {
      let best = 0;
      let least = Infinity;
      for (let strategy = 0; strategy < rows.length; strategy++) {
        let net = costs[page][strategy];
        for (const row of rows[strategy]) net += price[row];
        if (net < least) [least, best] = [net, strategy];
      }
      return planOf(page, best);
    },
  };
  const none = costs.map((_, page) => planOf(page, 0));
  const names = new Map<string, number>();
  const kindOf = Int32Array.from(costs, (list) => numbered(names, list.join()));
  return inOrder(asPlan(assign(market, none, none, limitsFor(days)), days), kindOf, names.size, days);
}

/** Each branch and pivot costs with a high power of the days: the effort stays one of seconds. */
function limitsFor(days: number): AssignLimits {
  const nodesMax = Math.min(2000, Math.max(4, Math.floor(2e8 / days ** 4)));
  return { branchRows: days, nodesMax, pivotsMax: Math.floor(1e7 / (days * days + 100)) };
}

function asPlan(found: Assignment, days: number): HorizonPlan {
  const looks = new Uint8Array(found.plans.length * days);
  found.plans.forEach((plan, page) => plan.rows.forEach((row) => (looks[page * days + row] = 1)));
  return { looks, cost: 0 - found.value, lowerBound: 0 - found.bound, prices: found.price };
}

/** Pages that are alike in everything, and what gaps cost them. */
export interface Kinds {
  readonly kindOf: Int32Array;
  readonly count: Int32Array;
  readonly weight: Float64Array;
  /** Where a kind's costs for weight 1 begin in `costs`. */
  readonly offset: Float64Array;
  readonly costs: Float64Array;
}

/** Looking for pages that are alike costs as much as planning them where there are none: a few tell. */
function areAllDifferent(pages: readonly HorizonPage[]): boolean {
  const few = Math.min(2000, pages.length);
  const seen = new Set<HorizonPage['chain']>();
  for (let n = 0; n < few; n++) seen.add(pages[Math.floor((n * pages.length) / few)].chain);
  return few > 0 && seen.size === few;
}

function kindsApart({ days, discount, loss, pages }: HorizonProblem): Kinds {
  const cells = costCells(days);
  const costs = new Float64Array(pages.length * cells);
  for (let n = 0; n < pages.length; n++) gapCosts(pages[n], days, discount, loss, costs, n * cells);
  return {
    kindOf: Int32Array.from({ length: pages.length }, (_, n) => n),
    count: new Int32Array(pages.length).fill(1),
    weight: new Float64Array(pages.length).fill(1),
    offset: Float64Array.from({ length: pages.length }, (_, n) => n * cells),
    costs,
  };
}

function kindsOf(problem: HorizonProblem): Kinds {
  const { days, discount, loss, pages } = problem;
  if (areAllDifferent(pages)) return kindsApart(problem);
  const chains = new Map<HorizonPage['chain'], number>();
  const weights = new Map<number, number>();
  const law = numbering();
  const kind = numbering();
  const kindOf = new Int32Array(pages.length);
  const count = new Int32Array(pages.length);
  const weight = new Float64Array(pages.length);
  const lawOf = new Int32Array(pages.length);
  const first = new Int32Array(pages.length);
  for (let i = 0; i < pages.length; i++) {
    const page = pages[i];
    const state = law(
      numbered(chains, page.chain),
      (page.age * 8192 + page.since) * page.chain.cycle + ((page.day ?? 0) % page.chain.cycle),
    );
    const own = kind(state, numbered(weights, page.weight));
    // Numbers are handed out in order, so a number that was not there before is this page's.
    if (count[own]++ === 0) {
      weight[own] = page.weight;
      lawOf[own] = state;
      first[state] = i;
    }
    kindOf[i] = own;
  }
  const cells = costCells(days);
  const laws = law.size();
  const kinds = kind.size();
  const costs = new Float64Array(laws * cells);
  for (let n = 0; n < laws; n++) gapCosts({ ...pages[first[n]], weight: 1 }, days, discount, loss, costs, n * cells);
  return {
    kindOf,
    count: count.subarray(0, kinds),
    weight: weight.subarray(0, kinds),
    offset: Float64Array.from(lawOf.subarray(0, kinds), (n) => n * cells),
    costs,
  };
}

function numbered<Key>(known: Map<Key, number>, key: Key): number {
  let number = known.get(key);
  if (number === undefined) known.set(key, (number = known.size));
  return number;
}

/** Dense numbers for pairs of numbers. */
function numbering() {
  const rows = new Map<number, number | Map<number, number>>();
  const only = new Map<number, number>();
  let size = 0;
  const number = (a: number, b: number): number => {
    // Most first halves have one second half only: no map of its own for those.
    const seen = only.get(a);
    if (seen === undefined && !rows.has(a)) {
      only.set(a, b);
      rows.set(a, size);
      return size++;
    }
    const row = rows.get(a) ?? 0;
    if (typeof row === 'number') {
      if (seen === b) return row;
      rows.set(
        a,
        new Map([
          [seen ?? 0, row],
          [b, size],
        ]),
      );
      return size++;
    }
    const known = row.get(b);
    if (known !== undefined) return known;
    row.set(b, size);
    return size++;
  };
  return Object.assign(number, { size: () => size });
}

interface GapMarket extends Market {
  plan(page: number, looks: readonly number[]): Plan;
}

function gapMarket(kinds: Kinds, days: number, capacity: number): GapMarket {
  const value = new Float64Array(days + 2);
  const from = new Int32Array(days + 2);
  const gap = gapCost(kinds, days);
  const plan = (page: number, looks: readonly number[]): Plan => {
    let cost = 0;
    let last = 0;
    for (const look of [...looks, days + 1]) {
      cost += gap(page, last, look);
      last = look;
    }
    return { rows: Int32Array.from(looks, (look) => look - 1), value: -cost };
  };
  return {
    pages: kinds.kindOf.length,
    capacity: Array<number>(days).fill(capacity),
    plan,
    best: (page, price) => {
      value[0] = 0;
      for (let f = 1; f <= days + 1; f++) {
        value[f] = Infinity;
        const toll = f <= days ? price[f - 1] : 0;
        for (let e = 0; e < f; e++) {
          const cost = value[e] + gap(page, e, f) + toll;
          if (cost < value[f]) [value[f], from[f]] = [cost, e];
        }
      }
      const looks: number[] = [];
      for (let f = from[days + 1]; f > 0; f = from[f]) looks.push(f);
      return plan(page, looks.reverse());
    },
  };
}
