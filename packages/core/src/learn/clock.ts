/**
 * The clock of a page: the moment of its cycle at which it changes, when it has one. A page that a job writes at 6:03 every morning,
 * on working days only or with a few minutes' difference, is quiet for the rest of the day; looks belong right behind that moment.
 *
 * In a cycle of length P (a week, a day, parts of a day down to a minute) the page changes with chance h, at a phase that has Student's
 * law with two degrees of freedom about its usual one, and besides at any time by a rate b. So with x < x' phases since the usual one, in a cycle
 * in which it has not changed yet, and F the law,
 *
 *   what is expected from x to x' is  ln((1 - h F(x)) / (1 - h F(x'))) + b P (x' - x).
 *
 * The law has heavy tails: jobs are late now and then by much more than they mostly are. It is wide by how little is known of the usual phase
 * (doubt) and by how far changes lie about it (jitter). A look that found a change says that it came within its gap: as far as that was the
 * clock's and not the rate's, the usual phase moves by doubt² / (doubt² + jitter²), as Kalman's filter has it, and what is left of both is their
 * mean given the gap. Which cycle is tried first follows from how often the page changes; the next is tried when looks speak against one. Whether the
 * clock or the other voices tell more is the page's own affair: the evidence is the running log-likelihood ratio of the two.
 * Delicate: whoever looks right behind the usual phase alone finds all changes, however early they come. So a gap of more than half a cycle
 * teaches nothing of the phase and is no evidence for a clock, and the longer nobody has looked shortly before it, the likelier it has moved.
 * Cost: six square roots for an expectation, eight more for a found change, no exponential; 13 bytes a page in the store.
 */

import { density, law, placeOf } from './student-law.ts';

const minute = 60;
const hour = 3600;
const day = 86_400;

const periods: readonly number[] = [
  7 * day,
  day,
  12 * hour,
  8 * hour,
  6 * hour,
  4 * hour,
  3 * hour,
  2 * hour,
  hour,
  30 * minute,
  20 * minute,
  15 * minute,
  10 * minute,
  5 * minute,
  2 * minute,
  minute,
];
/** A cycle is tried where the page changes in so many of a hundred cycles, about. */
const hitsLeast = 0.08;
const hitsMost = 1.3;
/** Chances of a change in a cycle stay within what a hundred cycles can tell. */
const chanceMin = 0.03;
const chanceMax = 0.98;
/** A page's rate must be known from so many changes before a cycle is chosen by it, and so many must have been placed before it is listened to. */
const changesMin = 3;
const placedMin = 3;
/** Of a gap longer than this share of the cycle a change has no phase to speak of. */
const gapMost = 0.5;
/** Before anything is placed the usual phase may be anywhere in the cycle. */
const doubtStart = 0.25;
const jitterStart = 0.03;
/** Looks are made on whole seconds, or not much closer. */
const leastSeconds = 0.5;
/** The usual phase itself may move: the latest change counts for so much of it at least. */
const gainLeast = 0.1;
/** And so much for how far changes lie about it. */
const stepLeast = 0.25;
/** So many cycles are remembered. */
const cyclesMost = 60;
/** One in so many changes is taken to come at any time, to begin with and at least. */
const strayStart = 0.1;
const strayLeast = 0.02;
const strayStep = 0.05;
/** What is wider, an hour and a half of a day, is a matter of hours, which pages share, and no moment. */
const widthMost = 1 / 16;
/** A wrong clock is tried by chance once in e^5 pages; a right one gains a nat or more a cycle. */
const evidenceStart = -5;
/** Whoever has so many changes behind it and no more belief than this begins anew. */
const hitsKnown = 8;
const evidenceLost = -2;
/** Whoever has been believed so far keeps, or kept, a moment of the cycle. */
const evidenceBelieved = 2;
/** Bounded so that a page that goes by another clock, as in summer, is told within days. */
const evidenceMax = 6;
/** What has a change a cycle is believed less by this share a cycle, until a look within the cycle speaks for it again. */
const forgetting = 0.02;
/** So many spreads before its usual moment a page has seldom changed: who looks there knows that it has not moved forward. */
const early = 4;
/** Of a hundred cycles in one a clock is moved. */
const moving = 0.01;
/** Where the law is worked with: from so many spreads before the usual phase to so many behind. */
const edges: readonly number[] = [-6, -5, -4, -2, -1, 0, 1, 2, 4, 8, 16];
const points = 8;
/** Two thirds of Student's law lie within 1.3 of its scale; a little less lets it rather be too narrow than too wide. */
const deviation = 1.4;

