/**
 * What may be missed of a page before the next look at it pays, where its copies are to be current for as much of the time as can be.
 *
 * Let q(t) be the chance that a copy is still fresh t after a look. Looks W apart lose  W - ∫_0^W q + cost  each, and the least a
 * second is lost where
 *
 *   ∫_0^W q(t) dt - W q(W) = cost,   which is then 1 - q(W) a second:
 *
 * Cho and Garcia-Molina's condition, for any law of change; its left side rises with W. So a look is due when the copy is stale with
 * the chance 1 - q(W) = 1 - exp(-Λ) of the looks that would follow: from then on every second costs more than one of the plan that
 * begins now. That holds for a steady page. Where the intensity falls from r now to r̄ on average over W, waiting gains besides,
 * as what changes before the look need not be seen after it: were all of that certain, the mark would be the greater r F = Λ r / r̄ for a
 * small Λ, F being the time that the copy stays fresh. But a burst of which a look finds more goes on. The mark is between the two,
 *
 *   Λ sqrt(r / r̄),   for small Λ  sqrt(2 cost r),   as for delays (revisit.ts): so the two aims differ only where much is missed.
 *
 * The rate is not known: n changes seen leave a Gamma law of shape 1 + n, so q is a mixture of exponentials,
 * q = (1 + mass / shape)^(-shape), and a page of which little is known is never certain to be stale.
 *
 * Waits are tried at cost, 2 cost, 4 cost …, as W > cost; between two of them changes come evenly. Cost: a step for each doubling, half a
 * dozen where looks are some ten a change, of one exponential, one logarithm and a square for each memory.
 */
import { memoryScales } from './memory.ts';

const scales = memoryScales.length;
/** Waits of up to a million times the cost: pages that miss so little before their next look have the mark of small numbers. */
const doublingsMax = 20;
const fewest = 1e-9;

/** Of `mass` changes expected at a rate that is known from `known` changes, so many count: e to the minus this is the chance of none. */
export function counted(mass: number, known: number): number {
  const shape = 1 + known;
  return shape * Math.log1p(mass / shape);
}

export class FreshAhead {
  /** Set by `plan`: the changes, as counted, that may be missed before a look; Infinity where no wait is worth its cost. */
  missed = 0;
  /** Set by `plan`: the most time that a wait frees, over the cost, less where the intensity falls; 1 where some wait is worth it. */
  worth = 1;
  private readonly fades = new Float64Array(scales);

  /** Of a page with this long-run rate and these changes left of its memories, all times `factor`, known from `known` changes. */
  plan(cost: number, steady: number, left: ArrayLike<number>, factor: number, known: number): void {
    const { fades } = this;
    this.worth = 1;
    this.missed = 0;
    let rate = steady;
    for (let k = 0; k < scales; k++) {
      rate += left[k]! / memoryScales[k]!;
      fades[k] = Math.exp(-cost / memoryScales[k]!);
    }
    rate *= factor;
    this.missed = Math.sqrt(2 * cost * rate);
    if (!(this.missed > fewest)) return;
    let from = 0;
    let massBefore = 0;
    let before = 0;
    let fresh = 1;
    let area = 0;
    let freed = 0;
    for (let step = 0, until = cost; step < doublingsMax; step++, until *= 2) {
      let mass = steady * until;
      for (let k = 0; k < scales; k++) {
        mass += left[k]! * (1 - fades[k]!);
        fades[k]! *= fades[k]!;
      }
      mass *= factor;
      const missed = counted(mass, known);
      const still = Math.exp(-missed);
      const grown = missed - before;
      const more = grown > fewest ? ((fresh - still) * (until - from)) / grown : fresh * (until - from);
      const freedThen = area + more - until * still;
      if (freedThen >= cost) {
        // What is freed grows as the square of the wait.
        const root = Math.sqrt(freed);
        const share = (Math.sqrt(cost) - root) / (Math.sqrt(freedThen) - root);
        const changes = massBefore + share * (mass - massBefore);
        this.missed = (before + share * grown) * Math.sqrt(((from + share * (until - from)) * rate) / changes);
        return;
      }
      freed = Math.max(0, freedThen);
      area += more;
      fresh = still;
      massBefore = mass;
      before = missed;
      from = until;
    }
    // Where next to nothing is missed in the longest wait, the mark of small numbers stays.
    if (before < 1e-2) return;
    this.missed = Infinity;
    this.worth = cost < Infinity ? (freed * massBefore) / (cost * from * rate) : 0;
  }
}
