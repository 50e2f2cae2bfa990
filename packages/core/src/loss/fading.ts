/**
 * What waiting costs where a change's worth fades: of a change that waits t, h(a·t) is left, h falling from 1. A page of rate r and
 * weight w that is looked at at even distances g loses, per second,
 *
 *     b·(1 − kept(a·g) ⁄ (a·g)),   kept(τ) = ∫₀^τ h,
 *
 * so with a price x = price·a ⁄ b its best distance is τ ⁄ a with kept(τ) − τ·h(τ) = x, the same τ for all pages of one h: looks =
 * a·looks(x), loss = b·loss(x). Where x is more than all of ∫h no look pays, and the page loses b.
 *
 * Everything is counted as obsolescence counts it, in seconds of waiting: b is such that a short wait t costs t (for h without a slope
 * at 0: that a change wholly lost costs its mean life), and no change costs more than its worth lasts. Thus staleness, and a
 * page whose changes are overwritten, are h = e^−τ with a = r and b = w; an urgency that decays by e^−dt is h = e^−τ with a = d, b = w·r ⁄ d; both
 * together a = r + d. A page shows a change until the Z-th later one: h is the chance of fewer than Z arrivals, a = r, b = w·Z.
 *
 * Monge and convex: h does not rise, so a gap's loss is convex in its length and even distances are the best for an even page.
 * A worth that ends all at once (windows) is left to obsolescence: the best plan would be all looks or none.
 */
import { type Life, type Urgency, nodes, weights } from './utility.ts';

export interface Fading {
  /** Curves of one name are the same. */
  readonly name: string;
  /** h(τ), and its integral from 0. */
  readonly left: (tau: number) => number;
  readonly kept: (tau: number) => number;
  /** −h′(τ). */
  readonly fall: (tau: number) => number;
}

/** How a page loses: `a` a second and `b` as above. */
export interface FadingPage {
  readonly fading: Fading;
  readonly a: number;
  readonly b: number;
}

export interface Asks {
  readonly loss?: 'obsolescence' | 'staleness';
  /** In hours. */
  readonly urgency?: Urgency;
  readonly life?: Life;
}

const hour = 3600;
/** An urgency that is gone at once would never be worth a look; within some minutes it is gone all the same. */
const decayLeast = 1e-9;

const exponential: Fading = {
  name: 'exponential',
  left: (tau) => Math.exp(-tau),
  kept: (tau) => -Math.expm1(-tau),
  fall: (tau) => Math.exp(-tau),
};

/** Fewer than `count` arrivals of rate 1. */
function untilArrival(count: number): Fading {
  const left = (tau: number, fewer = count): number => {
    let term = Math.exp(-tau);
    let sum = term;
    for (let m = 1; m < fewer; m++) sum += term *= tau / m;
    return Math.min(1, sum);
  };
  const kept = (tau: number): number => {
    let sum = 0;
    for (let m = 1; m <= count; m++) sum += 1 - left(tau, m);
    return sum;
  };
  const fall = (tau: number): number => {
    let term = Math.exp(-tau);
    for (let m = 1; m < count; m++) term *= tau / m;
    return term;
  };
  return { name: `arrival ${count}`, left, kept, fall };
}

/** Counts are small whole numbers, so these are few. */
const untilArrivals = new Map<number, Fading>();

function power(p: number): Fading {
  const kept = (tau: number): number => (p === 1 ? Math.log1p(tau) : Math.expm1((1 - p) * Math.log1p(tau)) / (1 - p));
  return { name: `power ${p}`, left: (tau) => (1 + tau) ** -p, kept, fall: (tau) => p * (1 + tau) ** (-p - 1) };
}

interface Voice {
  readonly fading: Fading;
  readonly a: number;
  /** Seconds after which a change counts as lost. */
  readonly lasts: number;
}

