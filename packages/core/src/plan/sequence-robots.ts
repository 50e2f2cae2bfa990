/**
 * Fetch order for several robots, with spacing between starts on one site, release times and deadlines.
 *
 *   minimise lexicographically   (tasks that end after their deadline, the last end, the sum of ends)
 *   such that no robot does two tasks at once, starts on one site are `spacing` units apart, no task starts before its release
 *
 * NP-hard already for one robot, so: orders are turned into schedules by giving each task in turn to the robot on which it
 * ends first (waiting where that helps), three orders are tried (given, by deadline, greedy by earliest end), and the best is
 * improved by moves and exchanges. The lower bound is that of work: Σ least lengths ⁄ robots, each task's own earliest
 * end, and for each site the spacing between as many starts as it has tasks.
 *
 * Cost: O(n·robots) an order, O(n²·robots) for the greedy one (up to `greedyMax` tasks), `stepsMax` steps of improvement.
 */
import { planSequence } from './sequence-search.ts';
import { earliestAfter, lengthAt, type SequenceTable } from './sequence.ts';

export interface FleetProblem {
  readonly table: SequenceTable;
  readonly robots: number;
  /** The site of each task, small whole numbers; every task its own when absent. */
  readonly site?: readonly number[];
  /** Units between two starts on one site. */
  readonly spacing?: number;
  /** The first unit in which a task may start. */
  readonly release?: readonly number[];
  /** The last unit in which a task should run. */
  readonly deadline?: readonly number[];
}

export interface FleetSequence {
  readonly start: readonly number[];
  readonly robot: readonly number[];
  readonly finish: number;
  /** Tasks that end after their deadline. */
  readonly late: readonly number[];
  readonly lowerBound: number;
  readonly optimal: boolean;
}

interface Score {
  readonly late: number;
  readonly finish: number;
  readonly sum: number;
}

/** Beyond this many tasks the quadratic greedy takes seconds. */
const greedyMax = 3000;

export function planFleet(problem: FleetProblem, next: () => number, stepsMax = 1e6): FleetSequence {
  const n = problem.table.tasks;
  const { robots, spacing, release, deadline } = problem;
  if (robots === 1 && !spacing && !release && !deadline) {
    const alone = planSequence(problem.table, next);
    return { ...alone, robot: alone.start.map(() => 0), late: [] };
  }
  const given = Array.from({ length: n }, (_, task) => task);
  const urgent = [...given].sort(
    (a, b) => (problem.deadline?.[a] ?? Infinity) - (problem.deadline?.[b] ?? Infinity) || a - b,
  );
  const orders = [given, urgent, ...(n <= greedyMax ? [greedyOrder(problem)] : [])];
  let best = orders[0]!;
  let bestScore = place(problem, best).score;
  for (const order of orders.slice(1)) {
    const { score } = place(problem, order);
    if (better(score, bestScore)) [best, bestScore] = [order, score];
  }
  const lowerBound = fleetLowerBound(problem);
  const done = (score: Score) => score.late === 0 && score.finish <= lowerBound;
  // Placing a task costs a step a robot; preparing a trial as much as some twenty of them.
  const stepsEach = n * problem.robots + 20;
  for (let steps = 0; steps < stepsMax && !done(bestScore) && n > 1; steps += stepsEach) {
    const trial = [...best];
    const [a, b] = [Math.floor(next() * n), Math.floor(next() * n)];
    if (next() < 0.5) [trial[a], trial[b]] = [trial[b]!, trial[a]!];
    else trial.splice(b, 0, ...trial.splice(a, 1));
    const { score } = place(problem, trial);
    if (!better(bestScore, score)) [best, bestScore] = [trial, score];
  }
  const { start, robot, late } = place(problem, best);
  return { start, robot, late, finish: bestScore.finish, lowerBound, optimal: done(bestScore) };
}

function better(a: Score, b: Score): boolean {
  if (a.late !== b.late) return a.late < b.late;
  if (a.finish !== b.finish) return a.finish < b.finish;
  return a.sum < b.sum;
}

/** The state of a schedule that grows task by task. */
class Floor {
  /** The unit after which each robot is free. */
  readonly free: Int32Array;
  readonly #problem: FleetProblem;
  readonly #siteFree = new Map<number, number>();

  constructor(problem: FleetProblem) {
    this.#problem = problem;
    this.free = new Int32Array(problem.robots);
  }

