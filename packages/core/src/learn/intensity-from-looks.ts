/**
 * Change intensity from looks that found a change or not: a piecewise-constant rate whose pieces are given, or chosen by the data.
 *
 * With x the time that a gap spent in each cell and r the rate there, a gap without change has the ln-likelihood -sum r x, one with
 * a change ln(1 - exp(-sum r x)), a change whose time is known ln r. All are concave in the rates, so given pieces have one
 * maximum, found by expectation maximisation: a change is spread over its gap as the present rates expect it,
 *   rate of a piece = (sum of r x / (1 - exp(-sum r x)) over gaps with a change + known changes) / time spent in it.
 * Pieces are chosen the same way (structural expectation maximisation, Friedman 1998): changes are spread over cells, the best cut
 * for counts so spread is found exactly (pieces.ts), its rates are fitted, and again while the likelihood less the price of the
 * breaks rises. That may end short of the best cut, so it begins with one piece and with equal ones, and the best end stands.
 *
 * Intervals are normal in ln r, by the curvature at the maximum; they take the pieces for given. Of a piece that hardly ever changes
 * ln r has no such curvature, and rounds end a little above a rate of 0: its interval ends where the likelihood has fallen by 1.92,
 * all other rates going with it as the curvature has them go (to first order; they cannot follow better, so it is a little narrow).
 * Cost: O(cells met by gaps with a change) a round, up to some hundred rounds a cut, and some dozen cuts.
 * Delicate: where every look found a change nothing bounds a rate from above. Such pieces are never chosen; given ones are refused.
 */
import { type Profile, piecesOn } from '../time/profile.ts';
import { type EstimatedIntensity, cellNumbers, laidOut, summedBy } from './intensity.ts';
import { breakPrice, choosePieces } from './pieces.ts';

export type Stretch = readonly [from: number, to: number];

export interface SeenLooks {
  /** Gaps in which something changed at an unknown time. */
  readonly changed: readonly Stretch[];
  /** Time known to be without change. */
  readonly free: readonly Stretch[];
  /** Changes whose time is known. */
  readonly exact: readonly number[];
}

export type LooksOutcome =
  | ({ readonly kind: 'estimated' } & EstimatedIntensity)
  /** Changes were found from this border to the next, and no time without one. */
  | { readonly kind: 'unbounded'; readonly cell: number };

/** Equal pieces to begin with, beside a single one. */
const startPieces = [4, 14, 28];
const roundsMax = 400;
const cutsMax = 20;
/** Half of what is the 95 % point of chi-square with one degree of freedom. */
const drop = 1.920729;

/** Pieces as given. */
export function intensityFromLooks(looks: SeenLooks, breaks: ArrayLike<number>, period?: number): LooksOutcome {
  const cells = byCell(looks, breaks, period);
  const fitted = fit(cells, Int32Array.from(cells.free.keys()));
  const unbounded = unboundedPiece(cells, fitted.pieceOf);
  return unbounded < 0
    ? { kind: 'estimated', ...estimated(cells, fitted, breaks, period) }
    : { kind: 'unbounded', cell: unbounded };
}

/** Pieces chosen by the data, at the borders of cells. */
export function chosenIntensityFromLooks(looks: SeenLooks, borders: ArrayLike<number>, period?: number): LooksOutcome {
  const cells = byCell(looks, borders, period);
  const count = cells.free.length;
  const price = breakPrice(count, looks.changed.length + looks.exact.length);
  const circle = period !== undefined;
  if (unboundedPiece(cells, new Int32Array(count)) >= 0) return { kind: 'unbounded', cell: 0 };
  let best = fit(cells, new Int32Array(count));
  for (const pieces of [1, ...startPieces.filter((n) => n <= count)]) {
    let now = fit(
      cells,
      Int32Array.from({ length: count }, (_, i) => Math.floor((i * pieces) / count)),
    );
    for (let cut = 0; cut < cutsMax; cut++) {
      const pieceOf = choosePieces(spread(cells, byPiece(now.pieceOf, now.rates)), cells.time, price, circle);
      if (unboundedPiece(cells, pieceOf) >= 0) break;
      const next = fit(cells, pieceOf);
      if (worth(next, price, circle) > worth(best, price, circle)) best = next;
      if (cut > 0 && worth(next, price, circle) <= worth(now, price, circle) + 1e-6) break;
      now = next;
    }
  }
  return { kind: 'estimated', ...estimated(cells, best, borders, period) };
}

