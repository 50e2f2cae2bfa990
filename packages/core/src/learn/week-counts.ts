/**
 * The week of a collection as Eckstein, Gal and Reiner fit theirs (§5.1): a rate for each hour of the week, changes over the
 * time watched, here relative to what the pages' own rates lead to expect. Known change times count in their hour; a change
 * found by a look is spread over the hours since the look before, evenly. Hours borrow from their neighbours, and are drawn to
 * the average until changes of their own speak for them.
 */
import { type Profile, profile } from '../time/profile.ts';
import { secondOfWeek, utc, weekAtOffset, weekSeconds } from '../time/week.ts';

const hourSeconds = 3_600;
const hours = weekSeconds / hourSeconds;
/** This many expected changes are assumed to have come as expected around every hour. */
const prior = 4;
/** How much the hours before and after count for an hour, two to either side. */
const nearby = [1, 2, 3, 2, 1];
/** A gap longer than this says too little about hours. */
const gapMax = 12 * hourSeconds;

export class WeekCounts {
  readonly #seen = new Float64Array(hours);
  readonly #expected = new Float64Array(hours);
  #changes = 0;

  /** How many changes the week is learned from. */
  get changes(): number {
    return this.#changes;
  }

  /** The change times of a page over (from, to]; its rate is taken from them. */
  teach(times: Float64Array, from: number, to: number): void {
    const perHour = times.length / Math.max(hours, ((to - from) / weekSeconds) * hours);
    const turns = Math.max(1, (to - from) / weekSeconds);
    for (let h = 0; h < hours; h++) this.#expected[h] += perHour * turns;
    for (const at of times) this.#seen[Math.floor(secondOfWeek(utc, at) / hourSeconds)]++;
    this.#changes += times.length;
  }

  /** A look at `to` after one at `from`, at a page of this rate. */
  look(from: number, to: number, changed: boolean, rate: number): void {
    if (!(to > from) || to - from > gapMax) return;
    // What a look can show is a change or none, so that is what is counted on both sides.
    const chance = -Math.expm1(-rate * (to - from));
    for (let at = from; at < to;) {
      const second = secondOfWeek(utc, at);
      const h = Math.floor(second / hourSeconds);
      const end = Math.min(to, at + (h + 1) * hourSeconds - second);
      const share = (end - at) / (to - from);
      this.#expected[h] += chance * share;
      if (changed) this.#seen[h] += share;
      at = end;
    }
    if (changed) this.#changes++;
  }

  save(): number[][] {
    return [Array.from(this.#seen), Array.from(this.#expected), [this.#changes]];
  }

  restore([seen = [], expected = [], changes = []]: readonly (readonly number[])[]): void {
    if (seen.length !== hours || expected.length !== hours) return;
    this.#seen.set(seen);
    this.#expected.set(expected);
    this.#changes = changes[0] ?? 0;
  }

  /** Relative intensity of mean 1, as a function of UTC that repeats every week. */
  shape(): Profile {
    const around = (counts: Float64Array, h: number): number =>
      nearby.reduce((sum, share, k) => sum + (share / 3) * counts[(h + k - 2 + hours) % hours], 0);
    const level =
      this.#seen.reduce((a, b) => a + b, 0) /
      Math.max(
        1e-9,
        this.#expected.reduce((a, b) => a + b, 0),
      );
    const values = this.#seen.map(
      (_, h) => (around(this.#seen, h) + prior) / (around(this.#expected, h) * (level || 1) + prior),
    );
    const mean = values.reduce((a, b) => a + b, 0) / hours;
    const breaks = Array.from({ length: hours + 1 }, (_, h) => h * hourSeconds);
    const week = profile(
      breaks,
      values.map((value) => value / mean),
      weekSeconds,
    );
    return weekAtOffset(week, 0);
  }
}
