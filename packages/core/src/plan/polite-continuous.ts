/**
 * The polite schedule in continuous time (Eckstein, Gal and Reiner, problem 8), with a proof of how good it is.
 *
 * Upper bound: the best schedule on a fine grid that holds every break of the profiles, then moved off the grid (each look
 * among its place and its neighbours at half the last distance, all looks at once by a small dynamic programme).
 *
 * Lower bound: let h(s) be the least priced cost after a look at s. Between neighbouring grid points, γ apart with no break
 * between, with λ and a constant there:
 * - h(s) ≥ chord of h − λa·γ²/8, because the best next look from s is also open to the grid points on either side, and
 *   gap(·, f) has second derivative ≤ λa;
 * - gap(s, f) + h(f), as a function of f, then dips below its values at the grid points by at most (λa + λa)·γ²/8.
 * So the grid problem in which every look at point j is cheaper by ε_j = λa·γ²/4 (the greater of its two cells) bounds the
 * continuous one from below: the same sweep with a bonus, and the gap falls with γ². (Proposition 8's bound falls with γ.)
 * A look less than γ after s is open to the point before s only; continuing the gap's formula to negative lengths covers it
 * at the price of a factor exp(λγ).
 *
 * With spacing δ the best next look from s may be open to one neighbour only. On a grid that a shift by δ maps onto itself
 * (polite-refined-grid.ts) such a pair (s, f) lies in a triangle of grid pairs that keep the spacing; linear interpolation on
 * it errs by at most γ²/4 times the Hessian's norm ≤ max(λ_s a_s, λ_f a_f) + λ_s a_f, which is added to ε.
 *
 * Where a page changes many times within γ that bound is worth nothing, and a cruder one is taken: a look within a cell is no
 * better than one that counts as made at the cell's end for what follows and at its beginning for what was before. For
 * staleness there is another: no look makes more time current than the best one alone would, n looks no more than n times that.
 *
 * Cost: N grows from a few hundred points a look until the gap is below the tolerance or the limit is met.
 */
import { type Loss, pieceOf, scheduleLoss } from '../loss/loss.ts';
import { obsolescence } from '../loss/obsolescence.ts';
import { staleness } from '../loss/staleness.ts';
import { type Profile, type SharedPieces, sharedPieces } from '../time/profile.ts';
import { lowestPath } from './lowest-path.ts';
import { pathsOf } from './monge-path.ts';
import { type Infeasible, type PolitePlan, probesThatFit } from './polite.ts';
import { boundGrid, scheduleGrid } from './polite-refined-grid.ts';
import { pathWithin } from './price-search.ts';

export interface ContinuousProblem {
  readonly horizon: number;
  readonly probes: number;
  readonly spacing: number;
  readonly intensity: Profile;
  readonly importance: Profile;
  readonly loss: 'obsolescence' | 'staleness';
}

/** The gap that is asked for, relative to the cost. */
const gapWanted = 1e-6;

/** More grid points than this take seconds for either loss; the gap that is then left is reported as it is. */
const stepsMax = { obsolescence: 4_000_000, staleness: 500_000 } as const;

const crudeSteps = 16_384;

export function lossOf(problem: ContinuousProblem): Loss {
  const build = problem.loss === 'staleness' ? staleness : obsolescence;
  return build(problem.intensity, problem.importance, 0, problem.horizon);
}

export function planContinuous(problem: ContinuousProblem): PolitePlan | Infeasible {
  const probesMax = probesThatFit(problem.horizon, problem.spacing);
  if (problem.probes > probesMax || probesMax < 1) return { kind: 'infeasible', probesMax };
  const loss = lossOf(problem);
  const pieces = sharedPieces(problem.intensity, problem.importance, 0, problem.horizon);
  // A page that changes many times within the finest cell has only the crude bound, which finer grids hardly improve.
  const fastest = pieces.first.reduce((a, b) => Math.max(a, b), 0);
  const crude = problem.loss === 'staleness' && fastest * problem.horizon > 10 * stepsMax.staleness;
  const most = crude ? crudeSteps : stepsMax[problem.loss];
  let steps = crude ? most : Math.min(most, Math.max(4 * pieces.first.length, 64 * problem.probes, 1_024));
  let { plan: best, closes } = refine(problem, loss, pieces, steps);
  let lastGap = Infinity;
  for (;;) {
    const gap = (best.expectedCost - best.lowerBound) / best.expectedCost;
    // A bound without the spacing, where the spacing binds, leaves a gap that refining does not close.
    if (!(gap > gapWanted) || steps >= most || (!closes && gap > lastGap / 2)) return best;
    lastGap = gap;
    // The gap falls with the square of the step; never less than double, so that a wrong guess costs little.
    steps = Math.min(most, Math.ceil(steps * Math.max(2, Math.min(40, 1.1 * Math.sqrt(gap / gapWanted)))));
    const refined = refine(problem, loss, pieces, steps, best.price);
    const finer = refined.plan;
    closes = refined.closes;
    const better = best.expectedCost <= finer.expectedCost ? best : finer;
    const lowerBound = Math.min(Math.max(best.lowerBound, finer.lowerBound), better.expectedCost);
    best = { ...better, price: finer.price, lowerBound };
  }
}

