/**
 * The best path at a price: over grid points 0 … N, choose 0 = x₀ < x₁ < … < x_k = N with x_i − x_{i−1} ≥ stepsMin to minimise
 *
 *     Σ (gap(x_{i−1}, x_i) − bonus[x_i] + price).
 *
 * Forward dynamic programming V(j) = min_i V(i) + gap(i, j) + price − bonus(j). Because gap is Monge, the best i never moves
 * back as j grows (forbidden short steps count as infinite and keep it Monge), so candidates live in a queue from whose
 * front they retire:
 * - with lines, gap(i, j) = A_j(L_j − L_i) − (M_j − M_i), V(j) is the lower hull of the lines (V_i + M_i) − L_i·x at x = A_j;
 *   slopes and queries are both monotone: O(N);
 * - otherwise the moment from which a newer candidate beats an older one is found by bisection: O(N log N) gaps.
 *
 * Numerically delicate: V sums numbers of the size of A·L over the window, so only the path is taken from it; what the path
 * costs is summed again from exact gaps.
 */
import type { Loss } from '../loss/loss.ts';

export interface Grid {
  readonly loss: Loss;
  /** Ascending times of points 0 … N. */
  readonly times: Float64Array;
  readonly stepsMin: number;
  /** What a look at each point is worth beyond what it saves; all 0 where absent. */
  readonly bonus?: Float64Array;
}

export interface Path {
  /** From 0 to N. */
  readonly nodes: Int32Array;
  readonly edges: number;
  /** The sum of gaps minus bonuses, without the price. */
  readonly cost: number;
}

export type PathAtPrice = (price: number) => Path;

/** Prepares the grid once and answers for any price. */
export function pathsOf(grid: Grid): PathAtPrice {
  const previousAt = predecessorsOf(grid);
  return (price) => pathTo(grid, previousAt(price));
}

/** For any price, the best point before each point; good until asked again. */
export function predecessorsOf(grid: Grid): (price: number) => Int32Array {
  const at = sweepsOf(grid);
  return (price) => at(price).previous;
}

export interface Sweep {
  readonly previous: Int32Array;
  /** V, up to its rounding; 0 where the spacing lets no path through. */
  readonly values: Float64Array;
}

/** The same with the least priced cost up to each point. */
export function sweepsOf(grid: Grid): (price: number) => Sweep {
  const previous = new Int32Array(grid.times.length);
  const values = new Float64Array(grid.times.length);
  const sweep = grid.loss.lines ? hullSweep(grid, values, previous) : queueSweep(grid, values, previous);
  return (price) => {
    sweep(price);
    return { previous, values };
  };
}

/** The path with these points, and what it costs. */
export function pathOn(grid: Grid, nodes: Int32Array): Path {
  const { loss, times, bonus } = grid;
  let cost = 0;
  for (let i = 1; i < nodes.length; i++) {
    cost += loss.gap(times[nodes[i - 1]], times[nodes[i]]);
    if (bonus) cost -= bonus[nodes[i]];
  }
  return { nodes, edges: nodes.length - 1, cost };
}

function pathTo(grid: Grid, previous: Int32Array): Path {
  const last = grid.times.length - 1;
  let count = 1;
  for (let j = last; j > 0; j = previous[j]) count++;
  const nodes = new Int32Array(count);
  for (let j = last, i = count - 1; i > 0; j = previous[j], i--) nodes[i] = j;
  return pathOn(grid, nodes);
}

function hullSweep(grid: Grid, values: Float64Array, previous: Int32Array): (price: number) => void {
  const { times, stepsMin, bonus } = grid;
  const { L, A, M } = grid.loss.lines!(times);
  const last = times.length - 1;
  const queue = new Int32Array(times.length);
  /** From this abscissa on, the queue's entry is better than the one before it. */
  const from = new Float64Array(times.length);
  const crossing = (i: number, j: number): number => (values[j] + M[j] - values[i] - M[i]) / (L[j] - L[i]);

  return (price) => {
    let head = 0;
    let tail = 0;
    values[0] = 0;
    for (let j = 1; j <= last; j++) {
      const i = j - stepsMin;
      if (i < 0) continue;
      if (i === 0 || i >= stepsMin) {
        let x = -Infinity;
        let worthless = false;
        while (tail > head) {
          const back = queue[tail - 1];
          if (L[back] === L[i]) {
            worthless = values[back] + M[back] < values[i] + M[i];
            if (worthless) break;
            tail--;
            continue;
          }
          x = crossing(back, i);
          if (x > from[tail - 1] || tail - 1 === head) break;
          tail--;
        }
        if (!worthless) {
          queue[tail] = i;
          from[tail] = tail > head ? x : -Infinity;
          tail++;
        }
      }
      const x = A[j];
      while (head + 1 < tail && from[head + 1] <= x) head++;
      const best = queue[head];
      previous[j] = best;
      values[j] = x * L[j] - M[j] + price + (values[best] + M[best] - L[best] * x) - (bonus ? bonus[j] : 0);
    }
  };
}

function queueSweep(grid: Grid, values: Float64Array, previous: Int32Array): (price: number) => void {
  const { loss, times, stepsMin, bonus } = grid;
  const last = times.length - 1;
  const queue = new Int32Array(times.length);
  const from = new Int32Array(times.length);
  const gap = loss.onGrid?.(times) ?? ((i: number, j: number) => loss.gap(times[i], times[j]));
  const better = (i: number, old: number, j: number): boolean => values[i] + gap(i, j) <= values[old] + gap(old, j);

  /** The first point in [low, last] from which i beats the older candidate; last + 1 when it never does. */
  const since = (i: number, old: number, low: number): number => {
    let high = last + 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (better(i, old, middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  return (price) => {
    let head = 0;
    let tail = 0;
    values[0] = 0;
    for (let j = 1; j <= last; j++) {
      const i = j - stepsMin;
      if (i < 0) continue;
      if (i === 0 || i >= stepsMin) {
        while (tail > head && from[tail - 1] >= j && better(i, queue[tail - 1], from[tail - 1])) tail--;
        const start = tail > head ? since(i, queue[tail - 1], Math.max(j, from[tail - 1])) : j;
        if (start <= last) {
          queue[tail] = i;
          from[tail] = start;
          tail++;
        }
      }
      while (head + 1 < tail && from[head + 1] <= j) head++;
      const best = queue[head];
      previous[j] = best;
      values[j] = values[best] + gap(best, j) + price - (bonus ? bonus[j] : 0);
    }
  };
}
