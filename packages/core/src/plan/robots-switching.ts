/**
 * The dynamic number of robots when switching is not free: a rule with hysteresis, for robots that are all alike.
 *
 *   minimise   γ·P{X = 0} + lost pages per page of service + σ·switches per page of service,
 *   choosing after every arrival and every departure how many robots run from then on
 *
 * A robot that is under way cannot be called back without wasting its request, so with `recall: 'draining'` it stops only
 * when it delivers: after an arrival the number may fall by one, after a departure it may only rise. With
 * `recall: 'instant'` any number may be chosen at any event.
 *
 * State (queue length i, robots running n); an average-cost Markov decision process solved exactly by policy iteration.
 * Evaluation eliminates level by level from the top: v_i = a_i − g·b_i + G_i·v_(i−1), G_i the law of n when the queue first
 * falls below i. Invariant: G_i is stochastic, so elimination is stable. Cost: O(K·M³) an iteration, about ten iterations.
 */

export interface SwitchingProblem {
  /** Pages one robot brings per unit of time. */
  readonly arrival: number;
  readonly service: number;
  readonly buffer: number;
  readonly starvationWeight: number;
  readonly robotsMin: number;
  readonly robotsMax: number;
  /** What starting or stopping one robot costs, in lost pages. */
  readonly switchCost: number;
  readonly recall: 'instant' | 'draining';
}

export interface SwitchingPlan {
  /** `afterArrival[i][n]`: robots to run when a page has just arrived, the queue is now i and n were running. */
  readonly afterArrival: readonly (readonly number[])[];
  readonly afterDeparture: readonly (readonly number[])[];
  /** γ·starvation + loss rate and switching, per page of service: what the rule minimises. */
  readonly gain: number;
  readonly starvation: number;
  /** The share of arriving pages that find the queue full. */
  readonly loss: number;
  readonly load: number;
  /** Starts and stops of single robots per unit of time. */
  readonly switchesPerTime: number;
}

/** O(K·M³) beyond this takes longer than a rule that is renewed every few minutes may. */
export const switchingWorkMax = 5e8;

export function switchingWork(problem: { readonly buffer: number; readonly robotsMax: number }): number {
  return (problem.buffer + 1) * (problem.robotsMax + 1) ** 3;
}

type Rule = readonly [afterArrival: Int32Array[], afterDeparture: Int32Array[]];

/** Columns of what is evaluated together: the objective and its parts. */
const columns = ['objective', 'starvation', 'lost', 'arrived', 'switched'] as const;

export function planRobotSwitching(problem: SwitchingProblem): SwitchingPlan {
  const rule = steadyRule(problem);
  let evaluation = evaluate(problem, rule);
  for (let round = 0; round < 200; round++) {
    if (!improve(problem, rule, evaluation.values)) break;
    evaluation = evaluate(problem, rule);
  }
  const [gain, starvation, lost, arrived, switched] = evaluation.gains as [number, number, number, number, number];
  return {
    afterArrival: rule[0].map((row) => [...row]),
    afterDeparture: rule[1].map((row) => [...row]),
    gain,
    starvation: Math.max(0, starvation),
    loss: arrived > 0 ? Math.max(0, lost / arrived) : 0,
    load: arrived / problem.service,
    switchesPerTime: Math.max(0, switched),
  };
}

/**
 * A rule that never switches would keep every number of robots for ever, and each would have its own long-run cost. A
 * rare event (this share of the service rate) that sets the robots to the balanced number makes the chain one.
 */
const restartShare = 1e-8;

function balanced(problem: SwitchingProblem): number {
  const robots = Math.round(problem.service / problem.arrival);
  return Math.min(problem.robotsMax, Math.max(1, problem.robotsMin, robots));
}

/** The fewest robots that may run: none would leave an empty queue empty for ever. */
function fewest(problem: SwitchingProblem, queue: number): number {
  return queue === 0 ? Math.max(1, problem.robotsMin) : problem.robotsMin;
}

