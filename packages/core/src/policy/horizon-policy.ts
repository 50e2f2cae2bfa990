/**
 * Brewington's n-day plan (§2.3.3) for pages that are watched for ever, as a rolling horizon: time goes in steps, and at the
 * beginning of each a plan is made for the next eight at prices per step, from what is believed of each page's age by then
 * (plan/horizon-costs.ts over learned reset rates by age, working days and weekends apart). The looks of its first step are
 * made (plan/rolling-market.ts), the others are planned again when they come. A step is a day, or less where the budget looks
 * at an average page more often than every other day.
 *
 * Within a step pages go by falling benefit · probability ⁄ retrieval time, all three as measured and learned, and whoever has
 * waited ten times as long as an average page gets his turn from a tenth of the budget (fair-order.ts). So with N pages and
 * B looks a second every page is looked at within 20 · N ⁄ B of its last look, whatever it costs and however seldom it changes.
 *
 * Cost: about ten microseconds a page and step, O(log pages) a look.
 */
import type { AgeChain } from '../model/age-chain.ts';
import { ageChain } from '../model/age-chain.ts';
import { costCells, costIndex, gapCosts } from '../plan/horizon-costs.ts';
import { RollingMarket, endIndex, tableIndex } from '../plan/rolling-market.ts';
import { isWeekend } from '../learn/weekend.ts';
import { AgeBook, type Seen } from './age-book.ts';
import { DueQueue } from '../time/due-queue.ts';
import { FairOrder } from './fair-order.ts';
import { Pace } from './pace.ts';
import type { Belief, Choice, Finding, Policy, Watched } from './policy.ts';
import { bytesOf, valueOf } from './saved-text.ts';

const steps = 8;
// Ages told apart in a plan; older pages have the rate of their present age.
const ages = 20;
// A page unseen for longer is as uncertain as it gets.
const sinceMax = 100;
const stepsPerGap = 2;
const stepSecondsMax = 86_400;
// Lengths that begin and end with the day.
const roundSteps = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400];
// With so few pages one more or less matters, and the programme costs nothing.
const exactPagesMax = 12;
const fairShare = 0.1;

export class HorizonPolicy implements Policy {
  readonly name = 'brewington';
  readonly #book = new AgeBook();
  readonly #order = new FairOrder({ share: fairShare });
  readonly #newcomers = new DueQueue();
  /** Pages that may not be looked at yet, by their own spacing. */
  readonly #resting = new DueQueue();
  readonly #market = new RollingMarket(steps, exactPagesMax);
  /** When each page's next look is planned. */
  readonly #plannedAt: number[] = [];
  #tables = new Float64Array(0);
  readonly #costs = new Float64Array(costCells(steps));
  readonly #perStep = new Float64Array(ages);
  #pages = 0;
  readonly #pace = new Pace();
  #stepSeconds = stepSecondsMax;
  #stepEnd = -Infinity;
  /** Looks that the budget owes to whole steps. */
  #credit = 0;

  watch(watched: Watched, now: number): void {
    this.#book.open(watched, now);
    this.#newcomers.set(watched.page, now);
    this.#plannedAt[watched.page] = now;
    this.#pages++;
  }

