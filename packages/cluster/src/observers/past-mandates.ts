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
  /** What was last heard of each URL, by whom: when the look ended, by the observer's own clock. */
  readonly #heard = new Map<string, { readonly observer: string; readonly endedAtMs: number }>();
  /** Since when the site is looked at by the one that has it; what is older was seen under a mandate before. */
  #givenMs = -Infinity;

  ended(observer: string, nowMs: number): void {
    this.#ends.set(observer, nowMs);
  }

  given(nowMs: number): void {
    this.#givenMs = nowMs;
  }

  /** As it is kept for whoever takes over the site. */
  all(nowMs: number): ReadonlyMap<string, number> {
    for (const [observer, endMs] of this.#ends) if (nowMs - endMs > rememberedMs) this.#ends.delete(observer);
    return this.#ends;
  }

  has(observer: string): boolean {
    return this.#ends.has(observer);
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

  /** Whether a look of that time was made under a mandate before. */
  isPast(observer: string, atMs: number, hasSite: boolean): boolean {
    return this.#ends.has(observer) && (!hasSite || atMs < this.#givenMs);
  }

  /** Of one that had the site before, and perhaps has it again. */
  heard(url: string, observer: string, endedAtMs: number): void {
    if (this.#ends.has(observer)) this.#heard.set(url, { observer, endedAtMs });
  }

  /** For an errand to one that had the site before: which of its looks have arrived. */
  arrived(url: string, observer: string): { readonly arrivedMs?: number } {
    if (!this.#ends.has(observer)) return {};
    const heard = this.#heard.get(url);
    return { arrivedMs: heard?.observer === observer ? heard.endedAtMs : 0 };
  }
}
