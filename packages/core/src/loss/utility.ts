/**
 * The general utility loss of urgency × life (Pandey, Dhamdhere and Olston, §2, in continuous time). A change at k that is
 * captured at f is worth a(k)·h(k, f), h = urgency(f − k)·life(k, f), and a(k) when captured at once, so
 *
 *     gap(s, f) = ∫_s^f λ(k)·a(k)·(1 − h(k, f)) dk.
 *
 * Monge: the quadrangle difference is ∫_s^s′ λ(k)·a(k)·(h(k, f) − h(k, f′)) dk ≥ 0, because h does not rise with f.
 * Cost: Gauss quadrature over panels on which h is smooth, from f backwards until nothing is left of h.
 *
 * Numerically delicate: panels end at the profiles' breaks and at the windows' edges, and are no longer than the scale on
 * which h falls, so that a fast page overwritten a thousand times within the gap costs no accuracy.
 */
import { type Profile, sharedPieces } from '../time/profile.ts';
import { type Loss, pieceOf } from './loss.ts';

export type Urgency =
  | { readonly kind: 'uniform' }
  /** rate^delay, 0 ≤ rate ≤ 1. */
  | { readonly kind: 'decay'; readonly rate: number }
  /** 1 up to a delay of `width`, then 0. */
  | { readonly kind: 'window'; readonly width: number }
  /** (1 + delay)^−power. */
  | { readonly kind: 'polynomial'; readonly power: number };

export type Life =
  | { readonly kind: 'append' }
  /** Shown for `width` after it happened. */
  | { readonly kind: 'window'; readonly width: number }
  /** Shown until the `count`-th later change. */
  | { readonly kind: 'changes'; readonly count: number }
  | { readonly kind: 'overwrite' };

export function urgencyAt(urgency: Urgency, delay: number): number {
  if (urgency.kind === 'uniform') return 1;
  if (urgency.kind === 'decay') return urgency.rate ** delay;
  if (urgency.kind === 'window') return delay <= urgency.width ? 1 : 0;
  return (1 + delay) ** -urgency.power;
}

/** The chance that a change is still shown after `delay`, in which `later` further changes are expected. */
export function lifeAfter(life: Life, delay: number, later: number): number {
  if (life.kind === 'append') return 1;
  if (life.kind === 'window') return delay <= life.width ? 1 : 0;
  if (life.kind === 'overwrite') return Math.exp(-later);
  let term = Math.exp(-later);
  let sum = term;
  for (let m = 1; m < life.count; m++) {
    term *= later / m;
    sum += term;
  }
  return Math.min(1, sum);
}

/** Below this nothing is left of a change's worth: the rest of the gap loses everything. */
const nothing = 1e-17;

export function utilityLoss(
  intensity: Profile,
  importance: Profile,
  urgency: Urgency,
  life: Life,
  from: number,
  to: number,
): Loss {
  const { breaks, first: rate, second: weight } = sharedPieces(intensity, importance, from, to);
  const edges = [urgency, life].flatMap((one) => (one.kind === 'window' ? [one.width] : [])).sort((a, b) => a - b);
  const fall = urgency.kind === 'decay' ? -Math.log(Math.max(urgency.rate, 1e-300)) : 0;
  const worth = (delay: number, later: number): number => urgencyAt(urgency, delay) * lifeAfter(life, delay, later);

  const panelEnd = (piece: number, delay: number, delayMax: number): number => {
    const smooth = Math.min(
      2 / Math.max(fall, life.kind === 'append' || life.kind === 'window' ? 0 : rate[piece]),
      urgency.kind === 'polynomial' ? (1 + delay) / (1 + urgency.power) : Infinity,
    );
    const edge = edges.find((width) => width > delay) ?? Infinity;
    return Math.min(delayMax, delay + smooth, edge);
  };

  const gap = (s: number, f: number): number => {
    let loss = 0;
    let later = 0;
    let delay = 0;
    for (let piece = pieceOf(breaks, f); delay < f - s && piece >= 0; piece--) {
      const delayMax = f - Math.max(s, breaks[piece]);
      while (delay < delayMax) {
        const end = worth(delay * (1 + 1e-15), later) < nothing ? delayMax : panelEnd(piece, delay, delayMax);
        const kept = keptOn(worth, delay, end, rate[piece], later);
        loss += rate[piece] * weight[piece] * Math.max(0, end - delay - kept);
        later += rate[piece] * (end - delay);
        delay = end;
      }
    }
    return loss;
  };

  return { name: 'utility', from, to, gap };
}

/** Nodes and weights of the ten-point Gauss-Legendre rule: the distances of its points from the middle of [−1, 1]. */
export const nodes = [
  0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845, 0.9739065285171717,
];
export const weights = [
  0.2955242247147529, 0.2692667193099963, 0.219086362515982, 0.1494513491505806, 0.0666713443086881,
];

function keptOn(
  worth: (delay: number, later: number) => number,
  start: number,
  end: number,
  rate: number,
  later: number,
): number {
  const half = (end - start) / 2;
  const middle = (start + end) / 2;
  let sum = 0;
  for (let i = 0; i < nodes.length; i++) {
    for (const delay of [middle - half * nodes[i], middle + half * nodes[i]])
      sum += weights[i] * worth(delay, later + rate * (delay - start));
  }
  return half * sum;
}
