/**
 * At most n edges by a price on each. For a Monge cost the least cost c(k) of a path with k edges is convex in k, so the
 * budget n is met by some price μ ≥ 0, and
 *
 *     c(n) = max_μ min_path (cost + μ·edges) − μ·n      (no duality gap).
 *
 * The search keeps two paths that are best at their prices, one with fewer and one with more than n edges. The price at which
 * both cost the same is the slope of the line between them on the curve: either a third path lies below that line and
 * replaces one of them, or the line is an edge of the curve and the price is exact. Ties are real: whole ranges of n share
 * one price. A path with exactly n edges is then spliced from the two: where an edge of the shorter spans an edge of the
 * longer at the right count, crossing over costs nothing (this is the quadrangle inequality once more).
 *
 * Cost: a handful of sweeps; guesses from c(k) ≈ α + β/k, as it would be for a page that always changes alike, bring the
 * bracket together before slopes finish it.
 */
import { type Grid, type Path, type PathAtPrice, pathOn } from './monge-path.ts';

export interface BudgetedPath {
  readonly path: Path;
  /** What one more look would save, at the margin. */
  readonly price: number;
  /** No path with at most n edges costs less. */
  readonly lowerBound: number;
}

/** Relative to the cost: two paths whose priced costs differ by less are taken as equally good. */
const equal = 1e-13;

/** `hint` is a price near the right one, such as that of a coarser grid: it saves most of the search. */
export function pathWithin(grid: Grid, at: PathAtPrice, edgesMax: number, hint?: number): BudgetedPath {
  const direct = pathOn(grid, Int32Array.of(0, grid.times.length - 1));
  const near = hint !== undefined && hint > 0 && edgesMax > 1 ? bracketNear(at, edgesMax, hint) : undefined;
  if (near && !Array.isArray(near)) return { path: near.path, price: near.price, lowerBound: near.path.cost };
  if (near) return search(grid, at, edgesMax, near[0] ?? { path: direct, price: Infinity }, near[1]);
  const free = at(0);
  if (free.edges <= edgesMax) return { path: padded(grid, free, edgesMax), price: 0, lowerBound: free.cost };
  if (edgesMax === 1) {
    const second = pathWithin(grid, at, 2).path;
    return { path: direct, price: Math.max(0, direct.cost - second.cost), lowerBound: direct.cost };
  }
  return search(grid, at, edgesMax, { path: direct, price: Infinity }, { path: free, price: 0 });
}

interface Priced {
  readonly path: Path;
  readonly price: number;
}

/** Widens from the hint until a path with more than n edges is found, and one with fewer where that is near; or exactly n. */
function bracketNear(at: PathAtPrice, n: number, hint: number): Priced | [Priced | undefined, Priced] | undefined {
  let few: Priced | undefined;
  for (let price = hint, factor = 1.05, turn = 0; turn < 6; turn++, factor *= factor) {
    const path = at(price);
    if (path.edges === n) return { path, price };
    if (path.edges > n) return [few, { path, price }];
    few = { path, price };
    price /= factor;
  }
  return undefined;
}

function search(grid: Grid, at: PathAtPrice, n: number, lower: Priced, upper: Priced): BudgetedPath {
  let { path: few, price: fewPrice } = lower;
  let { path: many, price: manyPrice } = upper;
  for (let turn = 0; ; turn++) {
    const slope = Math.max(0, (few.cost - many.cost) / (many.edges - few.edges));
    const guess = guessPrice(few, many, n);
    const guessing = turn % 3 !== 2 && guess > manyPrice && guess < fewPrice && many.edges - few.edges > 2;
    const price = guessing ? guess : slope;
    const found = at(price);
    if (!guessing) {
      const onLine = few.cost + price * few.edges;
      const value = found.cost + price * found.edges;
      const same = value >= onLine - equal * Math.abs(onLine);
      if (same || found.edges <= few.edges || found.edges >= many.edges)
        return { path: splice(grid, few, many, n), price, lowerBound: Math.min(value, onLine) - price * n };
    }
    if (found.edges === n) return { path: found, price, lowerBound: found.cost };
    if (found.edges < n) [few, fewPrice] = [found, price];
    else [many, manyPrice] = [found, price];
  }
}

