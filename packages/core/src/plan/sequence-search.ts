/**
 * VLSP with any lengths: the best order we can find, and how far from the optimum it can be at most.
 *
 * Exact where tasks are few or alike: by the monotone e_t of sequence.ts the earliest completion of a multiset of tasks is
 * all that its future needs to know, so a table over how many tasks of each kind (equal rows) are done is enough: 2^n
 * states for n different tasks, 10⁴ for four sites of nine pages. Otherwise: construct (given order, two greedies, A₁–A₃,
 * matchings at other thresholds), then improve the best by moving and exchanging tasks, accepting small losses less and
 * less (annealing), with the same generator and the same number of steps for the same seed.
 *
 * Lower bounds: a schedule that ends by N spends at least Σ_t (the least length of t among starts that end by N) units, at
 * most the matching number of its tasks on the least length, and no task ends before its own e_t(0).
 *
 * Cost: O(states · kinds) exact; O(n²) greedy; `stepsMax` elementary steps of improvement.
 */
import { SlotMatching } from './matching.ts';
import {
  lengthsOf,
  sequenceByCoupons,
  sequenceByPerfectMatching,
  sequenceTwoSpeed,
  tasksWith,
} from './sequence-approximate.ts';
import { sequenceByMatching } from './sequence-matching.ts';
import { earliestAfter, inOrder, lengthAt, orderOf, type Sequence, type SequenceTable } from './sequence.ts';

export interface BestSequence extends Sequence {
  /** True only when proven. */
  readonly optimal: boolean;
  readonly lowerBound: number;
}

export interface SearchLimits {
  /** States of the exact table. */
  readonly statesMax?: number;
  /** Single tasks placed during improvement. */
  readonly stepsMax?: number;
}

/** `next` gives numbers in [0, 1). */
export function planSequence(table: SequenceTable, next: () => number, limits: SearchLimits = {}): BestSequence {
  const lengths = lengthsOf(table);
  if (lengths.at(-1)! <= 2) {
    const { start, finish } = sequenceByMatching(table);
    return { start, finish, optimal: true, lowerBound: finish };
  }
  const exact = exactByKinds(table, limits.statesMax ?? 2e6);
  if (exact) return { ...exact, optimal: true, lowerBound: exact.finish };
  const lowerBound = sequenceLowerBound(table);
  let best: Sequence | undefined;
  for (const order of constructions(table, lengths, next)) {
    const sequence = inOrder(table, order);
    if (!best || sequence.finish < best.finish) best = sequence;
  }
  if (best!.finish > lowerBound) best = improved(table, best!, lowerBound, next, limits.stepsMax ?? 2e7);
  return { ...best!, optimal: best!.finish === lowerBound, lowerBound };
}

function* constructions(table: SequenceTable, lengths: readonly number[], next: () => number): Generator<number[]> {
  yield Array.from({ length: table.tasks }, (_, task) => task);
  yield greedyOrder(table, () => 0);
  yield greedyOrder(table, usualLength(table));
  yield orderOf(sequenceByPerfectMatching(table).start);
  yield orderOf(sequenceByCoupons(table, next).start);
  if (lengths.length === 2) yield orderOf(sequenceTwoSpeed(table).start);
}

/** What a task takes on the average over the table: what is lost when a fast moment passes. */
function usualLength(table: SequenceTable): (task: number) => number {
  const means = Array.from({ length: table.tasks }, (_, task) => {
    let sum = 0;
    for (let unit = 1; unit <= table.columns; unit++) sum += lengthAt(table, task, unit);
    return sum / table.columns;
  });
  return (task) => means[task]!;
}

/** Always the task that ends soonest, less what it would usually take; ties go to the lowest index. */
export function greedyOrder(table: SequenceTable, worth: (task: number) => number): number[] {
  const waiting = Array.from({ length: table.tasks }, (_, task) => task);
  const order: number[] = [];
  let c = 0;
  while (waiting.length > 0) {
    let best = 0;
    let bestScore = Infinity;
    for (let k = 0; k < waiting.length; k++) {
      const score = earliestAfter(table, waiting[k]!, c) - c - worth(waiting[k]!);
      if (score < bestScore || (score === bestScore && waiting[k]! < waiting[best]!)) [best, bestScore] = [k, score];
    }
    const task = waiting[best]!;
    waiting[best] = waiting.at(-1)!;
    waiting.pop();
    order.push(task);
    c = earliestAfter(table, task, c);
  }
  return order;
}

