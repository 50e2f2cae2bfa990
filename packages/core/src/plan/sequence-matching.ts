/**
 * VLSP with lengths 1 and 2, solved exactly (Czumaj et al. 2001, §3).
 *
 * G_N joins a task to every unit in which it takes one, and each unit to the next. By Lemma 2 a schedule that ends by N
 * exists exactly when G_N has a matching of n edges: a task edge is a fast task, an edge between two units is room for a slow
 * one. G_N has odd cycles (a task with two neighbouring units), so the matching is a general one. It grows with N, so the
 * least N is found by binary search between n and 2n; each matching starts from the last one.
 *
 * Cost: about log₂ n matchings of O(E·α) a phase, few phases each. E is the number of (task, unit ≤ 2n) with length 1.
 */
import { type Graph, maximizeMatching } from './matching.ts';
import { finishOf, type Sequence, type SequenceTable } from './sequence.ts';

export interface MatchedSequence extends Sequence {
  /** For each N that was tried, the size of the matching: maximum, or n where that is reached. */
  readonly matchings: ReadonlyMap<number, number>;
}

/** Every length must be 1 or 2. */
export function sequenceByMatching(table: SequenceTable): MatchedSequence {
  const n = table.tasks;
  // Units come first, so that a smaller N leaves out the last vertices: unit j is vertex n + j − 1.
  const graph = slotGraph(table, 2 * n);
  const matchings = new Map<number, number>();
  let mates: Int32Array = new Int32Array(3 * n).fill(-1);
  let [low, high] = [n, 2 * n];
  let best: Int32Array | undefined;
  while (low < high || !best) {
    const units = low < high ? (low + high) >> 1 : high;
    const trial = restricted(mates, n, units);
    matchGreedily(graph, trial, n, units);
    const size = maximizeMatching(graph, trial, n + units, n);
    matchings.set(units, size);
    if (size >= n) [high, best] = [units, trial];
    else low = units + 1;
    mates = trial;
  }
  const start = startsOf(best, n, high);
  return { start, finish: finishOf(table, start), matchings };
}

/** Lemma 2: task edges as they are, the other tasks at the first edges between units. */
function startsOf(mates: Int32Array, n: number, units: number): number[] {
  const start: number[] = Array.from({ length: n });
  const rooms: number[] = [];
  for (let j = 1; j < units; j++) if (mates[n + j - 1] === n + j) rooms.push(j);
  let room = 0;
  for (let task = 0; task < n; task++) {
    start[task] = mates[task]! >= 0 ? mates[task]! - n + 1 : rooms[room++]!;
  }
  return start;
}

/** The matching of a smaller or larger N: edges to units beyond it are dropped. */
function restricted(mates: Int32Array, n: number, units: number): Int32Array {
  const copy = mates.slice();
  const vertices = n + units;
  for (let v = 0; v < copy.length; v++) if (v >= vertices || copy[v]! >= vertices) copy[v] = -1;
  return copy;
}

export function slotGraph(table: SequenceTable, units: number): Graph {
  const n = table.tasks;
  const offsets = new Int32Array(n + units + 1);
  eachFast(table, units, (task, slot) => {
    offsets[task + 1]!++;
    offsets[slot + 1]!++;
  });
  for (let slot = n; slot < n + units; slot++)
    offsets[slot + 1]! += (slot > n ? 1 : 0) + (slot + 1 < n + units ? 1 : 0);
  for (let v = 0; v < n + units; v++) offsets[v + 1]! += offsets[v]!;
  const targets = new Int32Array(offsets[n + units]!);
  const next = offsets.slice();
  eachFast(table, units, (task, slot) => {
    targets[next[task]!++] = slot;
    targets[next[slot]!++] = task;
  });
  for (let slot = n; slot + 1 < n + units; slot++) {
    targets[next[slot]!++] = slot + 1;
    targets[next[slot + 1]!++] = slot;
  }
  return { offsets, targets };
}

/** Calls back for every task and vertex of a unit in which it takes one unit. */
function eachFast(table: SequenceTable, units: number, see: (task: number, slot: number) => void): void {
  const { tasks: n, columns, lengths } = table;
  const inside = Math.min(units, columns);
  for (let task = 0; task < n; task++) {
    const row = task * columns;
    for (let j = 0; j < inside; j++) if (lengths[row + j] === 1) see(task, n + j);
    if (lengths[row + columns - 1] === 1) for (let j = inside; j < units; j++) see(task, n + j);
  }
}

/** Fills up a matching: free units in order, each with the free fast task of fewest units; then pairs of free units. */
function matchGreedily(graph: Graph, mates: Int32Array, n: number, units: number): void {
  const { offsets, targets } = graph;
  const degree = (task: number) => offsets[task + 1]! - offsets[task]!;
  for (let slot = n; slot < n + units; slot++) {
    if (mates[slot]! >= 0) continue;
    let best = -1;
    for (let e = offsets[slot]!; e < offsets[slot + 1]!; e++) {
      const task = targets[e]!;
      if (task < n && mates[task]! < 0 && (best < 0 || degree(task) < degree(best))) best = task;
    }
    if (best < 0) continue;
    mates[slot] = best;
    mates[best] = slot;
  }
  for (let slot = n; slot + 1 < n + units; slot++) {
    if (mates[slot]! >= 0 || mates[slot + 1]! >= 0) continue;
    mates[slot] = slot + 1;
    mates[slot + 1] = slot;
  }
}
