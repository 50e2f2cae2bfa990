/**
 * A plan for many pages over a horizon: how often and when to look at each, within one budget, caps and spacing on sites.
 *
 * The market (market.ts) sets the counts, each page's shape its best times. Where a site asks for spacing, its looks are
 * moved apart: with wishes t₁ ≤ t₂ ≤ … the times t_i′ with t_{i+1}′ − t_i′ ≥ δ nearest to them in weighted squares are an
 * isotonic regression of t_i − i·δ (pool adjacent violators), clipped to the horizon: O(looks) a site. The loss is then
 * counted again at the times that came out, so the gap to the market's bound is that of the plan as it will be carried out.
 */
import type { HorizonShape } from './market-shape.ts';
import { type Cleared, clear } from './market.ts';

export interface MarketProblem {
  readonly horizon: number;
  /** Looks in all within the horizon. */
  readonly budget: number;
  readonly shapes: readonly HorizonShape[];
  readonly sites: readonly { readonly cap?: number; readonly spacing?: number }[];
  /** For each page: its shape, its rate × weight, its site (−1 for none). */
  readonly shape: ArrayLike<number>;
  readonly scale: Float64Array;
  readonly site: Int32Array;
}

export interface MarketPlan {
  /** The times of each page's looks, ascending. */
  readonly looks: readonly Float64Array[];
  readonly looksInAll: number;
  readonly loss: number;
  readonly lowerBound: number;
  /** (loss − lowerBound) ⁄ loss. */
  readonly gap: number;
  readonly price: number;
  readonly sitePrices: Float64Array;
}

export function planMarket(problem: MarketProblem): MarketPlan {
  const cleared = clearMarket(problem, problem.budget);
  const looks = Array.from(cleared.looks, (count, page) => problem.shapes[problem.shape[page]].times(count));
  const spaced = spaceOut(problem, looks);
  let loss = 0;
  let looksInAll = 0;
  spaced.forEach((times, page) => {
    const asPlanned = problem.scale[page] * problem.shapes[problem.shape[page]].loss(times.length);
    loss += times === looks[page] ? asPlanned : pageLoss(problem, page, times);
    looksInAll += times.length;
  });
  const lowerBound = Math.min(cleared.lowerBound, loss);
  const gap = loss > 0 ? (loss - lowerBound) / loss : 0;
  return {
    looks: spaced,
    looksInAll,
    loss,
    lowerBound,
    gap,
    price: cleared.price,
    sitePrices: cleared.sitePrices,
  };
}

function clearMarket(problem: MarketProblem, budget: number): Cleared {
  const caps = Float64Array.from(problem.sites, ({ cap, spacing }) => {
    const fits = spacing !== undefined && spacing > 0 ? Math.floor(problem.horizon / spacing + 1e-9) : Infinity;
    return Math.min(cap ?? Infinity, fits);
  });
  const { shape, scale, site, shapes } = problem;
  return clear({ demand: shape, scale, site, demands: shapes, caps, budget });
}

export interface BudgetPoint {
  readonly budget: number;
  readonly loss: number;
  /** What one more look would save here. */
  readonly price: number;
}

/** The loss, before spacing moves anything, at each of these budgets. */
export function lossAgainstBudget(problem: MarketProblem, budgets: readonly number[]): readonly BudgetPoint[] {
  return budgets.map((budget) => {
    const { loss, price } = clearMarket(problem, budget);
    return { budget, loss, price };
  });
}

function pageLoss(problem: MarketProblem, page: number, times: Float64Array): number {
  const { unit } = problem.shapes[problem.shape[page]];
  let sum = 0;
  let last = unit.from;
  for (const t of times) {
    sum += unit.gap(last, t);
    last = t;
  }
  return problem.scale[page] * (sum + unit.gap(last, unit.to));
}

