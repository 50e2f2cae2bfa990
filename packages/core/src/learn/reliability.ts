/**
 * Whether what was said of copies came true, and what is to be said instead. A model that says "current with probability q" may be
 * too sure or not sure enough; every look tells whether such a word held, and words of that size are corrected by it.
 *
 * With l = ln(q / (1 - q)), what is said is p, ln(p / (1 - p)) = l + d(l), where d is linear between nodes half apart: within that
 * no probability moves by more than an eighth. A look moves the two nodes beside l by Newton's steps on the likelihood of
 * what it showed, d += share (held - p) / information, and the information a node has gathered counts up to a most, so that old words
 * are forgotten. The errors of a node's words then sum to no more than that most times the way it went: whatever a world does, the
 * mean error of n words ends as 1 / n. Invariant: d falls by no more than l rises, so p rises with q.
 * Nothing but looks already made is in it. Cost: O(1) a look, 50 numbers a collection.
 */

const step = 0.5;
/** From a chance of 1 in 50 to 2,999 in 3,000; the nodes at both ends stand for what lies beyond. */
const lowest = -4;
const nodes = 25;
/** To begin with words are taken to be true, give or take a third in log-odds. */
const informationStart = 10;
/** A node wavers by the root of 1 / (2 most): at even odds that is 0.025, half of the error that is tolerated. */
const informationMost = 50;
/** A certainty that fails would count without bound. */
const sureness = 1e-9;

export class Reliability {
  private readonly shifts = new Float64Array(nodes);
  private readonly information = new Float64Array(nodes).fill(informationStart);

  /** What is to be said where the model says that a copy is current with probability `q`. */
  corrected(q: number): number {
    const place = placeOf(q);
    const left = Math.floor(place);
    const odds = q * Math.exp(this.shiftAt(left, place - left));
    return odds / (odds + (1 - q));
  }

  /** A look showed whether the copy was current of which the model had said `q`. */
  learn(q: number, held: boolean): void {
    const word = Math.min(1 - sureness, Math.max(sureness, q));
    const place = placeOf(word);
    const left = Math.floor(place);
    const p = this.corrected(word);
    const error = (held ? 1 : 0) - p;
    const right = place - left;
    this.move(left, 1 - right, p, error);
    this.move(left + 1, right, p, error);
  }

  save(): number[][] {
    return [[...this.shifts], [...this.information]];
  }

  /** Takes back what `save` gave, if it is of this form. */
  restore(saved: readonly number[][]): void {
    const [shifts, information] = saved;
    if (shifts?.length !== nodes || information?.length !== nodes) return;
    if (!shifts.every(Number.isFinite) || !information.every((sum) => sum > 0)) return;
    this.shifts.set(shifts);
    this.information.set(information);
  }

  private shiftAt(left: number, right: number): number {
    return this.shifts[left]! + right * (this.shifts[left + 1]! - this.shifts[left]!);
  }

  private move(node: number, share: number, p: number, error: number): void {
    const { shifts, information } = this;
    information[node] = Math.min(informationMost, information[node]! + share * p * (1 - p));
    const to = shifts[node]! + (share * error) / information[node]!;
    const least = node > 0 ? shifts[node - 1]! - step : -Infinity;
    const most = node < nodes - 1 ? shifts[node + 1]! + step : Infinity;
    shifts[node] = Math.max(least, Math.min(most, to));
  }
}

/** Between which nodes the log-odds of `q` lie, and where between them. */
function placeOf(q: number): number {
  const place = (Math.log(q / (1 - q)) - lowest) / step;
  return Math.max(0, Math.min(nodes - 1 - 1e-9, place));
}
