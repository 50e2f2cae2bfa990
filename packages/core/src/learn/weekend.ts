/**
 * How much more or less pages change at weekends: changes seen on working days and at weekends against what rates by age
 * alone lead to expect. A look that found a change does not say when, so short gaps count by the time they spent in either;
 * ten expected changes stand for "no difference" until changes speak. Days are UTC.
 */
import { daySeconds } from '../time/week.ts';

// A gap beyond this touches both.
const gapMax = 2 * daySeconds;
const prior = 10;

/** The epoch began on a Thursday. */
export function isWeekend(at: number): boolean {
  return (Math.floor(at / daySeconds) + 3) % 7 >= 5;
}

export class WeekendFactor {
  readonly #seen = [0, 0];
  readonly #expected = [0, 0];

  /** A page of this rate was watched over (from, to]; `changedAt` where it changed, the middle of the gap if unknown. */
  learn(from: number, to: number, rate: number, changedAt: number | undefined): void {
    if (!(to > from) || to - from > gapMax) return;
    // What a look can show is a change or none.
    const chance = -Math.expm1(-rate * (to - from));
    for (let at = from; at < to;) {
      const end = Math.min(to, (Math.floor(at / daySeconds) + 1) * daySeconds);
      this.#expected[isWeekend(at) ? 1 : 0] += (chance * (end - at)) / (to - from);
      at = end;
    }
    if (changedAt !== undefined) this.#seen[isWeekend(changedAt) ? 1 : 0]++;
  }

  /** What rates are to be multiplied with on working days and at weekends; over a week 1 on average. */
  factors(): readonly [number, number] {
    const all = this.#expected[0]! + this.#expected[1]!;
    const level = all > 0 ? Math.max(0.1, (this.#seen[0]! + this.#seen[1]!) / all) : 1;
    const of = (kind: number) => (this.#seen[kind]! + prior) / (this.#expected[kind]! * level + prior);
    const mean = (5 * of(0) + 2 * of(1)) / 7;
    return [of(0) / mean, of(1) / mean];
  }

  save(): number[] {
    return [...this.#seen, ...this.#expected];
  }

  restore(saved: readonly number[]): void {
    for (let kind = 0; kind < 2; kind++) {
      this.#seen[kind] = saved[kind] ?? 0;
      this.#expected[kind] = saved[2 + kind] ?? 0;
    }
  }
}
