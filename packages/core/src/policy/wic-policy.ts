/**
 * WIC for pages that are watched for ever, planning ahead (plan/collect-rolling.ts): time goes in instants, in each of which the
 * budget allows so many looks; the chances of change at the coming ones follow from each page's rate and the hours of the
 * week, as learned from looks. So a page is looked at when what a look would capture, by its weight, life and urgency, is
 * worth most compared with looking later: a page whose information has gone before it is worth its price is not looked at,
 * as in the paper, and one that is about to change is waited for.
 *
 * An instant is an hour, or less where the budget looks at an average page more often than every other hour, or as long as one
 * look takes to earn. Life and urgency are given in hours. Within an instant pages go by falling benefit · probability ⁄
 * retrieval time. Beyond 100,000 pages nothing is planned ahead and this is Algorithm 1.
 */
import { RetrievalTimes } from '../learn/retrieval-time.ts';
import { WeekCounts } from '../learn/week-counts.ts';
import type { InstantUrgency } from '../loss/capture.ts';
import { type Life, urgencyAt } from '../loss/utility.ts';
import { AheadCollector } from '../plan/collect-rolling.ts';
import { type Profile, constant, integral } from '../time/profile.ts';
import { DueQueue } from '../time/due-queue.ts';
import { FairOrder } from './fair-order.ts';
import { LookBook } from './look-book.ts';
import { Pace } from './pace.ts';
import type { Belief, Choice, Finding, Policy, Watched } from './policy.ts';
import { bytesOf, valueOf } from './saved-text.ts';

const hourSeconds = 3600;
const ahead = 8;
const memory = 24;
const aheadPagesMax = 100_000;
const exactPagesMax = 12;
// A capture that comes later by the average distance between looks is worth e⁻⁴ of one that comes now.
const delaysPerGap = 4;
const roundInstants = [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400];
// The week is read anew when it was learned from half as many changes again, and not from fewer than a hundred.
const weekChangesMin = 100;
const weekGrowth = 1.5;

export class WicPolicy implements Policy {
  readonly name = 'wic';
  readonly #book = new LookBook();
  readonly #times = new RetrievalTimes();
  readonly #counts = new WeekCounts();
  readonly #order = new FairOrder({ share: 0, patienceSeconds: Infinity });
  readonly #newcomers = new DueQueue();
  readonly #watched: (Watched | undefined)[] = [];
  readonly #inFlight = new Set<number>();
  readonly #chances = new Float64Array(ahead);
  #collector: AheadCollector | undefined;
  #pages = 0;
  #week: Profile = constant(1);
  #weekChanges = 0;
  #prices: Float64Array | undefined;
  readonly #pace = new Pace();
  #instant = hourSeconds;
  #instantEnd = -Infinity;
  #credit = 0;

  watch(watched: Watched, now: number): void {
    this.#watched[watched.page] = watched;
    this.#book.open(watched.page, now);
    this.#times.forget(watched.page);
    this.#newcomers.set(watched.page, now);
    this.#pages++;
  }

