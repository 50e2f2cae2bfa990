/**
 * Errors of change estimates as WIC's experiments make them (§5): false positives and negatives (each change is missed with
 * probability FPN, and for each one missed a change that never was is put at a random instant), then spread: each change's
 * probability is laid out as a Gaussian of standard deviation σ instants around it.
 */
import { type Random, integer } from './random.ts';

/** Change instants (from 1) of one page as an estimator would give them. */
export function withFalseChanges(at: ArrayLike<number>, instants: number, share: number, next: Random): number[] {
  const kept = new Set<number>();
  for (let n = 0; n < at.length; n++) kept.add(next() < share ? 1 + integer(next, instants) : at[n]);
  return Array.from(kept).sort((a, b) => a - b);
}

/** Probabilities where they are above 10⁻⁶; what falls outside the epoch is lost, and overlaps are at most certain. */
export function spreadChanges(
  at: ArrayLike<number>,
  instants: number,
  deviation: number,
): { readonly at: number[]; readonly probability: number[] } {
  const chance = new Map<number, number>();
  const reach = Math.ceil(5 * deviation);
  for (let n = 0; n < at.length; n++) {
    let total = 0;
    const weight = (step: number) => (deviation > 0 ? Math.exp(-0.5 * (step / deviation) ** 2) : 1);
    for (let step = -reach; step <= reach; step++) total += weight(step);
    for (let step = -reach; step <= reach; step++) {
      const instant = at[n] + step;
      const part = weight(step) / total;
      if (part < 1e-6 || instant < 1 || instant > instants) continue;
      chance.set(instant, Math.min(1, (chance.get(instant) ?? 0) + part));
    }
  }
  const instantsUsed = Array.from(chance.keys()).sort((a, b) => a - b);
  return { at: instantsUsed, probability: instantsUsed.map((instant) => chance.get(instant) ?? 0) };
}
