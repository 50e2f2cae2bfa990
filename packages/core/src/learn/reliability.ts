/**
 * Whether what was said of copies came true, and what is to be said instead. A model that says "current with probability q" may be
 * too sure or not sure enough; every look tells whether such a word held, and words of that size are corrected by it.
 *
 * With l = ln(q / (1 - q)), what is said is p, ln(p / (1 - p)) = l + d(l), where d is linear between nodes half apart: within that
 * no probability moves by more than an eighth. A look moves the two nodes beside l by Newton's steps on the likelihood of
 * what it showed, d += share (held - p) / information, and the information a node has gathered counts up to a most, so that old words
 * are forgotten. The errors of a node's words then sum to no more than that most times the way it went: whatever a world does, the
 * mean error of n words ends as 1 / n. Invariant: d falls by no more than l rises, so p rises with q: a node that goes takes others along
 * of which nothing was learned, and those that stand against it without being asked in a thousand of its looks or so.
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
/** So much a look at even odds between two nodes tells of each in eight looks. */
const tellingMin = 1;
/** Of what it knows, each time that another is held against it: it may be asked a hundred times as seldom. */
const yielding = 1 / 1000;
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
    const most = this.push(node, 1, to);
    const least = this.push(node, -1, to);
    shifts[node] = Math.max(least, Math.min(most, to));
  }

  /**
   * Nodes above, or below, of which no look has told anything make way for one that is to go to `to`; how far it may go by the first
   * that knows better. Else a word of one half that always holds would be kept below one of 0.6 that nobody ever says.
   */
  private push(node: number, way: 1 | -1, to: number): number {
    const { shifts, information } = this;
    for (let n = node + way; n >= 0 && n < nodes; n += way) {
      const apart = step * (n - node);
      if (way * (to - apart - shifts[n]!) <= 0) return way * Infinity;
      if (information[n]! > informationStart + tellingMin) {
        // Whoever stands against it without being asked knows less each time.
        information[n]! *= 1 - yielding;
        return shifts[n]! + apart;
      }
      shifts[n] = to - apart;
    }
    return way * Infinity;
  }
}

/** Between which nodes the log-odds of `q` lie, and where between them. */
function placeOf(q: number): number {
  const place = (Math.log(q / (1 - q)) - lowest) / step;
  return Math.max(0, Math.min(nodes - 1 - 1e-9, place));
}