  forget(page: number): void {
    if (!this.#watched[page]) return;
    this.#watched[page] = undefined;
    this.#collector?.forget(page);
    this.#order.remove(page);
    this.#newcomers.remove(page);
    this.#inFlight.delete(page);
    this.#pages--;
  }

  setBudget(looksPerSecond: number, now: number): void {
    this.#pace.setBudget(looksPerSecond, now);
  }

  next(now: number): Choice | undefined {
    if (!(this.#pace.budget > 0)) return undefined;
    if (now >= this.#instantEnd) this.#plan(now);
    const newcomer = this.#newcomers.first();
    if (newcomer >= 0) return { page: newcomer, at: Math.max(this.#pace.next, this.#newcomers.timeOf(newcomer)) };
    const page = this.#order.next(now);
    if (page >= 0) return { page, at: Math.max(this.#pace.next, this.#earliest(page)) };
    return undefined;
  }

  asksAgainAt(): number {
    return this.#instantEnd;
  }

  started(page: number, now: number): void {
    if (!this.#watched[page]) return;
    this.#inFlight.add(page);
    this.#newcomers.remove(page);
    this.#order.fetched(page, 1, now);
    this.#collector?.looked(page);
    this.#pace.spend(now);
  }

  looked(page: number, at: number, finding: Finding): void {
    this.#inFlight.delete(page);
    if (!this.#watched[page]) return;
    if (finding.seconds !== undefined) this.#times.measured(page, at, finding.seconds);
    if (finding.kind === 'failed') return this.#pending(page, at);
    const told = finding.kind === 'changed' ? true : finding.kind === 'unchanged' ? false : undefined;
    if (told !== undefined) this.#counts.look(this.#book.last(page), at, told, this.#book.rate(page));
    this.#book.add(page, at, told);
  }

  taught(page: number, changes: Float64Array, from: number, to: number): void {
    if (!this.#watched[page]) return;
    this.#book.teach(page, changes.length, from, to);
    this.#counts.teach(changes, from, to);
    this.#newcomers.remove(page);
  }

  due(page: number): number {
    if (this.#newcomers.has(page)) return this.#newcomers.timeOf(page);
    if (!this.#watched[page] || this.#inFlight.has(page)) return Infinity;
    return this.#order.wants(page) ? this.#earliest(page) : this.#instantEnd;
  }

  belief(page: number, now: number): Belief {
    if (!this.#watched[page]) return { current: 0, ratePerDay: 0, rateInterval: [0, Infinity] };
    const rate = this.#book.rate(page);
    const last = this.#book.last(page);
    const current = Math.exp(-rate * integral(this.#week, last, Math.max(last, now)));
    return { current, ratePerDay: rate * 86_400, rateInterval: [0, Infinity] };
  }

  save(page: number): Uint8Array {
    return this.#book.save(page);
  }

  restore(page: number, saved: Uint8Array, now: number): boolean {
    if (!this.#watched[page] || !this.#book.restore(page, saved, now)) return false;
    this.#newcomers.remove(page);
    this.#pending(page, now);
    return true;
  }

  saveAll(): Uint8Array {
    const prices = Array.from(this.#collector?.prices ?? []);
    return bytesOf({ version: 1, prices, week: this.#counts.save(), times: this.#times.saveShared() });
  }

  restoreAll(saved: Uint8Array): void {
    const all = valueOf(saved) as { version: number; prices: number[]; week: number[][]; times: number[] } | undefined;
    if (all?.version !== 1) return;
    this.#prices = Float64Array.from(all.prices);
    this.#counts.restore(all.week);
    this.#times.restoreShared(all.times);
  }

  #earliest(page: number): number {
    const { spacingSeconds } = this.#watched[page]!;
    return spacingSeconds > 0 ? this.#book.last(page) + spacingSeconds : -Infinity;
  }

  /** What has come since the page's last look waits to be captured. */
  #pending(page: number, now: number): void {
    const instants = Math.floor((now - this.#book.last(page)) / this.#instant);
    this.#collector?.recall(page, instants, -Math.expm1(-this.#book.rate(page) * this.#instant));
  }

  #plan(now: number): void {
    this.#beginInstant(now);
    // Who was wanted and did not get his turn still has what he had.
    for (let page = this.#order.next(now); page >= 0; page = this.#order.next(now)) {
      this.#order.remove(page);
      this.#pending(page, now);
    }
    this.#readWeek();
    const collector = this.#collectorFor(now);
    const capacity = Math.floor(this.#credit);
    this.#credit -= capacity;
    const lengths = Array.from({ length: ahead }, (_, j) => {
      const begin = this.#instantEnd + (j - 1) * this.#instant;
      return integral(this.#week, begin, begin + this.#instant);
    });
    const chosen = collector.step(
      (page) => {
        if (this.#inFlight.has(page) || this.#newcomers.has(page)) return undefined;
        const rate = this.#book.rate(page);
        for (let j = 0; j < ahead; j++) this.#chances[j] = -Math.expm1(-rate * lengths[j]!);
        return this.#chances;
      },
      Infinity,
      capacity,
    );
    for (const page of chosen) {
      const { weight } = this.#watched[page]!;
      const probability = 1 - this.belief(page, now).current;
      this.#order.put(page, { probability, time: this.#times.expected(page, now), benefit: weight });
    }
  }

  #beginInstant(now: number): void {
    const gap = this.#pages / this.#pace.budget;
    const fit = Math.max(1 / this.#pace.budget, Math.min(hourSeconds, gap / 2));
    const length = roundInstants.findLast((seconds) => seconds <= fit * 1.0001) ?? fit;
    if (length !== this.#instant) {
      this.#instant = length;
      this.#collector = undefined;
      this.#credit = 0;
    }
    this.#instantEnd = (Math.floor(now / length) + 1) * length;
    this.#credit = Math.min(this.#credit, 1) + (this.#instantEnd - now) * this.#pace.budget;
  }

  #readWeek(): void {
    if (this.#counts.changes < Math.max(weekChangesMin, weekGrowth * this.#weekChanges)) return;
    this.#weekChanges = this.#counts.changes;
    this.#week = this.#counts.shape();
  }

  /** The collector, with every page's law in it; made anew when instants have another length. */
  #collectorFor(now: number): AheadCollector {
    const capacity = this.#instant * this.#pace.budget;
    const known = this.#collector;
    const collector =
      known ??
      new AheadCollector([], capacity, {
        ahead: this.#pages > aheadPagesMax ? 1 : ahead,
        memory,
        exactPagesMax,
        discount: Math.exp((-delaysPerGap * this.#instant * this.#pace.budget) / this.#pages),
      });
    collector.capacity = capacity;
    if (!known && this.#prices) collector.prices = this.#prices;
    this.#collector = collector;
    for (const watched of this.#watched) {
      if (!watched || collector.has(watched.page)) continue;
      collector.set(watched.page, lawOf(watched, this.#instant));
      if (!this.#newcomers.has(watched.page) && !this.#inFlight.has(watched.page)) this.#pending(watched.page, now);
    }
    return collector;
  }
}

/** A page's life and urgency, from hours to instants; what nobody said is append and uniform, as in the paper. */
function lawOf({ weight, life, urgency }: Watched, instantSeconds: number) {
  const hours = instantSeconds / hourSeconds;
  return { weight, life: lifeOf(life, hours), urgency: urgencyOf(urgency, hours) };
}

function lifeOf(life: Life | undefined, hours: number): Life {
  if (life?.kind === 'window') return { kind: 'window', width: life.width / hours };
  return life ?? { kind: 'append' };
}

function urgencyOf(urgency: Watched['urgency'], hours: number): InstantUrgency {
  if (urgency?.kind === 'window') return { kind: 'window', width: urgency.width / hours };
  if (urgency?.kind === 'decay') return { kind: 'decay', rate: urgency.rate ** hours };
  if (urgency?.kind === 'polynomial') return { kind: 'custom', at: (delay) => urgencyAt(urgency, delay * hours) };
  return urgency ?? { kind: 'uniform' };
}