export interface Cells {
  /** Known changes, time without change and all time, by cell. */
  readonly known: Float64Array;
  readonly free: Float64Array;
  readonly time: Float64Array;
  /** The cells that each gap with a change met, and the time it spent there: from `start[g]` to `start[g + 1]`. */
  readonly start: Int32Array;
  readonly cell: Int32Array;
  readonly spent: Float64Array;
}

export function byCell(looks: SeenLooks, borders: ArrayLike<number>, period: number | undefined): Cells {
  const count = borders.length - 1;
  const numbers = cellNumbers(borders, period);
  const free = new Float64Array(count);
  for (const stretch of looks.free) for (const [cell, spent] of met(numbers, stretch)) free[cell] += spent;
  const time = free.slice();
  const known = new Float64Array(count);
  for (const at of looks.exact) {
    // One at the very end belongs to the piece that ends there.
    const [cell = count - 1] = met(numbers, [at, at]).keys();
    known[cell]++;
  }
  const start = [0];
  const cell: number[] = [];
  const spent: number[] = [];
  for (const gap of looks.changed) {
    for (const [c, seconds] of met(numbers, gap)) {
      cell.push(c);
      spent.push(seconds);
      time[c] += seconds;
    }
    start.push(cell.length);
  }
  return {
    known,
    free,
    time,
    start: Int32Array.from(start),
    cell: Int32Array.from(cell),
    spent: Float64Array.from(spent),
  };
}

/** The cells of a stretch of time, and how much of it each holds; of a moment, its cell. */
function met(numbers: Profile, [from, to]: Stretch): Map<number, number> {
  const pieces = piecesOn(numbers, from, to);
  const cells = new Map<number, number>();
  pieces.values.forEach((number, i) => {
    const cell = number - 1;
    if (cell >= 0) cells.set(cell, (cells.get(cell) ?? 0) + pieces.breaks[i + 1] - pieces.breaks[i]);
  });
  return cells;
}

interface Fitted {
  readonly pieceOf: Int32Array;
  readonly rates: Float64Array;
  readonly logLikelihood: number;
}

function fit(cells: Cells, pieceOf: Int32Array): Fitted {
  const time = summedBy(pieceOf, cells.time);
  const rates = new Float64Array(time.length).fill(meanRate(cells));
  let before = -Infinity;
  for (let round = 0; round < roundsMax; round++) {
    const changes = summedBy(pieceOf, spread(cells, byPiece(pieceOf, rates)));
    for (let p = 0; p < rates.length; p++) rates[p] = time[p] > 0 ? changes[p] / time[p] : 0;
    const now = logLikelihood(cells, pieceOf, rates);
    if (now - before < 1e-7) break;
    before = now;
  }
  return { pieceOf, rates, logLikelihood: logLikelihood(cells, pieceOf, rates) };
}

/** The changes of each cell: known ones, and those of gaps as the cells' rates expect them. */
export function spread({ known, start, cell, spent }: Cells, rates: Float64Array): Float64Array {
  const changes = known.slice();
  for (let g = 0; g + 1 < start.length; g++) {
    let mass = 0;
    for (let i = start[g]; i < start[g + 1]; i++) mass += rates[cell[i]] * spent[i];
    const found = mass > 0 ? 1 / -Math.expm1(-mass) : 0;
    for (let i = start[g]; i < start[g + 1]; i++) changes[cell[i]] += rates[cell[i]] * spent[i] * found;
  }
  return changes;
}

/** All cells at the rate of the whole, to begin with. */
export function ratesOfCells(cells: Cells): Float64Array {
  return new Float64Array(cells.time.length).fill(meanRate(cells));
}