function guessPrice(few: Path, many: Path, n: number): number {
  return (few.cost - many.cost) / (1 / few.edges - 1 / many.edges) / (n * n);
}

/** A path with exactly n edges from two paths that are best at one price, few.edges ≤ n ≤ many.edges. */
function splice(grid: Grid, few: Path, many: Path, n: number): Path {
  if (few.edges === n) return few;
  if (many.edges === n) return many;
  for (let i = 0; i < few.edges; i++) {
    const j = i + many.edges - n;
    if (j + 1 > many.edges) break;
    if (few.nodes[i] <= many.nodes[j] && many.nodes[j + 1] <= few.nodes[i + 1]) {
      const nodes = new Int32Array(n + 1);
      nodes.set(few.nodes.subarray(0, i + 1));
      nodes.set(many.nodes.subarray(j + 1), i + 1);
      return pathOn(grid, nodes);
    }
  }
  throw new Error('two paths from 0 to N always have an edge of one within an edge of the other');
}

/** Looks that save nothing but cost nothing either are used up to the budget, wherever they keep the spacing. */
function padded(grid: Grid, path: Path, edgesMax: number): Path {
  let spare = edgesMax - path.edges;
  if (spare <= 0) return path;
  const nodes: number[] = [0];
  for (const node of path.nodes.subarray(1)) {
    for (let next = nodes[nodes.length - 1] + grid.stepsMin; spare > 0 && next <= node - grid.stepsMin; spare--) {
      nodes.push(next);
      next += grid.stepsMin;
    }
    nodes.push(node);
  }
  const more = pathOn(grid, Int32Array.from(nodes));
  return more.cost <= path.cost ? more : path;
}

/**
 * The corners of the curve of cost against budget, from the direct path to the first with at least `edgesMax` edges (or the
 * cheapest of all). Between two corners the curve is straight, so only corners are computed: at most two sweeps for each.
 */
export function curveCorners(grid: Grid, at: PathAtPrice, edgesMax: number): readonly Path[] {
  const corners: Path[] = [pathOn(grid, Int32Array.of(0, grid.times.length - 1))];
  const explore = (few: Path, many: Path): void => {
    const price = (few.cost - many.cost) / (many.edges - few.edges);
    if (few.edges >= edgesMax) return;
    if (many.edges - few.edges > 1 && price > 0) {
      const found = at(price);
      const onLine = few.cost + price * few.edges;
      const below = found.cost + price * found.edges < onLine - equal * Math.abs(onLine);
      if (below && found.edges > few.edges && found.edges < many.edges) {
        explore(few, found);
        explore(found, many);
        return;
      }
    }
    corners.push(many);
  };
  const free = at(0);
  if (free.edges > 1) explore(corners[0], free);
  return corners;
}

/** The whole curve: entry k − 1 is the least cost with at most k edges, for k = 1 … edgesMax. */
export function costCurve(corners: readonly Path[], edgesMax: number): Float64Array {
  const costs = new Float64Array(edgesMax);
  for (let k = 1, c = 0; k <= edgesMax; k++) {
    while (c + 1 < corners.length && corners[c + 1].edges <= k) c++;
    const low = corners[c];
    const high = corners[c + 1];
    const share = high ? (k - low.edges) / (high.edges - low.edges) : 0;
    costs[k - 1] = high ? low.cost + share * (high.cost - low.cost) : low.cost;
  }
  return costs;
}

/** The best path with this many edges, or with as many as help. */
export function pathFrom(grid: Grid, corners: readonly Path[], edges: number): Path {
  const above = corners.findIndex((corner) => corner.edges >= edges);
  if (above < 0) return corners[corners.length - 1];
  return corners[above].edges === edges ? corners[above] : splice(grid, corners[above - 1], corners[above], edges);
}
