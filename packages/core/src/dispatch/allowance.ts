/**
 * A budget of requests as a token bucket: `ratePerTime` tokens flow in, at most `burst` wait, each request takes one.
 * Within any window of length w at most burst + ratePerTime · w requests go out. Times are in any one unit.
 */
export interface AllowanceState {
  readonly tokens: number;
  readonly at: number;
}

export class Allowance {
  #ratePerTime: number;
  #burst: number;
  #tokens: number;
  #at: number;

  constructor(ratePerTime: number, burst: number, now: number, saved?: AllowanceState) {
    this.#ratePerTime = ratePerTime;
    this.#burst = burst;
    // A process that starts anew gets nothing for free: an empty bucket, or what was left when it stopped.
    this.#tokens = saved ? saved.tokens : 0;
    this.#at = saved ? saved.at : now;
    this.#flow(now);
  }

  #flow(now: number): void {
    // A clock that was set back gives no tokens, and none twice when it catches up.
    if (now <= this.#at) return;
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#ratePerTime);
    this.#at = now;
  }

  get ratePerTime(): number {
    return this.#ratePerTime;
  }

  setRate(ratePerTime: number, burst: number, now: number): void {
    this.#flow(now);
    this.#ratePerTime = ratePerTime;
    this.#burst = burst;
    this.#tokens = Math.min(this.#tokens, burst);
  }

  /** Takes one request's worth if it is there. */
  take(now: number): boolean {
    if (this.readyAt(now) > now) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Counts requests that were not asked for one by one (or, below zero, were not made); the debt is paid before the next. */
  settle(count: number, now: number): void {
    this.#flow(now);
    this.#tokens = Math.min(this.#burst, this.#tokens - count);
  }

  /** The earliest time at which `take` succeeds; Infinity when nothing flows. */
  readyAt(now: number): number {
    this.#flow(now);
    // Tokens are sums of many small flows; a request must not wait for the last rounding error.
    if (this.#tokens >= 1 - 1e-9) return now;
    return this.#ratePerTime > 0 ? this.#at + (1 - this.#tokens) / this.#ratePerTime : Infinity;
  }

  /** How many requests may go out from now until then. */
  until(at: number, now: number): number {
    this.#flow(now);
    return Math.max(0, Math.floor(this.#tokens + Math.max(0, at - now) * this.#ratePerTime + 1e-9));
  }

  state(): AllowanceState {
    return { tokens: this.#tokens, at: this.#at };
  }
}