/** The fewest robots that may run after an event at which the queue became `queue` and n were running. */
function floorAfter(problem: SwitchingProblem, queue: number, n: number, arrival: boolean): number {
  const least = fewest(problem, queue);
  if (problem.recall === 'instant') return least;
  return Math.min(problem.robotsMax, Math.max(least, arrival ? n - 1 : n));
}

/** Where iteration begins: all robots run, or as few as may. */
function steadyRule(problem: SwitchingProblem): Rule {
  const rows = (arrival: boolean): Int32Array[] =>
    Array.from({ length: problem.buffer + 1 }, (_, queue) =>
      Int32Array.from({ length: problem.robotsMax + 1 }, (_, n) => {
        const floor = floorAfter(problem, queue, n, arrival);
        return queue === problem.buffer ? floor : problem.robotsMax;
      }),
    );
  return [rows(true), rows(false)];
}

function improve(problem: SwitchingProblem, rule: Rule, values: readonly Float64Array[]): boolean {
  let changed = false;
  for (const [event, table] of rule.entries()) {
    for (let queue = 0; queue <= problem.buffer; queue++) {
      const value = values[queue]!;
      for (let n = 0; n <= problem.robotsMax; n++) {
        const price = (to: number): number => (problem.switchCost * Math.abs(to - n)) / problem.service + value[to]!;
        let best = table[queue]![n]!;
        let bestPrice = price(best) - 1e-10 * (1 + Math.abs(price(best)));
        for (let to = floorAfter(problem, queue, n, event === 0); to <= problem.robotsMax; to++) {
          if (price(to) < bestPrice) {
            best = to;
            bestPrice = price(to);
          }
        }
        changed ||= best !== table[queue]![n];
        table[queue]![n] = best;
      }
    }
  }
  return changed;
}

interface Evaluated {
  /** Relative values of the objective by queue length and robots running. */
  readonly values: readonly Float64Array[];
  readonly gains: readonly number[];
}

/** One level's elimination: `reach` is G_i, `fixed` the a_i of every column, `time` the b_i. */
interface Level {
  readonly reach: Float64Array[];
  readonly fixed: Float64Array[];
  readonly time: Float64Array;
}

function evaluate(problem: SwitchingProblem, rule: Rule): Evaluated {
  const { buffer } = problem;
  const size = problem.robotsMax + 1;
  const levels: Level[] = [];
  for (let queue = buffer; queue > 0; queue--) levels[queue] = eliminate(problem, rule, queue, levels[queue + 1]);
  const { gains, value } = bottom(problem, rule, levels[1]);
  const values = [value];
  for (let queue = 1; queue <= buffer; queue++) {
    const level = levels[queue]!;
    const below = values[queue - 1]!;
    values.push(
      Float64Array.from({ length: size }, (_, n) => {
        let sum = level.fixed[n]![0]! - gains[0]! * level.time[n]!;
        const row = level.reach[n]!;
        for (let k = 0; k < size; k++) sum += row[k]! * below[k]!;
        return sum;
      }),
    );
  }
  return { values, gains };
}

/** The equations of one level before elimination: matrix I − U·G, and what stands on the right. */
function equations(problem: SwitchingProblem, rule: Rule, queue: number, above: Level | undefined) {
  const { arrival, service, buffer, robotsMax } = problem;
  const matrix: Float64Array[] = [];
  const fixed: Float64Array[] = [];
  const time = new Float64Array(robotsMax + 1);
  const down = new Float64Array(robotsMax + 1);
  const home = balanced(problem);
  for (let n = 0; n <= robotsMax; n++) {
    const row = new Float64Array(robotsMax + 1);
    row[n] = 1;
    const leaving = queue > 0 ? service : 0;
    const pace = n * arrival + leaving + restartShare * service;
    const up = (n * arrival) / pace;
    const full = queue === buffer;
    const next = rule[0][full ? queue : queue + 1]![n]!;
    time[n] = 1 / pace;
    down[n] = leaving / pace;
    const below = queue > 0 ? rule[1][queue - 1]![n]! : n;
    const switched = up * Math.abs(next - n) + down[n]! * Math.abs(below - n);
    const here = stateCosts(problem, queue, pace, up, switched);
    row[home]! -= (restartShare * service) / pace;
    if (full) row[next]! -= up;
    else if (up > 0) {
      for (let k = 0; k <= robotsMax; k++) row[k]! -= up * above!.reach[next]![k]!;
      for (let c = 0; c < here.length; c++) here[c]! += up * above!.fixed[next]![c]!;
      time[n]! += up * above!.time[next]!;
    }
    matrix.push(row);
    fixed.push(here);
  }
  return { matrix, fixed, time, down };
}

