/** The budget as it lets requests out: what of it is lent to others, what gathers, and since when it has kept somebody waiting. */
import { Allowance } from '@revisit/core';
import { evenSeconds } from '../values/budget.ts';

/** Tokens that may gather all the same while nothing is due, in seconds of budget: a burst after a pause stays small. */
const burstSeconds = 60;
/** A budget that has become smaller than what is lent of it lets out so much all the same, or nobody could be lent less. */
const ownShareMin = 0.1;
/** More than observers give back at once. */
const plentyRequests = 16;

export class Outflow {
  readonly #allowance: Allowance;
  readonly #burstSeconds: number;
  #looksPerSecond: number;
  /** Requests a second of the budget that are somebody else's to make. */
  #lentPerSecond = 0;
  /** Since when somebody whose gate is open has waited for the budget all the time. */
  waitingSinceMs: number | undefined;

  /** `budgetSeconds` is the period that the budget is meant for: 500 a day may leave at once after a quiet day, 20 an hour may not. */
  constructor(looksPerSecond: number, nowMs: number, budgetSeconds = evenSeconds) {
    this.#burstSeconds = Math.max(burstSeconds, budgetSeconds - evenSeconds);
    this.#looksPerSecond = looksPerSecond;
    this.#allowance = new Allowance(looksPerSecond / 1000, this.#burst, nowMs);
  }

  get #burst(): number {
    return Math.max(1, this.#looksPerSecond * this.#burstSeconds);
  }

  /**
   * A process begins with what has gathered since anything was last asked for, one request at most: a first page does not wait for
   * hours on a small budget, and starting again gives nothing.
   */
  begin(askedUntilMs: number, nowMs: number): void {
    const passedMs = Math.max(0, nowMs - askedUntilMs);
    const gathered = this.#looksPerSecond > 0 ? Math.min(1, (passedMs * this.#looksPerSecond) / 1000) : 0;
    this.#allowance.settle(-gathered, nowMs);
  }

  setBudget(looksPerSecond: number, nowMs: number): void {
    this.#looksPerSecond = looksPerSecond;
    this.#flow(nowMs);
  }

  lend(requestsPerSecond: number, nowMs: number): void {
    this.#lentPerSecond = requestsPerSecond;
    this.#flow(nowMs);
  }

  #flow(nowMs: number): void {
    const perSecond = Math.max(ownShareMin * this.#looksPerSecond, this.#looksPerSecond - this.#lentPerSecond);
    this.#allowance.setRate(perSecond / 1000, this.#burst, nowMs);
  }

  readyAt(nowMs: number): number {
    return this.#allowance.readyAt(nowMs);
  }

  take(nowMs: number): void {
    this.#allowance.take(nowMs);
  }

  /** Requests that a probe took beyond the one it was counted for. */
  settle(requests: number, nowMs: number): void {
    this.#allowance.settle(requests, nowMs);
  }

  /** How many may leave until then. */
  until(atMs: number, nowMs: number): number {
    return this.#allowance.until(atMs, nowMs);
  }

  /** Whether it is not the budget that keeps anybody waiting. What others give back may fill it for a moment in which gates are shut. */
  hasPlenty(nowMs: number): boolean {
    return this.until(nowMs, nowMs) >= Math.min(plentyRequests, Math.floor(this.#burst));
  }
}
