/**
 * How often a page changes, from three sums over its looks: k changes found, the time in which they were found without being counted
 * (each changed gap may hold several), and the time in which every change is known. With g the mean of those changed gaps and T the
 * known time the log-likelihood of a rate r is
 *   l(r) = k ln(1 - exp(-r g)) - r T,
 * as if all changed gaps were equal; their sum is the only moment of them that counts as long as r g is small. With
 * p = 1 - exp(-r g) that is k ln p + (T / g) ln(1 - p), so under Jeffreys' prior p has the law Beta(k + 1/2, T / g + 1/2), and r g = -ln(1 - p)
 * has the mean digamma(a + b) - digamma(b) and the variance trigamma(b) - trigamma(a + b). The interval is that of the Gamma law with these, by Wilson and
 * Hilferty's cube; for r g -> 0 it is the Gamma law of shape k + 1/2 itself. It has nothing of other pages in it.
 * The rate is the most likely one where ln r has a normal prior around that of pages like it, which is worth `priorChanges` of a
 * change for each factor e between the two; and never one that the interval rules out.
 * Delicate: without known time nothing bounds the rate from above; r g near 0 (expm1). Cost: about ten exponentials.
 */
import type { RateEstimate } from './rate.ts';

export interface FoundChanges {
  readonly changes: number;
  /** Sum of the gaps in which something changed and nobody counted how often. */
  readonly changedTime: number;
  /** Time without change, or in which changes were counted. */
  readonly knownTime: number;
}

/** Pages that are alike differ by a factor of 24, up or down: one very fast page among them moves all that is expected of them. */
const priorChanges = 0.1;
/** Of a page never found changed in a time T it is 95 % sure that it changes less often than 3 / T. */
const ruleOfThree = 3;
/** 95 % of a normal law. */
const z95 = 1.96;
/** Where so many quiet gaps stand against each changed one a gap holds one change. */
const manyGaps = 1e6;

/** The interval goes up to Infinity where every look found a change; the rate itself does not. */
export function foundRate(found: FoundChanges, priorRate: number): RateEstimate {
  const interval = foundInterval(found);
  const rate = likeliestRate(found, priorRate);
  return { rate: Math.max(interval[0], Math.min(interval[1], rate)), interval };
}

function foundInterval({ changes, changedTime, knownTime }: FoundChanges): readonly [number, number] {
  if (changes === 0) return [0, ruleOfThree / knownTime];
  if (!(changedTime + knownTime > 0)) return [0, Infinity];
  const gap = changedTime / changes;
  const a = changes + 0.5;
  const b = knownTime / gap + 0.5;
  let mean = a / (knownTime + gap / 2);
  let shape = a;
  if (b < manyGaps) {
    const lost = digamma(a + b) - digamma(b);
    mean = lost / gap;
    shape = (lost * lost) / (trigamma(b) - trigamma(a + b));
  }
  const bound = (z: number): number => mean * Math.max(0, 1 - 1 / (9 * shape) + z / (3 * Math.sqrt(shape))) ** 3;
  return [bound(-z95), knownTime > 0 ? bound(z95) : Infinity];
}

/** Newton's steps in ln r, in which the slope of the likelihood and the prior only falls. */
function likeliestRate({ changes, changedTime, knownTime }: FoundChanges, priorRate: number): number {
  const gap = changes > 0 ? changedTime / changes : 0;
  let rate = (changes + priorChanges) / (knownTime + changedTime / 2 + priorChanges / priorRate);
  for (let i = 0; i < 40; i++) {
    const grown = Math.expm1(rate * gap);
    const one = grown > 0 ? (rate * gap) / grown : 1;
    const falls = grown > 0 ? (rate * gap) / -Math.expm1(-rate * gap) - 1 : 0;
    const slope = changes * one - rate * knownTime - priorChanges * Math.log(rate / priorRate);
    const step = slope / (changes * one * falls + rate * knownTime + priorChanges);
    rate *= Math.exp(Math.max(-2, Math.min(2, step)));
    if (Math.abs(step) < 1e-4) break;
  }
  return rate;
}

/** Both by their series for large arguments, which small ones reach by recurrence. */
function digamma(x: number): number {
  let sum = 0;
  let at = x;
  for (; at < 6; at++) sum -= 1 / at;
  const y = 1 / (at * at);
  return sum + Math.log(at) - 0.5 / at - y * (1 / 12 - y * (1 / 120 - y / 252));
}

function trigamma(x: number): number {
  let sum = 0;
  let at = x;
  for (; at < 6; at++) sum += 1 / (at * at);
  const y = 1 / (at * at);
  return sum + 1 / at + y / 2 + (y / at) * (1 / 6 - y * (1 / 30 - y / 42));
}
