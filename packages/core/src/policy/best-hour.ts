/**
 * Which hour to look in, where the hours of a week differ in what happens or in what it matters.
 *
 * A page last looked at s changes with intensity λ(t) = even × shape(t); a(t) is the importance of the time. Let V(f) be what all
 * that comes after a look at f costs. The best f minimises loss(s, f) + V(f), whose slope is
 *
 *   a(f) U(s, f) - λ(f) A(f, f'),   U = changes pending, A = integral of a, f' = the best look after one at f,
 *
 * for by the envelope theorem V'(f) is how the loss of the next gap moves with its beginning. f' comes from the steady
 * schedule (plan/steady-shape.ts) at ratio = price / (even × weight). The slope changes its sign more than once a day, so
 * the first zero is not the best one: the sum of slopes over the hours around the due time is followed to its least value.
 * Cost: a few dozen steps of one addition each for a look.
 */
import { type DrawnWeek, hourOfWeek } from '../learn/drawn-week.ts';
import { type SteadyShape, steadyShape } from '../plan/steady-shape.ts';
import { type Profile, constant, profile } from '../time/profile.ts';
import { weekAtOffset, weekSeconds } from '../time/week.ts';

const hour = 3600;
const hoursInWeek = 168;
/** A Monday, 00:00 UTC. */
const someMonday = 4 * 86_400;
/** Plans are made anew when an hour of the week has moved by this share. */
const moved = 0.2;
/** Shorter waits, of which several fall on a day, do better by the moment's value; longer ones feel hardly any hour. */
const waitMin = 12 * hour;
const waitMax = 8 * 86_400;
/** So far around the due time a better hour is sought. */
const reachMax = 30 * hour;
const reachShare = 0.7;
/** Marks between two tabled ratios go as the root of the ratio. */
const ratiosPerDoubling = 2;
/** Weeks flatter than this are not worth the search. */
const contrastMin = 0.2;
const degrees = 4;

/** A page as the search sees it. */
export interface Waiting {
  readonly last: number;
  /** How far the week bears on it, 0 to 1. */
  readonly weekSay: number;
  /** Mean intensity since the last look and intensity now, both as in an average hour, and what came from elsewhere. */
  readonly mean: number;
  readonly even: number;
  readonly extra: number;
  /** Price over weight. */
  readonly cost: number;
}

/** Whether hours may matter to a page that waits so long. */
export const mayMatter = (wait: number): boolean => wait > waitMin && wait < waitMax;

export class BestHour {
  private readonly week: DrawnWeek;
  private readonly importance = new Float64Array(hoursInWeek).fill(1);
  private readonly sums = new Float64Array(hoursInWeek + 1);
  private readonly planned = new Float64Array(hoursInWeek).fill(1);
  private readonly anyImportance: boolean;
  private edition = -1;
  /** The steady schedules for each degree to which the week bears on a page; made when asked for. */
  private readonly steady: (SteadyShape | undefined)[] = [];
  private readonly marks = new Map<number, Float64Array>();

  constructor(week: DrawnWeek, importance?: (t: number) => number) {
    this.week = week;
    this.anyImportance = importance !== undefined;
    for (let h = 0; h < hoursInWeek; h++) {
      if (importance) this.importance[h] = importance(someMonday + (h + 0.5) * hour);
      this.sums[h + 1] = this.sums[h]! + this.importance[h]! * hour;
    }
  }

  /** Mean importance of an hour. */
  get usual(): number {
    return this.sums[hoursInWeek]! / weekSeconds;
  }

  /** Whether hours matter to a page that waits so long. */
  matters(weekSay: number, wait: number): boolean {
    if (!mayMatter(wait)) return false;
    return this.anyImportance || weekSay * (this.week.contrast - 1) > contrastMin;
  }

  /** The best time to look from `from` on, for a page that would be due at `due` if all hours were alike. */
  after(page: Waiting, from: number, due: number): number {
    this.refresh();
    const { last, weekSay, even, extra } = page;
    const { values } = this.week;
    const wait = Math.max(waitMin, due - last);
    const reach = Math.min(reachMax, reachShare * wait);
    const ratio = page.cost / even;
    const tabled = Math.round(Math.log2(ratio) * ratiosPerDoubling);
    const marks = this.marksFor(weekSay, tabled);
    const mark = even * Math.sqrt(ratio / 2 ** (tabled / ratiosPerDoubling));
    let t = Math.max(from, due - reach);
    const until = Math.max(t, due) + reach;
    let bin = hourOfWeek(t);
    let passed = t - last + weekSay * (this.week.between(last, t) - (t - last));
    let best = t;
    let least = 0;
    let sum = 0;
    let boundary = (Math.floor(t / hour) + 1) * hour;
    while (t < until) {
      const width = boundary - t;
      const grown = width * (1 + weekSay * (values[bin]! - 1));
      // Right after a change more happens than later in the wait.
      const share = Math.min(1, (t + width / 2 - last) / wait);
      const mean = even + (page.mean - even) * (2 - share);
      sum += width * (this.importance[bin]! * (extra + mean * (passed + grown / 2)) - mark * marks[bin]!);
      passed += grown;
      t = boundary;
      boundary += hour;
      bin = bin === hoursInWeek - 1 ? 0 : bin + 1;
      if (sum < least) {
        least = sum;
        best = t;
      }
    }
    return best;
  }

  /** For each hour of the week: shape × importance until the look that follows one in that hour. */
  private marksFor(weekSay: number, step: number): Float64Array {
    const degree = Math.round(weekSay * degrees);
    const key = step * (degrees + 1) + degree;
    let marks = this.marks.get(key);
    if (!marks) {
      const steady = this.steadyFor(degree);
      const about = 2 ** (step / ratiosPerDoubling);
      marks = this.planned.map((value, h) => {
        const at = someMonday + (h + 0.5) * hour;
        return (1 + (degree / degrees) * (value - 1)) * (this.until(steady.next(at, about)) - this.until(at));
      });
      this.marks.set(key, marks);
    }
    return marks;
  }

  /** Integral of importance. */
  private until(t: number): number {
    if (!this.anyImportance) return t;
    const into = (t - someMonday) / hour;
    const weeks = Math.floor(into / hoursInWeek);
    const inWeek = into - weeks * hoursInWeek;
    const whole = Math.min(hoursInWeek - 1, Math.floor(inWeek));
    return weeks * this.sums[hoursInWeek]! + this.sums[whole]! + (inWeek - whole) * hour * this.importance[whole]!;
  }

  private refresh(): void {
    if (this.edition === this.week.edition) return;
    this.edition = this.week.edition;
    const { values } = this.week;
    if (values.every((value, h) => Math.abs(value - this.planned[h]!) < moved * value)) return;
    this.planned.set(values);
    this.steady.length = 0;
    this.marks.clear();
  }

  private steadyFor(degree: number): SteadyShape {
    return (this.steady[degree] ??= steadyShape(
      this.profileOf(this.planned.map((value) => 1 + (degree / degrees) * (value - 1))),
      this.profileOf(this.importance),
    ));
  }

  private profileOf(values: Float64Array): Profile {
    if (values.every((value) => value === values[0])) return constant(values[0]!);
    const breaks = Array.from({ length: hoursInWeek + 1 }, (_, h) => h * hour);
    return weekAtOffset(profile(breaks, values, weekSeconds), 0);
  }
}
