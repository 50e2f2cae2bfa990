/** Token buckets by caller. Forgotten when full again, so a crowd of callers leaves nothing behind. */
interface Bucket {
  tokens: number;
  atMs: number;
}

/** Beyond this many callers at once, those who have been quiet are forgotten first. */
const callersMax = 10_000;

export class RateLimiter {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** Takes one; answers 0, or the seconds after which there is one again. */
  take(who: string, nowMs: number): number {
    const bucket = this.#buckets.get(who) ?? { tokens: this.#burst, atMs: nowMs };
    this.#buckets.delete(who);
    bucket.tokens = Math.min(this.#burst, bucket.tokens + (Math.max(0, nowMs - bucket.atMs) / 1000) * this.#perSecond);
    bucket.atMs = nowMs;
    this.#buckets.set(who, bucket);
    if (this.#buckets.size > callersMax) this.#buckets.delete(this.#buckets.keys().next().value!);
    if (bucket.tokens < 1) return (1 - bucket.tokens) / this.#perSecond;
    bucket.tokens--;
    return 0;
  }
}
