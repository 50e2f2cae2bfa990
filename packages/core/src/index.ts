export { type Lines, type Loss, scheduleLoss } from './loss/loss.ts';
export { obsolescence } from './loss/obsolescence.ts';
export { staleness } from './loss/staleness.ts';
export { type Life, type Urgency, lifeAfter, urgencyAt, utilityLoss } from './loss/utility.ts';
export type { ChangeModel, Known } from './model/model.ts';
export { type PoissonModel, homogeneous, poisson, shaped } from './model/poisson.ts';
export { type Random, exponential, integer, normal, random } from './simulate/random.ts';
export type { Belief, Choice, Finding, Policy, Watched } from './policy/policy.ts';
export { type SolveOutcome, solve } from './solve/solve.ts';
export {
  type Profile,
  constant,
  integral,
  isConstant,
  mean,
  piecesOn,
  product,
  profile,
  reach,
  scaled,
  sharedPieces,
  shifted,
  valueAt,
} from './time/profile.ts';
export {
  type Zone,
  daySeconds,
  offsetAt,
  secondOfWeek,
  utc,
  weekAtOffset,
  weekOn,
  weekSeconds,
  weekShape,
} from './time/week.ts';
