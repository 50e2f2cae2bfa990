/**
 * In which order to fetch when each site is fast at some hours and slow at others: the Variable Length Sequencing Problem
 * (Czumaj et al. 2001), its values and its checker.
 *
 *   minimise   max_t σ(t) + l(t, σ(t)) − 1   over starts σ such that no two tasks overlap
 *
 * Time comes in units 1, 2, …; task t started in unit i takes l(t, i) of them. Beyond the table the last column repeats.
 *
 * Waiting is allowed, so with e_t(c) = min over i > c of i + l(t, i) − 1 (the earliest completion after c, which never
 * falls as c grows) an order has one best schedule: each task completes at e_t of the completion before it. Every search
 * below is therefore a search over orders, and an optimum is among them.
 */

export interface SequenceTable {
  readonly tasks: number;
  readonly columns: number;
  /** Row by row, `columns` lengths a task. */
  readonly lengths: Int32Array;
  /** Row by row, e_t(c) for c = 0 … columns − 1. */
  readonly earliest: Int32Array;
}

export interface Sequence {
  /** The start unit of each task, from 1. */
  readonly start: readonly number[];
  readonly finish: number;
}

export function sequenceTable(rows: readonly (readonly number[])[]): SequenceTable {
  const tasks = rows.length;
  const columns = rows[0]?.length ?? 0;
  const lengths = new Int32Array(tasks * columns);
  const earliest = new Int32Array(tasks * columns);
  rows.forEach((row, t) => {
    // Waiting beyond the table, where the last length holds for ever.
    let best = columns + row[columns - 1]!;
    for (let i = columns; i >= 1; i--) {
      lengths[t * columns + i - 1] = row[i - 1]!;
      best = Math.min(best, i + row[i - 1]! - 1);
      earliest[t * columns + i - 1] = best;
    }
  });
  return { tasks, columns, lengths, earliest };
}

export function lengthAt(table: SequenceTable, task: number, unit: number): number {
  return table.lengths[task * table.columns + Math.min(unit, table.columns) - 1]!;
}

/** The earliest completion of a task that starts after unit c. */
export function earliestAfter(table: SequenceTable, task: number, c: number): number {
  return c < table.columns
    ? table.earliest[task * table.columns + c]!
    : c + table.lengths[(task + 1) * table.columns - 1]!;
}

/** The first start after unit c that completes as early as possible. */
function startOf(table: SequenceTable, task: number, c: number): number {
  const completion = earliestAfter(table, task, c);
  let start = c + 1;
  while (start + lengthAt(table, task, start) - 1 !== completion) start++;
  return start;
}

/** The best schedule of a given order. */
export function inOrder(table: SequenceTable, order: ArrayLike<number>): Sequence {
  const start: number[] = Array.from({ length: table.tasks });
  let c = 0;
  for (let k = 0; k < order.length; k++) {
    const task = order[k]!;
    start[task] = startOf(table, task, c);
    c = earliestAfter(table, task, c);
  }
  return { start, finish: c };
}

export function finishOf(table: SequenceTable, start: readonly number[]): number {
  return start.reduce((latest, unit, task) => Math.max(latest, unit + lengthAt(table, task, unit) - 1), 0);
}

export function orderOf(start: readonly number[]): number[] {
  return start.map((_, task) => task).sort((a, b) => start[a]! - start[b]! || a - b);
}

/** What is wrong with a schedule, one sentence each; empty when nothing is. */
export function checkSequence(table: SequenceTable, sequence: Sequence): string[] {
  const { start, finish } = sequence;
  const wrong: string[] = [];
  if (start.length !== table.tasks) wrong.push(`${start.length} starts for ${table.tasks} tasks`);
  for (const [task, unit] of start.entries()) {
    if (!Number.isInteger(unit) || unit < 1) wrong.push(`task ${task} starts at ${unit}, which is no unit`);
  }
  if (wrong.length > 0) return wrong;
  const order = orderOf(start);
  for (let k = 1; k < order.length; k++) {
    const [before, after] = [order[k - 1]!, order[k]!];
    const end = start[before]! + lengthAt(table, before, start[before]!) - 1;
    if (start[after]! <= end)
      wrong.push(`task ${after} starts at ${start[after]} while task ${before} runs until ${end}`);
  }
  const latest = finishOf(table, start);
  if (latest !== finish) wrong.push(`the last task ends at ${latest}, not at ${finish}`);
  return wrong;
}
