/**
 * Reset probabilities by age from what was seen: lifetimes (the age at which the page changed, eq. 7) or ages (how old the
 * page was whenever somebody looked, eq. 8), each as counts or shares by age. The last of `ages` probabilities stands for
 * all greater ages too; there the chain is taken to be memoryless and the estimate is the most likely one for a
 * geometric tail, resets ⁄ steps lived: a cut at the greatest age would say 1 there, which the paper warns of.
 */

export function countsOf(values: readonly number[]): Float64Array {
  const counts = new Float64Array(values.reduce((a, b) => Math.max(a, b), 0) + 1);
  for (const value of values) counts[value]++;
  return counts;
}

/** Eq. 7. `beyond` is the weight of lifetimes longer than any counted. */
export function resetFromSeenLifetimes(counts: ArrayLike<number>, ages: number, beyond = 0): Float64Array {
  const alive = new Float64Array(ages + 1);
  let left = beyond;
  for (let t = counts.length - 1; t >= 0; t--) {
    left += counts[t];
    if (t <= ages) alive[t] = left;
  }
  return held(counts, ages, (t) => (counts[t] ?? 0) / alive[t], beyond);
}

/**
 * Eq. 8. Ages seen at random times are as frequent as they are reached, so their true distribution cannot rise; the most
 * likely one that does not is found by pooling neighbours that do (Grenander's estimate).
 */
export function resetFromSeenAges(counts: ArrayLike<number>, ages: number): Float64Array {
  const g = fallingPool(counts);
  return held(counts, ages, (t) => (g[t] - (g[t + 1] ?? 0)) / g[t], 0);
}

// Of what was seen so much at least, and so many, should speak for the tail.
const tailShare = 0.1;
const tailCount = 3;

/**
 * The default number of ages: the last of them, which stands for all greater ones, is reached by a tenth of what was seen and
 * by three at least, and something was seen beyond it, so that the data's end is not taken for the end of all lives.
 */
export function usualAges(counts: ArrayLike<number>): number {
  let total = 0;
  for (let t = 0; t < counts.length; t++) total += counts[t];
  const wanted = Math.min(total, Math.max(tailCount, tailShare * total));
  let alive = 0;
  let last = counts.length - 1;
  for (; last > 0; last--) {
    alive += counts[last];
    if (alive >= wanted && alive > counts[last]) break;
  }
  return Math.max(1, last + 1);
}

function held(counts: ArrayLike<number>, ages: number, by: (t: number) => number, beyond: number): Float64Array {
  const reset = new Float64Array(ages);
  for (let t = 0; t < ages; t++) {
    const p = t === ages - 1 ? tailReset(counts, t, beyond) : by(t);
    // Where nobody was ever that old the last known probability holds.
    reset[t] = Number.isFinite(p) ? Math.min(1, Math.max(0, p)) : t > 0 ? reset[t - 1] : 0;
  }
  return reset;
}

/** Resets ⁄ steps lived at ages from t on. */
function tailReset(counts: ArrayLike<number>, t: number, beyond: number): number {
  let steps = beyond * Math.max(1, counts.length - t);
  let resets = 0;
  for (let age = t; age < counts.length; age++) {
    resets += counts[age];
    steps += counts[age] * (age - t + 1);
  }
  return resets / steps;
}

function fallingPool(count: ArrayLike<number>): Float64Array {
  const level: number[] = [];
  const width: number[] = [];
  for (let t = 0; t < count.length; t++) {
    level.push(count[t]);
    width.push(1);
    while (level.length > 1 && level[level.length - 1] > level[level.length - 2]) {
      const [b, a] = [level.pop() ?? 0, level.pop() ?? 0];
      const [wb, wa] = [width.pop() ?? 0, width.pop() ?? 0];
      level.push((a * wa + b * wb) / (wa + wb));
      width.push(wa + wb);
    }
  }
  const pooled: number[] = [];
  level.forEach((value, n) => {
    for (let k = 0; k < width[n]; k++) pooled.push(value);
  });
  return Float64Array.from(pooled);
}