/** What one visit to a state adds to each column. */
function stateCosts(
  problem: SwitchingProblem,
  queue: number,
  pace: number,
  up: number,
  switched: number,
): Float64Array {
  const empty = queue === 0 ? 1 / pace : 0;
  const lost = queue === problem.buffer ? up : 0;
  const objective =
    problem.starvationWeight * empty + lost / problem.service + (problem.switchCost * switched) / problem.service;
  return Float64Array.of(objective, empty, lost, up, switched);
}

function eliminate(problem: SwitchingProblem, rule: Rule, queue: number, above: Level | undefined): Level {
  const size = problem.robotsMax + 1;
  const { matrix, fixed, time, down } = equations(problem, rule, queue, above);
  // Right-hand sides side by side: the columns, the time, then D_i with one entry a row at the robots that go on below.
  const right = matrix.map((_, n) => {
    const row = new Float64Array(columns.length + 1 + size);
    row.set(fixed[n]!);
    row[columns.length] = time[n]!;
    row[columns.length + 1 + rule[1][queue - 1]![n]!]! += down[n]!;
    return row;
  });
  solveInPlace(matrix, right);
  return {
    fixed: right.map((row) => row.subarray(0, columns.length)),
    time: Float64Array.from(right, (row) => row[columns.length]!),
    reach: right.map((row) => row.subarray(columns.length + 1)),
  };
}

/** Level 0 closes the system: values relative to "empty, all run", and the gain of each column. */
function bottom(problem: SwitchingProblem, rule: Rule, above: Level | undefined) {
  const { matrix, fixed, time } = equations(problem, rule, 0, above);
  const reference = problem.robotsMax;
  // The unknown value of the reference is 0; its column carries the gain instead.
  matrix.forEach((row, n) => (row[reference] = time[n]!));
  const right = fixed.map((row) => row.slice());
  solveInPlace(matrix, right);
  const gains = [...right[reference]!];
  const value = Float64Array.from(right, (row, n) => (n === reference ? 0 : row[0]!));
  return { gains, value };
}

/** Gaussian elimination with row pivoting; the solution replaces the right-hand sides. */
function solveInPlace(matrix: Float64Array[], right: Float64Array[]): void {
  const size = matrix.length;
  for (let k = 0; k < size; k++) {
    let pivot = k;
    for (let i = k + 1; i < size; i++) if (Math.abs(matrix[i]![k]!) > Math.abs(matrix[pivot]![k]!)) pivot = i;
    [matrix[k], matrix[pivot]] = [matrix[pivot]!, matrix[k]!];
    [right[k], right[pivot]] = [right[pivot]!, right[k]!];
    const row = matrix[k]!;
    const values = right[k]!;
    const inverse = 1 / row[k]!;
    for (let j = k; j < size; j++) row[j]! *= inverse;
    for (let j = 0; j < values.length; j++) values[j]! *= inverse;
    for (let i = 0; i < size; i++) {
      const factor = i === k ? 0 : matrix[i]![k]!;
      if (factor === 0) continue;
      const other = matrix[i]!;
      const otherValues = right[i]!;
      for (let j = k; j < size; j++) other[j]! -= factor * row[j]!;
      for (let j = 0; j < values.length; j++) otherValues[j]! -= factor * values[j]!;
    }
  }
}
