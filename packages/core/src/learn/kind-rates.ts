/**
 * How much more often pages of a kind (feeds, papers, tables; model/content-kind.ts) change than their site and folders lead to expect.
 *
 *   ratio of a kind = (k + found) / (k + expected from the groups alone), over the same for pages of all kinds,
 *
 * counted while a page is young, so that one that changes every minute is a page among others. The prior is (1 + g (ratio - 1)) times
 * that of the groups, g the share that the ratio's evidence at young pages has earned (evidence.ts). Pages of which no kind is known have
 * the ratio 1.
 * Cost: four exponentials for a look at a young page, none for others.
 */
import { contentKinds } from '../model/content-kind.ts';
import { evidenceStart, heldEvidence, shareOf } from './evidence.ts';
import { posteriorRate } from './prior-rates.ts';

/** Changes that stand for "as expected". */
const usual = 3;
/** From so many changes on a page speaks for itself. */
const youngMax = 4;
/** The prior's worth when ratios are judged, in changes: between the weak and the strong of memory.ts. */
const judgingShape = 1;
/** A few pages that happen to be of one kind may be of any rate. */
const ratioMax = 30;

const unknown = 0;
const kinds = contentKinds.length;

export class KindRates {
  private readonly found = new Float64Array(kinds);
  private readonly expected = new Float64Array(kinds);
  private readonly evidence = new Float64Array(kinds).fill(evidenceStart);
  private allFound = 0;
  private allExpected = 0;

  /** On the mean rate that the groups of a page of this kind lead to expect. */
  factor(kind: number): number {
    if (kind === unknown) return 1;
    return 1 + shareOf(this.evidence[kind]!) * (this.ratio(kind) - 1);
  }

  private ratio(kind: number): number {
    const all = (usual + this.allFound) / (usual + this.allExpected);
    const ratio = (usual + this.found[kind]!) / (usual + this.expected[kind]!) / all;
    return Math.max(1 / ratioMax, Math.min(ratioMax, ratio));
  }

  /** A look after `gap` at a page of this kind that is `age` old, of which so many changes were known; its groups expect this mean rate. */
  learn(kind: number, mean: number, age: number, changes: number, gap: number, number: number): void {
    if (changes >= youngMax) return;
    if (kind !== unknown) this.weigh(kind, mean, age, changes, gap, number > 0);
    this.found[kind]! += number;
    this.expected[kind]! += mean * gap;
    this.allFound += number;
    this.allExpected += mean * gap;
  }

  private weigh(kind: number, mean: number, age: number, changes: number, gap: number, changed: boolean): void {
    const without = gap * posteriorRate(judgingShape, mean, changes, age, false);
    const by = gap * posteriorRate(judgingShape, mean * this.ratio(kind), changes, age, false);
    const gain = changed ? Math.log(Math.expm1(-by) / Math.expm1(-without)) : without - by;
    if (!Number.isFinite(gain)) return;
    this.evidence[kind] = heldEvidence(this.evidence[kind]! + gain);
  }

  save(): number[][] {
    return [[...this.found], [...this.expected], [...this.evidence]];
  }

  /** Kinds that came later than what was saved begin anew. */
  restore(saved: readonly number[][]): void {
    const [found = [], expected = [], evidence = []] = saved;
    if (
      ![found, expected, evidence].every((numbers) => numbers.length === found.length && numbers.every(Number.isFinite))
    )
      return;
    const n = Math.min(kinds, found.length);
    this.found.set(found.slice(0, n));
    this.expected.set(expected.slice(0, n));
    this.evidence.set(evidence.slice(0, n));
    this.allFound = this.found.reduce((a, b) => a + b, 0);
    this.allExpected = this.expected.reduce((a, b) => a + b, 0);
  }
}
