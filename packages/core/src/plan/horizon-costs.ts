/**
 * What each day costs a page by the day of its last look (Brewington eqs. 26–31, for any number of days). Looking does not
 * change the page, so in a plan made ahead its age on day e is that of M^(since + e − 1) whatever was looked at before, and
 * the cost of a strategy is a sum over the gaps between looks:
 *
 *   cost(e, d) = weight · κ^(d−1) · E over the age on day e of [ changed in d − e steps ],  e ≥ 1 the day of the last look;
 *   cost(0, d) = weight · κ^(d−1) · [ changed in since + d − 1 steps from `age` ],
 *
 * or, for days-stale, Brewington's Z in place of the probability of change. Days count from 1. One pass over ages and days
 * for each e: O(n² · ages) a page, no matrix.
 */
import { type AgeChain, agesAfter, stepAges, stepsStale, unchangedFor } from '../model/age-chain.ts';

export interface HorizonPage {
  readonly chain: AgeChain;
  /** Seen at this age… */
  readonly age: number;
  /** …so many steps before the end of the first day. */
  readonly since: number;
  readonly weight: number;
  /** The day of the cycle on which it was seen, for chains with a pattern over days. */
  readonly day?: number;
}

export type HorizonLoss = 'stale' | 'days-stale';

/** Where cost(e, d) stands, 0 ≤ e < d ≤ n: rows by e. Cumulated over d, so that a gap is one subtraction-free entry. */
export function costIndex(days: number, e: number, d: number): number {
  return e * days - (e * (e - 1)) / 2 + (d - e - 1);
}

export function costCells(days: number): number {
  return (days * (days + 1)) / 2;
}

/** Fills `out` from `offset`: Σ_{e < d′ ≤ d} cost(e, d′) for all e < d. */
export function gapCosts(
  page: HorizonPage,
  days: number,
  discount: number,
  loss: HorizonLoss,
  out: Float64Array,
  offset: number,
): void {
  const { chain, age, since, weight } = page;
  const start = page.day ?? 0;
  let unchanged = unchangedFor(chain, age, since, start);
  let lost = loss === 'stale' ? 0 : stepsStale(chain, age, since, start);
  let sum = 0;
  let worth = weight;
  for (let d = 1; d <= days; d++) {
    if (d > 1) {
      unchanged *= 1 - chain.reset(age + since + d - 2, start + since + d - 2);
      lost += 1 - unchanged;
      worth *= discount;
    }
    sum += worth * (loss === 'stale' ? 1 - unchanged : lost);
    out[offset + costIndex(days, 0, d)] = sum;
  }
  if (days === 1) return;
  let ages = agesAfter(chain, age, since, start);
  let next = new Float64Array(ages.length);
  const alive = new Float64Array(ages.length);
  for (let e = 1; e < days; e++) {
    alive.set(ages);
    fromLook(page, alive, e, days, discount, loss, out, offset);
    stepAges(chain, ages, start + since + e - 1, next);
    [ages, next] = [next, ages];
  }
}

/** The gaps that begin with a look on day e, from the ages it may find. */
function fromLook(
  { chain, since, weight, day = 0 }: HorizonPage,
  alive: Float64Array,
  e: number,
  days: number,
  discount: number,
  loss: HorizonLoss,
  out: Float64Array,
  offset: number,
): void {
  const last = alive.length - 1;
  let stale = 0;
  let sum = 0;
  let worth = weight * discount ** e;
  for (let d = e + 1; d <= days; d++) {
    const today = day + since + d - 2;
    let unchanged = 0;
    for (let t = last; t >= 0; t--) {
      const older = alive[t] * (1 - chain.reset(t, today));
      unchanged += older;
      if (t === last) alive[t] = older;
      else alive[t + 1] = t + 1 === last ? alive[last] + older : older;
    }
    if (last > 0) alive[0] = 0;
    stale = loss === 'stale' ? 1 - unchanged : stale + 1 - unchanged;
    sum += worth * stale;
    worth *= discount;
    out[offset + costIndex(days, e, d)] = sum;
  }
}
