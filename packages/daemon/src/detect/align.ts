/**
 * Which runs of two sequences differ.
 *
 * Myers' greedy algorithm (1986) finds the fewest insertions and deletions in O((n+m)·d), d their number: fast where little
 * changed. Where more than `editsMax` are needed, elements that occur exactly once on both sides and keep their order
 * (patience) cut the problem into smaller ones; where there are none either, small rests go to the linear-space form of
 * Myers and large ones count as replaced whole. So the cost is bounded for any input, and what is reported always turns
 * one sequence into the other, if not always by the fewest edits.
 */
import { diff as myers } from 'fast-myers-diff';

/** `from` and `to` of the old sequence were replaced by `newFrom` and `newTo` of the new one; ends are exclusive. */
export interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** The trace costs 2·d² integers: 1.3 MB at this bound, and about ten milliseconds. */
const editsMax = 400;
/** The linear-space form needs time (n+m)² at worst. */
const restMax = 3_000;
/** Anchors are looked for again inside what they cut; a few levels find all that matter. */
const levelsMax = 8;

/** Numbers for equal strings, shared by all sequences numbered with the same table. */
export function numbered(parts: readonly string[], table: Map<string, number>): Int32Array {
  const numbers = new Int32Array(parts.length);
  for (let i = 0; i < parts.length; i++) {
    let number = table.get(parts[i]);
    if (number === undefined) table.set(parts[i], (number = table.size));
    numbers[i] = number;
  }
  return numbers;
}

/**
 * The same for lines or words. Most of a page is as it was, from its beginning and from its end: only what lies between is
 * numbered, which is what comparing costs.
 */
export function alignStrings(old: readonly string[], next: readonly string[]): Hunk[] {
  const { from, to, newFrom, newTo } = trimmed(old, next, {
    from: 0,
    to: old.length,
    newFrom: 0,
    newTo: next.length,
  });
  const table = new Map<string, number>();
  const inner = align(numbered(old.slice(from, to), table), numbered(next.slice(newFrom, newTo), table));
  return inner.map((hunk) => ({
    from: hunk.from + from,
    to: hunk.to + from,
    newFrom: hunk.newFrom + newFrom,
    newTo: hunk.newTo + newFrom,
  }));
}

export function align(old: Int32Array, next: Int32Array): Hunk[] {
  const hunks: Hunk[] = [];
  alignRange(old, next, { from: 0, to: old.length, newFrom: 0, newTo: next.length }, hunks, 0);
  return hunks;
}

function alignRange(old: Int32Array, next: Int32Array, whole: Hunk, out: Hunk[], level: number): void {
  const range = trimmed(old, next, whole);
  const { from, to, newFrom, newTo } = range;
  if (from === to && newFrom === newTo) return;
  if (from === to || newFrom === newTo) {
    push(out, range);
    return;
  }
  const few = fewEdits(old, next, range);
  if (few) {
    for (const hunk of few) push(out, hunk);
    return;
  }
  const anchors = level < levelsMax ? uniqueAnchors(old, next, range) : [];
  if (anchors.length > 0) {
    let at = from;
    let newAt = newFrom;
    for (const [i, j] of [...anchors, [to, newTo] as const]) {
      alignRange(old, next, { from: at, to: i, newFrom: newAt, newTo: j }, out, level + 1);
      at = i + 1;
      newAt = j + 1;
    }
  } else if (to - from + newTo - newFrom <= restMax) {
    for (const [a, b, c, d] of myers(old.subarray(from, to), next.subarray(newFrom, newTo)))
      push(out, { from: from + a, to: from + b, newFrom: newFrom + c, newTo: newFrom + d });
  } else push(out, range);
}

function trimmed<Element>(old: ArrayLike<Element>, next: ArrayLike<Element>, range: Hunk): Hunk {
  let { from, to, newFrom, newTo } = range;
  while (from < to && newFrom < newTo && old[from] === next[newFrom]) {
    from++;
    newFrom++;
  }
  while (from < to && newFrom < newTo && old[to - 1] === next[newTo - 1]) {
    to--;
    newTo--;
  }
  return { from, to, newFrom, newTo };
}

/** Neighbouring hunks become one. */
function push(out: Hunk[], hunk: Hunk): void {
  const last = out.at(-1);
  if (last && last.to === hunk.from && last.newTo === hunk.newFrom)
    out[out.length - 1] = { from: last.from, to: hunk.to, newFrom: last.newFrom, newTo: hunk.newTo };
  else out.push(hunk);
}

function fewEdits(old: Int32Array, next: Int32Array, range: Hunk): Hunk[] | undefined {
  const n = range.to - range.from;
  const m = range.newTo - range.newFrom;
  const most = Math.min(editsMax, n + m);
  const reach = new Int32Array(2 * most + 3);
  const middle = most + 1;
  const traces: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]);
      let x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
      let y = x - k;
      while (x < n && y < m && old[range.from + x] === next[range.newFrom + y]) {
        x++;
        y++;
      }
      reach[middle + k] = x;
      if (x >= n && y >= m) return traceBack(traces, range, d, k);
    }
    traces.push(reach.slice(middle - d - 1, middle + d + 2));
  }
  return undefined;
}

/** Walks the furthest-reaching paths backwards; `traces[d]` holds diagonals −d−1 … d+1 after d edits. */
function traceBack(traces: readonly Int32Array[], range: Hunk, edits: number, diagonal: number): Hunk[] {
  const steps: Hunk[] = [];
  let k = diagonal;
  for (let d = edits; d > 0; d--) {
    const reach = traces[d - 1];
    const at = (diagonalAt: number) => reach[diagonalAt + d];
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const before = down ? k + 1 : k - 1;
    const x = at(before);
    const y = x - before;
    const from = range.from + x;
    const newFrom = range.newFrom + y;
    steps.push(
      down ? { from, to: from, newFrom, newTo: newFrom + 1 } : { from, to: from + 1, newFrom, newTo: newFrom },
    );
    k = before;
  }
  const out: Hunk[] = [];
  for (const step of steps.reverse()) push(out, step);
  return out;
}

/** Pairs of places of elements that are unique on both sides, in order on both (longest increasing subsequence). */
function uniqueAnchors(old: Int32Array, next: Int32Array, range: Hunk): (readonly [number, number])[] {
  const seen = new Map<number, { places: number; newPlaces: number; at: number; newAt: number }>();
  for (let i = range.from; i < range.to; i++) {
    const entry = seen.get(old[i]);
    if (entry) entry.places++;
    else seen.set(old[i], { places: 1, newPlaces: 0, at: i, newAt: -1 });
  }
  for (let j = range.newFrom; j < range.newTo; j++) {
    const entry = seen.get(next[j]);
    if (!entry) continue;
    entry.newPlaces++;
    entry.newAt = j;
  }
  const pairs = [...seen.values()].filter((entry) => entry.places === 1 && entry.newPlaces === 1);
  return increasing(pairs.map((entry) => [entry.at, entry.newAt] as const));
}

function increasing(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const tails: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, place], index) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tails[middle]][1] < place) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = tails[low - 1];
    tails[low] = index;
  });
  const out: (readonly [number, number])[] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index]) out.push(pairs[index]);
  return out.reverse();
}
