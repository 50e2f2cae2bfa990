/**
 * The shape of a week: how much more than average happens in each hour of it (168 hours, UTC), learned from censored looks.
 *
 * Expectation maximisation again: a change found after a gap is spread over the gap's hours as the present shape expects
 * it, and every hour looked over counts as exposure. Hours are smoothed with their neighbours and drawn towards 1 until
 * evidence speaks. A gap longer than four days says little about hours and is left out.
 */
import { DrawnWeek, hourOfWeek, hoursInWeek } from './drawn-week.ts';
import { WeekSay } from './week-say.ts';

const hour = 3600;
/** A gap longer than this says little about hours. */
export const gapMax = 4 * 86_400;
/** A day, or an hour with its neighbours, needs about this many changes of its own before it outweighs the average. */
const priorChanges = 2;
/** How much a neighbouring hour, and the one beyond, counts. */
export const kernel = [0.7, 0.3];
/** Evidence fades over this time: who works on a page, and where, changes within months. */
export const fadingSeconds = 150 * 86_400;

export class WeekShape extends DrawnWeek {
  private readonly credit = new Float64Array(hoursInWeek);
  private readonly debit = new Float64Array(hoursInWeek);
  /** How far it bears on pages of each speed. */
  readonly says = new WeekSay();
  private learned = 0;
  private sinceRefresh = 0;
  private refreshedAt = Number.NaN;

  /** A look after the gap (from, to]; `expected` is what the model without the week expected in it. What was found is at `times`, if given. */
  learn(from: number, to: number, expected: number, found: number, times?: Float64Array): void {
    const gap = to - from;
    if (gap > gapMax || gap <= 0) return;
    const total = found > 0 ? this.between(from, to) : 1;
    const spread = found > 0 && !times;
    let bin = hourOfWeek(from);
    let end = (Math.floor(from / hour) + 1) * hour;
    for (let t = from; t < to; t = end, end += hour, bin = bin === hoursInWeek - 1 ? 0 : bin + 1) {
      const seconds = Math.min(to, end) - t;
      this.debit[bin]! += (expected * seconds) / gap;
      if (spread) this.credit[bin]! += (found * this.values[bin]! * seconds) / Math.max(total, 1e-9);
    }
    for (const t of times ?? []) this.credit[hourOfWeek(t)]! += found / times!.length;
    if (found > 0) {
      this.learned += found;
      if (++this.sinceRefresh >= 6 + this.learned / 50) this.refresh(to);
    }
  }

  /** How far the week bears on pages of this speed, 0 to 1: their intensity goes as 1 + say (shape - 1). */
  say(speed: number): number {
    return this.says.of(speed);
  }

  /**
   * A look at a page of this speed, for which `even` changes were due in even time and `shaped` by the week; `found` of them came, at
   * `times`, if given.
   */
  weigh(speed: number, even: number, shaped: number, found: number, times?: Float64Array): void {
    this.says.weigh(speed, even, shaped, found, times, this);
  }

  save(): number[][] {
    const since = [this.learned, this.sinceRefresh, this.refreshedAt];
    return [[...this.credit], [...this.debit], since, ...this.says.save(), [...this.values]];
  }

  restore(saved: readonly number[][]): void {
    if (saved[0]?.length !== hoursInWeek || saved[1]?.length !== hoursInWeek) return;
    this.credit.set(saved[0]);
    this.debit.set(saved[1]);
    this.learned = saved[2]?.[0] ?? 0;
    this.sinceRefresh = saved[2]?.[1] ?? 0;
    this.refreshedAt = saved[2]?.[2] ?? Number.NaN;
    this.says.restore(saved[3], saved[4]);
    if (saved[5]?.length === hoursInWeek) this.draw((i) => saved[5]![i]!);
    else if (this.learned > 0) this.refresh(Number.NaN);
  }

  private refresh(now: number): void {
    const passed = now - this.refreshedAt > 0 ? now - this.refreshedAt : 0;
    this.refreshedAt = now;
    const keep = Math.exp(-passed / fadingSeconds);
    this.sinceRefresh = 0;
    this.learned *= keep;
    this.says.fade(keep);
    for (let i = 0; i < hoursInWeek; i++) {
      this.credit[i]! *= keep;
      this.debit[i]! *= keep;
    }
    // The week is the product of a day's factor and an hour's. Each is what was seen over what was due under the other;
    // hours are smoothed with their neighbours on both sides of that ratio, or the spreading of changes over gaps would
    // sharpen the shape a little more each time.
    const days = new Float64Array(7).fill(1);
    const hours = new Float64Array(24).fill(1);
    for (let round = 0; round < 3; round++) {
      this.factors(
        days,
        (i) => Math.floor(i / 24),
        hours,
        (i) => i % 24,
        [],
      );
      this.factors(
        hours,
        (i) => i % 24,
        days,
        (i) => Math.floor(i / 24),
        kernel,
      );
    }
    this.draw((i) => days[Math.floor(i / 24)]! * hours[i % 24]!);
  }

  private factors(
    into: Float64Array,
    classOf: (i: number) => number,
    given: Float64Array,
    givenOf: (i: number) => number,
    neighbours: readonly number[],
  ): void {
    const n = into.length;
    const seen = new Float64Array(n);
    const due = new Float64Array(n);
    let credits = 0;
    let debits = 0;
    for (let i = 0; i < hoursInWeek; i++) {
      const expected = this.debit[i]! * given[givenOf(i)]!;
      seen[classOf(i)]! += this.credit[i]!;
      due[classOf(i)]! += expected;
      credits += this.credit[i]!;
      debits += expected;
    }
    const level = credits / debits;
    for (let c = 0; c < n; c++) {
      let found = seen[c]!;
      let exposure = due[c]!;
      for (let step = 1; step <= neighbours.length; step++) {
        const before = (c + n - step) % n;
        const after = (c + step) % n;
        found += neighbours[step - 1]! * (seen[before]! + seen[after]!);
        exposure += neighbours[step - 1]! * (due[before]! + due[after]!);
      }
      into[c] = (found + priorChanges) / (exposure * level + priorChanges);
    }
  }
}