  forget(page: number): void {
    if (!this.#book.get(page)) return;
    this.#book.close(page);
    this.#leave(page);
    this.#pages--;
  }

  setBudget(looksPerSecond: number, now: number): void {
    this.#pace.setBudget(looksPerSecond, now);
  }

  next(now: number): Choice | undefined {
    if (!(this.#pace.budget > 0)) return undefined;
    if (now >= this.#stepEnd) this.#plan(now);
    const newcomer = this.#newcomers.first();
    if (newcomer >= 0) return { page: newcomer, at: Math.max(this.#pace.next, this.#newcomers.timeOf(newcomer)) };
    this.#wake(now);
    const page = this.#order.next(now);
    if (page >= 0) {
      const seen = this.#book.get(page)!;
      const free = seen.at + seen.watched.spacingSeconds;
      if (free <= Math.max(now, this.#pace.next)) return { page, at: this.#pace.next };
      this.#resting.set(page, free);
      this.#order.remove(page);
      return this.next(now);
    }
    const resting = this.#resting.first();
    if (resting >= 0 && this.#resting.timeOf(resting) < this.#stepEnd) {
      return { page: resting, at: Math.max(this.#pace.next, this.#resting.timeOf(resting)) };
    }
    return undefined;
  }

  asksAgainAt(): number {
    return this.#stepEnd;
  }

  started(page: number, now: number): void {
    const seen = this.#book.get(page);
    if (!seen) return;
    seen.inFlight = true;
    this.#order.fetched(page, 1, now);
    this.#leave(page);
    this.#pace.spend(now);
  }

  looked(page: number, at: number, finding: Finding): void {
    const seen = this.#book.get(page);
    if (!seen) return;
    seen.inFlight = false;
    if (finding.kind !== 'failed') this.#book.learn(seen, at, finding);
    if (finding.seconds !== undefined) this.#book.times.measured(page, at, finding.seconds);
    // A look that failed told nothing; the page waits for the next plan as if it had been seen.
    if (seen.known) this.#order.waits(page, finding.kind === 'failed' ? at : seen.at);
    else this.#newcomers.set(page, Math.max(at, this.#stepEnd));
    this.#plannedAt[page] = Math.max(at, this.#stepEnd);
  }

  taught(page: number, changes: Float64Array, from: number, to: number): void {
    const seen = this.#book.get(page);
    if (!seen) return;
    this.#book.teach(seen, changes, from, to);
    this.#newcomers.remove(page);
    this.#order.waits(page, to);
    this.#stepEnd = -Infinity;
  }

  due(page: number): number {
    return this.#book.get(page) && !this.#book.get(page)!.inFlight ? (this.#plannedAt[page] ?? Infinity) : Infinity;
  }

  belief(page: number, now: number): Belief {
    return this.#book.belief(page, now);
  }

  save(page: number): Uint8Array {
    return this.#book.save(page);
  }

  restore(page: number, saved: Uint8Array, now: number): boolean {
    const seen = this.#book.get(page);
    if (!seen || !this.#book.restore(page, saved, now)) return false;
    this.#newcomers.remove(page);
    this.#order.waits(page, seen.at);
    this.#stepEnd = -Infinity;
    return true;
  }

  saveAll(): Uint8Array {
    return bytesOf({ version: 1, prices: Array.from(this.#market.prices), book: this.#book.saveShared() });
  }

  restoreAll(saved: Uint8Array): void {
    const all = valueOf(saved) as { version: number; prices: number[]; book: unknown } | undefined;
    if (all?.version !== 1) return;
    this.#market.prices = Float64Array.from(all.prices);
    this.#book.restoreShared(all.book);
    this.#stepEnd = -Infinity;
  }

  #leave(page: number): void {
    this.#order.remove(page);
    this.#newcomers.remove(page);
    this.#resting.remove(page);
  }

  /** Pages whose own spacing is over are wanted again. */
  #wake(now: number): void {
    for (let page = this.#resting.first(); page >= 0; page = this.#resting.first()) {
      if (this.#resting.timeOf(page) > now) return;
      this.#resting.remove(page);
      const seen = this.#book.get(page)!;
      this.#order.waits(page, seen.at);
      this.#want(seen, now);
    }
  }

  /** Eqs. 36 and 38: benefit times probability over time. */
  #want(seen: Seen, now: number): void {
    const { page, weight } = seen.watched;
    const changed = 1 - this.#book.hazards.unchanged(page, seen.age, Math.max(0, now - seen.at));
    this.#order.put(page, { probability: changed, time: this.#book.times.expected(page, now), benefit: weight });
  }

  #plan(now: number): void {
    this.#beginStep(now);
    this.#order.clear();
    const pages: Seen[] = [];
    for (const seen of this.#book) if (seen.known && !seen.inFlight) pages.push(seen);
    const { cells } = this.#market;
    if (this.#tables.length < pages.length * cells)
      this.#tables = new Float64Array(Math.ceil(1.3 * pages.length) * cells);
    const weekend = this.#book.weekend.factors();
    pages.forEach((seen, place) => this.#fill(seen, place * cells, now, weekend));
    const capacity = new Float64Array(steps).fill(this.#stepSeconds * this.#pace.budget);
    capacity[0] = Math.floor(this.#credit);
    this.#credit -= capacity[0];
    const chosen = this.#market.choose(this.#tables, pages.length, capacity);
    pages.forEach(({ watched }, place) => {
      const row = this.#market.nextRow(this.#tables, place);
      this.#plannedAt[watched.page] = this.#stepEnd + (Math.max(2, row) - 2) * this.#stepSeconds;
    });
    for (const place of chosen) {
      this.#plannedAt[pages[place]!.watched.page] = now;
      this.#want(pages[place]!, now);
    }
    this.#market.roll();
  }

  /** Lengths follow the budget; steps begin with the day or a whole part of it. */
  #beginStep(now: number): void {
    const gap = this.#pages / this.#pace.budget;
    const least = 1 / this.#pace.budget;
    const fit = Math.min(stepSecondsMax, Math.max(gap / stepsPerGap, least));
    const length = roundSteps.findLast((seconds) => seconds <= fit) ?? fit;
    if (length !== this.#stepSeconds) this.#credit = 0;
    this.#stepSeconds = length;
    const begun = Math.floor(now / length) * length;
    this.#stepEnd = begun + length;
    // The first step may be half over, and a pause is not made up for.
    this.#credit = Math.min(this.#credit, 1) + (this.#stepEnd - now) * this.#pace.budget;
    this.#order.patienceSeconds = gap / fairShare;
  }

  /** What each gap between looks at the page would cost, from what is believed of its age. */
  #fill(seen: Seen, base: number, now: number, weekend: readonly [number, number]): void {
    const length = this.#stepSeconds;
    const { page, weight, loss } = seen.watched;
    this.#book.hazards.perStep(page, length, seen.age, this.#perStep);
    const since = Math.max(1, Math.min(sinceMax, Math.round((now + length - seen.at) / length)));
    const first = Math.round(now / length) + 1 - since;
    gapCosts(
      {
        chain: chainOf(this.#perStep, weekend, first, length, since + steps),
        age: Math.min(ages - 1, Math.floor(seen.age / length)),
        since,
        weight,
        day: 0,
      },
      steps,
      1,
      loss === 'staleness' ? 'stale' : 'days-stale',
      this.#costs,
      0,
    );
    for (let e = 0; e <= steps; e++) {
      for (let f = e + 1; f <= steps; f++) {
        this.#tables[base + tableIndex(steps, e, f)] = f === e + 1 ? 0 : -this.#costs[costIndex(steps, e, f - 1)]!;
      }
      this.#tables[base + endIndex(steps, e)] = e === steps ? 0 : -this.#costs[costIndex(steps, e, steps)]!;
    }
  }
}

/** A weekend that is like other days needs no pattern, and the chain without one is cheaper. */
function chainOf(
  expected: Float64Array,
  [working, resting]: readonly [number, number],
  first: number,
  length: number,
  count: number,
): AgeChain {
  const reset = (factor: number) => expected.map((changes) => -Math.expm1(-factor * changes));
  if (Math.abs(working - resting) < 0.05) return ageChain(reset(1));
  const rows = [reset(working), reset(resting)] as const;
  const kind = Uint8Array.from({ length: count + 1 }, (_, n) => (isWeekend((first + n + 0.5) * length) ? 1 : 0));
  const last = expected.length - 1;
  return {
    ages: expected.length,
    cycle: count + 1,
    reset: (age, day) => rows[kind[Math.min(day, count)]!]![age < last ? age : last]!,
  };
}