function spaceOut(problem: MarketProblem, looks: readonly Float64Array[]): readonly Float64Array[] {
  const pagesOf: number[][] = problem.sites.map(() => []);
  problem.site.forEach((site, page) => {
    if (site >= 0 && (problem.sites[site].spacing ?? 0) > 0 && looks[page].length > 0) pagesOf[site].push(page);
  });
  const result = [...looks];
  pagesOf.forEach((pages, site) => {
    const spacing = problem.sites[site].spacing ?? 0;
    const owners: number[] = [];
    const wishes: number[] = [];
    for (const page of pages) {
      for (const at of looks[page]) {
        owners.push(page);
        wishes.push(at);
      }
    }
    const order = Uint32Array.from(wishes.keys()).sort((a, b) => wishes[a] - wishes[b] || owners[a] - owners[b]);
    const times = apart(
      Float64Array.from(order, (i) => wishes[i]),
      Float64Array.from(order, (i) => problem.scale[owners[i]]),
      spacing,
      problem.horizon,
    );
    for (const page of pages) result[page] = new Float64Array(looks[page].length);
    const used = new Map<number, number>();
    order.forEach((i, n) => {
      const before = used.get(owners[i]) ?? 0;
      result[owners[i]][before] = times[n];
      used.set(owners[i], before + 1);
    });
  });
  return result;
}

/** The times nearest to ascending wishes that keep the spacing within [0, horizon]. */
export function apart(wishes: Float64Array, weights: Float64Array, spacing: number, horizon: number): Float64Array {
  const count = wishes.length;
  const mean = new Float64Array(count);
  const mass = new Float64Array(count);
  const size = new Int32Array(count);
  let blocks = 0;
  for (let i = 0; i < count; i++) {
    mean[blocks] = wishes[i] - i * spacing;
    mass[blocks] = Math.max(weights[i], Number.MIN_VALUE);
    size[blocks] = 1;
    blocks++;
    while (blocks > 1 && mean[blocks - 2] > mean[blocks - 1]) {
      const [a, b] = [blocks - 2, blocks - 1];
      mean[a] = (mean[a] * mass[a] + mean[b] * mass[b]) / (mass[a] + mass[b]);
      mass[a] += mass[b];
      size[a] += size[b];
      blocks--;
    }
  }
  const times = new Float64Array(count);
  const latest = horizon - (count - 1) * spacing;
  for (let block = 0, i = 0; block < blocks; block++) {
    const at = Math.min(Math.max(mean[block], 0), latest);
    for (let end = i + size[block]; i < end; i++) times[i] = at + i * spacing;
  }
  return times;
}

/** What is wrong with a plan for this problem, in words; undefined when it keeps every limit and its numbers agree. */
export function checkMarketPlan(plan: MarketPlan, problem: MarketProblem): string | undefined {
  const slack = 1e-9 * problem.horizon;
  let loss = 0;
  let looksInAll = 0;
  const onSite: number[][] = problem.sites.map(() => []);
  for (const [page, times] of plan.looks.entries()) {
    loss += pageLoss(problem, page, times);
    looksInAll += times.length;
    for (let i = 0; i < times.length; i++) {
      if (!(times[i] >= 0 && times[i] <= problem.horizon)) return `page ${page} is looked at outside the horizon`;
      if (i > 0 && !(times[i] >= times[i - 1])) return `the looks at page ${page} are not in order`;
    }
    if (problem.site[page] >= 0) for (const at of times) onSite[problem.site[page]].push(at);
  }
  if (looksInAll > problem.budget) return `${looksInAll} looks, with a budget of ${problem.budget}`;
  for (const [site, times] of onSite.entries()) {
    const { cap = Infinity, spacing = 0 } = problem.sites[site];
    if (times.length > cap) return `${times.length} looks on site ${site}, with a cap of ${cap}`;
    times.sort((a, b) => a - b);
    for (let i = 1; i < times.length; i++)
      if (times[i] - times[i - 1] < spacing - slack)
        return `looks on site ${site} are ${times[i] - times[i - 1]} apart`;
  }
  if (!(Math.abs(loss - plan.loss) <= 1e-9 * loss)) return `it loses ${loss}, not ${plan.loss}`;
  if (!(plan.lowerBound <= plan.loss)) return `its bound ${plan.lowerBound} is above its loss`;
  return undefined;
}
