/**
 * Obsolescence (Eckstein, Gal and Reiner, eqs. 3 to 5): each change costs ∫ a(t) dt from when it happens until it is seen, so
 *
 *     gap(s, f) = ∫_s^f λ(t)·A(t, f) dt,   A(t, f) = ∫_t^f a.
 *
 * Monge: the quadrangle difference is Λ(s, s′)·A(f, f′) ≥ 0.
 * With prefix integrals L of λ, A of a and M of λ·A: gap(s, f) = A(f)·(L(f) − L(s)) − (M(f) − M(s)); O(log pieces) a gap.
 *
 * Numerically delicate: that formula subtracts numbers of the size of the whole window, so short gaps are summed piece by
 * piece with Lemma 3, C(s, f) = C(s, v) + Λ(s, v)·A(v, f) + C(v, f), in which nothing is subtracted.
 */
import { type Profile, sharedPieces } from '../time/profile.ts';
import { type Lines, type Loss, pieceOf } from './loss.ts';

/** Up to this many pieces a gap is summed directly: no slower than two searches, and free of cancellation. */
const directMax = 24;

export function obsolescence(intensity: Profile, importance: Profile, from: number, to: number): Loss {
  const { breaks, first: rate, second: weight } = sharedPieces(intensity, importance, from, to);
  const at = prefixes(breaks, rate, weight);

  const gap = (s: number, f: number): number => {
    if (!(f > s)) return 0;
    const i = pieceOf(breaks, s);
    const j = pieceOf(breaks, f);
    if (i === j) return (rate[i] * weight[i] * (f - s) ** 2) / 2;
    let loss = 0;
    let changes = 0;
    const pass = (k: number, start: number, end: number): void => {
      const h = end - start;
      loss += changes * weight[k] * h + (rate[k] * weight[k] * h * h) / 2;
      changes += rate[k] * h;
    };
    pass(i, s, breaks[i + 1]);
    if (j - i <= directMax) {
      for (let k = i + 1; k < j; k++) pass(k, breaks[k], breaks[k + 1]);
    } else {
      const A = at.A[j] - at.A[i + 1];
      const L = at.L[j] - at.L[i + 1];
      // M is kept relative to A at the window's start: ∫ λ(t)·(A(t) − A(i+1)) dt = ΔM − A(i+1)·ΔL.
      loss += changes * A + A * L - (at.M[j] - at.M[i + 1] - at.A[i + 1] * L);
      changes += L;
    }
    pass(j, breaks[j], f);
    return loss;
  };

  const lines = (times: Float64Array): Lines => {
    const [L, A, M] = [0, 1, 2].map(() => new Float64Array(times.length));
    for (let n = 0, k = 0; n < times.length; n++) {
      while (k + 2 < breaks.length && breaks[k + 1] <= times[n]) k++;
      const h = times[n] - breaks[k];
      L[n] = at.L[k] + rate[k] * h;
      A[n] = at.A[k] + weight[k] * h;
      M[n] = at.M[k] + rate[k] * h * (at.A[k] + (weight[k] * h) / 2);
    }
    return { L, A, M };
  };

  return { name: 'obsolescence', from, to, gap, lines };
}

function prefixes(breaks: Float64Array, rate: Float64Array, weight: Float64Array): Lines {
  const [L, A, M] = [0, 1, 2].map(() => new Float64Array(breaks.length));
  for (let k = 0; k < rate.length; k++) {
    const h = breaks[k + 1] - breaks[k];
    L[k + 1] = L[k] + rate[k] * h;
    A[k + 1] = A[k] + weight[k] * h;
    M[k + 1] = M[k] + rate[k] * h * (A[k] + (weight[k] * h) / 2);
  }
  return { L, A, M };
}