/** When a page usually changes. */
export interface UsualTime {
  readonly everySeconds: number;
  /** The next such moment. */
  readonly at: number;
  /** Half of its changes lie within so many seconds of it. */
  readonly withinSeconds: number;
  /** The share of cycles in which there is one. */
  readonly share: number;
}

export class Clocks {
  /** Place in `periods`, one more; 0 where no cycle is tried. */
  private period = new Uint8Array(0);
  /** The usual phase, how surely it is known and how far changes lie about it: two standard deviations. All are shares of the cycle. */
  private mean = new Float32Array(0);
  private doubt = new Float32Array(0);
  private jitter = new Float32Array(0);
  /** Cycles looked over and changes found in them that were the clock's, the older ones fading; how many changes were not. */
  private cycles = new Float32Array(0);
  private hits = new Float32Array(0);
  private stray = new Float32Array(0);
  /** Changes whose phase went into the law, up to `placedMin`; one more where it has been believed. */
  private placed = new Uint8Array(0);
  private evidence = new Float32Array(0);
  /** Cycles since a look shortly before the usual moment showed that it still is. */
  private unproven = new Float32Array(0);
  /** Set by `place`: the mean phase of the change found, relative to the usual one, and its variance. */
  private at = 0;
  private variance = 0;

  reserve(pages: number): void {
    this.period = wider(this.period, new Uint8Array(pages));
    this.placed = wider(this.placed, new Uint8Array(pages));
    this.mean = wider(this.mean, new Float32Array(pages));
    this.doubt = wider(this.doubt, new Float32Array(pages));
    this.jitter = wider(this.jitter, new Float32Array(pages));
    this.cycles = wider(this.cycles, new Float32Array(pages));
    this.hits = wider(this.hits, new Float32Array(pages));
    this.stray = wider(this.stray, new Float32Array(pages));
    this.evidence = wider(this.evidence, new Float32Array(pages));
    this.unproven = wider(this.unproven, new Float32Array(pages));
  }

  open(page: number): void {
    this.begin(page, 0);
  }

  /** The share of belief the clock has, 0 to 1. */
  say(page: number): number {
    if (!this.isPlaced(page) || this.width(page) > widthMost) return 0;
    return 1 / (1 + Math.exp(-this.evidence[page]!));
  }

  /** Whether it knows enough to be held against the other voices. */
  isPlaced(page: number): boolean {
    return this.placed[page]! >= placedMin;
  }

  /** What is expected in (from, to] of a page that last changed at `changedAt`, before `to`. */
  mass(page: number, from: number, to: number, changedAt: number): number {
    const period = this.periodOf(page);
    const chance = this.chance(page);
    const begin = from / period - this.mean[page]! + 0.5;
    const end = to / period - this.mean[page]! + 0.5;
    const first = Math.floor(begin);
    const last = Math.floor(end);
    const whole = this.grown(page, 0.5, chance);
    const none = this.grown(page, -0.5, chance);
    const passed = this.isOver(page, first, changedAt) ? whole : this.grown(page, begin - first - 0.5, chance);
    const strays = this.strayRate(page) * (to - from);
    // The law may stand over a cycle's end by a trace: what has grown is never less than nothing.
    if (first === last)
      return strays + (passed === whole ? 0 : Math.max(0, this.grown(page, end - last - 0.5, chance) - passed));
    const reached = this.grown(page, end - last - 0.5, chance) - none;
    return strays + whole - passed + (last - first - 1) * (whole - none) + reached;
  }

  /**
   * The chance that the moment has moved forward unnoticed, if it was passed by in (from, to]: whoever looks right behind the usual moment alone
   * finds all changes, however early they come.
   */
  moved(page: number, from: number, to: number): number {
    const period = this.periodOf(page);
    const scale = this.scale(page);
    const place = to / period - this.mean[page]!;
    const x = place - Math.round(place);
    const into = Math.min(1, x / scale + early + 2);
    // Behind the usual moment a look comes in any case.
    if (!(into > 0) || x > 0 || x - (to - from) / period > -early * scale) return 0;
    return -Math.expm1(-moving * this.unproven[page]!) * into;
  }

