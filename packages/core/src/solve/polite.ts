/** `polite`: when to look at one source, at most n times within a horizon. The form is in docs/solve.md. */
import { type Loss, scheduleLoss } from '../loss/loss.ts';
import { poisson } from '../model/poisson.ts';
import { type ContinuousProblem, lossOf, planContinuous } from '../plan/polite-continuous.ts';
import { type Improvement, improve } from '../plan/polite-improve.ts';
import { firstArrivalSchedule, thresholdSchedule, uniformSchedule } from '../plan/polite-policies.ts';
import { type Infeasible, type PolitePlan, planPolite, politeCurve, probesThatFit } from '../plan/polite.ts';
import { profileCovering } from './profile.ts';
import { type Fields, Refusal, choiceAt, isFields, numberAt, onlyKeys } from './read.ts';

const fields = [
  'kind',
  'horizon',
  'probes',
  'spacing',
  'grid',
  'intensity',
  'importance',
  'loss',
  'policy',
  'improve',
  'curve',
];

/** A grid finer than this takes minutes and memory; the continuous optimum is nearer and cheaper. */
const gridMax = 10_000_000;
/** More looks than this in one plan are no plan of looks at one source. */
const probesMost = 1_000_000;

type PolicyChoice =
  | { readonly kind: 'optimal' }
  | { readonly kind: 'uniform' }
  | { readonly kind: 'threshold'; readonly threshold: number }
  | { readonly kind: 'first-arrival'; readonly chance: number };

function policyAt(value: unknown): PolicyChoice {
  if (value === undefined || value === 'optimal') return { kind: 'optimal' };
  if (value === 'uniform') return { kind: 'uniform' };
  if (isFields(value) && value['threshold'] !== undefined) {
    onlyKeys(value, 'policy', ['threshold']);
    return { kind: 'threshold', threshold: numberAt(value['threshold'], 'policy.threshold', { above: 0 }) };
  }
  if (isFields(value) && value['firstArrival'] !== undefined) {
    onlyKeys(value, 'policy', ['firstArrival']);
    const chance = numberAt(value['firstArrival'], 'policy.firstArrival', { above: 0, max: 1 });
    return { kind: 'first-arrival', chance };
  }
  throw new Refusal('policy', value, '"optimal", "uniform", {"threshold":Π} or {"firstArrival":π} is expected');
}

function improveAt(value: unknown): Improvement | undefined {
  if (value === undefined || value === false) return undefined;
  if (!isFields(value)) throw new Refusal('improve', value, 'false or {"start","stop","shrink","gain"} is expected');
  onlyKeys(value, 'improve', ['start', 'stop', 'shrink', 'gain']);
  const start = numberAt(value['start'] ?? 1 / 2, 'improve.start', { above: 0, max: 1 });
  const stop = numberAt(value['stop'] ?? Math.min(1 / 512, start), 'improve.stop', { above: 0, max: start });
  const shrink = numberAt(value['shrink'] ?? 1 / 2, 'improve.shrink', { above: 0, max: 0.999 });
  // Every move gains at least this much, so a gain of nothing would let the search go on for ever.
  const gain = numberAt(value['gain'] ?? 1e-6, 'improve.gain', { above: 0 });
  return { start, stop, shrink, gain };
}

/** Beyond so many looks the bound to hold a policy against takes minutes. */
const looksMost = 20_000;

