export { type Random, exponential, integer, normal, random } from './simulate/random.ts';
export type { Belief, Choice, Finding, Policy, Watched } from './policy/policy.ts';
export { type SolveOutcome, solve } from './solve/solve.ts';