  /** What is expected at this moment, a second, of a page that last changed at `changedAt`. */
  hazard(page: number, at: number, changedAt: number): number {
    const period = this.periodOf(page);
    const place = at / period - this.mean[page]! + 0.5;
    const cycle = Math.floor(place);
    const strays = this.strayRate(page);
    if (this.isOver(page, cycle, changedAt)) return strays;
    const scale = this.scale(page);
    const chance = this.chance(page);
    const x = (place - cycle - 0.5) / scale;
    return strays + (chance * density(x)) / (scale * period * (1 - chance * law(x)));
  }

  /** Changes a second, over whole cycles. */
  rate(page: number): number {
    return this.chance(page) / this.periodOf(page) + this.strayRate(page);
  }

  /** The next time after `at` at which what is expected takes a turn. */
  edgeAfter(page: number, at: number): number {
    const period = this.periodOf(page);
    const scale = this.scale(page);
    const cycle = Math.floor(at / period - this.mean[page]! + 0.5);
    for (const next of [cycle, cycle + 1])
      for (const edge of edges) {
        const when = (next + this.mean[page]! + Math.max(-0.5, Math.min(0.5, edge * scale))) * period;
        if (when > at) return when;
      }
    return (cycle + 2 + this.mean[page]!) * period;
  }

  /** When the page usually changes, as seen at `now`. */
  usualTime(page: number, now: number): UsualTime {
    const everySeconds = this.periodOf(page);
    const past = Math.floor(now / everySeconds - this.mean[page]!) + this.mean[page]!;
    const withinSeconds = 0.82 * this.scale(page) * everySeconds;
    return { everySeconds, at: (past + 1) * everySeconds, withinSeconds, share: this.chance(page) };
  }

  /** The look's outcome had these probabilities under the clock and under the other voices. */
  weigh(page: number, gap: number, clock: number, other: number): void {
    const gain = Math.log(Math.max(clock, 1e-5) / Math.max(other, 1e-5));
    if (gain < 0 || gap <= gapMost * this.periodOf(page))
      this.evidence[page] = Math.min(evidenceMax, this.evidence[page]! + gain);
    if (this.evidence[page]! > evidenceBelieved) this.placed[page] = placedMin + 1;
  }

  /** A gap that ended at `at` was looked over. */
  lookedOver(page: number, gap: number, at: number): void {
    if (this.period[page] === 0) return;
    const period = this.periodOf(page);
    const more = gap / period;
    const keep = Math.exp(-more / cyclesMost);
    this.cycles[page] = this.cycles[page]! * keep + more;
    this.hits[page]! *= keep;
    if (this.evidence[page]! > 0) this.evidence[page]! *= Math.exp(-more * forgetting * this.chance(page));
    const place = at / period - this.mean[page]!;
    const ahead = (Math.round(place) - place) / this.scale(page);
    this.unproven[page] = ahead > 0 && ahead < 2 * early ? 0 : this.unproven[page]! + more;
  }

