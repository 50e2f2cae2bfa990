/**
 * Change intensity from events whose times are known (Eckstein, Gal and Reiner §5.1): a piecewise-constant rate, the number
 * of events in each piece over the time spent in it, which is the maximum-likelihood estimate for a Poisson process. The
 * interval of each rate is Garwood's: the rates under which a count this high, or this low, has a chance of 2.5 % or more.
 */
import { type Profile, piecesOn, profile } from '../time/profile.ts';

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
  const count = breaks.length - 1;
  /** Each piece's own number as its value, so that any stretch of time tells to which piece it belongs. */
  const numbered = profile(
    breaks,
    Array.from({ length: count }, (_, i) => i + 1),
    period,
  );
  const exposure = new Float64Array(count);
  const { breaks: cuts, values } = piecesOn(numbered, from, to);
  values.forEach((number, i) => {
    if (number > 0) exposure[number - 1] += cuts[i + 1] - cuts[i];
  });
  const seen = new Float64Array(count);
  for (let e = 0; e < events.length; e++) {
    // The observation is closed at its end: an event exactly there belongs to the piece that ends there.
    const k = pieceWith(cuts, events[e]);
    if (values[k] > 0) seen[values[k] - 1]++;
  }
  const rates = seen.map((events, i) => (exposure[i] > 0 ? events / exposure[i] : 0));
  const intervals = Array.from(seen, (events, i): [number, number] => {
    if (!(exposure[i] > 0)) return [0, Infinity];
    const [low, high] = poissonInterval(events);
    return [low / exposure[i], high / exposure[i]];
  });
  return { profile: profile(breaks, rates, period), intervals };
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
