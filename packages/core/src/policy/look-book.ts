/** What a policy without a model of its own remembers of each page: the gaps that held a change, and the time that did not. */
import { maximumLikelihoodRate } from '../learn/rate.ts';

/**
 * Beside what was seen stand one pseudo-look that found a change and one that did not, so that no page is held for dead or for endlessly
 * fast. LambdaCrawl has them half a day long, in its own unit of time, and so they are unless a policy says otherwise: where looks are
 * weeks apart half a day without a change is next to nothing, and a page whose every look found one is then held for one that changes
 * a hundred times between two looks.
 */
const pseudoGapUsual = 43_200;

/** Gaps within 5 % of each other count as one length, so a page's book stays small however long it is kept. */
const lengthsPerFactorE = 20;

const lengthOf = (gap: number): number => Math.round(Math.log(gap) * lengthsPerFactorE);

// Of what is saved: its first byte, which other policies' bytes do not have, and how many lengths of gaps. Bytes of the mark before
// held the pseudo-looks of half a day too.
const mark = 0x1c;
const markWithPseudo = 0x1b;
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
  private pseudoGap = pseudoGapUsual;

  /** How long pseudo-looks are. */
  assume(pseudoGap: number): void {
    if (pseudoGap === this.pseudoGap) return;
    this.pseudoGap = pseudoGap;
    this.stale.fill(true);
  }

  open(page: number, now: number): void {
    this.changedGaps[page] = [];
    this.gapCounts[page] = [];
    this.lengthOf[page] = new Map();
    this.freeTime[page] = 0;
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
    if (saved.length !== savedBytes || (saved[0] !== mark && saved[0] !== markWithPseudo)) return false;
    const view = new DataView(saved.buffer, saved.byteOffset, saved.byteLength);
    const last = view.getFloat64(1);
    if (!Number.isFinite(last)) return false;
    this.lastLook[page] = Math.min(last, now);
    this.freeTime[page] = Math.max(0, view.getFloat32(9));
    this.exact[page] = Math.max(0, view.getFloat32(13));
    this.changedGaps[page] = [];
    this.gapCounts[page] = [];
    this.lengthOf[page] = new Map();
    const lengths = Array.from({ length: lengthsSaved }, (_, n): [number, number] => [
      view.getFloat32(17 + 8 * n),
      view.getFloat32(21 + 8 * n),
    ]).filter(([gap, count]) => gap > 0 && count > 0);
    if (saved[0] === markWithPseudo) {
      this.freeTime[page] = Math.max(0, this.freeTime[page]! - pseudoGapUsual);
      const away = ([gap]: readonly [number, number]): number => Math.abs(Math.log(gap / pseudoGapUsual));
      const [pseudo] = lengths.toSorted((a, b) => away(a) - away(b));
      if (pseudo) pseudo[1]--;
    }
    for (const [gap, count] of lengths) if (count > 0) this.addChanged(page, gap, count);
    this.stale[page] = true;
    return true;
  }

  last(page: number): number {
    return this.lastLook[page]!;
  }

  /** The most likely rate, changes a second. */
  rate(page: number): number {
    if (this.stale[page]) {
      const looks = {
        changedGaps: [...this.changedGaps[page]!, this.pseudoGap],
        gapCounts: [...this.gapCounts[page]!, 1],
        freeTime: this.freeTime[page]! + this.pseudoGap,
        exact: this.exact[page]!,
      };
      this.estimate[page] = maximumLikelihoodRate(looks, this.estimate[page]);
      this.stale[page] = false;
    }
    return this.estimate[page]!;
  }
}
