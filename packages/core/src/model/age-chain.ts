/**
 * Change that depends on age (Brewington §2.2): a page of age t steps since its last change is reset to age 0 in the next
 * step with probability p(t), or grows one step older (eq. 6). The last probability holds for all greater ages, so the
 * chain is memoryless after it, and everything below takes at most `ages` steps however far the horizon: nothing is ever
 * raised to a power as a matrix.
 *
 * With a pattern over the days of a cycle (a week: many pages rest at weekends) the state is age and day together: there
 * is one row of probabilities for each day of the cycle, and `day` says on which one stands. Without one, day is ignored.
 */

export interface AgeChain {
  /** How many ages are told apart. */
  readonly ages: number;
  /** 1 without a pattern over days. */
  readonly cycle: number;
  /** The probability that a page of this age changes in the step that begins on this day. */
  reset(age: number, day: number): number;
}

export function ageChain(reset: ArrayLike<number>): AgeChain {
  const p = Float64Array.from(reset);
  const last = p.length - 1;
  return { ages: p.length, cycle: 1, reset: (age) => p[age < last ? age : last] };
}

/** Weekday and age: `reset[day][age]`, days counted from wherever the cycle begins; each row holds its last value. */
export function dayAgeChain(reset: readonly ArrayLike<number>[]): AgeChain {
  const ages = Math.max(...reset.map((row) => row.length));
  const rows = reset.map((row) => Float64Array.from({ length: ages }, (_, t) => row[Math.min(t, row.length - 1)]));
  return {
    ages,
    cycle: rows.length,
    reset: (age, day) => rows[day % rows.length][Math.min(age, ages - 1)],
  };
}

/** Eq. 7: from the distribution of lifetimes, f(t) the chance that the reset happens at age t; the tail is memoryless. */
export function resetFromLifetimes(f: ArrayLike<number>): Float64Array {
  const reset = new Float64Array(f.length);
  let alive = 1;
  for (let t = 0; t < f.length; t++) {
    reset[t] = alive > 1e-15 ? Math.min(1, Math.max(0, f[t] / alive)) : t > 0 ? reset[t - 1] : 0;
    alive -= f[t];
  }
  return reset;
}

/** Eq. 8: from the distribution of ages g; where nobody is that old, the probability before holds. */
export function resetFromAges(g: ArrayLike<number>): Float64Array {
  const reset = new Float64Array(Math.max(1, g.length - 1));
  for (let t = 0; t + 1 < g.length; t++) {
    reset[t] = g[t] > 0 ? Math.min(1, Math.max(0, (g[t] - g[t + 1]) / g[t])) : t > 0 ? reset[t - 1] : 0;
  }
  return reset;
}

/** The probability that a page seen at `age` has not changed `steps` later: the product of (18), and 1 − (13). */
export function unchangedFor(chain: AgeChain, age: number, steps: number, day = 0): number {
  let alive = 1;
  for (let n = 0; n < steps && alive > 0; n++) {
    if (chain.cycle === 1 && age + n >= chain.ages - 1) return alive * (1 - chain.reset(age + n, 0)) ** (steps - n);
    alive *= 1 - chain.reset(age + n, day + n);
  }
  return alive;
}

/** Eq. 13: the probability of a change since a look `steps` ago that found the page at `age`. */
export function changedSince(chain: AgeChain, age: number, steps: number, day = 0): number {
  return 1 - unchangedFor(chain, age, steps, day);
}

/** Eq. 18: P(j, i), the chance that the step taken at age j is the first reset since age i. */
export function resetAtAge(chain: AgeChain, j: number, i: number, day = 0): number {
  return j < i ? 0 : unchangedFor(chain, i, j - i, day) * chain.reset(j, day + j - i);
}

/** Eq. 15 by (23): Z(i, k), the expected steps out of date, k steps after a look that found age i. */
export function stepsStale(chain: AgeChain, age: number, steps: number, day = 0): number {
  let alive = 1;
  let sum = 0;
  for (let n = 0; n < steps; n++) {
    if (chain.cycle === 1 && age + n >= chain.ages - 1) {
      // Σ_{m=1…k} (1 − alive·q^m) in closed form: a year's horizon costs what a week's does.
      const left = steps - n;
      return sum + left * (1 - alive) + alive * geometricLoss(chain.reset(age + n, 0), left);
    }
    alive *= 1 - chain.reset(age + n, day + n);
    sum += 1 - alive;
  }
  return sum;
}

/** Σ_{m=1…k} (1 − (1 − p)^m), also where p is so small that the closed form would cancel. */
function geometricLoss(p: number, k: number): number {
  if (p * k > 1e-2) return k - ((1 - p) * (1 - (1 - p) ** k)) / p;
  let term = ((k + 1) * k * p) / 2;
  let sum = 0;
  for (let j = 2; Math.abs(term) > 1e-17 * sum && j <= k + 1; j++) {
    sum += term;
    term *= (-p * (k + 1 - j)) / (j + 1);
  }
  return sum;
}

/** One step of eq. 11 on a distribution of ages, the last of which means "that old or older". */
export function stepAges(chain: AgeChain, distribution: Float64Array, day: number, into: Float64Array): void {
  const last = distribution.length - 1;
  let young = 0;
  let stay = 0;
  for (let t = last; t >= 0; t--) {
    const p = chain.reset(t, day);
    young += distribution[t] * p;
    const older = distribution[t] * (1 - p);
    if (t === last) stay = older;
    else into[t + 1] = t + 1 === last ? older + stay : older;
  }
  into[0] = last === 0 ? young + stay : young;
}

/** Eq. 11: the row of M^steps, the ages of a page that had `age` that many steps ago. O(steps · ages). */
export function agesAfter(chain: AgeChain, age: number, steps: number, day = 0): Float64Array<ArrayBuffer> {
  let now = new Float64Array(chain.ages);
  let next = new Float64Array(chain.ages);
  now[Math.min(age, chain.ages - 1)] = 1;
  for (let n = 0; n < steps; n++) {
    stepAges(chain, now, day + n, next);
    [now, next] = [next, now];
    // Within a cycle's length of steps nothing moved: the rest of a long wait changes nothing either.
    if (chain.cycle === 1 && n % 64 === 63 && settled(now, next)) break;
  }
  return now;
}

function settled(now: Float64Array, before: Float64Array): boolean {
  for (let t = 0; t < now.length; t++) if (Math.abs(now[t] - before[t]) > 1e-17) return false;
  return true;
}

/**
 * Eq. 12: the ages at which a page is found when nothing is known of its past, proportional to the chance of reaching them.
 * A page that may stop changing for good is found there. Of a pattern over days this is no single distribution: use
 * `agesAfter` over many cycles.
 */
export function stationaryAges(chain: AgeChain): Float64Array {
  const reached = new Float64Array(chain.ages);
  let alive = 1;
  for (let t = 0; t < chain.ages; t++) {
    reached[t] = alive;
    alive *= 1 - chain.reset(t, 0);
  }
  const last = chain.ages - 1;
  const tail = chain.reset(last, 0);
  if (reached[last] > 0 && tail === 0) return new Float64Array(chain.ages).fill(1, last);
  if (reached[last] > 0) reached[last] /= tail;
  const sum = reached.reduce((a, b) => a + b, 0);
  return reached.map((mass) => mass / sum);
}
