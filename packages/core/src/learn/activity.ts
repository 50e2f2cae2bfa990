/**
 * Busy and quiet times of the pages of a site that change about as often: rebuild waves, release days, storms, holidays.
 *
 * For each scale h a ratio of what looks found to what the pages' own models expected of those looks, both decayed with h:
 *   a[h](t) = (k + sum found e^-(t-s)/h) / (k + sum expected e^-(t-s)/h).
 * Dividing by what was expected makes the ratio blind to who was looked at. The factor on each of these pages' intensity is
 * sum v[h] a[h] + v[0], with v learned by expectation maximisation as the memories' weights are.
 */

const hour = 3600;
const day = 86_400;
const scales = [1.5 * hour, 8 * hour, 2 * day, 12 * day];
/** Found and expected changes that stand for "as usual"; fewer would let a single find look like a wave. */
const usual = 3;
const priorChanges = 20;
const priorWeights = [0.6, 0.05, 0.1, 0.1, 0.15];
const fading = 1 / 1500;
/** How far waves are believed at first, and how long what they have shown counts, in nats and expected changes. */
const evidenceStart = -2;
const evidenceMax = 8;
const evidenceFading = 1 / 300;
const n = scales.length;
/** How many numbers `save` gives. */
export const savedNumbers = 4 + 4 * n;

const sayOf = (evidence: number): number => 1 / (1 + Math.exp(-evidence));

export class Activity {
  private readonly found = new Float64Array(n);
  private readonly expected = new Float64Array(n);
  private readonly ratios = new Float64Array(n + 1).fill(1);
  private readonly weights = Float64Array.from(priorWeights);
  private readonly credit = Float64Array.from(priorWeights, (weight) => weight * priorChanges);
  private readonly debit = new Float64Array(n + 1).fill(priorChanges);
  private last = Number.NaN;
  private latest = 1;
  private evidence = evidenceStart;
  private say = sayOf(evidenceStart);

  /** The factor now, as far as it has been borne out. */
  factor(now: number): number {
    this.pass(now);
    return 1 + this.say * (this.latest - 1);
  }

  /** A look for which the page's own model expected `plain` changes; `credit` of what it found speaks for the site. */
  learn(now: number, plain: number, credit: number): void {
    this.pass(now);
    this.weigh(plain, credit);
    const { ratios, weights } = this;
    const factor = this.latest;
    for (let k = 0; k <= n; k++) {
      if (credit > 0) {
        this.credit[k] = this.credit[k]! * (1 - fading) + (credit * weights[k]! * ratios[k]!) / factor;
        this.debit[k] = this.debit[k]! * (1 - fading) + plain * ratios[k]!;
      } else {
        this.debit[k]! += plain * ratios[k]!;
      }
      weights[k] = this.credit[k]! / this.debit[k]!;
    }
    for (let k = 0; k < n; k++) {
      this.found[k]! += credit;
      this.expected[k]! += plain;
    }
    this.refresh();
  }

  /** Waves are believed as far as they made what was found likelier than no waves would have. */
  private weigh(plain: number, credit: number): void {
    const gain = credit * Math.log(Math.max(this.latest, 0.05)) - plain * (this.latest - 1);
    const to = this.evidence * (1 - evidenceFading * plain) + gain;
    this.evidence = Math.max(-evidenceMax, Math.min(evidenceMax, to));
    this.say = sayOf(this.evidence);
  }

  save(): number[] {
    return [this.last, this.evidence, ...this.found, ...this.expected, ...this.credit, ...this.debit];
  }

  /** Takes back what `save` gave; false when it is not of this form. */
  restore(saved: readonly number[], now: number): boolean {
    const [last, evidence, ...sums] = saved;
    if (saved.length !== savedNumbers || !saved.every(Number.isFinite)) return false;
    // A clock that was ahead must not stop time here until it is caught up.
    this.last = Math.min(last!, now);
    this.evidence = evidence!;
    this.found.set(sums.slice(0, n));
    this.expected.set(sums.slice(n, 2 * n));
    this.credit.set(sums.slice(2 * n, 3 * n + 1));
    this.debit.set(sums.slice(3 * n + 1));
    for (let k = 0; k <= n; k++) this.weights[k] = this.credit[k]! / this.debit[k]!;
    this.say = sayOf(this.evidence);
    this.refresh();
    return true;
  }

  private pass(now: number): void {
    if (Number.isNaN(this.last)) this.last = now;
    const passed = now - this.last;
    // The fastest scale hardly moves within a minute.
    if (!(passed > 60)) return;
    this.last = now;
    for (let k = 0; k < n; k++) {
      const left = Math.exp(-passed / scales[k]!);
      this.found[k]! *= left;
      this.expected[k]! *= left;
    }
    this.refresh();
  }

  private refresh(): void {
    let sum = this.weights[0]!;
    for (let k = 0; k < n; k++) {
      this.ratios[k + 1] = (usual + this.found[k]!) / (usual + this.expected[k]!);
      sum += this.weights[k + 1]! * this.ratios[k + 1]!;
    }
    this.latest = sum;
  }
}
