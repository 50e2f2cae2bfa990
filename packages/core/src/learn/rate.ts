/**
 * The rate of a Poisson page from censored looks.
 *
 * Known are: gaps between looks in which something changed (at least once, nobody knows when), the total time known to be
 * free of changes, and changes whose time is known exactly (Last-Modified, feed dates). With n exact changes, changed gaps
 * g and free time T the log-likelihood is
 *   l(r) = n ln r + sum ln(1 - exp(-r g)) - r T,   l'(r) = n/r + sum g/(exp(r g) - 1) - T,
 * which is concave, so the maximum is the only root of l'. The 95 % interval is where the likelihood has fallen by as much as it has at the ends
 * of the exact interval for so many changes of known times (for many of them 1.92, half of chi-square's 95 % point; 3.69 upwards where there is none):
 * with 1.92 throughout it held the truth in 83 to 88 of 100 cases where two changes were to be expected. Delicate: r g near 0 (expm1) and every look changed (the maximum is then at infinity).
 * Cost: O(changed gaps) an iteration, about ten iterations, and as many for the interval.
 */

import { poissonInterval } from './intensity.ts';

export interface Looks {
  /** Lengths of the gaps in which something changed at an unknown time. */
  readonly changedGaps: ArrayLike<number>;
  /** How many gaps of each length there were; one each when undefined. */
  readonly gapCounts?: ArrayLike<number>;
  /** Total time known to be without change. */
  readonly freeTime: number;
  /** Changes whose time is known. */
  readonly exact: number;
}

export interface RateEstimate {
  /** Infinity when every look found a change: then nothing bounds the rate from above. */
  readonly rate: number;
  /** 95 %. */
  readonly interval: readonly [number, number];
}

/** Half of chi-square's 95 % point with one degree of freedom. */
const drop = 1.920729;
/** From so many changes on the fall is that to within a tenth. */
const manyChanges = 500;
const falls: (readonly [number, number])[] = [];

/** How far the likelihood of `events` changes of known times falls to the lower and to the upper end of their interval. */
function fallsTo(events: number): readonly [number, number] {
  if (events > manyChanges) return [drop, drop];
  return (falls[events] ??= fallsOf(events));
}

function fallsOf(events: number): readonly [number, number] {
  const [low, high] = poissonInterval(events);
  const fall = (mean: number): number => mean - events - (events > 0 ? events * Math.log(mean / events) : 0);
  return [events > 0 ? fall(low) : 0, fall(high)];
}

export function estimateRate(looks: Looks): RateEstimate {
  const rate = maximumLikelihoodRate(looks);
  const { changedGaps, freeTime, exact } = looks;
  const events = countOf(looks) + exact;
  if (freeTime <= 0 && events === 0) return { rate: 0, interval: [0, Infinity] };
  const [fallBelow, fallAbove] = fallsTo(events);
  if (events === 0) return { rate: 0, interval: [0, fallAbove / freeTime] };
  if (rate === Infinity) {
    if (changedGaps.length === 0) return { rate, interval: [0, Infinity] };
    // The likelihood of changed gaps alone rises to 1.
    const low = crossing({ ...looks, exact: 0 }, -fallBelow, 1 / meanOf(changedGaps), 0.5);
    return { rate, interval: [low, Infinity] };
  }
  const [top] = logLikelihood(looks, rate);
  const low = crossing(looks, top - fallBelow, rate, 0.5);
  const high = crossing(looks, top - fallAbove, rate, 2);
  return { rate, interval: [low, high] };
}

function countOf({ changedGaps, gapCounts }: Looks): number {
  if (!gapCounts) return changedGaps.length;
  let sum = 0;
  for (let i = 0; i < gapCounts.length; i++) sum += gapCounts[i]!;
  return sum;
}

/** The most likely rate; 0 without changes, Infinity without time free of them. */
export function maximumLikelihoodRate(looks: Looks, guess = 0): number {
  const { changedGaps, gapCounts, freeTime, exact } = looks;
  const events = countOf(looks) + exact;
  if (events === 0) return 0;
  if (freeTime <= 0) return Infinity;
  // Changes spread over all time give a rate that is at most the true maximum; from the left Newton in 1/r-like steps
  // needs care, so the root is bracketed first.
  let gapTime = 0;
  for (let i = 0; i < changedGaps.length; i++) gapTime += (gapCounts?.[i] ?? 1) * changedGaps[i]!;
  let low = exact / (freeTime + gapTime);
  let high = events / freeTime;
  let rate = guess > low && guess < high ? guess : events / (freeTime + gapTime / 2);
  for (let step = 0; step < 60; step++) {
    let slope = exact / rate - freeTime;
    let curve = -exact / (rate * rate);
    for (let i = 0; i < changedGaps.length; i++) {
      const g = changedGaps[i]!;
      const count = gapCounts?.[i] ?? 1;
      const grown = Math.expm1(rate * g);
      slope += (count * g) / grown;
      if (grown < 1e12) curve -= (count * g * g * (grown + 1)) / (grown * grown);
    }
    if (slope > 0) low = rate;
    else high = rate;
    // Newton on r l'(r), which is nearly straight in ln r.
    const value = rate * slope;
    const change = slope * rate + rate * rate * curve;
    let to = change < 0 ? rate * Math.exp(Math.max(-2, Math.min(2, -value / change))) : Math.sqrt(low * high);
    if (!(to > low && to < high)) to = (low + high) / 2;
    if (Math.abs(to - rate) <= 1e-12 * rate) return to;
    rate = to;
  }
  return rate;
}

/** The log-likelihood of a rate and its slope there. */
function logLikelihood({ changedGaps, gapCounts, freeTime, exact }: Looks, rate: number): [number, number] {
  let value = -rate * freeTime + (exact > 0 ? exact * Math.log(rate) : 0);
  let slope = exact / rate - freeTime;
  for (let i = 0; i < changedGaps.length; i++) {
    const count = gapCounts?.[i] ?? 1;
    const chance = -Math.expm1(-rate * changedGaps[i]!);
    value += count * Math.log(chance);
    slope += (count * changedGaps[i]! * (1 - chance)) / chance;
  }
  return [value, slope];
}

/**
 * Where the likelihood has fallen to `level`, going from `start` by `factor`. Newton's steps from beyond that point: as the
 * likelihood is concave, each falls short of it and none leaps over it.
 */
function crossing(looks: Looks, level: number, start: number, factor: number): number {
  let rate = start;
  let value = level;
  let slope = 0;
  for (let i = 0; i < 200 && value >= level; i++) {
    rate *= factor;
    [value, slope] = logLikelihood(looks, rate);
  }
  for (let i = 0; i < 60; i++) {
    const step = (level - value) / slope;
    rate += step;
    if (!(Math.abs(step) > 1e-12 * rate)) break;
    [value, slope] = logLikelihood(looks, rate);
  }
  return rate;
}

function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}
