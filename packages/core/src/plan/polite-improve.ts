/**
 * Improving a schedule by direct search (Eckstein, Gal and Reiner, Algorithm 10): while some look, moved a share μ of the way
 * towards its left or right neighbour (less the spacing), lowers the cost by at least ι, make the most improving move; then
 * shrink μ, until it is below its stop. The cost falls strictly, no optimum is promised.
 *
 * A heap holds the gains of all 2(n − 1) moves; a move changes at most six of them: O(log n) a move.
 * As printed, the algorithm chooses the move *minimising* the gain; it is the maximising one.
 */
import type { Loss } from '../loss/loss.ts';

export interface Improvement {
  /** μ₀, the share with which to begin. */
  readonly start: number;
  /** μ*, the share below which to stop. */
  readonly stop: number;
  /** ρ, by which the share shrinks. */
  readonly shrink: number;
  /** ι, the least gain worth a move. */
  readonly gain: number;
}

export interface Improved {
  readonly probes: Float64Array;
  readonly moves: number;
}

export function improve(loss: Loss, probes: Float64Array, spacing: number, how: Improvement): Improved {
  // p[0] is the look at the beginning; p[1] … p[n − 1] may move, p[n] is the horizon.
  const p = Float64Array.from([loss.from, ...probes]);
  const movable = p.length - 2;
  let moves = 0;
  if (movable < 1) return { probes, moves };

  for (let share = how.start; share >= how.stop; share *= how.shrink) {
    const target = (move: number): number => {
      const i = 1 + (move >> 1);
      const towards = move & 1 ? p[i + 1] - spacing : p[i - 1] + spacing;
      return share * towards + (1 - share) * p[i];
    };
    const gain = (move: number): number => {
      const i = 1 + (move >> 1);
      const t = target(move);
      const cost = loss.gap(p[i - 1], p[i]) + loss.gap(p[i], p[i + 1]);
      return cost - loss.gap(p[i - 1], t) - loss.gap(t, p[i + 1]);
    };
    const heap = heapOf(2 * movable, gain);
    while (heap.gains[heap.top()] >= how.gain) {
      const move = heap.top();
      const i = 1 + (move >> 1);
      p[i] = target(move);
      moves++;
      for (let near = Math.max(1, i - 1); near <= Math.min(movable, i + 1); near++) {
        heap.change(2 * (near - 1), gain(2 * (near - 1)));
        heap.change(2 * (near - 1) + 1, gain(2 * (near - 1) + 1));
      }
    }
  }
  return { probes: p.slice(1), moves };
}

interface Heap {
  readonly gains: Float64Array;
  /** The move with the greatest gain. */
  top(): number;
  change(move: number, gain: number): void;
}

function heapOf(size: number, gain: (move: number) => number): Heap {
  const gains = Float64Array.from({ length: size }, (_, move) => gain(move));
  const heap = Int32Array.from({ length: size }, (_, move) => move);
  const place = Int32Array.from(heap);

  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b], heap[a]];
    place[heap[a]] = a;
    place[heap[b]] = b;
  };
  const up = (at: number): void => {
    for (let i = at; i > 0 && gains[heap[i]] > gains[heap[(i - 1) >> 1]]; i = (i - 1) >> 1) swap(i, (i - 1) >> 1);
  };
  const down = (at: number): void => {
    for (let i = at; ;) {
      let greatest = i;
      for (const child of [2 * i + 1, 2 * i + 2])
        if (child < size && gains[heap[child]] > gains[heap[greatest]]) greatest = child;
      if (greatest === i) return;
      swap(i, greatest);
      i = greatest;
    }
  };
  for (let i = (size >> 1) - 1; i >= 0; i--) down(i);

  return {
    gains,
    top: () => heap[0],
    change: (move, value) => {
      gains[move] = value;
      up(place[move]);
      down(place[move]);
    },
  };
}