export function solvePolite(problem: Fields): Record<string, unknown> {
  onlyKeys(problem, '', fields);
  const horizon = numberAt(problem['horizon'], 'horizon', { above: 0 });
  const policy = policyAt(problem['policy']);
  const counted = policy.kind === 'optimal' || policy.kind === 'uniform';
  const spacing = numberAt(problem['spacing'] ?? 0, 'spacing', { min: 0 });
  const fit = probesThatFit(horizon, spacing);
  const probes =
    problem['probes'] === undefined && !counted
      ? Math.min(fit, probesMost)
      : numberAt(problem['probes'], 'probes', { whole: true, min: 1, max: probesMost });
  const read: ContinuousProblem = {
    horizon,
    probes,
    spacing,
    intensity: profileCovering(problem['intensity'], 'intensity', horizon),
    importance: profileCovering(problem['importance'] ?? 1, 'importance', horizon),
    loss: choiceAt(problem['loss'], 'loss', ['obsolescence', 'staleness'], 'obsolescence'),
  };
  const steps = gridAt(problem['grid']);
  const how = improveAt(problem['improve']);
  const curve = problem['curve'] ?? false;
  if (typeof curve !== 'boolean') throw new Refusal('curve', curve, 'true or false is expected');
  // On a grid the planner itself says how many fit, which may be fewer.
  const asked = policy.kind === 'optimal' && steps !== 'continuous';
  if (probes > fit && !asked) throw infeasible(probes, read, { kind: 'infeasible', probesMax: fit });

  const loss = lossOf(read);
  const plan = policy.kind === 'optimal' ? optimal(read, loss, steps) : byPolicy(read, loss, policy);
  const improved = how ? improve(loss, plan.probes, spacing, how) : undefined;
  // Looks that left the grid may cost less than anything on it: then the continuous bound is the one that holds.
  const bound = improved && steps !== 'continuous' && policy.kind === 'optimal' ? certificate(read) : plan;
  const looks = improved?.probes ?? plan.probes;
  const expectedCost = scheduleLoss(loss, 0, looks);
  return {
    probes: Array.from(looks),
    expectedCost,
    lowerBound: Math.min(bound.lowerBound, expectedCost),
    price: bound.price,
    ...(improved ? { moves: improved.moves } : {}),
    ...(curve ? { curve: curveOf(read, loss, steps) } : {}),
  };
}

function gridAt(value: unknown): number | 'continuous' {
  if (value === undefined || value === 'continuous') return 'continuous';
  if (typeof value !== 'number')
    throw new Refusal('grid', value, 'a whole number of equal steps or "continuous" is expected');
  return numberAt(value, 'grid', { whole: true, min: 1, max: gridMax });
}

function optimal(problem: ContinuousProblem, loss: Loss, steps: number | 'continuous'): PolitePlan {
  const plan =
    steps === 'continuous' ? planContinuous(problem) : planPolite(loss, problem.probes, problem.spacing, steps);
  if (plan.kind === 'infeasible') throw infeasible(problem.probes, problem, plan, steps);
  return plan;
}

/** The other policies look whenever they like: what they cost is held against the continuous optimum. */
function byPolicy(
  problem: ContinuousProblem,
  loss: Loss,
  policy: Exclude<PolicyChoice, { kind: 'optimal' }>,
): PolitePlan {
  const { horizon, probes, spacing } = problem;
  let looks: Float64Array;
  if (policy.kind === 'uniform') looks = uniformSchedule(horizon, probes);
  else if (policy.kind === 'threshold') looks = thresholdSchedule(loss, policy.threshold, spacing, probes);
  else looks = firstArrivalSchedule(poisson(problem.intensity), policy.chance, horizon, spacing, probes);
  if (looks.length > looksMost)
    throw new Refusal('policy', looks.length, `at most ${looksMost} looks are expected; this policy wants more`);
  return { ...certificate({ ...problem, probes: looks.length }), probes: looks };
}

function certificate(problem: ContinuousProblem): PolitePlan {
  const plan = planContinuous(problem);
  if (plan.kind === 'infeasible') throw infeasible(problem.probes, problem, plan);
  return plan;
}

function curveOf(problem: ContinuousProblem, loss: Loss, steps: number | 'continuous'): readonly number[] {
  // Without a grid the curve is drawn on one fine enough that its error does not show.
  const fine = steps === 'continuous' ? Math.max(2_048, 16 * problem.probes) : steps;
  const curve = politeCurve(loss, problem.probes, problem.spacing, fine);
  if (!(curve instanceof Float64Array)) throw infeasible(problem.probes, problem, curve, fine);
  return Array.from(curve);
}

function infeasible(
  probes: number,
  problem: ContinuousProblem,
  { probesMax }: Infeasible,
  steps: number | 'continuous' = 'continuous',
): Refusal {
  const where = steps === 'continuous' ? '' : ` on a grid of ${steps} steps`;
  if (probesMax < 1)
    return new Refusal(
      'spacing',
      problem.spacing,
      `infeasible: not even one probe fits into a horizon of ${problem.horizon}${where}; at most ${problem.horizon} is expected`,
    );
  return new Refusal(
    'probes',
    probes,
    `infeasible: at most ${probesMax} fit into a horizon of ${problem.horizon} at a spacing of ${problem.spacing}${where}`,
  );
}
