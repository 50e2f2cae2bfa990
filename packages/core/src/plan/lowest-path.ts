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
 * Only points through which a best path goes are looked at: those with V(j) + W(j) = V(N), told up to rounding by a sweep each
 * way. Cost: two sweeps, and a few gaps for each such point.
 * Numerically delicate: "tight" means up to 1e-12 of what the path costs, so a plan that is better by less than that counts as
 * a tie; W is summed anew from exact gaps, because the sweeps' own values are not that good.
 */
import type { Lines, Loss } from '../loss/loss.ts';
import { type Grid, type Path, pathOn, sweepsOf } from './monge-path.ts';

/** Relative to the priced cost of the whole path. */
const tie = 1e-12;
/** So far the values of a sweep may be off, relative to the loss of the whole window. */
const sweepRounding = 1e-13;

/** `path` is best at the price among those with at most `edgesMax` edges; of its equals, the one with most edges and lowest points. */
export function lowestPath(grid: Grid, price: number, path: Path, edgesMax: number): Path {
  const slack = tie * (path.cost + price * path.edges);
  const { points, next } = pointsOnBestPaths(grid, price, slack);
  if (points.length <= path.edges + 1) return path;
  const at = (a: number): number => grid.times[points[a]];
  const edge = (a: number, b: number): number => grid.loss.gap(at(a), at(b)) + price;
  const values = costsToEnd(next, edge);
  const tight = (a: number, b: number): boolean => edge(a, b) + values[b] <= values[a] + slack;
  const ahead = firstAhead(points, grid.stepsMin);
  const most = mostEdges(ahead, next, tight);
  const fewest = fewestEdges(next, tight);
  const edges = Math.min(edgesMax, most[0]);
  // Where all costs are next to nothing rounding may leave no tight path at all; then, too, the path we came with stands.
  if (edges < path.edges) return path;
  const nodes = new Int32Array(edges + 1);
  let spent = 0;
  for (let k = 1, from = 0; k <= edges; k++) {
    const left = edges - k;
    let b = ahead[from];
    for (; b < points.length; b++)
      if (fewest[b] <= left && most[b] >= left && spent + edge(from, b) + values[b] <= values[0] + slack) break;
    // Plans that differ by about the tolerance can add up to more than it; then the path we came with stands.
    if (b >= points.length) return path;
    spent += edge(from, b);
    nodes[k] = points[b];
    from = b;
  }
  return pathOn(grid, nodes);
}

interface BestPoints {
  /** Ascending, from 0 to N. */
  readonly points: Int32Array;
  /** For each of them, by its place in `points`, a point that a best path goes to next; −1 for the last. */
  readonly next: Int32Array;
}

function pointsOnBestPaths(grid: Grid, price: number, slack: number): BestPoints {
  const { loss, times, stepsMin } = grid;
  const last = times.length - 1;
  const { values } = sweepsOf(grid)(price);
  const turned = sweepsOf({ loss: mirrored(loss, times), times, stepsMin })(price);
  const most = values[last] + slack + sweepRounding * loss.gap(times[0], times[last]);
  const points: number[] = [0];
  const placeOf = new Int32Array(last + 1).fill(-1);
  placeOf[0] = 0;
  for (let j = stepsMin; j <= last - stepsMin; j++)
    if (values[j] + turned.values[last - j] <= most) placeOf[j] = points.push(j) - 1;
  placeOf[last] = points.push(last) - 1;
  const next = Int32Array.from(points, (j) => (j === last ? -1 : placeOf[last - turned.previous[last - j]]));
  return { points: Int32Array.from(points), next };
}

/** The least priced cost from each point to the last; Infinity where rounding left a point without a next one. */
function costsToEnd(next: Int32Array, edge: (a: number, b: number) => number): Float64Array {
  const values = new Float64Array(next.length).fill(Infinity);
  values[next.length - 1] = 0;
  for (let a = next.length - 2; a >= 0; a--) if (next[a] > a) values[a] = edge(a, next[a]) + values[next[a]];
  return values;
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

/** The first point that keeps the spacing from each. */
function firstAhead(points: Int32Array, stepsMin: number): Int32Array {
  const ahead = new Int32Array(points.length);
  for (let a = 0, b = 0; a < points.length; a++) {
    while (b < points.length && points[b] < points[a] + stepsMin) b++;
    ahead[a] = b;
  }
  return ahead;
}

type Tight = (a: number, b: number) => boolean;

/** For each point, the edges of the longest path of tight edges to the last; −1 where there is none. */
function mostEdges(ahead: Int32Array, next: Int32Array, tight: Tight): Int32Array {
  const first = new Int32Array(next.length).fill(-1);
  for (let a = 0, b = 0; a + 1 < next.length; a++) {
    if (next[a] < 0) continue;
    b = Math.max(b, ahead[a]);
    while (b < next[a] && !tight(a, b)) b++;
    first[a] = b;
  }
  return countEdges(first);
}

/** The same with the shortest such path. */
function fewestEdges(next: Int32Array, tight: Tight): Int32Array {
  const furthest = new Int32Array(next.length).fill(-1);
  for (let a = next.length - 2, b = next.length - 1; a >= 0; a--) {
    if (next[a] < 0) continue;
    while (b > next[a] && !tight(a, b)) b--;
    furthest[a] = b;
  }
  return countEdges(furthest);
}

function countEdges(successor: Int32Array): Int32Array {
  const counts = new Int32Array(successor.length).fill(-1);
  counts[successor.length - 1] = 0;
  for (let a = successor.length - 2; a >= 0; a--) {
    const after = successor[a] < 0 ? -1 : counts[successor[a]];
    if (after >= 0) counts[a] = after + 1;
  }
  return counts;
}
