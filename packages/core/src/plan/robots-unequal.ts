/**
 * A fixed set of robots of unequal speed (near and far): how many of each kind to run.
 *
 *   minimise over n_1 … n_m   γ·P{X = 0} + P{X = K} + Σ n_j·runningCost_j   at load ρ = Σ n_j·λ_j ⁄ μ
 *
 * With running costs the problem contains subset sum, so all combinations are tried; kinds are few (near, far, …) and
 * the product of their counts is bounded by the caller. Cost: O(1) a combination.
 */
import type { RobotKind } from './robots-dynamic.ts';
import { type QueueShares, queueShares } from './robots.ts';

export interface UnequalRobotsPlan extends QueueShares {
  /** How many of each kind run. */
  readonly running: readonly number[];
  readonly load: number;
  readonly cost: number;
}

/** A second's work. */
export const combinationsMax = 5e6;

export function combinationsOf(kinds: readonly RobotKind[]): number {
  return kinds.reduce((product, kind) => product * (kind.count - (kind.countMin ?? 0) + 1), 1);
}

export function planUnequalRobots(problem: {
  readonly kinds: readonly RobotKind[];
  readonly service: number;
  readonly buffer: number;
  readonly starvationWeight: number;
}): UnequalRobotsPlan {
  const { kinds, service, buffer, starvationWeight } = problem;
  const running = kinds.map((kind) => kind.countMin ?? 0);
  let best: UnequalRobotsPlan | undefined;
  for (;;) {
    const load = kinds.reduce((sum, kind, j) => sum + kind.arrival * running[j]!, 0) / service;
    const shares = queueShares(load, buffer);
    const runningCost = kinds.reduce((sum, kind, j) => sum + (kind.runningCost ?? 0) * running[j]!, 0);
    const cost = starvationWeight * shares.starvation + shares.loss + runningCost;
    if (!best || cost < best.cost) best = { running: [...running], load, cost, ...shares };
    // Counting up, the last kind fastest, so that ties go to fewer robots of the earlier kinds.
    let j = kinds.length - 1;
    while (j >= 0 && running[j] === kinds[j]!.count) {
      running[j] = kinds[j]!.countMin ?? 0;
      j--;
    }
    if (j < 0) return best;
    running[j]!++;
  }
}
