/**
 * The C greatest of many values, ties to the lowest page. Values that differ by less than a part in 10¹² are ties: the
 * same sum in another order must not decide who is looked at (0.1 + 0.1 + 0.1 against 0.3).
 *
 * One pass with a heap of C values. The last instant's C-th value is a guess at this one's, so that pages in ascending
 * order of value do not all pass through the heap; a guess that finds too few is dropped and the pass repeated.
 */
import type { Running } from './running-gains.ts';

const tie = 1e-12;

export interface Top {
  /** Fills `chosen` with the places (group, local) of the best and returns how many; zeros are taken last. */
  pick(groups: readonly Running[]): number;
  readonly group: Int32Array;
  readonly local: Int32Array;
}

export function top(capacity: number, pages: number): Top {
  const size = Math.min(capacity, pages);
  const heap = new Float64Array(size);
  const group = new Int32Array(size);
  const local = new Int32Array(size);
  let nearGroup = new Int32Array(4 * size + 64);
  let nearLocal = new Int32Array(4 * size + 64);
  let guess = 0;

  const gather = (groups: readonly Running[], above: number): { near: number; held: number } => {
    let near = 0;
    let held = 0;
    let floor = above;
    // Within one group pages ascend: a later tie never wins. Across groups it may.
    const enter = groups.length === 1 ? 1 + tie : 1 - 2 * tie;
    for (let g = 0; g < groups.length; g++) {
      const { value } = groups[g];
      for (let i = 0; i < value.length; i++) {
        const v = value[i];
        if (!(v > floor)) continue;
        if (near === nearGroup.length) {
          nearGroup = longer(nearGroup);
          nearLocal = longer(nearLocal);
        }
        nearGroup[near] = g;
        nearLocal[near++] = i;
        if (held < size) rise(heap, held++, v);
        else if (v > heap[0]) sink(heap, size, v);
        if (held === size) floor = Math.max(above, heap[0] * enter);
      }
    }
    return { near, held };
  };

  const pick = (groups: readonly Running[]): number => {
    if (size === 0) return 0;
    let { near, held } = gather(groups, guess);
    if (held < size && guess > 0) ({ near, held } = gather(groups, 0));
    const last = held === size ? heap[0] : 0;
    guess = 0.7 * last;
    const high = last * (1 + tie);
    const low = last * (1 - tie);
    let count = 0;
    const tied: { page: number; g: number; i: number }[] = [];
    for (let n = 0; n < near; n++) {
      const g = nearGroup[n];
      const i = nearLocal[n];
      const v = groups[g].value[i];
      if (v > high) {
        group[count] = g;
        local[count++] = i;
      } else if (v >= low) tied.push({ page: groups[g].pages[i], g, i });
    }
    if (tied.length > size - count) tied.sort((a, b) => a.page - b.page);
    for (let n = 0; n < tied.length && count < size; n++) {
      group[count] = tied[n].g;
      local[count++] = tied[n].i;
    }
    return count < size ? fillWithNothing(groups, count) : count;
  };

  /** Algorithm 1 takes C pages even when fewer have anything to offer: the lowest of those that have not. */
  const fillWithNothing = (groups: readonly Running[], from: number): number => {
    let count = from;
    const cursor = new Int32Array(groups.length);
    while (count < size) {
      let best = -1;
      for (let g = 0; g < groups.length; g++) {
        const { value, pages: ids } = groups[g];
        while (cursor[g] < value.length && value[cursor[g]] > 0) cursor[g]++;
        if (cursor[g] < value.length && (best < 0 || ids[cursor[g]] < groups[best].pages[cursor[best]])) best = g;
      }
      if (best < 0) return count;
      group[count] = best;
      local[count++] = cursor[best]++;
    }
    return count;
  };

  return { pick, group, local };
}

function longer(list: Int32Array): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(2 * list.length);
  copy.set(list);
  return copy;
}

/** Puts v at the end of a min-heap of `size`. */
function rise(heap: Float64Array, size: number, v: number): void {
  let at = size;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent] <= v) break;
    heap[at] = heap[parent];
    at = parent;
  }
  heap[at] = v;
}

/** Replaces the least of a min-heap by v. */
function sink(heap: Float64Array, size: number, v: number): void {
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= size) break;
    if (child + 1 < size && heap[child + 1] < heap[child]) child++;
    if (heap[child] >= v) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = v;
}
