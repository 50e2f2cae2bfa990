/**
 * Randomness as an argument: a seeded generator (sfc32, Chris Doty-Humphrey's small fast counting generator, period of
 * at least 2^32 for every seed). The same seed gives the same numbers on every machine.
 */

/** The next number in [0, 1). */
export type Random = () => number;

export function random(seed: number): Random {
  let a = seed >>> 0;
  let b = Math.floor(seed / 2 ** 32) >>> 0;
  let c = 0x9e3779b9;
  let counter = 1;
  const next32 = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  // Seeds that differ in one bit need a few rounds before their outputs differ in all bits.
  for (let round = 0; round < 15; round++) next32();
  return () => next32() / 2 ** 32;
}

/** A waiting time with the given mean; Infinity when the mean is. */
export function exponential(next: Random, mean: number): number {
  return mean === Infinity ? Infinity : -mean * Math.log1p(-next());
}

/** A whole number in [0, below). */
export function integer(next: Random, below: number): number {
  return Math.floor(next() * below);
}

/** A standard normal number (Box and Muller's polar-free form, one number a call so that streams stay aligned). */
export function normal(next: Random): number {
  return Math.sqrt(-2 * Math.log1p(-next())) * Math.cos(2 * Math.PI * next());
}
