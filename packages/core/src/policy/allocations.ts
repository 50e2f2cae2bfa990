/**
 * How a budget B of looks per second is shared among Poisson pages of rates r and weights w.
 *
 * - uniform: equal shares. proportional: shares as r. squareRoot: as sqrt(w r), which makes the weighed waits of changes shortest.
 * - lambdacrawl (Kolobov et al. 2019, harmonic staleness): f = (-r + sqrt(r^2 + 4 w r / m)) / 2, m such that sum f = B.
 * - lambdacrawlBinary (binary freshness, random looks): f = sqrt(w r) (B + sum r) / sum sqrt(w r) - r, clipped at 0, repeated.
 * - cho (Cho and Garcia-Molina 2003, freshness, periodic looks): maximise sum w f (1 - exp(-r/f)) / r; at the optimum
 *   w (1 - (1 + x) exp(-x)) / r = m with x = r / f, and pages with w / r <= m get nothing.
 * Multipliers are found by bisection in ln m; the sums are B to rounding.
 */
import type { Allocation } from './rate-policy.ts';

export const uniform: Allocation = (rates, _weights, budget) =>
  new Float64Array(rates.length).fill(rates.length > 0 ? budget / rates.length : 0);

export const proportional: Allocation = (rates, _weights, budget) => normalised(Float64Array.from(rates), budget);

export const squareRoot: Allocation = (rates, weights, budget) =>
  normalised(
    rates.map((r, i) => Math.sqrt(weights[i]! * r)),
    budget,
  );

export const lambdacrawl: Allocation = (rates, weights, budget) =>
  atMultiplier(budget, (m) => rates.map((r, i) => (-r + Math.sqrt(r * r + (4 * weights[i]! * r) / m)) / 2));

export const lambdacrawlBinary: Allocation = (rates, weights, budget) => {
  const shares = new Float64Array(rates.length);
  let kept = [...rates.keys()].filter((i) => rates[i]! > 0);
  for (;;) {
    let roots = 0;
    let sum = 0;
    for (const i of kept) {
      roots += Math.sqrt(weights[i]! * rates[i]!);
      sum += rates[i]!;
    }
    const level = (budget + sum) / roots;
    const positive = kept.filter((i) => Math.sqrt(weights[i]! * rates[i]!) * level > rates[i]!);
    if (positive.length === kept.length) {
      for (const i of kept) shares[i] = Math.sqrt(weights[i]! * rates[i]!) * level - rates[i]!;
      return shares;
    }
    kept = positive;
  }
};

export const cho: Allocation = (rates, weights, budget) =>
  atMultiplier(budget, (m) =>
    rates.map((r, i) => {
      const level = (m * r) / weights[i]!;
      return r > 0 && level < 1 ? r / gapFor(level) : 0;
    }),
  );

/** Finds the multiplier at which the shares, falling in it, sum to the budget. */
function atMultiplier(budget: number, shares: (multiplier: number) => Float64Array): Float64Array {
  let low = -80;
  let high = 80;
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (total(shares(Math.exp(middle))) > budget) low = middle;
    else high = middle;
  }
  // Between the two ends only pages at the very margin differ (cho's shares jump there): they get what is left.
  const less = shares(Math.exp(high));
  const more = shares(Math.exp(low));
  const part = (budget - total(less)) / (total(more) - total(less));
  return part > 0 && part <= 1 ? less.map((share, i) => share + part * (more[i]! - share)) : normalised(less, budget);
}

function normalised(shares: Float64Array, budget: number): Float64Array {
  const sum = total(shares);
  return sum > 0 ? shares.map((share) => (share * budget) / sum) : uniform(shares, shares, budget);
}

function total(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
}

/** x with 1 - (1 + x) exp(-x) = level, for level in (0, 1): Newton on the logarithm from x = sqrt(2 level). */
function gapFor(level: number): number {
  let x = level < 0.5 ? Math.sqrt(2 * level) * (1 + Math.sqrt(2 * level) / 3) : -Math.log1p(-level) + 1.5;
  for (let step = 0; step < 40; step++) {
    const fallen = Math.exp(-x);
    // For small x the difference 1 - (1 + x) e^-x cancels; its series does not.
    const value = x < 1e-3 ? x * x * (0.5 - x / 3 + (x * x) / 8) : 1 - (1 + x) * fallen;
    const to = x - (value - level) / (x * fallen);
    const next = to > 0 ? Math.min(to, x + 2) : x / 2;
    if (Math.abs(next - x) < 1e-13 * x) return next;
    x = next;
  }
  return x;
}
