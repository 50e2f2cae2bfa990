/**
 * The price of a look, so that the budget is spent. Where a market of all pages is kept, its price is the price, and what is kept
 * here is the correction of what the market's model gets wrong; without one the correction is all there is, and free:
 *
 *   price = market's price * e^correction,   d correction = (looks made - budget * time passed) / inertia
 *
 * The inertia is the number of looks that moves the price by a factor e. It grows from a few dozen looks, so that a bad
 * first guess is corrected at once, to the looks of `horizonSeconds`, so that busy weeks may borrow from quiet ones: that
 * is where the gain over an even spread lies. Over any long time the looks made differ from the budget by at most a few
 * times the inertia, as long as the correction is within its bounds.
 *
 * Where requests leave through a gate that holds the budget, looks made never exceed it, however many are wanted. So while
 * somebody who is due must wait (`pressed`), time passing lowers nothing, and every look raises the price until no more is
 * wanted than can leave.
 */

/** The first corrections take this many looks. */
const inertiaMin = 40;
/** The inertia is this share of all looks allowed so far, until the horizon is reached. */
const inertiaShare = 0.25;
/** One call moves the price by at most this factor's logarithm. */
const stepMax = 0.5;
/** Nights and weekends lend to busier times, and then a page forgoes a look or two. A budget of which nothing at all was used for so
 * many looks, and so many of every page, is not lent: the price is far too high, and falls as fast as at first until somebody looks. */
const unusedMost = { looks: 2 * inertiaMin, looksOfPage: 8 };
/** A host asks more often than this, in seconds and looks; where it did not, it slept, and looks not made then are not owed. */
const awakeSeconds = 7200;
const awakeLooks = 16;
/**
 * A market's price is raised by at most this factor, which is a factor of two in looks: bursts and siblings, which no plan made
 * ahead can know, bring up to about as many looks as that. It falls further: a market that takes pages for faster than their
 * next looks will find them asks too much, and a budget that nobody uses finds nothing out.
 */
export const correctionMax = 4;
export const correctionMin = 1 / 1024;

export class Price {
  /** ln of the market's price; NaN without one. */
  private anchor = Number.NaN;
  /** ln of the price, or of its correction where there is a market. */
  private level = Number.NaN;
  private budget = 0;
  private perPage = 0;
  private allowed = 0;
  /** Looks allowed since the last that was made. */
  private unused = 0;
  private last = Number.NaN;
  private pressed = false;
  private paid = false;
  private readonly horizonSeconds: number;

  constructor(horizonSeconds: number) {
    this.horizonSeconds = horizonSeconds;
  }

  /** A guess of the price, made when there is something to guess from, and again until a look has been paid for; a market needs none. */
  start(price: number): void {
    if (!this.paid) this.level = Number.isNaN(this.anchor) ? Math.log(price) : 0;
  }

  /** Whether a look has been paid for, here or before a restart: until then the price is a guess. */
  get settled(): boolean {
    return this.paid;
  }

  get started(): boolean {
    return !Number.isNaN(this.level);
  }

  setBudget(looksPerSecond: number, pages: number, now: number): void {
    this.pass(now);
    // Twice the looks a page halve the gaps, and the price goes as their square; a market soon says it better.
    const perPage = looksPerSecond / Math.max(1, pages);
    if (this.started && this.perPage > 0 && perPage > 0) this.shift(-2 * Math.log(perPage / this.perPage));
    this.budget = looksPerSecond;
    this.perPage = perPage;
  }

  /** The market's price from now on, and the looks a second that it is the price of. */
  follow(price: number, looksPerSecond: number, pages: number, now: number): void {
    this.pass(now);
    const whole = this.logarithm();
    const corrected = !Number.isNaN(this.anchor);
    this.anchor = Math.log(price);
    if (!this.paid) this.level = 0;
    else if (!corrected) this.level = whole - this.anchor;
    this.bound();
    this.budget = looksPerSecond;
    this.perPage = looksPerSecond / Math.max(1, pages);
  }

  /** The market's price has moved by this logarithm, because there are other pages now, or limits bind. */
  move(logarithm: number, pages: number, now: number): void {
    this.pass(now);
    if (this.started) this.shift(logarithm);
    this.perPage = this.budget / Math.max(1, pages);
  }

  spent(now: number, looks = 1): void {
    this.pass(now);
    this.paid = true;
    this.unused = 0;
    this.level += looks / this.inertia();
    this.bound();
  }

  /** Whether somebody who is due must wait, from now on. */
  press(pressed: boolean, now: number): void {
    this.pass(now);
    this.pressed = pressed;
  }

  at(now: number): number {
    this.pass(now);
    return Math.exp(this.logarithm());
  }

  /** The factor by which the market's price is corrected; undefined without a market. */
  get correction(): number | undefined {
    return Number.isNaN(this.anchor) || !this.started ? undefined : Math.exp(this.level);
  }

  save(): number[] {
    return [this.logarithm(), this.perPage, this.allowed];
  }

  /** Goes on from a saved price, corrected for a budget that has changed since. */
  restore(saved: readonly number[], now: number): void {
    const [level, perPage, allowed] = saved;
    if (level === undefined || perPage === undefined || allowed === undefined || !Number.isFinite(level)) return;
    this.last = now;
    this.paid = true;
    this.level = this.perPage > 0 && perPage > 0 ? level - 2 * Math.log(this.perPage / perPage) : level;
    if (!Number.isNaN(this.anchor)) this.level -= this.anchor;
    this.bound();
    if (!(this.perPage > 0)) this.perPage = perPage;
    this.allowed = allowed;
  }

  private logarithm(): number {
    return Number.isNaN(this.anchor) ? this.level : this.anchor + this.level;
  }

  private shift(logarithm: number): void {
    if (Number.isNaN(this.anchor)) this.level += logarithm;
    else this.anchor += logarithm;
  }

  private bound(): void {
    if (Number.isNaN(this.anchor)) return;
    this.level = Math.max(Math.log(correctionMin), Math.min(Math.log(correctionMax), this.level));
  }

  private isUnused(): boolean {
    const pages = this.perPage > 0 ? this.budget / this.perPage : 1;
    return this.unused > Math.max(unusedMost.looks, unusedMost.looksOfPage * pages);
  }

  private inertia(): number {
    return Math.max(inertiaMin, Math.min(inertiaShare * this.allowed, this.budget * this.horizonSeconds));
  }

  private pass(now: number): void {
    if (Number.isNaN(this.last)) this.last = now;
    if (!(now > this.last)) return;
    const passed = Math.min(now - this.last, Math.max(awakeSeconds, awakeLooks / this.budget));
    this.last = now;
    this.allowed += this.budget * passed;
    this.unused += this.budget * passed;
    const inertia = this.isUnused() ? inertiaMin : this.inertia();
    if (!this.pressed) this.level -= Math.min(stepMax, (this.budget * passed) / inertia);
    this.bound();
  }
}
