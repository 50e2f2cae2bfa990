/**
 * Policies that give every page its own interval and correct it after each look by a rule of their own, blind to budget,
 * week and siblings: Nutch, StormCrawler, Heritrix, Miniflux. `scale` stretches every wait the rule asks for, which is the
 * knob that brings them to a budget.
 */
import { DueQueue } from '../time/due-queue.ts';
import type { Belief, Choice, Finding, Policy, Watched } from './policy.ts';

export interface PageClock {
  /** The page's present interval, before scaling. */
  interval: number;
  /** When it was last found changed. */
  changedAt: number;
  /** Recent found changes, newest last; only rules that want them keep them. */
  readonly recent: number[];
}

export interface IntervalRule {
  readonly name: string;
  readonly startSeconds: number;
  /** After a look: sets the clock and says how many seconds to wait, before scaling. */
  readonly after: (clock: PageClock, now: number, changed: boolean) => number;
}

/** What is saved begins with this byte, which other policies' bytes do not. */
const mark = 0x1c;
/** Of the recent changes the last so many are saved: 61 bytes in all. */
const recentSaved = 7;
const savedBytes = 33 + 4 * recentSaved;

export class IntervalPolicy implements Policy {
  readonly name: string;
  private readonly rule: IntervalRule;
  private readonly scale: number;
  private readonly queue = new DueQueue();
  private readonly clocks: (PageClock | undefined)[] = [];

  constructor(rule: IntervalRule, scale = 1) {
    this.name = rule.name;
    this.rule = rule;
    this.scale = scale;
  }

  watch(page: Watched, now: number): void {
    this.clocks[page.page] = { interval: this.rule.startSeconds, changedAt: now, recent: [] };
    this.queue.set(page.page, now);
  }

  forget(page: number): void {
    this.clocks[page] = undefined;
    this.queue.remove(page);
  }

  setBudget(): void {}

  next(): Choice | undefined {
    const page = this.queue.first();
    return page < 0 ? undefined : { page, at: this.queue.timeOf(page) };
  }

  started(page: number): void {
    this.queue.remove(page);
  }

  looked(page: number, at: number, finding: Finding): void {
    const clock = this.clocks[page];
    if (!clock) return;
    const told = finding.kind === 'changed' || finding.kind === 'unchanged';
    const wait = told ? this.rule.after(clock, at, finding.kind === 'changed') : clock.interval;
    this.queue.set(page, at + this.scale * wait);
  }

  due(page: number): number {
    return this.queue.timeOf(page);
  }

  save(page: number): Uint8Array {
    const bytes = new Uint8Array(savedBytes);
    const clock = this.clocks[page];
    if (!clock) return bytes;
    const view = new DataView(bytes.buffer);
    view.setUint8(0, mark);
    view.setFloat64(1, clock.interval);
    view.setFloat64(9, clock.changedAt);
    // A page under way is due when it was: nothing was learned from a look that did not end.
    view.setFloat64(17, this.queue.has(page) ? this.queue.timeOf(page) : Number.NaN);
    const newest = clock.recent.at(-1) ?? 0;
    view.setFloat64(25, newest);
    clock.recent.slice(-recentSaved).forEach((at, i) => view.setFloat32(33 + 4 * i, newest - at + 1));
    return bytes;
  }

  /** False when the bytes are another policy's. */
  restore(page: number, saved: Uint8Array, now: number): boolean {
    const clock = this.clocks[page];
    if (!clock || saved.length !== savedBytes || saved[0] !== mark) return false;
    const view = new DataView(saved.buffer, saved.byteOffset, saved.byteLength);
    const interval = view.getFloat64(1);
    if (!(interval > 0 && Number.isFinite(interval))) return false;
    clock.interval = interval;
    clock.changedAt = Math.min(view.getFloat64(9), now);
    for (let i = 0; i < recentSaved; i++) {
      const before = view.getFloat32(33 + 4 * i);
      if (before >= 1) clock.recent.push(view.getFloat64(25) - before + 1);
    }
    const due = view.getFloat64(17);
    // Times from a clock that was wrong do not put a page off for longer than its interval.
    if (due > now) this.queue.set(page, Math.min(due, now + this.scale * interval));
    return true;
  }

  /** These rules hold no belief; half an interval is what their behaviour amounts to. */
  belief(page: number): Belief {
    const clock = this.clocks[page];
    const perDay = clock ? 86_400 / (this.scale * clock.interval) : 0;
    return { current: 0.5, ratePerDay: perDay, rateInterval: [0, Infinity] };
  }
}