  /**
   * A change was found in (from, to] of a page that changes at `rate`, as far as is known from `changes`, and changed at `changedAt`
   * before. Answers when it happened by the clock, or undefined where the clock does not know.
   */
  found(page: number, from: number, to: number, changedAt: number, rate: number, changes: number): number | undefined {
    if (!this.fits(page, rate)) {
      if (changes >= changesMin) this.next(page, rate);
      return undefined;
    }
    if (this.hits[page]! > hitsKnown && this.evidence[page]! < evidenceLost) {
      // Who kept another moment of this cycle before would go over to the new one step by step.
      if (this.placed[page]! > placedMin) this.begin(page, this.period[page]!);
      else this.next(page, rate);
      if (this.period[page] === 0) return undefined;
    }
    const period = this.periodOf(page);
    const width = (to - from) / period;
    const listened = this.isPlaced(page);
    if (width > (listened ? 1 : gapMost)) {
      this.hits[page] = Math.min(this.cycles[page]!, this.hits[page]! + 1);
      return undefined;
    }
    const own = listened ? this.ownShare(page, from, to, changedAt) : 1;
    if (listened) this.stray[page]! += strayStep * (1 - own - this.stray[page]!);
    this.hits[page]! += own;
    // Of the cycles that the gap touches, the one whose usual moment it holds more of has the change.
    const place = to / period - this.mean[page]!;
    const ahead = place - Math.round(place);
    const behind = ahead + 1;
    const high = this.share(page, behind - width, behind) > this.share(page, ahead - width, ahead) ? behind : ahead;
    this.place(page, high - width, high);
    const when = Math.max(from, Math.min(to, to - (high - this.at) * period));
    // A gap of a whole cycle has a change wherever it begins: nothing of the moment is in it.
    if (width > gapMost) return own > 0.5 ? when : undefined;
    if (this.placed[page]! < placedMin) this.placed[page]!++;
    this.move(page, own, (leastSeconds / period) ** 2);
    return listened && own > 0.5 ? when : undefined;
  }

  /** How far a change in (from, to], or at that very moment, is the clock's. */
  private ownShare(page: number, from: number, to: number, changedAt: number): number {
    const strays = this.strayRate(page) * (to > from ? to - from : 1);
    const all = to > from ? this.mass(page, from, to, changedAt) : this.hazard(page, to, changedAt);
    return all > strays ? 1 - strays / all : 0;
  }

  /** After `place`: what was found, as far as it is the clock's, is shared out between doubt about the usual phase and jitter. */
  private move(page: number, own: number, least: number): void {
    const doubt = this.doubt[page]! ** 2;
    const jitter = this.jitter[page]! ** 2;
    const all = doubt + jitter;
    const gain = doubt / all;
    const { at, variance } = this;
    const moved = this.mean[page]! + own * gain * at;
    this.mean[page] = moved - Math.floor(moved);
    const surer = doubt * (1 - gain) + gain ** 2 * variance;
    const about = (1 - gain) ** 2 * (variance + at ** 2) + jitter * gain;
    const step = own * Math.max(stepLeast, 1 / (1 + this.hits[page]!));
    const jitterNow = Math.max(least, jitter + step * (about - jitter));
    this.jitter[page] = Math.sqrt(jitterNow);
    this.doubt[page] = Math.sqrt(Math.max(doubt + own * (surer - doubt), (gainLeast / (1 - gainLeast)) * jitterNow));
  }

  /** How much of the law lies in (low, high] about the usual phase. */
  private share(page: number, low: number, high: number): number {
    const scale = this.scale(page);
    return low + high > 0 ? law(-low / scale) - law(-high / scale) : law(high / scale) - law(low / scale);
  }

  /** The mean and variance of the law, given that it lies in (low, high] about the usual phase. */
  private place(page: number, low: number, high: number): void {
    // On the falling side numbers close to 1 would lose what lies behind them.
    const mirrored = low + high > 0;
    const from = mirrored ? -high : low;
    const to = mirrored ? -low : high;
    const scale = this.scale(page);
    const begun = law(from / scale);
    const share = law(to / scale) - begun;
    let sum = 0;
    let squares = 0;
    for (let i = 0; i < points; i++) {
      const u = begun + ((i + 0.5) / points) * share;
      const x = u > 0 ? Math.max(from, Math.min(to, scale * placeOf(u))) : to;
      sum += x;
      squares += x * x;
    }
    const mean = sum / points;
    this.at = mirrored ? -mean : mean;
    this.variance = Math.max(0, squares / points - mean * mean);
  }

  /** Whether the cycle that is tried may be the page's. */
  private fits(page: number, rate: number): boolean {
    if (this.period[page] === 0) return false;
    const hits = rate * this.periodOf(page);
    return hits > hitsLeast / 2 && hits < 2 * hitsMost && !(this.evidence[page]! < evidenceStart - 3);
  }

  /** Goes on to the next cycle that may be the page's, from the longest on. */
  private next(page: number, rate: number): void {
    for (let tried = 1; tried <= periods.length; tried++) {
      const place = ((this.period[page]! - 1 + tried + periods.length) % periods.length) + 1;
      const hits = rate * periods[place - 1]!;
      if (hits >= hitsLeast && hits <= hitsMost) return this.begin(page, place);
    }
    this.begin(page, 0);
  }

