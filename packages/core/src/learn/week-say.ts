/**
 * How far a week bears on pages that change about so often: their intensity is a mixture of the week and of even time, 1 + say (shape - 1),
 * whose share follows the likelihood by Newton's steps (expectation maximisation takes years of a feed for it).
 */
import type { DrawnWeek } from './drawn-week.ts';

/** Pages are told apart by how often they change, in factors of four from once in 256 days to 64 times a day. */
export const speeds = 8;
/** How far the week bears on a class of pages before anything is known, and how surely: an inverse variance. */
const sayStart = 0.5;
const sayWorth = 4;
/** A change in an hour in which hardly any are expected says no more than this much. */
export const shapeMin = 0.05;

/** The class of pages that change so often a second. */
export const speedOf = (rate: number): number =>
  Math.max(0, Math.min(speeds - 1, 4 + Math.floor(Math.log2(Math.max(rate * 86_400, 1e-9)) / 2)));

export class WeekSay {
  /** For each class of speed: how far the week bears on it, and how surely. */
  private readonly says = new Float64Array(speeds).fill(sayStart);
  private readonly sureness = new Float64Array(speeds).fill(sayWorth);

  /** 0 to 1. */
  of(speed: number): number {
    return this.says[speed]!;
  }

  /** Begins where another has come to, as unsure as if nothing were known. */
  follow(other: WeekSay): void {
    this.says.set(other.says);
  }

  /**
   * A look at a page of this speed, for which `even` changes were due in even time and `shaped` by the week; `found` of them came, at
   * `times`, if given.
   */
  weigh(
    speed: number,
    even: number,
    shaped: number,
    found: number,
    times: Float64Array | undefined,
    week: DrawnWeek,
  ): void {
    if (!(even > 0)) return;
    // Newton's step on found ln(1 + say d) - even (1 + say d), whose curvature is the sum of all looks'.
    const d = shaped / even - 1;
    const say = this.says[speed]!;
    const slopeOf = (more: number): number => more / Math.max(shapeMin, 1 + say * more);
    let pull = 0;
    if (times) {
      for (const t of times) {
        const slope = slopeOf(week.at(t) - 1);
        this.sureness[speed]! += (found / times.length) * slope * slope;
        pull += (found / times.length) * slope;
      }
    } else {
      const slope = slopeOf(d);
      this.sureness[speed]! += found * slope * slope;
      pull = found * slope;
    }
    this.says[speed] = Math.max(0, Math.min(1, say + (pull - even * d) / this.sureness[speed]!));
  }

  fade(keep: number): void {
    for (let c = 0; c < speeds; c++) this.sureness[c] = sayWorth + (this.sureness[c]! - sayWorth) * keep;
  }

  save(): [says: number[], sureness: number[]] {
    return [[...this.says], [...this.sureness]];
  }

  restore(says: readonly number[] = [], sureness: readonly number[] = []): void {
    if (says.length !== speeds || sureness.length !== speeds) return;
    this.says.set(says);
    this.sureness.set(sureness);
  }
}
