/**
 * What a page's own past says of its next hours: a long-run rate plus memories on several time scales.
 *
 * The intensity of a page is  sum over k of w[k] x[k](t),  where x[0] is its long-run rate (a Gamma posterior mean) and
 * x[k], k >= 1, is its count of past changes decayed with scale h[k]:  x[k](t) = sum over changes e of exp(-(t - e)/h) / h.
 * The weights w are the collection's, not the page's, and are learned by expectation maximisation from censored looks: a
 * look after a gap with features X[k] = integral of x[k] that found a change credits feature k with w[k] X[k] / P(change)
 * expected changes; every look debits it with X[k] of exposure; w[k] = credit / debit. Likelihood rises with every pass,
 * weights stay positive and there is no step size. Old looks fade so that the weights follow a collection that changes.
 * Cost: one exponential a scale a look.
 */

const hour = 3600;
const day = 86_400;

/** From within a burst of edits to the life of a page; closer scales than a factor of about six are not told apart. */
export const memoryScales: readonly number[] = [480, 1.3 * hour, 12 * hour, 5 * day, 45 * day, 430 * day];

/** The first so many are bursts, which go on at any hour of the day. */
export const burstScales = 2;

/** Long-run rates: with little and with much said by the page's kin. */
export const priorShapes: readonly number[] = [0.3, 2];
export const bases = priorShapes.length;
export const featureCount = bases + memoryScales.length;

/** Pages with no, few, several and many changes known have weights of their own. */
export const contexts = 4;
export const contextOf = (changes: number): number => (changes < 1 ? 0 : changes < 4 ? 1 : changes < 16 ? 2 : 3);

/** Before anything is learned: half from the long run, the rest spread over the scales, worth this many changes. */
const priorChanges = 4;
const priorWeights = [0.3, 0.3, 0.03, 0.03, 0.05, 0.08, 0.1, 0.1];

/** Credits fade by this share a change found, so the weights remember about the last two thousand changes. */
const fading = 1 / 2000;

export class MemoryWeights {
  readonly weights = Float64Array.from(priorWeights);
  private readonly credit = Float64Array.from(priorWeights, (weight) => weight * priorChanges);
  private readonly debit = new Float64Array(featureCount).fill(priorChanges);

  /** A look whose gap had these features; `share` is what was found over what was expected, 0 when nothing changed. */
  learn(features: Float64Array, share: number): void {
    const { weights, credit, debit } = this;
    if (share > 0) {
      for (let k = 0; k < featureCount; k++) {
        // The priors fade with everything else: each keeps its weight but not its say.
        credit[k] = credit[k]! * (1 - fading) + weights[k]! * features[k]! * share;
        debit[k] = debit[k]! * (1 - fading) + features[k]!;
      }
    } else {
      for (let k = 0; k < featureCount; k++) debit[k]! += features[k]!;
    }
    for (let k = 0; k < featureCount; k++) weights[k] = credit[k]! / debit[k]!;
  }

  save(): number[] {
    return [...this.credit, ...this.debit];
  }

  restore(saved: readonly number[]): void {
    if (saved.length !== 2 * featureCount) return;
    for (let k = 0; k < featureCount; k++) {
      this.credit[k] = saved[k]!;
      this.debit[k] = saved[featureCount + k]!;
      this.weights[k] = this.credit[k]! / this.debit[k]!;
    }
  }
}
