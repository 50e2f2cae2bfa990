/** What a policy without a model of its own remembers of each page: the gaps that held a change, and the time that did not. */
import { maximumLikelihoodRate } from '../learn/rate.ts';

/** LambdaCrawl's prior: one pseudo-look of half a day that found a change and one that did not. */
const pseudoGap = 43_200;

/** Gaps within 5 % of each other count as one length, so a page's book stays small however long it is kept. */
const lengthsPerFactorE = 20;

const lengthOf = (gap: number): number => Math.round(Math.log(gap) * lengthsPerFactorE);

// Of what is saved: its first byte, which other policies' bytes do not have, and how many lengths of gaps.
const mark = 0x1b;
const lengthsSaved = 5;
const savedBytes = 17 + 8 * lengthsSaved;

/** The gaps as a few lengths, each the mean of those it stands for. */
function fewLengths(gaps: readonly number[], counts: readonly number[]): [number, number][] {
  const few = gaps.map((gap, n): [number, number] => [gap, counts[n]!]).sort((a, b) => a[0] - b[0]);
  while (few.length > lengthsSaved) {
    let nearest = 1;
    for (let n = 2; n < few.length; n++) {
      if (few[n]![0] / few[n - 1]![0] < few[nearest]![0] / few[nearest - 1]![0]) nearest = n;
    }
    const [a, b] = [few[nearest - 1]!, few[nearest]!];
    const count = a[1] + b[1];
    few.splice(nearest - 1, 2, [(a[0] * a[1] + b[0] * b[1]) / count, count]);
  }
  return few;
}

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

  private addChanged(page: number, gap: number, times = 1): void {
    const length = lengthOf(gap);
    const known = this.lengthOf[page]!.get(length);
    if (known === undefined) {
      this.lengthOf[page]!.set(length, this.changedGaps[page]!.push(gap) - 1);
      this.gapCounts[page]!.push(times);
    } else {
      const count = (this.gapCounts[page]![known]! += times);
      this.changedGaps[page]![known]! += (times * (gap - this.changedGaps[page]![known]!)) / count;
    }
  }

  /** What was seen of the page, 57 bytes: changed gaps as up to five lengths, the nearest ones taken together. */
  save(page: number): Uint8Array {
    const bytes = new Uint8Array(savedBytes);
    const view = new DataView(bytes.buffer);
    view.setUint8(0, mark);
    view.setFloat64(1, this.lastLook[page]!);
    view.setFloat32(9, this.freeTime[page]!);
    view.setFloat32(13, this.exact[page]!);
    fewLengths(this.changedGaps[page]!, this.gapCounts[page]!).forEach(([gap, count], n) => {
      view.setFloat32(17 + 8 * n, gap);
      view.setFloat32(21 + 8 * n, count);
    });
    return bytes;
  }

  /** False when the bytes are somebody else's. After `open`. */
  restore(page: number, saved: Uint8Array, now: number): boolean {
    if (saved.length !== savedBytes || saved[0] !== mark) return false;
    const view = new DataView(saved.buffer, saved.byteOffset, saved.byteLength);
    const last = view.getFloat64(1);
    if (!Number.isFinite(last)) return false;
    this.lastLook[page] = Math.min(last, now);
    this.freeTime[page] = Math.max(0, view.getFloat32(9));
    this.exact[page] = Math.max(0, view.getFloat32(13));
    this.changedGaps[page] = [];
    this.gapCounts[page] = [];
    this.lengthOf[page] = new Map();
    for (let n = 0; n < lengthsSaved; n++) {
      const [gap, count] = [view.getFloat32(17 + 8 * n), view.getFloat32(21 + 8 * n)];
      if (!(gap > 0 && count > 0)) continue;
      this.addChanged(page, gap, count);
    }
    this.stale[page] = true;
    return true;
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