/** The optimum by a table over counts of equal tasks; undefined when it would be too large. */
export function exactByKinds(table: SequenceTable, statesMax: number): Sequence | undefined {
  const kinds = equalTasks(table);
  const states = kinds.reduce((product, tasks) => product * (tasks.length + 1), 1);
  if (states > statesMax) return undefined;
  const steps = kinds.map((_, k) => kinds.slice(0, k).reduce((product, tasks) => product * (tasks.length + 1), 1));
  const done = (state: number, k: number) => Math.floor(state / steps[k]!) % (kinds[k]!.length + 1);
  const ends = new Int32Array(states);
  const lastKind = new Int32Array(states).fill(-1);
  for (let state = 1; state < states; state++) {
    let best = Infinity;
    for (let k = 0; k < kinds.length; k++) {
      if (done(state, k) === 0) continue;
      const end = earliestAfter(table, kinds[k]![0]!, ends[state - steps[k]!]!);
      if (end < best) [best, lastKind[state]] = [end, k];
    }
    ends[state] = best;
  }
  const order: number[] = [];
  for (let state = states - 1; state > 0; state -= steps[lastKind[state]!]!) {
    const k = lastKind[state]!;
    order.push(kinds[k]![done(state, k) - 1]!);
  }
  return inOrder(table, order.reverse());
}

/** Tasks with equal rows, as lists. */
function equalTasks(table: SequenceTable): number[][] {
  const row = (task: number) => table.lengths.subarray(task * table.columns, (task + 1) * table.columns);
  const buckets = new Map<number, number[][]>();
  for (let task = 0; task < table.tasks; task++) {
    const mine = row(task);
    let hash = 0;
    for (const length of mine) hash = (Math.imul(hash, 31) + length) | 0;
    const bucket = buckets.get(hash) ?? [];
    buckets.set(hash, bucket);
    const same = bucket.find((tasks) => row(tasks[0]!).every((length, i) => length === mine[i]));
    if (same) same.push(task);
    else bucket.push([task]);
  }
  return [...buckets.values()].flat();
}

export function sequenceLowerBound(table: SequenceTable): number {
  const n = table.tasks;
  const lengths = lengthsOf(table);
  const [short, second] = [lengths[0]!, lengths[1] ?? lengths[0]!];
  // 0 while no start of the task ends in time.
  const least = new Int32Array(n);
  const matching = new SlotMatching(n);
  let bound = 0;
  for (let task = 0; task < n; task++) bound = Math.max(bound, earliestAfter(table, task, 0));
  // For each end N: lengths possible so far, then whether they fit into N units at all.
  const endingAt = startsByEnd(table);
  for (let end = 1; ; end++) {
    for (const [task, length] of endingAt(end)) if (length < least[task]! || least[task] === 0) least[task] = length;
    const unit = end - short + 1;
    if (unit >= 1 && matching.size < n) matching.add(unit, tasksWith(table, unit, short));
    if (end < bound) continue;
    const sum = least.reduce((total, length) => total + length, 0);
    const byMatching = short * matching.size + second * (n - matching.size);
    if (Math.max(sum, byMatching) <= end) return end;
  }
}

/** Starts (task, length) by the unit in which they end; beyond the table each task ends once more with its last length. */
function startsByEnd(table: SequenceTable): (end: number) => readonly (readonly [number, number])[] {
  const lists = new Map<number, [number, number][]>();
  for (let task = 0; task < table.tasks; task++) {
    let least = Infinity;
    for (let unit = 1; unit <= table.columns + 1; unit++) {
      const length = lengthAt(table, task, unit);
      // Later starts of no smaller length change nothing that is asked of the list.
      if (length >= least) continue;
      least = length;
      const end = unit + length - 1;
      const list = lists.get(end);
      if (list) list.push([task, length]);
      else lists.set(end, [[task, length]]);
    }
  }
  return (end) => lists.get(end) ?? [];
}

/** Annealing over orders; only the part behind the first change is placed again. */
function improved(
  table: SequenceTable,
  start: Sequence,
  enough: number,
  next: () => number,
  stepsMax: number,
): Sequence {
  const n = table.tasks;
  let order = Int32Array.from(orderOf(start.start));
  const ends = new Int32Array(n + 1);
  const place = (from: number, candidate: Int32Array, into: Int32Array): number => {
    for (let k = from; k < n; k++) into[k + 1] = earliestAfter(table, candidate[k]!, into[k]!);
    return into[n]!;
  };
  let current = place(0, order, ends);
  let best = { order: order.slice(), finish: current };
  const trialEnds = new Int32Array(n + 1);
  const heat = Math.max(1, current / n);
  let steps = 0;
  while (steps < stepsMax && best.finish > enough) {
    const [a, b] = [Math.floor(next() * n), Math.floor(next() * n)];
    if (a === b) {
      steps++;
      continue;
    }
    const trial = order.slice();
    if (next() < 0.5) [trial[a], trial[b]] = [trial[b]!, trial[a]!];
    else {
      const task = trial[a]!;
      if (a < b) trial.copyWithin(a, a + 1, b + 1);
      else trial.copyWithin(b + 1, b, a);
      trial[b] = task;
    }
    const from = Math.min(a, b);
    trialEnds.set(ends.subarray(0, from + 1));
    const finish = place(from, trial, trialEnds);
    steps += n - from + 8;
    const temperature = heat * (1 - steps / stepsMax) ** 2;
    if (finish > current && next() >= Math.exp((current - finish) / Math.max(temperature, 1e-9))) continue;
    order = trial;
    ends.set(trialEnds);
    current = finish;
    if (finish < best.finish) best = { order: order.slice(), finish };
  }
  return best.finish < start.finish ? inOrder(table, best.order) : start;
}
