/**
 * The shape of a week: how much more than average happens in each hour of it (168 hours, UTC), learned from censored looks.
 *
 * Expectation maximisation again: a change found after a gap is spread over the gap's hours as the present shape expects
 * it, and every hour looked over counts as exposure. Hours are smoothed with their neighbours and drawn towards 1 until
 * evidence speaks. A gap longer than four days says little about hours and is left out.
 *
 * How far the week bears on pages that change about so often is learned too: their intensity is a mixture of the week and of even
 * time, whose share follows the likelihood by Newton's steps (expectation maximisation takes years of a feed for it).
 */

const hour = 3600;
const hoursInWeek = 168;
/** The epoch was a Thursday; the first Monday 00:00 came this many seconds later. */
const firstMonday = 4 * 86_400;
const gapMax = 4 * 86_400;
/** A day, or an hour with its neighbours, needs about this many changes of its own before it outweighs the average. */
const priorChanges = 2;
/** Evidence fades over this time: who works on a page, and where, changes within months. */
const fadingSeconds = 150 * 86_400;

/** Pages are told apart by how often they change, in factors of four from once in 256 days to 64 times a day. */
export const speeds = 8;
/** How far the week bears on a class of pages before anything is known, and how surely: an inverse variance. */
const sayStart = 0.5;
const sayWorth = 4;
/** A change in an hour in which hardly any are expected says no more than this much. */
const shapeMin = 0.05;

/** The class of pages that change so often a second. */
export const speedOf = (rate: number): number =>
  Math.max(0, Math.min(speeds - 1, 4 + Math.floor(Math.log2(Math.max(rate * 86_400, 1e-9)) / 2)));

export class WeekShape {
  /** Relative intensity of each hour; averages 1. */
  readonly values = new Float64Array(hoursInWeek).fill(1);
  /** Integral of the shape from the week's start to each hour, in seconds. */
  private readonly sums = Float64Array.from({ length: hoursInWeek + 1 }, (_, i) => i * hour);
  /** The busiest hour over the quietest. */
  contrast = 1;
  private readonly credit = new Float64Array(hoursInWeek);
  private readonly debit = new Float64Array(hoursInWeek);
  /** For each class of speed: how far the week bears on it, and how surely. */
  private readonly says = new Float64Array(speeds).fill(sayStart);
  private readonly sureness = new Float64Array(speeds).fill(sayWorth);
  /** Counts the times the shape was worked out: plans made from it end there. */
  edition = 0;
  private learned = 0;
  private sinceRefresh = 0;
  private refreshedAt = Number.NaN;

  at(t: number): number {
    return this.values[hourOfWeek(t)]!;
  }

  /** Integral of the shape from a to b, seconds. */
  between(a: number, b: number): number {
    return this.until(b) - this.until(a);
  }

  private until(t: number): number {
    const into = (t - firstMonday) / hour;
    const weeks = Math.floor(into / hoursInWeek);
    const inWeek = into - weeks * hoursInWeek;
    const whole = Math.min(hoursInWeek - 1, Math.floor(inWeek));
    return weeks * this.sums[hoursInWeek]! + this.sums[whole]! + (inWeek - whole) * hour * this.values[whole]!;
  }

  /** A look after the gap (from, to]; `expected` is what the model without the week expected in it. What was found is at `times`, if given. */
  learn(from: number, to: number, expected: number, found: number, times?: Float64Array): void {
    const gap = to - from;
    if (gap > gapMax || gap <= 0) return;
    const total = found > 0 ? this.between(from, to) : 1;
    for (let t = from; t < to;) {
      const end = Math.min(to, (Math.floor(t / hour) + 1) * hour);
      const bin = hourOfWeek(t);
      this.debit[bin]! += (expected * (end - t)) / gap;
      if (found > 0 && !times) this.credit[bin]! += (found * this.values[bin]! * (end - t)) / Math.max(total, 1e-9);
      t = end;
    }
    for (const t of times ?? []) this.credit[hourOfWeek(t)]! += found / times!.length;
    if (found > 0) {
      this.learned += found;
      if (++this.sinceRefresh >= 6 + this.learned / 50) this.refresh(to);
    }
  }

  /** How far the week bears on pages of this speed, 0 to 1: their intensity goes as 1 + say (shape - 1). */
  say(speed: number): number {
    return this.says[speed]!;
  }

  /**
   * A look at a page of this speed, for which `even` changes were due in even time and `shaped` by the week; `found` of them came, at
   * `times`, if given.
   */
  weigh(speed: number, even: number, shaped: number, found: number, times?: Float64Array): void {
    if (!(even > 0)) return;
    // Newton's step on found ln(1 + say d) - even (1 + say d), whose curvature is the sum of all looks'.
    const d = shaped / even - 1;
    const say = this.says[speed]!;
    const slopeOf = (more: number): number => more / Math.max(shapeMin, 1 + say * more);
    let pull = 0;
    if (times) {
      for (const t of times) {
        const slope = slopeOf(this.at(t) - 1);
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

  save(): number[][] {
    const since = [this.learned, this.sinceRefresh, this.refreshedAt];
    return [[...this.credit], [...this.debit], since, [...this.says], [...this.sureness], [...this.values]];
  }

  restore(saved: readonly number[][]): void {
    if (saved[0]?.length !== hoursInWeek || saved[1]?.length !== hoursInWeek) return;
    this.credit.set(saved[0]);
    this.debit.set(saved[1]);
    this.learned = saved[2]?.[0] ?? 0;
    this.sinceRefresh = saved[2]?.[1] ?? 0;
    this.refreshedAt = saved[2]?.[2] ?? Number.NaN;
    if (saved[3]?.length === speeds && saved[4]?.length === speeds) {
      this.says.set(saved[3]);
      this.sureness.set(saved[4]);
    }
    if (saved[5]?.length === hoursInWeek) this.draw((i) => saved[5]![i]!);
    else if (this.learned > 0) this.refresh(Number.NaN);
  }

  private refresh(now: number): void {
    const passed = now - this.refreshedAt > 0 ? now - this.refreshedAt : 0;
    this.refreshedAt = now;
    const keep = Math.exp(-passed / fadingSeconds);
    this.sinceRefresh = 0;
    this.learned *= keep;
    for (let c = 0; c < speeds; c++) this.sureness[c] = sayWorth + (this.sureness[c]! - sayWorth) * keep;
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

  /** Takes these relative intensities for the shape. */
  private draw(intensityOf: (hourOfWeek: number) => number): void {
    let sum = 0;
    for (let i = 0; i < hoursInWeek; i++) {
      this.values[i] = intensityOf(i);
      sum += this.values[i]!;
    }
    for (let i = 0; i < hoursInWeek; i++) {
      this.values[i]! *= hoursInWeek / sum;
      this.sums[i + 1] = this.sums[i]! + this.values[i]! * hour;
    }
    this.contrast = Math.max(...this.values) / Math.min(...this.values);
    this.edition++;
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

/** How much a neighbouring hour, and the one beyond, counts. */
const kernel = [0.7, 0.3];

export function hourOfWeek(t: number): number {
  const hours = Math.floor((t - firstMonday) / hour) % hoursInWeek;
  return hours < 0 ? hours + hoursInWeek : hours;
}
