/**
 * Staleness: the importance-weighted time during which our copy is not what the page shows,
 *
 *     gap(s, f) = ∫_s^f a(t)·(1 − exp(−Λ(s, t))) dt.
 *
 * Monge: the quadrangle difference is ∫_f^f′ a(t)·(P(no change in (s′, t]) − P(no change in (s, t])) dt ≥ 0, because less
 * time has passed since s′. (It holds for any law of change; the formulas here are the Poisson process's.)
 *
 * After v within the gap, with q = exp(−Λ(s, v)): gap(s, f) = gap(s, v) + (1 − q)·A(v, f) + q·gap(v, f). With the table
 * H(v) = gap(v, to) at the breaks this gives any gap in O(log pieces).
 *
 * Numerically delicate: 1 − q and the like are taken with expm1, so tiny rates keep all their digits; nothing grows with
 * Λ, so enormous rates do not overflow; short gaps are summed piece by piece.
 */
import { type Profile, sharedPieces } from '../time/profile.ts';
import { type Loss, pieceOf } from './loss.ts';

/** Up to this many pieces a gap is summed directly, without cancellation. */
const directMax = 24;

/** ∫_0^h (1 − exp(−rate·t)) dt. */
function missed(rate: number, h: number): number {
  const x = rate * h;
  // The difference loses its digits for small x; four terms of the series are exact to rounding below 1e-3.
  if (x < 1e-3) return h * x * (1 / 2 - x * (1 / 6 - x * (1 / 24 - x / 120)));
  return h + Math.expm1(-x) / rate;
}

export function staleness(intensity: Profile, importance: Profile, from: number, to: number): Loss {
  const { breaks, first: rate, second: weight } = sharedPieces(intensity, importance, from, to);
  const count = rate.length;
  const L = new Float64Array(count + 1);
  const A = new Float64Array(count + 1);
  for (let k = 0; k < count; k++) {
    const h = breaks[k + 1] - breaks[k];
    L[k + 1] = L[k] + rate[k] * h;
    A[k + 1] = A[k] + weight[k] * h;
  }
  /** H[k] = gap(breaks[k], to). */
  const H = new Float64Array(count + 1);
  for (let k = count - 1; k >= 0; k--) {
    const h = breaks[k + 1] - breaks[k];
    const changed = -Math.expm1(-rate[k] * h);
    H[k] = weight[k] * missed(rate[k], h) + changed * (A[count] - A[k + 1]) + (1 - changed) * H[k + 1];
  }

  const gap = (s: number, f: number): number => {
    if (!(f > s)) return 0;
    const i = pieceOf(breaks, s);
    const j = pieceOf(breaks, f);
    if (i === j) return weight[i] * missed(rate[i], f - s);
    let loss = 0;
    let changes = 0;
    const pass = (k: number, start: number, end: number): void => {
      const h = end - start;
      const changed = -Math.expm1(-changes);
      loss += weight[k] * (changed * h + (1 - changed) * missed(rate[k], h));
      changes += rate[k] * h;
    };
    pass(i, s, breaks[i + 1]);
    if (j - i <= directMax) {
      for (let k = i + 1; k < j; k++) pass(k, breaks[k], breaks[k + 1]);
    } else {
      const before = -Math.expm1(-changes);
      const middle = L[j] - L[i + 1];
      const changed = -Math.expm1(-middle);
      const inside = H[i + 1] - changed * (A[count] - A[j]) - (1 - changed) * H[j];
      loss += before * (A[j] - A[i + 1]) + (1 - before) * Math.max(0, inside);
      changes += middle;
    }
    pass(j, breaks[j], f);
    return loss;
  };

  const onGrid = (times: Float64Array): ((i: number, j: number) => number) => {
    const changes = new Float64Array(times.length);
    const rest = new Float64Array(times.length);
    const ahead = new Float64Array(times.length);
    for (let n = 0, k = 0; n < times.length; n++) {
      while (k + 2 < breaks.length && breaks[k + 1] <= times[n]) k++;
      changes[n] = L[k] + rate[k] * (times[n] - breaks[k]);
      rest[n] = A[count] - A[k] - weight[k] * (times[n] - breaks[k]);
      ahead[n] = gap(times[n], to);
    }
    return (i, j) => {
      const changed = -Math.expm1(changes[i] - changes[j]);
      return ahead[i] - changed * rest[j] - (1 - changed) * ahead[j];
    };
  };

  return { name: 'staleness', from, to, gap, onGrid };
}
