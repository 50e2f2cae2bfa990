/**
 * Student's law with two degrees of freedom, whose tails are as heavy as those of jobs that are late now and then: where it has got to, how
 * dense it is, and where it has got so far, all in closed form: F(x) = 1/2 + x / (2 sqrt(2 + x²)).
 * Delicate: far below 0 that form would be the difference of two halves; the one here is as exact there as at 0.
 */

export function law(x: number): number {
  const root = Math.sqrt(2 + x * x);
  return x < 0 ? 1 / (root * (root - x)) : 1 - 1 / (root * (root + x));
}

export const density = (x: number): number => (2 + x * x) ** -1.5;

/** Where the law has reached u, which is exact for u of at most one half. */
export const placeOf = (u: number): number => (u - 0.5) / Math.sqrt((u * (1 - u)) / 2);
