/**
 * Policies that hold every page for a Poisson process of constant rate, share the budget by a formula over rates and look
 * at even intervals: uniform, proportional, Cho and Garcia-Molina, LambdaCrawl. Rates are maximum likelihood from the
 * censored looks so far, with a pseudo-look of each kind (look-book.ts); the shares are worked out anew after every few looks a page.
 */
import { DueQueue } from '../time/due-queue.ts';
import { LookBook } from './look-book.ts';
import type { Belief, Choice, Finding, Policy, Watched } from './policy.ts';

/** Looks per second for each page, summing to the budget. */
export type Allocation = (
  rates: Float64Array,
  weights: Float64Array,
  budget: number,
  /** The pages themselves, for allocations that look at more than their weights. */
  pages?: readonly Watched[],
) => Float64Array;

/**
 * How long the pseudo-looks are: half a day as LambdaCrawl's authors have it, or as long as looks at the collection's pages are apart
 * in the mean, which is no matter of units and takes a page that was never looked at for one that changes about as often as it is.
 */
export type PseudoLook = 'half a day' | 'mean gap';

/** Fewer would spend more on planning than the estimates move between plans. */
const looksPerPageBetweenPlans = 4;
const looksBetweenPlansMin = 256;

/** Multiples of the golden ratio fill an interval evenly, however many there are. */
const spread = (page: number): number => ((page + 1) * 0.618033988749895) % 1;

export class RatePolicy implements Policy {
  readonly name: string;
  private readonly allocate: Allocation;
  private readonly pseudoLook: PseudoLook;
  private readonly queue = new DueQueue();
  private readonly book = new LookBook();
  private readonly watched: Watched[] = [];
  private readonly pages: number[] = [];
  private readonly placeOf: (number | undefined)[] = [];
  private readonly inFlight = new Set<number>();
  /** Pages taken up again from what was saved: their waits began with their last looks. */
  private readonly resumed = new Set<number>();
  private share: number[] = [];
  private budget = 0;
  private looksSincePlan = 0;
  private planned = false;

  constructor(name: string, allocate: Allocation, pseudoLook: PseudoLook = 'half a day') {
    this.name = name;
    this.pseudoLook = pseudoLook;
    this.allocate = allocate;
  }

  watch(page: Watched, now: number): void {
    this.placeOf[page.page] = this.pages.push(page.page) - 1;
    this.watched[page.page] = page;
    this.book.open(page.page, now);
    // Until the next plan a newcomer gets an average page's share.
    this.share[page.page] = this.budget / this.pages.length;
    this.queue.set(page.page, now);
  }

  forget(page: number): void {
    const place = this.placeOf[page];
    if (place === undefined) return;
    const last = this.pages.pop()!;
    if (last !== page) {
      this.pages[place] = last;
      this.placeOf[last] = place;
    }
    this.placeOf[page] = undefined;
    this.queue.remove(page);
  }

  setBudget(looksPerSecond: number): void {
    // Shares scale with the budget at once; the next plan redoes them.
    const change = this.budget > 0 ? looksPerSecond / this.budget : 0;
    if (Math.abs(change - 1) > 0.05) this.planned = false;
    this.budget = looksPerSecond;
  }

  next(now: number): Choice | undefined {
    if (
      !this.planned ||
      this.looksSincePlan >= Math.max(looksBetweenPlansMin, looksPerPageBetweenPlans * this.pages.length)
    ) {
      this.plan(now);
    }
    const page = this.queue.first();
    if (page < 0) return undefined;
    const at = this.queue.timeOf(page);
    return at === Infinity ? undefined : { page, at };
  }

  started(page: number): void {
    this.queue.remove(page);
    this.inFlight.add(page);
  }

  looked(page: number, at: number, finding: Finding): void {
    this.inFlight.delete(page);
    if (this.placeOf[page] === undefined) return;
    const told = finding.kind === 'changed' ? true : finding.kind === 'unchanged' ? false : undefined;
    this.book.add(page, at, told);
    this.looksSincePlan++;
    // Pages watched from the same moment are spread evenly over their first interval.
    const part = finding.kind === 'first' ? spread(page) : 1;
    this.queue.set(page, at + part / this.share[page]!);
  }

  taught(page: number, changes: Float64Array, from: number, to: number): void {
    this.book.teach(page, changes.length, from, to);
    this.queue.set(page, to + spread(page) / this.share[page]!);
    this.planned = false;
  }

  due(page: number): number {
    return this.queue.timeOf(page);
  }

  belief(page: number, now: number): Belief {
    const rate = this.book.rate(page);
    const current = Math.exp(-rate * Math.max(0, now - this.book.last(page)));
    return { current, ratePerDay: rate * 86_400, rateInterval: [0, Infinity] };
  }

  save(page: number): Uint8Array {
    return this.book.save(page);
  }

  restore(page: number, saved: Uint8Array, now: number): boolean {
    if (!this.book.restore(page, saved, now)) return false;
    this.resumed.add(page);
    this.planned = false;
    return true;
  }

  private plan(now: number): void {
    const { pages } = this;
    if (this.pseudoLook === 'mean gap' && this.budget > 0) this.book.assume(pages.length / this.budget);
    const rates = Float64Array.from(pages, (page) => this.book.rate(page));
    const watched = pages.map((page) => this.watched[page]!);
    const weights = Float64Array.from(watched, ({ weight }) => weight);
    const shares = this.allocate(rates, weights, this.budget, watched);
    for (let i = 0; i < pages.length; i++) {
      const page = pages[i]!;
      const before = this.share[page]!;
      this.share[page] = shares[i]!;
      if (this.inFlight.has(page)) continue;
      // What is left of the present wait shrinks or grows with the interval, so that plans do not bunch looks.
      const left = this.queue.timeOf(page) - now;
      const wait = this.resumed.has(page)
        ? this.book.last(page) + 1 / shares[i]! - now
        : left === Infinity || before === 0
          ? spread(page) / shares[i]!
          : (left * before) / shares[i]!;
      this.queue.set(page, now + Math.max(0, wait));
    }
    this.resumed.clear();
    this.planned = true;
    this.looksSincePlan = 0;
  }
}
