/**
 * Pages that keep times of their own: by a rhythm, waiting about as long each time (rhythm.ts), or by a clock, changing at a moment of the
 * day or of another cycle (clock.ts). What the memories expect of a page gives way to its rhythm, and both to its clock, as far as
 * looks have made each likelier than what it takes the place of.
 */
import { Clocks, type UsualTime, savedClockBytes } from './clock.ts';
import type { PageStates } from './page-states.ts';
import { Rhythms, quantiles, savedRhythmBytes } from './rhythm.ts';

/** A page whose rhythm or clock is believed so far goes by it, and keeps no hours of the week. */
const rules = 0.1;
/** A voice with less belief than this is not asked. */
const heardFrom = 0.02;

/** Bytes a page in the store. */
export const savedTimesBytes = savedRhythmBytes + savedClockBytes;

export class PageTimes {
  /** Set by `expect` and `weigh`: what is expected of the gap, and how far that is the memories' word. */
  mass = 0;
  others = 1;
  /** Set by `expect`: the intensity now. */
  rate = 0;
  private readonly rhythms = new Rhythms();
  private readonly clocks = new Clocks();
  private readonly states: PageStates;
  private readonly asked: boolean;

  /** `asked`: whether such times are looked for at all. */
  constructor(states: PageStates, asked: boolean) {
    this.states = states;
    this.asked = asked;
  }

  reserve(pages: number): void {
    this.rhythms.reserve(pages);
    this.clocks.reserve(pages);
  }

  open(page: number): void {
    this.rhythms.open(page);
    this.clocks.open(page);
  }

  /** Whether the page goes by a rhythm or a clock. */
  rule(page: number): boolean {
    return this.rhythmSay(page) > rules || this.clockSay(page) > rules;
  }

  /** What is to be expected of the page at `now`, for which its memories expect `mass` changes since the last look and `rate` now. */
  expect(page: number, now: number, mass: number, rate: number): void {
    this.mass = mass;
    this.rate = rate;
    const last = this.states.last[page]!;
    const changedAt = this.states.changedAt[page]!;
    const rhythm = this.rhythmSay(page);
    if (rhythm > heardFrom) {
      this.rhythms.load(page);
      const age = now - changedAt;
      this.mass += rhythm * (this.due(age, Math.max(0, now - last)) - this.mass);
      this.rate += rhythm * (this.rhythms.hazard(age) - this.rate);
    }
    const clock = this.clockSay(page);
    if (clock > heardFrom) {
      const due = this.clocks.mass(page, last, now, changedAt) + this.clocks.moved(page, last, now);
      this.mass += clock * (due - this.mass);
      // Behind its moment a page is quiet, and what is pending is worth a look by what a whole cycle brings.
      const most = Math.max(this.clocks.rate(page), this.clocks.hazard(page, now, changedAt));
      this.rate += clock * (most - this.rate);
    }
    this.others = (1 - rhythm) * (1 - clock);
  }

  /**
   * What was expected of the gap that ends with a look at `at`, of which siblings seen unchanged left the share `open`, where the memories
   * expected `memory`; the evidence for rhythm and clock moves with the outcome.
   */
  weigh(page: number, at: number, memory: number, open: number, changed: boolean): void {
    const last = this.states.last[page]!;
    const gap = at - last;
    const changedAt = this.states.changedAt[page]!;
    const chanceOf = (mass: number): number => (changed ? 1 - Math.exp(-mass) : Math.exp(-mass));
    this.mass = memory;
    const rhythm = this.rhythmSay(page);
    if (rhythm > 0) {
      this.rhythms.load(page);
      const due = open * this.due(at - changedAt, gap);
      this.rhythms.weigh(page, chanceOf(due), chanceOf(memory));
      this.mass += rhythm * (due - this.mass);
    }
    const clock = this.clockSay(page);
    if (this.asked && this.clocks.isPlaced(page)) {
      const due = open * this.clocks.mass(page, last, at, changedAt);
      // That it may have been moved is nothing that speaks for a clock.
      const moved = open * this.clocks.moved(page, last, at);
      this.clocks.weigh(page, gap, chanceOf(due), chanceOf(this.mass));
      this.mass += clock * (due + moved - this.mass);
    }
    this.others = (1 - rhythm) * (1 - clock);
  }

  /** When the page usually changes, where a clock is believed more than not. */
  usualTime(page: number, now: number): UsualTime | undefined {
    return this.clockSay(page) > 0.5 ? this.clocks.usualTime(page, now) : undefined;
  }

  /** Changes a second to be expected from now on, of a page whose memories expect `rate`. */
  longRun(page: number, rate: number): number {
    const clock = this.clockSay(page);
    return clock > heardFrom ? rate + clock * (this.clocks.rate(page) - rate) : rate;
  }

  /** When what rhythm and clock say of the page takes its next turn after `now`; Infinity where it takes none. */
  turnAfter(page: number, now: number): number {
    let next = this.clockSay(page) > rules ? this.clocks.edgeAfter(page, now) : Infinity;
    if (!(this.rhythmSay(page) > rules)) return next;
    this.rhythms.load(page);
    for (let i = 0; i < quantiles; i++) {
      const end = this.states.changedAt[page]! + this.rhythms.boundary(i);
      if (end > now) next = Math.min(next, end);
    }
    return next;
  }

  /** A gap that ended at `at` was looked over. */
  lookedOver(page: number, gap: number, at: number): void {
    this.clocks.lookedOver(page, gap, at);
  }

  /** A change was found that came in (from, to]: when it was, where a clock that is believed knows. */
  found(page: number, from: number, to: number): number | undefined {
    if (!this.asked) return undefined;
    const { changes, birth, changedAt } = this.states;
    const rate = changes[page]! / Math.max(1, to - birth[page]!);
    const believed = this.clockSay(page) > 0.5;
    const when = this.clocks.found(page, from, to, changedAt[page]!, rate, changes[page]!);
    return believed ? when : undefined;
  }

  /** Another wait between two found changes, the second one found after `gap`. */
  waited(page: number, seconds: number, gap: number): void {
    this.rhythms.learnWait(page, seconds, gap, Math.max(0, this.states.changes[page]! - 1));
  }

  save(page: number, view: DataView, at: number): void {
    this.rhythms.save(page, view, at);
    this.clocks.save(page, view, at + savedRhythmBytes);
  }

  restore(page: number, view: DataView, at: number): void {
    this.rhythms.restore(page, view, at);
    this.clocks.restore(page, view, at + savedRhythmBytes);
  }

  /** Takes back what earlier versions saved, which knew no clocks. */
  restoreFormer(page: number, view: DataView, at: number): void {
    this.rhythms.restoreFormer(page, view, at);
  }

  private rhythmSay(page: number): number {
    return this.asked ? this.rhythms.say(page, this.states.changes[page]! - 1) : 0;
  }

  private clockSay(page: number): number {
    return this.asked ? this.clocks.say(page) : 0;
  }

  /** What the rhythm that is loaded expects of the gap before this age. */
  private due(age: number, gap: number): number {
    return this.rhythms.mass(age) - this.rhythms.mass(Math.max(0, age - gap));
  }
}
