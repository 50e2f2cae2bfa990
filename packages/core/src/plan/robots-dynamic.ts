/**
 * How many robots to run at each queue length: the dynamic case that Talim et al. announce, robots of unequal speed included.
 *
 *   minimise   γ·P{X = 0} + lost pages ⁄ arriving pages + Σ running cost,   choosing which robots run at each length 0…K
 *
 * An average-cost Markov decision process on a birth-death chain: at length i pages arrive at the rate b_i of the robots
 * that run, and leave at rate μ. Solved exactly by policy iteration. Invariant: with D_i = h(i+1) − h(i) the differences of
 * the relative values, robot j should run at length i < K exactly when cost_j + λ_j·D_i < 0, each robot by itself, so
 * an improvement step costs O(1) a kind of robot and length, however many sets of robots there are.
 *
 * The paper's loss is a share of arrivals, a ratio. Both criteria enter the cost monotonically, so an optimum minimises
 * some linear combination of starvation and loss rate; the weights are taken from the gradient at the last policy until
 * it no longer changes.
 *
 * Cost: O(K · kinds) an iteration, a handful of iterations. Delicate: D_i obeys b_i·D_i = g − c_i + μ·D_(i−1), which is
 * followed upward where b_i ≥ μ and downward where b_i < μ, never in the direction that amplifies errors; the stationary
 * law is built in logarithms.
 */
import type { QueueShares } from './robots.ts';

export interface RobotKind {
  /** Pages one robot of this kind brings per unit of time. */
  readonly arrival: number;
  readonly count: number;
  /** How many of them always run. */
  readonly countMin?: number;
  /** What running one of them all the time adds to the cost (a far robot uses more of the network). */
  readonly runningCost?: number;
}

export interface DynamicRobotsProblem {
  readonly kinds: readonly RobotKind[];
  readonly service: number;
  readonly buffer: number;
  readonly starvationWeight: number;
}

export interface DynamicRobotsPlan extends QueueShares {
  /** For each kind, how many run at queue length 0…K. */
  readonly running: readonly (readonly number[])[];
  /** Pages that arrive per page that the indexer could take. */
  readonly load: number;
  /** γ·starvation + loss + running costs. */
  readonly cost: number;
}

interface Weights {
  readonly empty: number;
  readonly lost: number;
}

interface Evaluation {
  readonly gain: number;
  readonly differences: Float64Array;
  readonly law: Float64Array;
}

export function planRobotsByQueue(problem: DynamicRobotsProblem): DynamicRobotsPlan {
  let policy = problem.kinds.map((kind) =>
    Array.from({ length: problem.buffer + 1 }, (_, i) => (i < problem.buffer ? kind.count : (kind.countMin ?? 0))),
  );
  let weights: Weights = { empty: problem.starvationWeight, lost: 1 };
  let best: DynamicRobotsPlan | undefined;
  // Each round lowers the cost or is the last; the limit only guards against rounding.
  for (let round = 0; round < 30; round++) {
    policy = iterate(problem, policy, weights);
    const plan = planOf(problem, policy);
    if (best && plan.cost >= best.cost - 1e-13 * (problem.starvationWeight + 1)) break;
    best = plan;
    weights = gradient(problem.starvationWeight, plan);
  }
  return best!;
}

/** What a rule "so many of each kind at each queue length" leads to. */
export function dynamicRobotsPlan(
  problem: DynamicRobotsProblem,
  running: readonly (readonly number[])[],
): DynamicRobotsPlan {
  return planOf(problem, running);
}

function planOf(problem: DynamicRobotsProblem, running: readonly (readonly number[])[]): DynamicRobotsPlan {
  const arrivals = birthRates(problem, running);
  const law = stationary(arrivals, problem.service);
  const costs = runningCosts(problem, running);
  let arriving = 0;
  let runningCost = 0;
  for (let i = 0; i < law.length; i++) {
    arriving += law[i]! * arrivals[i]!;
    runningCost += law[i]! * costs[i]!;
  }
  const starvation = law[0]!;
  const loss = arriving > 0 ? (law[problem.buffer]! * arrivals[problem.buffer]!) / arriving : 0;
  const cost = problem.starvationWeight * starvation + loss + runningCost;
  return { running, load: arriving / problem.service, starvation, loss, cost };
}

