/**
 * The policies of Eckstein, Gal and Reiner (§5.2) for many pages under one budget. A page's intensity is its rate, from its
 * looks, times the week of the collection; after each look the rule says when the next one is due:
 *
 * - `doe`: the steady polite schedule at the market's price (steady-shape.ts);
 * - `threshold`: when the expected cost since the last look reaches Π;
 * - `first-arrival`: when the chance of anything new reaches π; it sees neither weights nor how much is pending.
 *
 * The price, Π and π follow the budget: a page that always changes alike is due again after √(2·price ⁄ (rate × weight)), so the
 * market of such pages (standing-market.ts; with the week, for `doe`) says which price meets the budget, and Π is that price; 1 − e^−x is π, where x is
 * the sum of rates over the budget. A look changes its own page's plan only: O(log pages), and new prices every so many looks.
 */
import { WeekCounts } from '../learn/week-counts.ts';
import { StandingMarket } from '../plan/standing-market.ts';
import { type SteadyCurve, evenCurve, steadyCurve } from '../plan/steady-curve.ts';
import { type SteadyShape, steadyShape } from '../plan/steady-shape.ts';
import { type Profile, constant, integral, reach } from '../time/profile.ts';
import { weekSeconds } from '../time/week.ts';
import { DueQueue } from '../time/due-queue.ts';
import { LookBook } from './look-book.ts';
import { bytesOf, valueOf } from './saved-text.ts';
import type { Belief, Choice, Finding, MarketPrices, Policy, Watched } from './policy.ts';

export type WeekRule = 'doe' | 'threshold' | 'first-arrival';

/** Prices are worked out again after this share of a look for each page, and this many looks at least. */
const looksPerPageBetweenPrices = 1 / 4;
const looksBetweenPricesMin = 32;
/** A page's rate is estimated anew after a change, and after this many looks without one. */
const looksBetweenEstimates = 8;
/** When prices have moved by this factor, what is left of every wait is stretched to fit. */
const priceMoved = 1.25;
/** The week is read again when this many times the changes it was read from are known. */
const weekGrowth = 1.5;
const weekChangesMin = 50;

/** Multiples of the golden ratio fill an interval evenly, however many there are. */
const spread = (page: number): number => ((page + 1) * 0.618033988749895) % 1;

export class WeekPolicy implements Policy {
  readonly name: WeekRule;
  readonly #queue = new DueQueue();
  readonly #book = new LookBook();
  readonly #market = new StandingMarket();
  readonly #counts = new WeekCounts();
  readonly #watched: (Watched | undefined)[] = [];
  readonly #rates: number[] = [];
  readonly #looksSinceEstimate: number[] = [];
  #rateSum = 0;
  #week: Profile = constant(1);
  #steady: SteadyShape = steadyShape(this.#week, constant(1));
  #curve: SteadyCurve = evenCurve;
  #weekChanges = 0;
  #budget = 0;
  #price = Infinity;
  #expectedAtArrival = Infinity;
  /** The price by which the waits in the queue were set. */
  #queuedPrice = Infinity;
  #looksSincePrice = Infinity;
  readonly #resumed = new Set<number>();
  #dear: MarketPrices['dear'] = new Map();

  constructor(name: WeekRule) {
    this.name = name;
  }

  watch(page: Watched, now: number): void {
    this.#watched[page.page] = page;
    this.#book.open(page.page, now);
    this.#believe(page.page);
    this.#queue.set(page.page, now);
  }

  forget(page: number): void {
    this.#watched[page] = undefined;
    this.#rateSum -= this.#rates[page] ?? 0;
    this.#rates[page] = 0;
    this.#market.remove(page);
    this.#queue.remove(page);
  }

  setBudget(looksPerSecond: number): void {
    this.#budget = looksPerSecond;
    this.#looksSincePrice = Infinity;
  }

  setPrices({ dear }: MarketPrices): void {
    this.#dear = dear;
  }

  next(now: number): Choice | undefined {
    this.#findPrices(now);
    const page = this.#queue.first();
    if (page < 0) return undefined;
    const at = this.#queue.timeOf(page);
    return at === Infinity ? undefined : { page, at };
  }

  started(page: number): void {
    this.#queue.remove(page);
  }