  private begin(page: number, period: number): void {
    this.period[page] = period;
    this.mean[page] = 0;
    this.doubt[page] = doubtStart;
    this.jitter[page] = jitterStart;
    this.cycles[page] = 0;
    this.hits[page] = 0;
    this.stray[page] = strayStart;
    this.placed[page] = 0;
    this.evidence[page] = evidenceStart;
    this.unproven[page] = 0;
  }

  private periodOf(page: number): number {
    return periods[this.period[page]! - 1] ?? day;
  }

  private width(page: number): number {
    return Math.hypot(this.doubt[page]!, this.jitter[page]!);
  }

  private scale(page: number): number {
    return this.width(page) / deviation;
  }

  private chance(page: number): number {
    return Math.max(chanceMin, Math.min(chanceMax, (this.hits[page]! + 0.5) / (this.cycles[page]! + 0.7)));
  }

  /** Changes a second that come at any time. */
  private strayRate(page: number): number {
    const stray = Math.max(strayLeast, this.stray[page]!);
    return (stray * this.chance(page)) / ((1 - Math.min(0.9, stray)) * this.periodOf(page));
  }

  /** What a cycle has brought by phase x, from long before on. */
  private grown(page: number, x: number, chance: number): number {
    return -Math.log1p(-chance * law(x / this.scale(page)));
  }

  /** Whether the page has had its change in this cycle: one that came long before the usual phase was another. */
  private isOver(page: number, cycle: number, changedAt: number): boolean {
    const place = changedAt / this.periodOf(page) - this.mean[page]! + 0.5;
    return Math.floor(place) === cycle && place - cycle - 0.5 > -4 * this.scale(page);
  }

  save(page: number, view: DataView, at: number): void {
    view.setUint8(at, this.period[page]! * (placedMin + 2) + this.placed[page]!);
    view.setUint16(at + 1, Math.round(this.mean[page]! * 65_536) % 65_536);
    view.setUint16(at + 3, coded(this.doubt[page]!));
    view.setUint16(at + 5, coded(this.jitter[page]!));
    view.setUint8(at + 7, Math.min(255, Math.round(this.cycles[page]! * perCycle)));
    view.setUint8(at + 8, Math.min(255, Math.round(this.unproven[page]!)));
    view.setUint8(at + 9, Math.round(255 * Math.min(1, this.hits[page]! / Math.max(1e-6, this.cycles[page]!))));
    view.setUint8(at + 10, Math.round(255 * Math.min(1, this.stray[page]!)));
    view.setInt16(at + 11, Math.round(Math.max(-evidenceKept, this.evidence[page]!) * perNat));
  }

  restore(page: number, view: DataView, at: number): void {
    const first = view.getUint8(at);
    this.begin(page, Math.min(periods.length, Math.floor(first / (placedMin + 2))));
    this.placed[page] = first % (placedMin + 2);
    this.mean[page] = view.getUint16(at + 1) / 65_536;
    // The usual phase is kept to a second or so of a day, which is part of what is not known of it.
    this.doubt[page] = Math.hypot(decoded(view.getUint16(at + 3)), 0.3 / 65_536);
    this.jitter[page] = decoded(view.getUint16(at + 5));
    this.cycles[page] = view.getUint8(at + 7) / perCycle;
    this.unproven[page] = view.getUint8(at + 8);
    this.hits[page] = (this.cycles[page]! * view.getUint8(at + 9)) / 255;
    this.stray[page] = view.getUint8(at + 10) / 255;
    this.evidence[page] = view.getInt16(at + 11) / perNat;
  }
}

/** Bytes a page in the store. */
export const savedClockBytes = 13;
const perLn = 3000;
const perCycle = 4;
const perNat = 1000;
/** Less belief than this is none. */
const evidenceKept = 30;

const coded = (share: number): number => Math.max(0, Math.min(65_535, Math.round(-Math.log(share) * perLn)));
const decoded = (code: number): number => Math.exp(-code / perLn);

function wider<T extends Float32Array | Uint8Array>(old: T, into: T): T {
  into.set(old);
  return into;
}
