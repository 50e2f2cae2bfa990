/**
 * Of all best paths with n edges, the one with the lowest points: ties go to the lowest index, whatever rounding says.
 *
 * At the price μ that meets the budget, the best paths with n edges are paths of tight edges, those with
 *
 *     gap(i, j) + μ + W(j) = W(i),   W(i) the least priced cost from i to N.
 *
 * Invariants, all from the quadrangle inequality:
 * - of two best paths with n edges, the lower points of each pair make a best path and the higher ones another, so one path
 *   is lowest at every place and "lexicographically first" is the same as "lowest everywhere";
 * - the first and the last tight successor of i never move back as i grows, so each is found in one pass;
 * - following first successors takes the most edges and last successors the fewest, and every number between is possible.
 * From 0 the path then takes the first tight successor from which the edges that are left can still be used up.
 *
 * Cost: one sweep for W and about 4·N edges looked at. Numerically delicate: "tight" means up to 1e-12 of what the path costs, so a plan
 * that is better by less than that counts as a tie; W is summed anew from exact gaps, because the sweep's own values are not
 * that good.
 */
import type { Lines, Loss } from '../loss/loss.ts';
import { type Grid, type Path, pathOn, predecessorsOf } from './monge-path.ts';

/** Relative to the priced cost of the whole path. */
const tie = 1e-12;

/** `path` is best at the price among those with at most `edgesMax` edges; of its equals, the one with most edges and lowest points. */
export function lowestPath(grid: Grid, price: number, path: Path, edgesMax: number): Path {
  const last = grid.times.length - 1;
  const { values, next } = costsToEnd(grid, price);
  const slack = tie * (path.cost + price * path.edges);
  const edge = (i: number, j: number): number => grid.loss.gap(grid.times[i], grid.times[j]) + price;
  const apart = surelyApart(grid, price, values, slack);
  const tight = (i: number, j: number): boolean => !apart(i, j) && edge(i, j) + values[j] <= values[i] + slack;
  const most = mostEdges(grid, tight, next);
  const fewest = fewestEdges(grid, tight, next);
  const edges = Math.min(edgesMax, most[0]);
  const nodes = new Int32Array(edges + 1);
  let spent = 0;
  for (let k = 1, from = 0; k <= edges; k++) {
    const left = edges - k;
    let j = from + grid.stepsMin;
    for (; j <= last; j++) {
      if (fewest[j] > left || most[j] < left) continue;
      if (!apart(from, j) && spent + edge(from, j) + values[j] <= values[0] + slack) break;
    }
    // Plans that differ by about the tolerance can add up to more than it; then the path we came with stands.
    if (j > last) return path;
    spent += edge(from, j);
    nodes[k] = j;
    from = j;
  }
  return pathOn(grid, nodes);
}

interface CostsToEnd {
  /** The least priced cost from each point to the last; Infinity where the spacing lets none through. */
  readonly values: Float64Array;
  readonly next: Int32Array;
}

/** The forward sweep on the grid with time turned round. */
function costsToEnd(grid: Grid, price: number): CostsToEnd {
  const { loss, times, stepsMin } = grid;
  const last = times.length - 1;
  const previous = predecessorsOf({ loss: mirrored(loss, times), times, stepsMin })(price);
  const values = new Float64Array(times.length).fill(Infinity);
  const next = new Int32Array(times.length).fill(last + 1);
  values[last] = 0;
  for (let i = last - stepsMin; i >= 0; i--) {
    next[i] = last - previous[last - i];
    values[i] = loss.gap(times[i], times[next[i]]) + price + values[next[i]];
  }
  return { values, next };
}

/**
 * The loss of the mirrored gap, between points of this grid only. Where gap(i, j) = A_j(L_j − L_i) − (M_j − M_i), turning time
 * round exchanges A and L, and M becomes that of A_i·(L_N − L_i) + M_i.
 */
function mirrored(loss: Loss, times: Float64Array): Loss {
  const last = times.length - 1;
  const { from, to, name } = loss;
  const onGrid = loss.onGrid?.(times) ?? ((i: number, j: number) => loss.gap(times[i], times[j]));
  const turned = {
    name,
    from,
    to,
    gap: (s: number, f: number) => loss.gap(from + to - f, from + to - s),
    onGrid: () => (i: number, j: number) => onGrid(last - j, last - i),
  };
  const lines = loss.lines?.(times);
  return lines ? { ...turned, lines: () => mirroredLines(lines) } : turned;
}

function mirroredLines({ L, A, M }: Lines): Lines {
  const last = L.length - 1;
  const turned: Lines = { L: new Float64Array(last + 1), A: new Float64Array(last + 1), M: new Float64Array(last + 1) };
  for (let k = 0, i = last; i >= 0; k++, i--) {
    turned.L[k] = A[last] - A[i];
    turned.A[k] = L[last] - L[i];
    turned.M[k] = M[last] - A[i] * (L[last] - L[i]) - M[i];
  }
  return turned;
}

/** The formula of lines subtracts numbers of the size of the whole window: so far it may be off, relative to A·L. */
const linesRounding = 1e-14;

/** A quick look at an edge: true only where it is not tight, whatever rounding says. */
function surelyApart({ loss, times }: Grid, price: number, values: Float64Array, slack: number): Tight {
  const lines = loss.lines?.(times);
  if (!lines) return () => false;
  const { L, A, M } = lines;
  const last = times.length - 1;
  const doubt = slack + linesRounding * A[last] * L[last] - price;
  return (i, j) => A[j] * (L[j] - L[i]) - M[j] + M[i] + values[j] > values[i] + doubt;
}

type Tight = (i: number, j: number) => boolean;

/** For each point, the edges of the longest path of tight edges to the last; −1 where there is none. */
function mostEdges({ times, stepsMin }: Grid, tight: Tight, next: Int32Array): Int32Array {
  const last = times.length - 1;
  const first = new Int32Array(times.length);
  for (let i = 0, j = 0; i <= last - stepsMin; i++) {
    j = Math.max(j, i + stepsMin);
    while (j < next[i] && !(reaches(j, last, stepsMin) && tight(i, j))) j++;
    first[i] = j;
  }
  return countEdges(first, stepsMin);
}

/** The same with the shortest such path. */
function fewestEdges({ times, stepsMin }: Grid, tight: Tight, next: Int32Array): Int32Array {
  const last = times.length - 1;
  const furthest = new Int32Array(times.length);
  for (let i = last - stepsMin, j = last; i >= 0; i--) {
    while (j > next[i] && !(reaches(j, last, stepsMin) && tight(i, j))) j--;
    furthest[i] = j;
  }
  return countEdges(furthest, stepsMin);
}

function reaches(j: number, last: number, stepsMin: number): boolean {
  return j === last || j <= last - stepsMin;
}

function countEdges(successor: Int32Array, stepsMin: number): Int32Array {
  const last = successor.length - 1;
  const counts = new Int32Array(successor.length).fill(-1);
  counts[last] = 0;
  for (let i = last - stepsMin; i >= 0; i--) counts[i] = 1 + counts[successor[i]];
  return counts;
}