/** How a page of this rate and weight loses; undefined where all that counts is how long changes wait. */
export function fadingOf(rate: number, weight: number, { loss, urgency, life }: Asks): FadingPage | undefined {
  if (!(rate > 0)) return undefined;
  if (loss === 'staleness') return { fading: exponential, a: rate, b: weight };
  const shown = shownFor(life, rate);
  const urged = urgedBy(urgency);
  if (shown?.fading === exponential && urged?.fading === exponential) {
    const a = shown.a + urged.a;
    return { fading: exponential, a, b: (weight * rate) / a };
  }
  // Of two laws that cannot be joined the one that ends sooner counts.
  const voice = shown && urged ? (shown.lasts <= urged.lasts ? shown : urged) : (shown ?? urged);
  return voice && { fading: voice.fading, a: voice.a, b: weight * rate * voice.lasts };
}

function shownFor(life: Life | undefined, rate: number): Voice | undefined {
  if (life?.kind === 'overwrite') return { fading: exponential, a: rate, lasts: 1 / rate };
  if (life?.kind !== 'changes') return undefined;
  const count = Math.max(1, Math.round(life.count));
  let fading = count === 1 ? exponential : untilArrivals.get(count);
  if (!fading) untilArrivals.set(count, (fading = untilArrival(count)));
  return { fading, a: rate, lasts: count / rate };
}

function urgedBy(urgency: Urgency | undefined): Voice | undefined {
  if (urgency?.kind === 'decay' && urgency.rate < 1) {
    const a = -Math.log(Math.max(decayLeast, urgency.rate)) / hour;
    return { fading: exponential, a, lasts: 1 / a };
  }
  if (urgency?.kind !== 'polynomial' || !(urgency.power > 0)) return undefined;
  return { fading: power(urgency.power), a: 1 / hour, lasts: hour / urgency.power };
}

/** Below this the two parts of what a look saves are nearly equal, and it is integrated instead. */
const tauSmall = 0.5;

/** kept(τ) − τ·h(τ) = ∫₀^τ t·(−h′(t)) dt: what a look after τ saves, as a share of a change's worth; rises from 0. */
export function saved({ left, kept, fall }: Fading, tau: number): number {
  if (tau >= tauSmall) return Math.max(0, kept(tau) - tau * left(tau));
  let sum = 0;
  for (let i = 0; i < nodes.length; i++)
    for (const t of [(tau * (1 - nodes[i])) / 2, (tau * (1 + nodes[i])) / 2]) sum += weights[i] * t * fall(t);
  return (tau / 2) * sum;
}

const tauMost = 1e9;

/** The best distance at a price x, in units of 1 ⁄ a; Infinity where no look pays. */
export function bestDistance(fading: Fading, x: number): number {
  if (!(x > 0)) return 0;
  if (!(saved(fading, tauMost) > x)) return Infinity;
  // Newton's steps in logarithms: what a look saves is nearly a power of τ until it nears its end.
  let [low, high] = [0, Infinity];
  let tau = Math.min(1, Math.sqrt(2 * x));
  for (let turn = 0; turn < 200; turn++) {
    const got = saved(fading, tau);
    if (got < x) low = tau;
    else high = tau;
    if (Math.abs(got - x) <= 1e-13 * x || (high < Infinity && high - low <= 1e-14 * high)) return tau;
    const step = tau * Math.exp((Math.log(x / got) * got) / (tau * tau * fading.fall(tau)));
    if (step > low && step < high && step < 16 * tau && step > tau / 16) tau = step;
    else tau = high === Infinity ? 4 * tau : low > 0 ? Math.sqrt(low * high) : tau / 4;
  }
  return tau;
}

/** Looks a unit of time (1 ⁄ a) at a price x, and the loss, as a share of b, at a distance. */
export function bestLooks(fading: Fading, x: number): number {
  return 1 / bestDistance(fading, x);
}

export function lossAt({ kept }: Fading, tau: number): number {
  return tau === Infinity ? 1 : tau > 0 ? Math.max(0, 1 - kept(tau) / tau) : 0;
}
