/**
 * Into how many pieces a profile is cut, and where: as many as the data pay for.
 *
 *   maximise  sum over pieces of (n ln(n / T) - n)  -  breaks × (ln(cells) + ln(changes) / 2),
 *
 * with n the changes in a piece and T the time spent in it: the likelihood of a Poisson process at its best rates, less what it
 * takes to tell where the breaks are and what the values (Rissanen's description length, of which Schwarz's criterion is the second
 * part). Breaks lie between cells. In a circle the last piece goes on into the first, so that a night is one piece; a cut is
 * found from its first break on, and every cell is tried as that.
 *
 * Exact, by a dynamic programme over where pieces begin and end. Cost: O(cells²), in a circle O(cells³ / 6).
 * Delicate: a piece in which nothing was seen has rate 0 and 0 ln 0 = 0; time nobody spent joins either neighbour for nothing.
 */

/** What one more break costs, in nats. */
export function breakPrice(cells: number, changes: number): number {
  return Math.log(cells) + Math.log(Math.max(2, changes)) / 2;
}

/** For each cell the number of its piece. */
export function choosePieces(
  counts: ArrayLike<number>,
  exposure: ArrayLike<number>,
  price: number,
  circle: boolean,
): Int32Array {
  const cells = counts.length;
  const sums: Sums = { n: running(counts), t: running(exposure) };
  if (!circle) return numbered([...cutUpTo(programme(sums, 0, cells, price), 0, cells)], cells);
  let least = -likelihood(sums.n[cells], sums.t[cells]);
  let starts: number[] = [0];
  for (let first = 0; first < cells - 1; first++) {
    const cut = programme(sums, first, cells - 1, price);
    for (let last = first + 1; last < cells; last++) {
      const n = sums.n[cells] - sums.n[last] + sums.n[first];
      const t = sums.t[cells] - sums.t[last] + sums.t[first];
      const total = cut.cost[last] + price - likelihood(n, t);
      if (total >= least - 1e-9) continue;
      least = total;
      starts = [...cutUpTo(cut, first, last), last];
    }
  }
  return numbered(starts, cells);
}

/** ln of the likelihood of n changes in the time t at the rate that makes them likeliest. */
function likelihood(n: number, t: number): number {
  return n > 0 ? n * (Math.log(n / t) - 1) : 0;
}

interface Sums {
  readonly n: Float64Array;
  readonly t: Float64Array;
}

interface Cut {
  /** The least cost of the cells from the first on, up to each, with a break there. */
  readonly cost: Float64Array;
  /** Where the last piece of that cut begins. */
  readonly begin: Int32Array;
}

function programme({ n, t }: Sums, first: number, end: number, price: number): Cut {
  const cost = new Float64Array(end + 1).fill(Infinity);
  const begin = new Int32Array(end + 1);
  cost[first] = 0;
  for (let to = first + 1; to <= end; to++) {
    for (let from = first; from < to; from++) {
      const total = cost[from] + price - likelihood(n[to] - n[from], t[to] - t[from]);
      if (total < cost[to]) {
        cost[to] = total;
        begin[to] = from;
      }
    }
  }
  return { cost, begin };
}

/** Where the pieces of the best cut up to `end` begin, ascending. */
function cutUpTo({ begin }: Cut, first: number, end: number): number[] {
  const starts: number[] = [];
  for (let to = end; to > first; to = begin[to]) starts.push(begin[to]);
  return starts.reverse();
}

/** Cells before the first start belong to the last piece. */
function numbered(starts: readonly number[], cells: number): Int32Array {
  const pieceOf = new Int32Array(cells).fill(starts.length - 1);
  starts.forEach((start, piece) => pieceOf.fill(piece, start, starts[piece + 1] ?? cells));
  return pieceOf;
}

function running(values: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) sums[i + 1] = sums[i] + values[i];
  return sums;
}
