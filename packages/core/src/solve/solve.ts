/**
 * `revisit solve`: one planning or estimation problem in, one solution out. The table below maps a problem's `kind` to the
 * reader that checks its fields and calls the planner; the forms are in docs/solve.md.
 */
import { solveCollect } from './collect.ts';
import { solveEstimate } from './estimate.ts';
import { solveHorizon } from './horizon.ts';
import { solveMarket } from './market.ts';
import { solveOrder } from './order.ts';
import { solvePolite } from './polite.ts';
import { type Fields, Refusal, isFields } from './read.ts';
import { solveRobots } from './robots.ts';
import { solveSequence } from './sequence.ts';
import { solveVantage } from './vantage.ts';

export type Solver = (problem: Fields) => Record<string, unknown>;

export type SolveOutcome =
  | { readonly kind: 'solved'; readonly solution: Record<string, unknown> }
  | { readonly kind: 'refused'; readonly field: string; readonly value: unknown; readonly sentence: string };

const solvers: Record<string, Solver> = {
  polite: solvePolite,
  market: solveMarket,
  collect: solveCollect,
  horizon: solveHorizon,
  order: solveOrder,
  estimate: solveEstimate,
  robots: solveRobots,
  sequence: solveSequence,
  vantage: solveVantage,
};

export function solve(problem: unknown): SolveOutcome {
  try {
    if (!isFields(problem)) throw new Refusal('problem', problem, 'a JSON object with a "kind" is expected');
    const kind = problem['kind'];
    const solver = typeof kind === 'string' && Object.hasOwn(solvers, kind) ? solvers[kind] : undefined;
    if (!solver) throw new Refusal('kind', kind, `known kinds are ${Object.keys(solvers).join(', ')}`);
    const solution = solver(problem);
    if (!isFiniteThroughout(solution))
      throw new Refusal(
        'problem',
        kind,
        'numbers small enough to add and multiply are expected; the result exceeds 1.8e308',
      );
    return { kind: 'solved', solution };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'refused', field: error.field, value: error.value, sentence: error.message };
  }
}

/** JSON has no infinity and no "not a number": a solution that holds one would silently say null. */
function isFiniteThroughout(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isFiniteThroughout);
}
