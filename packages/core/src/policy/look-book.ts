/** What a policy without a model of its own remembers of each page: the gaps that held a change, and the time that did not. */
import { maximumLikelihoodRate } from '../learn/rate.ts';

/** LambdaCrawl's prior: one pseudo-look of half a day that found a change and one that did not. */
const pseudoGap = 43_200;

/** Gaps within 5 % of each other count as one length, so a page's book stays small however long it is kept. */
const lengthsPerFactorE = 20;

export class LookBook {
  private readonly changedGaps: number[][] = [];
  private readonly gapCounts: number[][] = [];
  private readonly lengthOf: Map<number, number>[] = [];
  private readonly freeTime: number[] = [];
  private readonly exact: number[] = [];
  private readonly lastLook: number[] = [];
  private readonly estimate: number[] = [];
  private readonly stale: boolean[] = [];

  open(page: number, now: number): void {
    this.changedGaps[page] = [];
    this.gapCounts[page] = [];
    this.lengthOf[page] = new Map();
    this.addChanged(page, pseudoGap);
    this.freeTime[page] = pseudoGap;
    this.exact[page] = 0;
    this.lastLook[page] = now;
    this.estimate[page] = 0;
    this.stale[page] = true;
  }

  /** A look at `at`; `undefined` when it told nothing about the gap. */
  add(page: number, at: number, changed: boolean | undefined): void {
    const gap = at - this.lastLook[page]!;
    this.lastLook[page] = at;
    if (changed === undefined || gap <= 0) return;
    if (changed) this.addChanged(page, gap);
    else this.freeTime[page]! += gap;
    this.stale[page] = true;
  }

  teach(page: number, changes: number, from: number, to: number): void {
    this.exact[page]! += changes;
    this.freeTime[page]! += to - from;
    this.lastLook[page] = to;
    this.stale[page] = true;
  }

  private addChanged(page: number, gap: number): void {
    const length = Math.round(Math.log(gap) * lengthsPerFactorE);
    const known = this.lengthOf[page]!.get(length);
    if (known === undefined) {
      this.lengthOf[page]!.set(length, this.changedGaps[page]!.push(gap) - 1);
      this.gapCounts[page]!.push(1);
    } else {
      const count = ++this.gapCounts[page]![known]!;
      this.changedGaps[page]![known]! += (gap - this.changedGaps[page]![known]!) / count;
    }
  }

  last(page: number): number {
    return this.lastLook[page]!;
  }

  /** The most likely rate, changes a second. */
  rate(page: number): number {
    if (this.stale[page]) {
      const changedGaps = this.changedGaps[page]!;
      const gapCounts = this.gapCounts[page]!;
      const looks = { changedGaps, gapCounts, freeTime: this.freeTime[page]!, exact: this.exact[page]! };
      this.estimate[page] = maximumLikelihoodRate(looks, this.estimate[page]);
      this.stale[page] = false;
    }
    return this.estimate[page]!;
  }
}