function meanRate(cells: Cells): number {
  return (cells.start.length - 1 + sum(cells.known)) / Math.max(sum(cells.time), Number.MIN_VALUE);
}

const byPiece = (pieceOf: Int32Array, rates: Float64Array): Float64Array =>
  Float64Array.from(pieceOf, (piece) => rates[piece]);

function logLikelihood({ known, free, start, cell, spent }: Cells, pieceOf: Int32Array, rates: Float64Array): number {
  let all = 0;
  for (let c = 0; c < free.length; c++) {
    const rate = rates[pieceOf[c]];
    all += (known[c] > 0 ? known[c] * Math.log(rate) : 0) - rate * free[c];
  }
  for (let g = 0; g + 1 < start.length; g++) {
    let mass = 0;
    for (let i = start[g]; i < start[g + 1]; i++) mass += rates[pieceOf[cell[i]]] * spent[i];
    all += Math.log(-Math.expm1(-mass));
  }
  return all;
}

function worth({ rates, logLikelihood: likelihood }: Fitted, price: number, circle: boolean): number {
  return likelihood - price * (circle && rates.length > 1 ? rates.length : rates.length - 1);
}

/** The first cell of a piece in which changes were found and no time without one, or -1. */
function unboundedPiece({ free, time, known }: Cells, pieceOf: Int32Array): number {
  const without = summedBy(pieceOf, free);
  const all = summedBy(pieceOf, time);
  const changes = summedBy(pieceOf, known);
  return pieceOf.findIndex((piece) => !(without[piece] > 0) && (all[piece] > 0 || changes[piece] > 0));
}

/** Above it less than one change's worth is known of ln r, and its likelihood is not that of a normal variable. */
const deviationMax = 1;

function estimated(
  cells: Cells,
  fitted: Fitted,
  borders: ArrayLike<number>,
  period: number | undefined,
): EstimatedIntensity {
  const { pieceOf, rates } = fitted;
  const time = summedBy(pieceOf, cells.time);
  const information = informationOf(cells, fitted);
  const deviation = Float64Array.from(inverseDiagonal(choleskyOf(information)), (variance) =>
    Math.sqrt(Math.max(0, variance)),
  );
  const loud = [...rates.keys()].filter((p) => rates[p] > 0 && deviation[p] <= deviationMax);
  const root = choleskyOf(loud.map((a) => Float64Array.from(loud, (b) => information[a][b])));
  const intervals = Array.from(rates, (rate, p): readonly [number, number] => {
    if (!(time[p] > 0)) return [0, Infinity];
    return rate > 0 && deviation[p] <= deviationMax
      ? [rate * Math.exp(-1.96 * deviation[p]), rate * Math.exp(1.96 * deviation[p])]
      : quietInterval(cells, fitted, p, loud, root);
  });
  return laidOut(pieceOf, borders, rates, intervals, period);
}

/** Of piece p: where the likelihood has fallen by `drop` while the loud pieces' rates make up for p's. */
function quietInterval(
  cells: Cells,
  fitted: Fitted,
  p: number,
  loud: readonly number[],
  root: readonly Float64Array[],
): readonly [number, number] {
  const { pieceOf, rates } = fitted;
  const pull = solved(root, pullOf(cells, fitted, p, loud));
  const likely = (rate: number): boolean => {
    const moved = rates.slice();
    moved[p] = rate;
    loud.forEach((a, i) => (moved[a] = rates[a] * Math.exp(-pull[i] * (rate - rates[p]))));
    return logLikelihood(cells, pieceOf, moved) >= fitted.logLikelihood - drop;
  };
  const free = summedBy(pieceOf, cells.free)[p];
  let high = Math.max(2 * rates[p], drop / free);
  while (likely(high)) high *= 2;
  return [likely(0) ? 0 : border(likely, rates[p], 0), border(likely, rates[p], high)];
}

