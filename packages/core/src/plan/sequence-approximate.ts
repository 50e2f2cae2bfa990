/**
 * The approximations of Czumaj et al. 2001 for lengths beyond 1 and 2.
 *
 * A₁ (two lengths k₁ < k₂): for each residue i and end N, a maximum matching of tasks with units j ≡ i (mod k₁) in which
 * they take k₁; the rest follow one after another from N + 1, k₂ apart. Within 1 + k₁(k₂ − k₁)/k₂ of the optimum (Theorem 5).
 * Only units with j + k₁ − 1 ≤ N count, or a fast task would overlap the slow ones from N + 1 on.
 * A₂ (random tables): in each unit a random one of the tasks that take the least length there, done if still waiting; about
 * 2n·ln n units, then the rest in order.
 * A₃ (few lengths, random tables): a matching of tasks with the units 1, k₁+1, 2k₁+1, …; then the rest in order.
 *
 * Cost: A₁ and A₃ O(E) for failures and O(path) for successes of the growing matching; A₂ O(n² ln n).
 */
import { SlotMatching } from './matching.ts';
import { finishOf, lengthAt, type Sequence, type SequenceTable } from './sequence.ts';

/** The different lengths of a table, ascending. */
export function lengthsOf(table: SequenceTable): number[] {
  return [...new Set(table.lengths)].sort((a, b) => a - b);
}

/** A₁; the table must hold one or two different lengths. */
export function sequenceTwoSpeed(table: SequenceTable): Sequence & { readonly ratio: number } {
  const n = table.tasks;
  const lengths = lengthsOf(table);
  const [short, long] = [lengths[0]!, lengths.at(-1)!];
  const ratio = 1 + (short * (long - short)) / long;
  let best = Array.from({ length: n }, (_, task) => long * task + 1);
  let bestCost = long * n;
  // Beyond C₀ of Theorem 5 the sequence above is good enough.
  const last = Math.floor((long * long * n) / (long + short * (long - short)));
  for (let residue = 1; residue <= short && short < long; residue++) {
    const matching = new SlotMatching(n);
    for (let unit = residue; unit + short - 1 <= last; unit += short) {
      if (!matching.add(unit, tasksWith(table, unit, short))) continue;
      const end = unit + short - 1;
      const cost = end + long * (n - matching.size);
      if (cost >= bestCost) continue;
      bestCost = cost;
      best = withRest(matching.slotOf, end, long);
    }
  }
  return { start: best, finish: finishOf(table, best), ratio };
}

function withRest(slotOf: Int32Array, end: number, apart: number): number[] {
  let next = end + 1;
  return Array.from(slotOf, (slot) => {
    if (slot >= 0) return slot;
    next += apart;
    return next - apart;
  });
}

/** The tasks that take exactly so long when started in a unit. */
export function tasksWith(table: SequenceTable, unit: number, length: number): number[] {
  const tasks: number[] = [];
  for (let task = 0; task < table.tasks; task++) if (lengthAt(table, task, unit) === length) tasks.push(task);
  return tasks;
}

/** A₂, with the least length of the table in place of 1. */
export function sequenceByCoupons(table: SequenceTable, next: () => number): Sequence {
  const n = table.tasks;
  const short = lengthsOf(table)[0]!;
  const last = Math.ceil(n * (2 * Math.log(n) + short - 1));
  const start: number[] = Array.from({ length: n }, () => 0);
  let waiting = n;
  let unit = 1;
  while (unit <= last && waiting > 0) {
    const tasks = tasksWith(table, unit, short);
    const task = tasks[Math.floor(next() * tasks.length)];
    if (task === undefined || start[task] !== 0) unit++;
    else {
      start[task] = unit;
      unit += short;
      waiting--;
    }
  }
  return oneByOne(table, start, Math.max(unit, waiting > 0 ? last + 1 : 1));
}

/** A₃. */
export function sequenceByPerfectMatching(table: SequenceTable): Sequence {
  const n = table.tasks;
  const short = lengthsOf(table)[0]!;
  const matching = new SlotMatching(n);
  for (let i = 0; i < n; i++) matching.add(short * i + 1, tasksWith(table, short * i + 1, short));
  return oneByOne(
    table,
    Array.from(matching.slotOf, (slot) => Math.max(0, slot)),
    n * short + 1,
  );
}

/** Tasks without a start (0) one after another from a unit on. */
function oneByOne(table: SequenceTable, start: number[], from: number): Sequence {
  let unit = from;
  for (let task = 0; task < start.length; task++) {
    if (start[task] !== 0) continue;
    start[task] = unit;
    unit += lengthAt(table, task, unit);
  }
  return { start, finish: finishOf(table, start) };
}
