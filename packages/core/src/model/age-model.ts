/**
 * An age chain as a law of change in continuous time (model.ts): a page that was seen at some time with some age, or of unknown
 * age, after which nobody looked. Ages go on with the chain: every step a page of age t changes with probability p(t) and is
 * then young, so expected changes and chances follow from the distribution of ages at the time asked about.
 *
 * Steps begin at `at`. Within a step a change is as likely at any moment as its hazard −ln(1 − p) says, and a page that
 * changed within the step counts as of age 0 at its end, as in the chain; so at whole steps all answers are the chain's own
 * (eqs. 11 and 13). Cost: O(steps · ages) once, for the farthest time asked about; then O(ages · steps asked) an answer.
 */
import { type AgeChain, stationaryAges, stepAges } from './age-chain.ts';
import type { ChangeModel, Known } from './model.ts';

export interface AgeModelOptions {
  readonly chain: AgeChain;
  readonly stepSeconds: number;
  readonly known: Known;
}

export interface AgeModel extends ChangeModel {
  readonly kind: 'age';
  readonly chain: AgeChain;
}

export function ageModel({ chain, stepSeconds, known }: AgeModelOptions): AgeModel {
  // Day 0 of a pattern over days is the step that began at time 0.
  const day = (n: number) => mod(Math.floor(known.at / stepSeconds) + n, chain.cycle);
  const distributions = [startingAges(chain, stepSeconds, known)];
  const agesAt = (n: number): Float64Array => {
    for (let k = distributions.length; k <= n; k++) {
      const next = new Float64Array(chain.ages);
      stepAges(chain, distributions[k - 1], day(k - 1), next);
      distributions.push(next);
    }
    return distributions[n];
  };
  const place = (t: number) => {
    const steps = Math.max(0, (t - known.at) / stepSeconds);
    // A hair before a whole step is that step.
    const n = Math.floor(steps + 1e-9);
    return { n, part: Math.max(0, steps - n) };
  };

  const expectedIn = (n: number): number => {
    const ages = agesAt(n);
    let sum = 0;
    for (let t = 0; t < ages.length; t++) sum += ages[t] * chain.reset(t, day(n));
    return sum;
  };
  const expectedUntil = (time: number): number => {
    const { n, part } = place(time);
    let sum = 0;
    for (let k = 0; k < n; k++) sum += expectedIn(k);
    return sum + part * expectedIn(n);
  };

  /** No change from `part` of step n on until `time`, for a page of age t when that step began. */
  const survival = (t: number, n: number, part: number, end: { n: number; part: number }): number => {
    let alive = 1;
    for (let k = n; k <= end.n && alive > 0; k++) {
      const length = (k === end.n ? end.part : 1) - (k === n ? part : 0);
      if (length > 0) alive *= (1 - chain.reset(t + k - n, day(k))) ** length;
    }
    return alive;
  };
  const unchanged = (s: number, f: number): number => {
    if (!(f > s)) return 1;
    const from = place(s);
    const end = place(f);
    const ages = agesAt(from.n);
    let sum = 0;
    let reborn = 0;
    for (let t = 0; t < ages.length; t++) {
      if (ages[t] === 0) continue;
      const before = from.part > 0 ? (1 - chain.reset(t, day(from.n))) ** from.part : 1;
      sum += ages[t] * before * survival(t, from.n, from.part, end);
      reborn += ages[t] * (1 - before);
    }
    return Math.min(1, sum + (reborn > 0 ? reborn * survival(0, from.n, from.part, end) : 0));
  };

  return {
    kind: 'age',
    chain,
    expected: (s, f) => Math.max(0, expectedUntil(f) - expectedUntil(s)),
    unchanged,
    whenChanged: (s, chance) => reachChance(unchanged, s, chance, stepSeconds),
    given: (more) => ageModel({ chain, stepSeconds, known: more }),
  };
}

/** Known to the step where the last change is; where nothing is, ages are those at which pages are found (eq. 12). */
function startingAges(chain: AgeChain, stepSeconds: number, { at, changedAt }: Known): Float64Array {
  if (changedAt === undefined) return stationaryAges(chain);
  const ages = new Float64Array(chain.ages);
  ages[Math.min(chain.ages - 1, Math.max(0, Math.floor((at - changedAt) / stepSeconds + 1e-9)))] = 1;
  return ages;
}

// A page that has not changed within so many steps with the chance asked for is taken never to.
const stepsMost = 20_000;

function reachChance(
  unchanged: (s: number, f: number) => number,
  s: number,
  chance: number,
  stepSeconds: number,
): number {
  if (chance <= 0) return s;
  let span = stepSeconds;
  while (1 - unchanged(s, s + span) < chance) {
    if (span > stepsMost * stepSeconds) return Infinity;
    span *= 2;
  }
  let low = 0;
  for (let n = 0; n < 60 && span - low > 1e-9 * span; n++) {
    const middle = (low + span) / 2;
    if (1 - unchanged(s, s + middle) < chance) low = middle;
    else span = middle;
  }
  return s + span;
}

function mod(n: number, cycle: number): number {
  return ((n % cycle) + cycle) % cycle;
}