  /** The unit after which the task may start, robots apart. */
  ready(task: number): number {
    const { release, site, spacing } = this.#problem;
    const bySite = site && spacing ? (this.#siteFree.get(site[task]!) ?? 0) : 0;
    return Math.max((release?.[task] ?? 1) - 1, bySite);
  }

  /** The robot on which the task ends first; among equals the one that is busy longest, so that others stay free. */
  choose(task: number): { readonly robot: number; readonly end: number } {
    const ready = this.ready(task);
    let best = { robot: 0, end: Infinity };
    for (let robot = 0; robot < this.free.length; robot++) {
      const end = earliestAfter(this.#problem.table, task, Math.max(this.free[robot]!, ready));
      if (end < best.end || (end === best.end && this.free[robot]! > this.free[best.robot]!)) best = { robot, end };
    }
    return best;
  }

  put(task: number, robot: number, end: number): number {
    const { table, site, spacing } = this.#problem;
    let start = Math.max(this.free[robot]!, this.ready(task)) + 1;
    while (start + lengthAt(table, task, start) - 1 !== end) start++;
    this.free[robot] = end;
    if (site && spacing) this.#siteFree.set(site[task]!, start + spacing - 1);
    return start;
  }
}

function place(problem: FleetProblem, order: readonly number[]) {
  const floor = new Floor(problem);
  const start: number[] = Array.from({ length: order.length });
  const robots: number[] = Array.from({ length: order.length });
  const late: number[] = [];
  let [finish, sum] = [0, 0];
  for (const task of order) {
    const { robot, end } = floor.choose(task);
    start[task] = floor.put(task, robot, end);
    robots[task] = robot;
    if (end > (problem.deadline?.[task] ?? Infinity)) late.push(task);
    finish = Math.max(finish, end);
    sum += end;
  }
  const score: Score = { late: late.length, finish, sum };
  return { start, robot: robots, late: late.sort((a, b) => a - b), score };
}

/** Always the task that ends soonest; ties go to the earlier deadline, then the lower index. */
function greedyOrder(problem: FleetProblem): number[] {
  const floor = new Floor(problem);
  const waiting = Array.from({ length: problem.table.tasks }, (_, task) => task);
  const order: number[] = [];
  const deadline = (task: number) => problem.deadline?.[task] ?? Infinity;
  while (waiting.length > 0) {
    let best = { k: 0, robot: 0, end: Infinity };
    for (let k = 0; k < waiting.length; k++) {
      const { robot, end } = floor.choose(waiting[k]!);
      if (end < best.end || (end === best.end && deadline(waiting[k]!) < deadline(waiting[best.k]!))) {
        best = { k, robot, end };
      }
    }
    const [task] = waiting.splice(best.k, 1) as [number];
    floor.put(task, best.robot, best.end);
    order.push(task);
  }
  return order;
}

export function fleetLowerBound(problem: FleetProblem): number {
  const { table, robots, release, site, spacing } = problem;
  let [work, bound] = [0, 0];
  const perSite = new Map<number, number>();
  for (let task = 0; task < table.tasks; task++) {
    const from = release?.[task] ?? 1;
    bound = Math.max(bound, earliestAfter(table, task, from - 1));
    let least = lengthAt(table, task, table.columns);
    for (let unit = from; unit < table.columns; unit++) least = Math.min(least, lengthAt(table, task, unit));
    work += least;
    if (site && spacing) perSite.set(site[task]!, (perSite.get(site[task]!) ?? 0) + 1);
  }
  for (const count of perSite.values()) bound = Math.max(bound, (count - 1) * spacing! + 1);
  return Math.max(bound, Math.ceil(work / robots));
}

/** What is wrong with a schedule, one sentence each; empty when nothing is. Late tasks must be named, not hidden. */
export function checkFleet(problem: FleetProblem, plan: Omit<FleetSequence, 'optimal' | 'lowerBound'>): string[] {
  const { table, robots, site, spacing, release, deadline } = problem;
  const wrong: string[] = [];
  const end = (task: number) => plan.start[task]! + lengthAt(table, task, plan.start[task]!) - 1;
  const tasks = Array.from({ length: table.tasks }, (_, task) => task).sort((a, b) => plan.start[a]! - plan.start[b]!);
  const busy = new Map<number, number>();
  const started = new Map<number, number>();
  const late: number[] = [];
  for (const task of tasks) {
    const [start, robot] = [plan.start[task]!, plan.robot[task]!];
    if (!(start >= (release?.[task] ?? 1))) wrong.push(`task ${task} starts at ${start}, before its release`);
    if (!(robot >= 0 && robot < robots)) wrong.push(`task ${task} is on robot ${robot}, which does not exist`);
    if (start <= (busy.get(robot) ?? 0)) wrong.push(`task ${task} starts at ${start} while robot ${robot} is busy`);
    busy.set(robot, end(task));
    if (end(task) > (deadline?.[task] ?? Infinity)) late.push(task);
    if (!site || !spacing) continue;
    const before = started.get(site[task]!);
    if (before !== undefined && start - before < spacing)
      wrong.push(`task ${task} starts ${start - before} after another of its site`);
    started.set(site[task]!, start);
  }
  if (late.sort((a, b) => a - b).join() !== [...plan.late].join())
    wrong.push(`late tasks are ${late.join()}, not ${plan.late.join()}`);
  const finish = tasks.reduce((latest, task) => Math.max(latest, end(task)), 0);
  if (finish !== plan.finish) wrong.push(`the last task ends at ${finish}, not at ${plan.finish}`);
  return wrong;
}
