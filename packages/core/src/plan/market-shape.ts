/**
 * One shape of page over a horizon, as the market asks about it: the exact curve c(m) of loss against looks within (0, T), with
 * what is unseen at T charged up to T, for rate × weight 1, and for each m the times that reach it. This is the polite problem
 * with n = m + 1 looks of which the one at T is free (it could only help what comes after).
 *
 * Invariant: c is convex (the loss is Monge), so c(m) − c(m + 1) falls and a price is met by a search in it.
 * Cost: at most two sweeps of the grid for each corner of the curve, once a shape.
 */
import type { Loss } from '../loss/loss.ts';
import type { Demand } from './market.ts';
import { type Grid, pathsOf } from './monge-path.ts';
import { equalSteps, stepsOf } from './polite.ts';
import { costCurve, curveCorners, pathFrom } from './price-search.ts';

export interface HorizonShape extends Demand {
  readonly whole: true;
  readonly unit: Loss;
  /** The best times of this many looks, all within (0, T). */
  times(looks: number): Float64Array;
}

/** `unit` is the loss of a page with rate × weight 1; `spacing` is between looks at one page. */
export function horizonShape(unit: Loss, steps: number, spacing = 0, looksMax = steps - 1): HorizonShape {
  const grid: Grid = { loss: unit, times: equalSteps(unit.to, steps), stepsMin: stepsOf(spacing, unit.to / steps) };
  const most = Math.max(1, Math.min(looksMax + 1, Math.floor(steps / grid.stepsMin)));
  const corners = curveCorners(grid, pathsOf(grid), most);
  const costs = costCurve(corners, most);
  /** What the (m + 1)-th look saves; descending. Rounding must not make it rise. */
  const saves = new Float64Array(most - 1);
  for (let m = 0; m + 1 < most; m++)
    saves[m] = Math.min(m > 0 ? saves[m - 1] : Infinity, Math.max(0, costs[m] - costs[m + 1]));
  const known = new Map<number, Float64Array>();

  const looks = (ratio: number): number => {
    let low = 0;
    let high = saves.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (saves[middle] > ratio) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    whole: true,
    unit,
    looks,
    loss: (count) => costs[Math.min(count, most - 1)],
    value: (ratio) => {
      const count = looks(ratio);
      return costs[count] + ratio * count;
    },
    times: (count) => {
      let found = known.get(count);
      if (!found) {
        const path = pathFrom(grid, corners, Math.min(count + 1, most));
        found = Float64Array.from(path.nodes.subarray(1, path.nodes.length - 1), (node) => grid.times[node]);
        known.set(count, found);
      }
      return found;
    },
  };
}