  looked(page: number, at: number, finding: Finding): void {
    const watched = this.#watched[page];
    if (!watched) return;
    const told = finding.kind === 'changed' ? true : finding.kind === 'unchanged' ? false : undefined;
    if (told !== undefined) this.#counts.look(this.#book.last(page), at, told, this.#rates[page]);
    this.#book.add(page, at, told);
    this.#looksSinceEstimate[page]++;
    if (told === true || this.#looksSinceEstimate[page] >= looksBetweenEstimates) this.#believe(page);
    this.#looksSincePrice++;
    // Pages watched from the same moment are spread over their first distance.
    const part = finding.kind === 'first' ? spread(page) : 1;
    const next = this.#next(page, at);
    this.#queue.set(page, Math.max(at + part * (next - at), at + watched.spacingSeconds));
  }

  taught(page: number, changes: Float64Array, from: number, to: number): void {
    if (!this.#watched[page]) return;
    this.#book.teach(page, changes.length, from, to);
    this.#counts.teach(changes, from, to);
    this.#believe(page);
    this.#looksSincePrice = Infinity;
    // Where the prices are known by then, the first look is spread as above; they are when the last page is taught.
    this.#queue.set(page, to + spread(page) * (this.#market.pages / Math.max(this.#budget, 1e-12)));
  }

  due(page: number): number {
    return this.#queue.timeOf(page);
  }

  belief(page: number, now: number): Belief {
    const rate = this.#rates[page];
    const changes = rate * Math.max(0, integral(this.#week, this.#book.last(page), now));
    return { current: Math.exp(-changes), ratePerDay: rate * 86_400, rateInterval: [0, Infinity] };
  }

  save(page: number): Uint8Array {
    return this.#book.save(page);
  }

  restore(page: number, saved: Uint8Array, now: number): boolean {
    if (!this.#watched[page] || !this.#book.restore(page, saved, now)) return false;
    this.#believe(page);
    this.#resumed.add(page);
    this.#looksSincePrice = Infinity;
    return true;
  }

  saveAll(): Uint8Array {
    return bytesOf({ version: 1, week: this.#counts.save() });
  }

  restoreAll(saved: Uint8Array): void {
    const all = valueOf(saved) as { version?: number; week?: number[][] } | undefined;
    if (all?.version !== 1 || !Array.isArray(all.week)) return;
    this.#counts.restore(all.week);
    this.#readWeek();
  }

  weekShape(): ArrayLike<number> | undefined {
    return this.#weekChanges > 0 ? this.#week.values : undefined;
  }

  #believe(page: number): void {
    const { weight, site, spacingSeconds } = this.#watched[page]!;
    const rate = this.#book.rate(page);
    this.#looksSinceEstimate[page] = 0;
    this.#rateSum += rate - (this.#rates[page] ?? 0);
    this.#rates[page] = rate;
    this.#market.set(page, rate * weight, site, spacingSeconds);
  }

  #next(page: number, last: number): number {
    this.#readWeek();
    const rate = this.#rates[page];
    const { weight, site } = this.#watched[page]!;
    if (!(rate > 0)) return Infinity;
    if (this.name === 'first-arrival') return reach(this.#week, last, this.#expectedAtArrival / rate);
    const ratio = (this.#price * (this.#dear.get(site)?.factor ?? 1)) / (rate * weight);
    return this.name === 'doe' ? this.#steady.next(last, ratio) : whenCostReaches(this.#week, last, ratio);
  }

  #readWeek(): void {
    if (this.#counts.changes < Math.max(weekChangesMin, weekGrowth * this.#weekChanges)) return;
    this.#weekChanges = this.#counts.changes;
    this.#week = this.#counts.shape();
    this.#steady = steadyShape(this.#week, constant(1));
    if (this.name === 'doe') this.#curve = steadyCurve(this.#week);
  }

  #findPrices(now: number): void {
    const enough = Math.max(looksBetweenPricesMin, looksPerPageBetweenPrices * this.#market.pages);
    if (this.#looksSincePrice < enough || !(this.#budget > 0)) return;
    this.#looksSincePrice = 0;
    this.#price = this.#market.prices(this.#budget, this.#curve).price;
    this.#expectedAtArrival = this.#rateSum / this.#budget;
    this.#resume(now);
    const moved = this.#price / this.#queuedPrice;
    if (moved < priceMoved && moved > 1 / priceMoved) return;
    // Distances between looks go with the root of the price; a wait without a price begins with an average page's.
    const average = this.#market.pages / this.#budget;
    this.#watched.forEach((watched, page) => {
      if (!watched || !this.#queue.has(page)) return;
      const left = this.#queue.timeOf(page) - now;
      const wait = left === Infinity ? spread(page) * average : left > 0 ? left * Math.sqrt(moved) : left;
      this.#queue.set(page, now + wait);
    });
    this.#queuedPrice = this.#price;
  }

  /** Pages taken up again wait from their last look, at the price found for all of them. */
  #resume(now: number): void {
    if (this.#resumed.size === 0) return;
    for (const page of this.#resumed)
      if (this.#watched[page] && this.#queue.has(page))
        this.#queue.set(page, Math.max(now, this.#next(page, this.#book.last(page))));
    this.#resumed.clear();
    this.#queuedPrice = this.#price;
  }
}

/** Beyond this many weeks the shape is forgotten: so long a distance is the same from whenever it begins. */
const weeksMax = 26;

/** The first time at which ∫ (changes pending) dt since `last` reaches the amount, for a page of this intensity. */
export function whenCostReaches(week: Profile, last: number, amount: number): number {
  const even = Math.sqrt(2 * amount);
  if (week.values.length === 1 || even > weeksMax * weekSeconds) return last + even;
  const { breaks, values } = week;
  const first = breaks[0];
  let turn = first + Math.floor((last - first) / weekSeconds) * weekSeconds - first;
  let i = 0;
  while (i + 1 < values.length && breaks[i + 1] + turn <= last) i++;
  let [cost, pending, at] = [0, 0, last];
  for (;;) {
    const h = breaks[i + 1] + turn - at;
    const after = cost + pending * h + (values[i] * h * h) / 2;
    if (after >= amount) {
      const rest = amount - cost;
      // The positive root of values·x²/2 + pending·x = rest, without cancellation.
      return at + (2 * rest) / (pending + Math.sqrt(pending * pending + 2 * values[i] * rest));
    }
    cost = after;
    pending += values[i] * h;
    at += h;
    i++;
    if (i === values.length) {
      i = 0;
      turn += weekSeconds;
    }
  }
}
