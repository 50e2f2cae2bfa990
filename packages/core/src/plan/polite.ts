/**
 * The polite schedule of one source (Eckstein, Gal and Reiner, problems 8 and 9):
 *
 *     min Σ gap(p_{i−1}, p_i)   over 0 = p₀, p_i − p_{i−1} ≥ δ, p_k = T, k ≤ n, and p_i on a grid of N equal steps.
 *
 * Invariant: gap is Monge (see loss.ts), so the best cost is convex in the number of looks, a price on each look meets the
 * budget, and the priced problem is a shortest path found in O(N) (price-search.ts, monge-path.ts). The dual value certifies
 * the answer. A spacing that is no multiple of the grid's step is rounded up to one.
 *
 * With spacing the best cost need not fall with every further look: looks that would only be in each other's way are not
 * used. Looks that neither help nor harm are used. Among plans that cost the same the earliest is taken (lowest-path.ts).
 */
import { type Loss, scheduleLoss } from '../loss/loss.ts';
import { lowestPath } from './lowest-path.ts';
import { type Grid, pathsOf } from './monge-path.ts';
import { costCurve, curveCorners, pathWithin } from './price-search.ts';

export interface PolitePlan {
  readonly kind: 'planned';
  /** At most n ascending times; the last is the horizon. */
  readonly probes: Float64Array;
  readonly expectedCost: number;
  /** No schedule of the same problem costs less. */
  readonly lowerBound: number;
  /** What one more look would save, at the margin. */
  readonly price: number;
}

/** More looks than fit; `probesMax` is the largest number that does. */
export interface Infeasible {
  readonly kind: 'infeasible';
  readonly probesMax: number;
}

/** Equal up to rounding: spacings and horizons are sums and quotients of decimal fractions. */
const rounding = 1e-9;

export function stepsOf(spacing: number, step: number): number {
  return Math.max(1, Math.ceil(spacing / step - rounding));
}

/** How many looks fit into the horizon at this spacing, the last at its end. */
export function probesThatFit(horizon: number, spacing: number): number {
  return spacing > 0 ? Math.floor(horizon / spacing + rounding) : Infinity;
}

export function equalSteps(horizon: number, steps: number): Float64Array {
  const times = new Float64Array(steps + 1);
  for (let i = 0; i < steps; i++) times[i] = (i * horizon) / steps;
  times[steps] = horizon;
  return times;
}

/** The loss's window is [0, horizon]. */
export function planPolite(loss: Loss, probes: number, spacing: number, steps: number): PolitePlan | Infeasible {
  const stepsMin = stepsOf(spacing, loss.to / steps);
  const probesMax = Math.floor(steps / stepsMin);
  if (probesMax < 1 || (spacing > 0 && probes > probesMax)) return { kind: 'infeasible', probesMax };
  const times = equalSteps(loss.to, steps);
  const grid: Grid = { loss: withLines(loss, times), times, stepsMin };
  const looks = Math.min(probes, probesMax);
  const found = pathWithin(grid, pathsOf(grid), looks, coarsePrice(loss, steps, stepsMin, looks));
  const { price, lowerBound } = found;
  const path = lowestPath(grid, price, found.path, looks);
  return {
    kind: 'planned',
    probes: Float64Array.from(path.nodes.subarray(1), (node) => grid.times[node]),
    expectedCost: path.cost,
    lowerBound: Math.min(lowerBound, path.cost),
    price,
  };
}

/** The same loss with its lines on this grid worked out once. */
function withLines(loss: Loss, times: Float64Array): Loss {
  const lines = loss.lines?.(times);
  return lines ? { ...loss, lines: () => lines } : loss;
}

/** Below this a whole search costs less than a hint from a coarser grid would save. */
const hintSteps = 4_096;

/** The price on a grid an eighth as fine, which is near that of the fine one; undefined where it says nothing. */
function coarsePrice(loss: Loss, finer: number, finerMin: number, probes: number): number | undefined {
  const steps = Math.floor(finer / 8);
  if (finer < hintSteps || steps < 8 * probes) return undefined;
  const coarse = { loss, times: equalSteps(loss.to, steps), stepsMin: Math.ceil(finerMin / 8) };
  if (probes * coarse.stepsMin > steps) return undefined;
  return pathWithin(coarse, pathsOf(coarse), probes, coarsePrice(loss, steps, coarse.stepsMin, probes)).price;
}

/** The least cost for every budget: entry k − 1 is that of at most k looks, k = 1 … probes. */
export function politeCurve(loss: Loss, probes: number, spacing: number, steps: number): Float64Array | Infeasible {
  const stepsMin = stepsOf(spacing, loss.to / steps);
  const probesMax = Math.floor(steps / stepsMin);
  if (probesMax < 1 || (spacing > 0 && probes > probesMax)) return { kind: 'infeasible', probesMax };
  const grid: Grid = { loss, times: equalSteps(loss.to, steps), stepsMin };
  return costCurve(curveCorners(grid, pathsOf(grid), probes), probes);
}

/** What is wrong with a plan for this problem, in words; undefined when it is feasible and its numbers agree. */
export function checkPlan(plan: PolitePlan, loss: Loss, probes: number, spacing: number): string | undefined {
  const looks = plan.probes;
  if (looks.length < 1 || looks.length > probes) return `${looks.length} looks where 1 to ${probes} are allowed`;
  if (looks[looks.length - 1] !== loss.to) return `the last look is at ${looks[looks.length - 1]}, not at ${loss.to}`;
  for (let i = 0; i < looks.length; i++) {
    const gap = looks[i] - (i > 0 ? looks[i - 1] : loss.from);
    if (!(gap >= spacing - rounding * (spacing + loss.to))) return `looks ${i} and ${i + 1} are ${gap} apart`;
  }
  const cost = scheduleLoss(loss, loss.from, looks);
  if (!(Math.abs(cost - plan.expectedCost) <= rounding * cost)) return `it costs ${cost}, not ${plan.expectedCost}`;
  if (!(plan.lowerBound <= plan.expectedCost)) return `its bound ${plan.lowerBound} is above its cost`;
  return undefined;
}
