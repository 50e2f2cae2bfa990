/**
 * Reset probabilities by age (Brewington's p(t), one for each step of age) from looks that found a change or not.
 *
 * A page's age grows by one step at a time or falls to 0 with p(age); a look some steps after the one before tells whether it has
 * fallen since, and sometimes (Last-Modified) how old the page is. The age is never seen otherwise, so this is a hidden Markov chain whose
 * states are an age and whether it has fallen since the last look, and the likeliest p are found by Baum and Welch's expectation
 * maximisation:
 *   p(t) = expected resets at age t / expected steps taken at age t.
 * The last age stands for all greater ones. A page is as old at its first look as it is at a random moment, if nobody says.
 * It begins with the same p at all ages, and where gaps are too long to tell ages apart they stay together.
 *
 * Looks at every step, with the first age known, give resets / steps lived exactly: the estimate from lifetimes, with those that were
 * not seen to end. Cost: O(steps × ages) a round, up to some hundred rounds.
 */

import { ageChain, stationaryAges } from '../model/age-chain.ts';

/** A look so many steps after the one before. */
export interface AgeLook {
  readonly steps: number;
  readonly changed: boolean;
  /** How old the page was then, where that is known. */
  readonly age?: number;
}

export interface SeenLife {
  /** How old the page was at its first look, where that is known. */
  readonly age?: number;
  readonly looks: readonly AgeLook[];
}

const roundsMax = 300;

export function resetFromLooks(lives: readonly SeenLife[], ages: number): Float64Array {
  let reset = new Float64Array(ages).fill(firstGuess(lives));
  let before = -Infinity;
  for (let round = 0; round < roundsMax; round++) {
    const counts: Counts = { resets: new Float64Array(ages), steps: new Float64Array(ages), logLikelihood: 0 };
    for (const life of lives) count(life, reset, counts);
    reset = reset.map((p, t) => (counts.steps[t] > 1e-9 ? Math.min(1, counts.resets[t] / counts.steps[t]) : p));
    if (counts.logLikelihood - before < 1e-6 && round > 0) break;
    before = counts.logLikelihood;
  }
  return reset;
}

/** Looks with a change over all steps, kept off 0 and 1, which no round would leave. */
function firstGuess(lives: readonly SeenLife[]): number {
  let changes = 0;
  let steps = 0;
  for (const { looks } of lives)
    for (const look of looks) {
      steps += look.steps;
      if (look.changed) changes++;
    }
  return (changes + 0.5) / (steps + 1);
}

interface Counts {
  readonly resets: Float64Array;
  readonly steps: Float64Array;
  logLikelihood: number;
}

/** Adds what one page's looks lead to expect. */
function count(life: SeenLife, reset: Float64Array, into: Counts): void {
  const { looks } = life;
  // Forward to each look: the chance of each age there, given what was seen so far.
  const ahead = [startAges(life.age, reset)];
  const scale: number[] = [];
  for (const look of looks) {
    const path = walk(ahead[ahead.length - 1], look.steps, reset);
    const { same, fallen } = path[look.steps];
    const seen = masked(look.changed ? fallen : same, look, reset.length);
    const all = Math.max(sum(seen), Number.MIN_VALUE);
    scale.push(all);
    ahead.push(seen.map((x) => x / all));
    into.logLikelihood += Math.log(all);
  }
  // And back: the chance of all that was seen later, given each age.
  let after = new Float64Array(reset.length).fill(1);
  for (let i = looks.length - 1; i >= 0; i--) after = back(ahead[i], after, looks[i], scale[i], reset, into);
}

interface State {
  /** The chance of each age for a page that has not changed since the last look, and for one that has. */
  readonly same: Float64Array;
  readonly fallen: Float64Array;
}

function walk(start: Float64Array, steps: number, reset: Float64Array): State[] {
  const oldest = reset.length - 1;
  const path: State[] = [{ same: start, fallen: new Float64Array(oldest + 1) }];
  for (let step = 0; step < steps; step++) {
    const now = path[step];
    const same = new Float64Array(oldest + 1);
    const fallen = new Float64Array(oldest + 1);
    for (let t = 0; t <= oldest; t++) {
      const older = Math.min(oldest, t + 1);
      same[older] += now.same[t] * (1 - reset[t]);
      fallen[older] += now.fallen[t] * (1 - reset[t]);
      fallen[0] += (now.same[t] + now.fallen[t]) * reset[t];
    }
    path.push({ same, fallen });
  }
  return path;
}

/** One gap backwards; counts its steps and resets on the way, and returns the chance of what follows given the age at its beginning. */
function back(
  start: Float64Array,
  after: Float64Array,
  look: AgeLook,
  scale: number,
  reset: Float64Array,
  into: Counts,
): Float64Array<ArrayBuffer> {
  const oldest = reset.length - 1;
  const path = walk(start, look.steps, reset);
  const seen = masked(after, look, oldest + 1).map((x) => x / scale);
  const none = new Float64Array(oldest + 1);
  let same = look.changed ? none : seen;
  let fallen = look.changed ? seen : none;
  for (let step = look.steps - 1; step >= 0; step--) {
    const now = path[step];
    const sameBefore = new Float64Array(oldest + 1);
    const fallenBefore = new Float64Array(oldest + 1);
    for (let t = 0; t <= oldest; t++) {
      const older = Math.min(oldest, t + 1);
      const falls = reset[t] * fallen[0];
      sameBefore[t] = falls + (1 - reset[t]) * same[older];
      fallenBefore[t] = falls + (1 - reset[t]) * fallen[older];
      into.resets[t] += (now.same[t] + now.fallen[t]) * falls;
      into.steps[t] += now.same[t] * sameBefore[t] + now.fallen[t] * fallenBefore[t];
    }
    same = sameBefore;
    fallen = fallenBefore;
  }
  return same as Float64Array<ArrayBuffer>;
}

/** Only the age that a look told remains. */
function masked(chances: Float64Array, look: AgeLook, ages: number): Float64Array {
  if (look.age === undefined) return chances;
  const age = Math.min(ages - 1, look.age);
  return chances.map((x, t) => (t === age ? x : 0));
}

function startAges(age: number | undefined, reset: Float64Array): Float64Array {
  if (age === undefined) return stationaryAges(ageChain(reset));
  return reset.map((_, t) => (t === Math.min(reset.length - 1, age) ? 1 : 0));
}

function sum(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}