/** Between a rate that is likely and one that is not. */
function border(likely: (rate: number) => boolean, inside: number, outside: number): number {
  let [good, bad] = [inside, outside];
  // A ten-millionth of the way is less than any interval means.
  for (let turn = 0; turn < 24; turn++) {
    const middle = (good + bad) / 2;
    if (likely(middle)) good = middle;
    else bad = middle;
  }
  return (good + bad) / 2;
}

/** How the slopes of the loud pieces in ln r fall as the rate of p rises. */
function pullOf({ start, cell, spent }: Cells, fitted: Fitted, p: number, loud: readonly number[]): Float64Array {
  const { pieceOf, rates } = fitted;
  const pulls = new Float64Array(rates.length);
  for (let g = 0; g + 1 < start.length; g++) {
    let inside = 0;
    let mass = 0;
    for (let i = start[g]; i < start[g + 1]; i++) {
      if (pieceOf[cell[i]] === p) inside += spent[i];
      mass += rates[pieceOf[cell[i]]] * spent[i];
    }
    if (inside === 0) continue;
    const bend = bendOf(mass) * inside;
    for (let i = start[g]; i < start[g + 1]; i++) pulls[pieceOf[cell[i]]] += bend * rates[pieceOf[cell[i]]] * spent[i];
  }
  return Float64Array.from(loud, (a) => pulls[a]);
}

/** Minus the second derivative of ln(1 - exp(-mass)). */
function bendOf(mass: number): number {
  const found = -Math.expm1(-mass);
  return Math.exp(-mass) / (found * found);
}

/** Minus the second derivatives of the likelihood in ln r, by piece and piece. */
function informationOf({ known, start, cell, spent }: Cells, { pieceOf, rates }: Fitted): Float64Array[] {
  const n = rates.length;
  const information = Array.from({ length: n }, () => new Float64Array(n));
  for (let c = 0; c < known.length; c++) information[pieceOf[c]][pieceOf[c]] += known[c];
  for (let g = 0; g + 1 < start.length; g++) {
    const parts = new Map<number, number>();
    let mass = 0;
    for (let i = start[g]; i < start[g + 1]; i++) {
      const piece = pieceOf[cell[i]];
      const part = rates[piece] * spent[i];
      parts.set(piece, (parts.get(piece) ?? 0) + part);
      mass += part;
    }
    const bend = bendOf(mass);
    for (const [a, x] of parts) for (const [b, y] of parts) information[a][b] += bend * x * y;
  }
  // A piece of which nothing is known would make the rest singular.
  for (let p = 0; p < n; p++) information[p][p] += 1e-9;
  return information;
}

/** The lower root of a positive definite matrix. */
function choleskyOf(matrix: readonly Float64Array[]): Float64Array[] {
  const n = matrix.length;
  const root = matrix.map((row) => row.slice());
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let value = root[i][j];
      for (let k = 0; k < j; k++) value -= root[i][k] * root[j][k];
      root[i][j] = i === j ? Math.sqrt(Math.max(value, Number.MIN_VALUE)) : value / root[j][j];
    }
  }
  return root;
}

/** x of root rootᵀ x = right. */
function solved(root: readonly Float64Array[], right: Float64Array): Float64Array {
  const x = right.slice();
  for (let i = 0; i < x.length; i++) {
    for (let k = 0; k < i; k++) x[i] -= root[i][k] * x[k];
    x[i] /= root[i][i];
  }
  for (let i = x.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < x.length; k++) x[i] -= root[k][i] * x[k];
    x[i] /= root[i][i];
  }
  return x;
}

/** The diagonal of the inverse of a positive definite matrix, from its root: a column of whose inverse is solved for at a time. */
function inverseDiagonal(root: readonly Float64Array[]): Float64Array {
  const n = root.length;
  const diagonal = new Float64Array(n);
  for (let column = 0; column < n; column++) {
    const solved = new Float64Array(n);
    for (let i = column; i < n; i++) {
      let value = i === column ? 1 : 0;
      for (let k = column; k < i; k++) value -= root[i][k] * solved[k];
      solved[i] = value / root[i][i];
      diagonal[column] += solved[i] * solved[i];
    }
  }
  return diagonal;
}

function sum(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}