/** A plan and its bound on grids of so many steps; `closes`: whether finer grids bring the two together. */
function refine(
  problem: ContinuousProblem,
  loss: Loss,
  pieces: SharedPieces,
  steps: number,
  hint?: number,
): { plan: PolitePlan; closes: boolean } {
  const { horizon, probes, spacing } = problem;
  const upper = { loss, ...scheduleGrid(pieces, spacing, steps) };
  const last = upper.times.length - 1;
  const looksMost = Math.min(probes, Math.floor(last / upper.stepsMin));
  const { path: found, price } = pathWithin(upper, pathsOf(upper), looksMost, hint);
  // Where looks are worth nothing, any will do: as on a grid, the lowest.
  const path = price > 0 ? found : lowestPath(upper, price, found, looksMost);
  const start = Float64Array.from(path.nodes.subarray(1), (node) => upper.times[node]);
  const looks = settle(loss, spacing, start, (2 * horizon) / steps);
  const expectedCost = scheduleLoss(loss, 0, looks);

  const lower = { loss, ...boundGrid(pieces, spacing, steps, problem.loss === 'staleness') };
  const at = pathsOf(lower);
  const dual = at(price);
  let lowerBound = dual.cost + price * (dual.edges - probes);
  if (expectedCost - lowerBound > gapWanted * expectedCost)
    lowerBound = Math.max(lowerBound, pathWithin(lower, at, probes, price).lowerBound);
  if (problem.loss === 'staleness') lowerBound = Math.max(lowerBound, freshBound(pieces, probes));
  if (lowerBound <= 0 && expectedCost > 0) lowerBound = crudeBound(loss, lower.times, probes);
  lowerBound = Math.min(Math.max(0, lowerBound), expectedCost);
  return { plan: { kind: 'planned', probes: looks, expectedCost, lowerBound, price }, closes: lower.spaced };
}

/**
 * A look at s makes ∫ a(t)·P(no change in (s, t]) dt current at most. Within a piece that is monotone in s, so it is greatest
 * at a break. The look at 0 counts with the others; the last, at the horizon, for nothing.
 */
function freshBound({ breaks, first: rate, second: weight }: SharedPieces, probes: number): number {
  let [all, fresh, most] = [0, 0, 0];
  for (let k = rate.length - 1; k >= 0; k--) {
    const h = breaks[k + 1] - breaks[k];
    const here = rate[k] > 0 ? -Math.expm1(-rate[k] * h) / rate[k] : h;
    fresh = weight[k] * here + Math.exp(-rate[k] * h) * fresh;
    most = Math.max(most, fresh);
    all += weight[k] * h;
  }
  return all - probes * most;
}

function crudeBound(loss: Loss, times: Float64Array, probes: number): number {
  const last = times.length - 1;
  const within = loss.onGrid?.(times) ?? ((i: number, j: number) => loss.gap(times[i], times[j]));
  /** The end of the cell that begins with point i; the first look, at 0, is where it is. */
  const end = (i: number): number => (i === 0 ? 0 : Math.min(i + 1, last));
  const cell = (s: number): number => times[end(s === times[last] ? last : pieceOf(times, s))];
  const eager: Loss = {
    name: loss.name,
    from: loss.from,
    to: loss.to,
    gap: (s, f) => loss.gap(Math.min(cell(s), f), f),
    onGrid: () => (i, j) => (end(i) < j ? within(end(i), j) : 0),
  };
  const grid = { loss: eager, times, stepsMin: 1 };
  return pathWithin(grid, pathsOf(grid), probes).lowerBound;
}

/** Moves every look but the last, by smaller and smaller distances, while the spacing is kept and the cost falls. */
function settle(loss: Loss, spacing: number, looks: Float64Array, distance: number): Float64Array {
  let best = looks;
  for (let round = 0, move = distance; round < 30; round++, move /= 2) best = moved(loss, spacing, best, move);
  return best;
}

const moves = [0, -1, 1, -0.5, 0.5];

/** The best schedule in which each look stays or moves by up to `move`; O(25·n). */
function moved(loss: Loss, spacing: number, looks: Float64Array, move: number): Float64Array {
  const n = looks.length;
  const from = Array.from({ length: n }, () => new Int8Array(moves.length).fill(-1));
  let before = new Float64Array(1);
  let places = [0];
  for (let i = 0; i < n; i++) {
    const own = i === n - 1 ? [looks[i]] : moves.map((share) => looks[i] + share * move);
    const cost = new Float64Array(own.length).fill(Infinity);
    own.forEach((place, m) => {
      places.forEach((earlier, e) => {
        // The spacing may have been met only up to rounding by the schedule we start from: staying is always allowed.
        const apart = place - earlier;
        const allowed = apart >= spacing || (m === 0 && e === 0);
        if (!allowed || apart < 0 || before[e] === Infinity) return;
        const sum = before[e] + loss.gap(earlier, place);
        if (sum < cost[m]) {
          cost[m] = sum;
          from[i][m] = e;
        }
      });
    });
    [before, places] = [cost, own];
  }
  const result = new Float64Array(n);
  for (let i = n - 1, m = 0; i >= 0; i--) {
    result[i] = i === n - 1 ? looks[i] : looks[i] + moves[m] * move;
    m = from[i][m];
  }
  return result;
}
