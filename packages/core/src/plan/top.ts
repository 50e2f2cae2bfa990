/**
 * The C greatest of many values, ties to the lowest page. Values that differ by less than a part in 10¹² are ties: the
 * same sum in another order must not decide who is looked at (0.1 + 0.1 + 0.1 against 0.3).
 *
 * One pass with a heap of C values. The last instant's C-th value is a guess at this one's, so that pages in ascending
 * order of value do not all pass through the heap; a guess that finds too few is dropped, the pass repeated, and less guessed
 * the next time.
 */
import { type Running, worthOf } from './running-gains.ts';

const tie = 1e-12;
// Of the last instant's C-th value, at most so much is guessed for this one.
const shareMost = 0.7;

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
  let share = shareMost;

  let near = 0;
  let held = 0;

  /** Remembers a value above the floor, and returns the floor from now on. */
  const consider = (g: number, i: number, v: number, above: number, enter: number): number => {
    if (near === nearGroup.length) {
      nearGroup = longer(nearGroup);
      nearLocal = longer(nearLocal);
    }
    nearGroup[near] = g;
    nearLocal[near++] = i;
    if (held < size) rise(heap, held++, v);
    else if (v > heap[0]) sink(heap, size, v);
    return held === size ? Math.max(above, heap[0] * enter) : above;
  };

  const gather = (groups: readonly Running[], above: number): void => {
    near = 0;
    held = 0;
    let floor = above;
    // Within one group in order a later tie never wins. Across groups, and among the awake, it may.
    const enter = groups.length === 1 && !isByList(groups[0]) ? 1 + tie : 1 - 2 * tie;
    for (let g = 0; g < groups.length; g++) {
      const { value, awake, unit = 1 } = groups[g];
      let least = floor / unit;
      const pass = (i: number): void => {
        floor = consider(g, i, value[i] * unit, above, enter);
        least = floor / unit;
      };
      if (awake && isByList(groups[g])) {
        const { list } = awake;
        for (let n = 0; n < awake.count; n++) if (value[list[n]] > least) pass(list[n]);
      } else {
        for (let i = 0; i < value.length; i++) if (value[i] > least) pass(i);
      }
    }
  };

  const worthAt = (groups: readonly Running[], n: number): number => worthOf(groups[nearGroup[n]], nearLocal[n]);

  const pick = (groups: readonly Running[]): number => {
    if (size === 0) return 0;
    gather(groups, guess * share);
    const isShort = held < size && guess * share > 0;
    // How far the greatest fall in an instant is the problem's own affair: learned from instant to instant.
    share = isShort ? 0.5 * share : Math.min(shareMost, 1.05 * share);
    if (isShort || groups.some(({ awake }) => awake && held < size && awake.floor > 0)) {
      for (const { awake } of groups) awake?.all();
      gather(groups, 0);
    } else if (groups.some(({ awake }) => awake && heap[0] * (1 - 2 * tie) < awake.floor)) {
      // Somebody asleep may be as good as the last one found.
      for (const { awake } of groups) awake?.all();
      gather(groups, 0);
    }
    const last = held === size ? heap[0] : 0;
    for (const { awake } of groups) awake?.settle(last, size);
    guess = last;
    const high = last * (1 + tie);
    const low = last * (1 - tie);
    let count = 0;
    for (let n = 0; n < near; n++) {
      if (worthAt(groups, n) <= high) continue;
      group[count] = nearGroup[n];
      local[count++] = nearLocal[n];
    }
    if (last > 0) count = takeTied(groups, low, high, count);
    return count < size ? fillWithNothing(groups, count) : count;
  };

  /** Of those that tie with the last the lowest pages, by a heap whose greatest stands first (as negative numbers). */
  const takeTied = (groups: readonly Running[], low: number, high: number, from: number): number => {
    const room = size - from;
    let count = from;
    held = 0;
    for (let n = 0; n < near; n++) {
      const v = worthAt(groups, n);
      if (v > high || v < low) continue;
      const page = -groups[nearGroup[n]].pages[nearLocal[n]];
      if (held < room) rise(heap, held++, page);
      else if (page > heap[0]) sink(heap, room, page);
    }
    const greatest = held > 0 ? -heap[0] : -1;
    for (let n = 0; n < near; n++) {
      const v = worthAt(groups, n);
      if (v > high || v < low || groups[nearGroup[n]].pages[nearLocal[n]] > greatest) continue;
      group[count] = nearGroup[n];
      local[count++] = nearLocal[n];
    }
    return count;
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

/** The list of the awake, unless most are or so few sleep that going in order, which settles ties, is cheaper. */
function isByList({ awake, value }: Running): boolean {
  return awake !== undefined && (awake.floor > 0 || 8 * awake.count < value.length);
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
