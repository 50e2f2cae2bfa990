/**
 * Pages that take unequal times to fetch, in the order of B·P ⁄ T (Brewington eqs. 36 and 38, plan/order.ts), with the bias
 * against large or distant pages removed (§2.4.3): by itself that order never reaches a page that is dear enough.
 *
 * Whoever has waited longer than `patience` stands in a second line, the longest wait first, and a share s of the spending
 * goes to that line. Guarantee: with at most T seconds of spending for all pages once, every page is begun within
 * patience + T ⁄ s plus one fetch of its last look, however costly it is and however little there is to find: the kept
 * share alone goes through all pages in that time.
 *
 * A page's place is worked out anew when its task is put again and pays differently by more than `driftMax`; O(log pages).
 */
import { type Task, payoff } from '../plan/order.ts';
import { DueQueue } from '../time/due-queue.ts';

export interface Fairness {
  /** Of the spending, for whoever has waited longest. */
  readonly share: number;
  readonly patienceSeconds: number;
  readonly driftMax: number;
}

const usual: Fairness = { share: 0.1, patienceSeconds: 0, driftMax: 1.05 };

export class FairOrder {
  readonly #fairness: Fairness;
  /** Kept as if times: the greatest payoff is due first. */
  readonly #best = new DueQueue();
  readonly #waits = new DueQueue();
  #spent = 0;
  #fair = 0;
  #patience: number;

  constructor(fairness: Partial<Fairness> = {}) {
    this.#fairness = { ...usual, ...fairness };
    this.#patience = this.#fairness.patienceSeconds;
  }

  set patienceSeconds(seconds: number) {
    this.#patience = seconds;
  }

  /** The page waits since then, whether it is wanted or not. */
  waits(page: number, since: number): void {
    this.#waits.set(page, since);
  }

  /** The page is wanted, and this is what a look at it pays. */
  put(page: number, task: Task): void {
    const rate = payoff(task);
    const before = -this.#best.timeOf(page);
    const { driftMax } = this.#fairness;
    if (this.#best.has(page) && rate <= before * driftMax && rate * driftMax >= before) return;
    this.#best.set(page, -rate);
  }

  wants(page: number): boolean {
    return this.#best.has(page);
  }

  /** Nobody is wanted any more; whoever waits still does. */
  clear(): void {
    for (let page = this.#best.first(); page >= 0; page = this.#best.first()) this.#best.remove(page);
  }

  /** The page is being fetched, or is gone: it neither waits nor is wanted. */
  remove(page: number): void {
    this.#best.remove(page);
    this.#waits.remove(page);
  }

  /** The next page to fetch, −1 when nobody is wanted and nobody has waited too long. */
  next(now: number): number {
    const longest = this.#waits.first();
    if (longest >= 0 && now - this.#waits.timeOf(longest) > this.#patience) {
      const turn = this.#fair <= this.#fairness.share * this.#spent;
      if (turn) return longest;
    } else {
      // Nobody is in the second line: its share is not hoarded.
      this.#fair = Math.max(this.#fair, this.#fairness.share * this.#spent);
    }
    return this.#best.first();
  }

  /** The page that `next` named was taken, for so many seconds of fetching (or any other unit of spending). */
  fetched(page: number, seconds: number, now: number): void {
    const waited = now - this.#waits.timeOf(page) > this.#patience;
    if (waited && page === this.#waits.first()) this.#fair += seconds;
    this.#spent += seconds;
    this.remove(page);
  }
}
