/**
 * Observers that had a site until their mandate ran out unheard: what they found within it is theirs to tell, though home has looked since.
 * What they tell of that time has been overtaken by a look from home, and is told as what it is: the past.
 */

/** As long as an observer keeps what it has found. */
const rememberedMs = 7 * 86_400_000;

export class PastMandates {
  /** When the mandate of each had run out. */
  readonly #ends = new Map<string, number>();
  /** URLs of which an observer has something to tell, and who. */
  readonly #owed = new Map<string, string>();

  ended(observer: string, nowMs: number): void {
    this.#ends.set(observer, nowMs);
  }

  /** As it is kept for whoever takes over the site. */
  all(nowMs: number): ReadonlyMap<string, number> {
    for (const [observer, endMs] of this.#ends) if (nowMs - endMs > rememberedMs) this.#ends.delete(observer);
    return this.#ends;
  }

  has(observer: string): boolean {
    return this.#ends.has(observer);
  }

  /** How long ago its mandate ran out: what it found within that is no younger. */
  endedAgoMs(observer: string, nowMs: number): number {
    return Math.max(0, nowMs - (this.#ends.get(observer) ?? nowMs));
  }

  owes(url: string, observer: string): void {
    this.#owed.set(url, observer);
  }

  /** Who is to be asked for what it has found there before. */
  takeOwed(url: string): string | undefined {
    const observer = this.#owed.get(url);
    this.#owed.delete(url);
    return observer;
  }
}