/** The gradient of γ·e + l/(l + 1 − e) over the empty share e and the loss rate l in units of the service rate. */
function gradient(starvationWeight: number, plan: DynamicRobotsPlan): Weights {
  const lost = plan.loss * plan.load;
  const arriving = lost + 1 - plan.starvation;
  if (!(arriving > 0)) return { empty: starvationWeight, lost: 1 };
  return { empty: starvationWeight + lost / arriving ** 2, lost: (1 - plan.starvation) / arriving ** 2 };
}

function iterate(problem: DynamicRobotsProblem, start: readonly (readonly number[])[], weights: Weights): number[][] {
  const policy = start.map((counts) => [...counts]);
  for (let round = 0; round < 100; round++) {
    const evaluation = evaluate(problem, policy, weights);
    if (!improve(problem, policy, evaluation, weights)) break;
  }
  return policy;
}

/** Changes the policy where a change pays; ties leave it as it is, so iteration ends. */
function improve(problem: DynamicRobotsProblem, policy: number[][], at: Evaluation, weights: Weights): boolean {
  let changed = false;
  // In the middle of a long queue neither end is felt: what differences are left there is rounding.
  const noise = (1e-14 * (weights.empty + weights.lost)) / problem.service;
  problem.kinds.forEach((kind, j) => {
    for (let i = 0; i <= problem.buffer; i++) {
      const worth = i < problem.buffer ? at.differences[i]! : weights.lost / problem.service;
      const slope = (kind.runningCost ?? 0) + kind.arrival * worth;
      if (Math.abs(slope) <= noise * kind.arrival) continue;
      const wanted = slope < 0 ? kind.count : (kind.countMin ?? 0);
      changed ||= policy[j]![i] !== wanted;
      policy[j]![i] = wanted;
    }
  });
  return changed;
}

function evaluate(problem: DynamicRobotsProblem, policy: readonly (readonly number[])[], weights: Weights): Evaluation {
  const { buffer, service } = problem;
  const arrivals = birthRates(problem, policy);
  const law = stationary(arrivals, service);
  const costs = runningCosts(problem, policy);
  costs[0]! += weights.empty;
  costs[buffer]! += (weights.lost * arrivals[buffer]!) / service;
  let gain = 0;
  for (let i = 0; i <= buffer; i++) gain += costs[i]! * law[i]!;
  const differences = new Float64Array(buffer);
  let turn = 0;
  while (turn < buffer && arrivals[turn]! >= service) turn++;
  for (let i = 0, below = 0; i < turn; i++) {
    below = (gain - costs[i]! + service * below) / arrivals[i]!;
    differences[i] = below;
  }
  for (let i = buffer, above = 0; i > turn; i--) {
    above = (costs[i]! - gain + (i < buffer ? arrivals[i]! * above : 0)) / service;
    differences[i - 1] = above;
  }
  return { gain, differences, law };
}

function birthRates(problem: DynamicRobotsProblem, policy: readonly (readonly number[])[]): Float64Array {
  return summed(problem, policy, (kind) => kind.arrival);
}

function runningCosts(problem: DynamicRobotsProblem, policy: readonly (readonly number[])[]): Float64Array {
  return summed(problem, policy, (kind) => kind.runningCost ?? 0);
}

/** By queue length, the sum of something over all robots that run. */
function summed(
  problem: DynamicRobotsProblem,
  policy: readonly (readonly number[])[],
  of: (kind: RobotKind) => number,
): Float64Array {
  const sums = new Float64Array(problem.buffer + 1);
  for (const [j, kind] of problem.kinds.entries()) {
    const each = of(kind);
    const counts = policy[j]!;
    for (let i = 0; i < sums.length; i++) sums[i]! += counts[i]! * each;
  }
  return sums;
}

/** The stationary law of the birth-death chain; lengths beyond one that nobody leaves upward have no weight. */
function stationary(arrivals: Float64Array, service: number): Float64Array {
  const logs = new Float64Array(arrivals.length);
  let top = 0;
  for (let i = 1; i < logs.length; i++) {
    logs[i] = logs[i - 1]! + Math.log(arrivals[i - 1]! / service);
    top = Math.max(top, logs[i]!);
  }
  let sum = 0;
  for (let i = 0; i < logs.length; i++) sum += logs[i] = Math.exp(logs[i]! - top);
  for (let i = 0; i < logs.length; i++) logs[i]! /= sum;
  return logs;
}
