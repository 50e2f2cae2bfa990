/**
 * A loss is a function of the gap between two looks: what it costs, in expectation, to look at `s` and next at `f`. Planners
 * need one thing of it, the quadrangle inequality (it is Monge): for s ≤ s′ ≤ f ≤ f′
 *
 *     gap(s, f′) − gap(s, f) − gap(s′, f′) + gap(s′, f) ≥ 0,
 *
 * "what a later look at f costs is less after a fresher look at s′". Each loss says in its header why it holds.
 */

export interface Loss {
  readonly name: string;
  /** The window of time in which it is known. */
  readonly from: number;
  readonly to: number;
  /** The loss of the gap (s, f], from ≤ s ≤ f ≤ to; 0 when s = f. */
  gap(s: number, f: number): number;
  /**
   * Where the loss has the form A(f)·(L(f) − L(s)) − (M(f) − M(s)): the three functions at ascending times. Each time s is
   * then a line in A, and a planner may use a hull of lines instead of comparing gaps.
   */
  lines?(times: Float64Array): Lines;
  /** A faster gap between the i-th and the j-th of ascending times, good enough to compare by. */
  onGrid?(times: Float64Array): (i: number, j: number) => number;
}

export interface Lines {
  readonly L: Float64Array;
  readonly A: Float64Array;
  readonly M: Float64Array;
}

/** The expected loss of a whole schedule: looks at these ascending times after a look at `from`. */
export function scheduleLoss(loss: Loss, from: number, looks: ArrayLike<number>): number {
  let sum = 0;
  let last = from;
  for (let i = 0; i < looks.length; i++) {
    sum += loss.gap(last, looks[i]);
    last = looks[i];
  }
  return sum;
}

/** The piece of ascending breaks that holds t; the last piece holds the last break. */
export function pieceOf(breaks: Float64Array, t: number): number {
  let low = 0;
  let high = breaks.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (breaks[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}
