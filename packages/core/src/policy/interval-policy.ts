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

  /** These rules hold no belief; half an interval is what their behaviour amounts to. */
  belief(page: number): Belief {
    const clock = this.clocks[page];
    const perDay = clock ? 86_400 / (this.scale * clock.interval) : 0;
    return { current: 0.5, ratePerDay: perDay, rateInterval: [0, Infinity] };
  }
}
