/**
 * The polite schedule as the paper computes it (Eckstein, Gal and Reiner, Algorithms 1, 2 and 4): plain dynamic programming,
 *
 *     D(m, i) = min_{j > i, t_j ≥ t_i + δ} K[i, j] + D(m − 1, j),
 *
 * O(N²) for the costs K (by Lemma 3 from neighbouring points) and O(n·N²) for the table. It is the policy the paper calls
 * DOE, kept as it stands to be compared with; `planPolite` gives the same schedules from prices.
 *
 * As printed, Algorithm 1 sets j(0, i) ← N; that is j(1, i) ← N.
 */
import type { Loss } from '../loss/loss.ts';

export interface ReferencePlan {
  /** Indices of the looks, the last is N; at most n. */
  readonly nodes: Int32Array;
  readonly cost: number;
  /** costs[m − 1] is the least cost with at most m looks, m = 1 … n; Infinity where the spacing allows none. */
  readonly costs: Float64Array;
}

export function planByTable(loss: Loss, times: Float64Array, probes: number, stepsMin: number): ReferencePlan {
  const size = times.length;
  const last = size - 1;
  const K = costMatrix(loss, times);
  const next = Array.from({ length: probes + 1 }, () => new Int32Array(size).fill(-1));
  let before = new Float64Array(size).fill(Infinity);
  before[last] = 0;
  const costs = new Float64Array(probes);
  for (let i = 0; i <= last - stepsMin; i++) {
    before[i] = K[i * size + last];
    next[1][i] = last;
  }
  costs[0] = before[0];
  for (let m = 2; m <= probes; m++) {
    const row = new Float64Array(size).fill(Infinity);
    row[last] = 0;
    for (let i = 0; i < last; i++) {
      for (let j = i + stepsMin; j <= last; j++) {
        const cost = K[i * size + j] + before[j];
        if (cost < row[i]) {
          row[i] = cost;
          next[m][i] = j;
        }
      }
    }
    before = row;
    costs[m - 1] = row[0];
  }
  return { nodes: follow(next, probes, last), cost: costs[probes - 1], costs };
}

/** Algorithm 2. */
function follow(next: readonly Int32Array[], probes: number, last: number): Int32Array {
  const nodes: number[] = [];
  for (let m = probes, k = 0; m > 0 && k < last && k >= 0; m--) {
    k = next[m][k];
    nodes.push(k);
  }
  return Int32Array.from(nodes);
}

/** Algorithm 4 where the loss is a sum of lines; one gap at a time where it is not. */
function costMatrix(loss: Loss, times: Float64Array): Float64Array {
  const size = times.length;
  const K = new Float64Array(size * size);
  if (!loss.lines) {
    for (let i = 0; i < size; i++) for (let j = i + 1; j < size; j++) K[i * size + j] = loss.gap(times[i], times[j]);
    return K;
  }
  const { L, A } = loss.lines(times);
  for (let j = size - 1; j > 0; j--) {
    K[(j - 1) * size + j] = loss.gap(times[j - 1], times[j]);
    for (let i = j - 2; i >= 0; i--) {
      const step = loss.gap(times[i], times[i + 1]);
      K[i * size + j] = step + (L[i + 1] - L[i]) * (A[j] - A[i + 1]) + K[(i + 1) * size + j];
    }
  }
  return K;
}
