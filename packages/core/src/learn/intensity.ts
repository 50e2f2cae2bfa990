/**
 * Change intensity from events whose times are known (Eckstein, Gal and Reiner §5.1): a piecewise-constant rate, the number
 * of events in each piece over the time spent in it, which is the maximum-likelihood estimate for a Poisson process. The
 * interval of each rate is Garwood's: the rates under which a count this high, or this low, has a chance of 2.5 % or more.
 */
import { type Profile, piecesOn, profile } from '../time/profile.ts';
import { breakPrice, choosePieces } from './pieces.ts';

export interface EstimatedIntensity {
  readonly profile: Profile;
  /** 95 % of each value; [0, Infinity] where no time was spent in a piece. */
  readonly intervals: readonly (readonly [number, number])[];
}

/** Events in [from, to]; pieces as in a profile, repeated where a period is given. A piece never visited has rate 0. */
export function intensityFromEvents(
  events: ArrayLike<number>,
  from: number,
  to: number,
  breaks: ArrayLike<number>,
  period?: number,
): EstimatedIntensity {
  const own = Int32Array.from({ length: breaks.length - 1 }, (_, i) => i);
  return pooled(countedIn(events, from, to, breaks, period), own, breaks, period);
}

/** The same with pieces that the data choose, at the borders of cells. */
export function chosenIntensity(
  events: ArrayLike<number>,
  from: number,
  to: number,
  borders: ArrayLike<number>,
  period?: number,
): EstimatedIntensity {
  const counted = countedIn(events, from, to, borders, period);
  const price = breakPrice(borders.length - 1, events.length);
  const pieceOf = choosePieces(counted.seen, counted.exposure, price, period !== undefined);
  return pooled(counted, pieceOf, borders, period);
}

/** The borders of equal cells from `begin` on. */
export function equalCells(begin: number, length: number, cells: number): Float64Array {
  return Float64Array.from({ length: cells + 1 }, (_, i) => begin + (i * length) / cells);
}

interface Counted {
  readonly seen: Float64Array;
  readonly exposure: Float64Array;
}

/** How many events each cell holds, and how much time was spent in it. */
function countedIn(
  events: ArrayLike<number>,
  from: number,
  to: number,
  borders: ArrayLike<number>,
  period: number | undefined,
): Counted {
  const { breaks: cuts, values } = piecesOn(cellNumbers(borders, period), from, to);
  const exposure = new Float64Array(borders.length - 1);
  values.forEach((number, i) => {
    if (number > 0) exposure[number - 1] += cuts[i + 1] - cuts[i];
  });
  const seen = new Float64Array(borders.length - 1);
  for (let e = 0; e < events.length; e++) {
    // The observation is closed at its end: an event exactly there belongs to the piece that ends there.
    const k = pieceWith(cuts, events[e]);
    if (values[k] > 0) seen[values[k] - 1]++;
  }
  return { seen, exposure };
}

/** Each cell's own number, from 1, as its value, so that any stretch of time tells to which cell it belongs. */
export function cellNumbers(borders: ArrayLike<number>, period: number | undefined): Profile {
  return profile(
    borders,
    Array.from({ length: borders.length - 1 }, (_, i) => i + 1),
    period,
  );
}

/** Cells of one piece have one rate. */
function pooled(
  { seen, exposure }: Counted,
  pieceOf: Int32Array,
  borders: ArrayLike<number>,
  period: number | undefined,
): EstimatedIntensity {
  const events = summedBy(pieceOf, seen);
  const time = summedBy(pieceOf, exposure);
  const rates = events.map((n, i) => (time[i] > 0 ? n / time[i] : 0));
  const intervals = Array.from(events, (n, i): readonly [number, number] => {
    if (!(time[i] > 0)) return [0, Infinity];
    const [low, high] = poissonInterval(n);
    return [low / time[i], high / time[i]];
  });
  return laidOut(pieceOf, borders, rates, intervals, period);
}

/** The sums of cells' values by piece. */
export function summedBy(pieceOf: Int32Array, values: Float64Array): Float64Array {
  const sums = new Float64Array(Math.max(...pieceOf) + 1);
  for (let i = 0; i < values.length; i++) sums[pieceOf[i]] += values[i];
  return sums;
}

/** Pieces of cells as a profile from its first border to its last; one that goes over the end of a period is there twice. */
export function laidOut(
  pieceOf: Int32Array,
  borders: ArrayLike<number>,
  rates: ArrayLike<number>,
  intervals: readonly (readonly [number, number])[],
  period: number | undefined,
): EstimatedIntensity {
  const starts = [...pieceOf.keys()].filter((i) => i === 0 || pieceOf[i] !== pieceOf[i - 1]);
  const breaks = [...starts.map((i) => borders[i]), borders[borders.length - 1]];
  return {
    profile: profile(
      breaks,
      starts.map((i) => rates[pieceOf[i]]),
      period,
    ),
    intervals: starts.map((i) => intervals[pieceOf[i]]),
  };
}

function pieceWith(cuts: Float64Array, t: number): number {
  let low = 0;
  let high = cuts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (cuts[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The exact 95 % interval (Garwood) of a Poisson mean after this many events. */
export function poissonInterval(events: number): readonly [number, number] {
  const low = events === 0 ? 0 : meanWhere((mean) => gammaShare(events, mean), 0.025, events);
  return [low, meanWhere((mean) => gammaShare(events + 1, mean), 0.975, events)];
}

/** The mean at which a rising function of it reaches the level. */
function meanWhere(rising: (mean: number) => number, level: number, events: number): number {
  let low = 0;
  let high = events + 10 * Math.sqrt(events + 1) + 10;
  for (let turn = 0; turn < 100; turn++) {
    const middle = (low + high) / 2;
    if (rising(middle) < level) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** P(a, x), the regularised lower incomplete gamma function: the chance that a Poisson number of mean x is at least a. */
function gammaShare(a: number, x: number): number {
  if (x <= 0) return 0;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let k = 1; term > sum * 1e-16; k++) {
      term *= x / (a + k);
      sum += term;
    }
    return front * sum;
  }
  // Lentz's continued fraction for the upper tail.
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let h = d;
  for (let k = 1; k < 100_000; k++) {
    const step = -k * (k - a);
    b += 2;
    d = 1 / (step * d + b);
    c = b + step / c;
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return 1 - front * h;
}

/** ln Γ(a) for a ≥ 1: Stirling's series above 10, carried down by the recursion below it. */
function logGamma(a: number): number {
  let shift = 0;
  let x = a;
  for (; x < 10; x++) shift += Math.log(x);
  const inverse = 1 / (x * x);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
