/**
 * What observers without a mandate say they have seen on the pages of a site, where home has seen something else.
 *
 *   said       home has not looked since it was told, and nobody is tried at the URL meanwhile
 *   overtaken  home has looked, and sees yet another page than before, or had done so before it was told: so the page may have changed, and what
 *              the observer saw of it before that is asked for, as the past. Until then it is in the observer's journal, so whoever takes over the site loses nothing
 *   settled    home sees the same, so that it is told by that look; or sees what it saw before: nobody but the observer has
 *              seen that, and it is not believed. Or all has been asked for. The observer may let go of it
 *
 * An observer can invent no more than one edition for each time that a page really changes, each told under its name; one that home has
 * contradicted, or that was overtaken again and again without ever having seen what home did, is asked for nothing.
 */

export interface Claim {
  readonly observer: string;
  /** When it came. */
  readonly atMs: number;
  /** The fingerprint of what it saw; empty where it saw that the page is gone, undefined where it did not get to see it or has not said what. */
  readonly print: string | undefined;
  /** Of what home had seen before. */
  readonly before: string;
  /** What the observer calls it; undefined where it is in no journal. */
  readonly finding: string | undefined;
  /** It saw it before home's last look, or has only said that there is something to tell: that home sees what it saw then is nothing against it. */
  readonly isEarlier?: true;
}

/** What a look from home makes of a claim. */
export interface Held extends Claim {
  readonly verdict: 'agreed' | 'contradicted' | 'overtaken' | 'unbelieved' | 'unseen';
}

/** A page may be edited and edited back between two looks, but hardly so many times in a row. */
export const contradictedMax = 3;
/** Home is slower than some pages are edited; one that sees what home does not is contradicted long before. */
const unprovedMax = 10;
/** What one that is asked for the past can tell of one page before home looks again. */
const askedMax = 16;

export class Claims {
  readonly #said = new Map<string, Claim>();
  /** And how often each was asked for. */
  readonly #overtaken = new Map<string, { readonly claim: Claim; asked: number }>();
  /** How often in a row each observer saw what home did not, and how often it was overtaken since it last saw what home did. */
  readonly #contradicted = new Map<string, number>();
  readonly #unproved = new Map<string, number>();

  has(url: string): boolean {
    return this.#said.has(url) || this.#overtaken.has(url);
  }

  say(url: string, claim: Claim): void {
    if (!this.#overtaken.has(url)) this.#said.set(url, claim);
  }

  /** The observer has something to tell of a page for which nobody knows of a mandate. */
  stirred(url: string, observer: string, nowMs: number): void {
    if (!this.has(url) && this.#isHeard(observer))
      this.#said.set(url, { observer, atMs: nowMs, print: undefined, before: '', finding: undefined, isEarlier: true });
  }

  /** The observer has seen what home had. */
  agrees(observer: string): void {
    this.#contradicted.delete(observer);
    this.#unproved.delete(observer);
  }

  #isHeard(observer: string): boolean {
    return !this.#contradicted.has(observer) && (this.#unproved.get(observer) ?? 0) < unprovedMax;
  }

  /** Home has looked by a probe that left then, and saw this; undefined where it only heard that the page is what it was. */
  heldAgainst(url: string, leftMs: number, print: string | undefined): Held | undefined {
    const claim = this.#said.get(url);
    // A look that left before the claim came says nothing of it, however late it is told.
    if (!claim || leftMs < claim.atMs) return undefined;
    this.#said.delete(url);
    return { ...claim, verdict: this.#verdict(url, claim, print) };
  }

  #verdict(url: string, claim: Claim, print: string | undefined): Held['verdict'] {
    const { observer } = claim;
    if (claim.print === undefined && !claim.isEarlier) return 'unseen';
    // Of what it saw before home's last look, it is nothing against it that the page is what home saw then.
    if (print === undefined && (!claim.isEarlier || claim.finding === undefined)) return 'unseen';
    if (print !== undefined && print === claim.print) {
      this.agrees(observer);
      return 'agreed';
    }
    if (print === claim.before && !claim.isEarlier) {
      this.#contradicted.set(observer, this.timesContradicted(observer) + 1);
      return 'contradicted';
    }
    if (!this.#isHeard(observer)) return 'unbelieved';
    if (claim.finding === undefined && !claim.isEarlier) return 'unseen';
    if (claim.print !== undefined) this.#unproved.set(observer, (this.#unproved.get(observer) ?? 0) + 1);
    this.#overtaken.set(url, { claim, asked: 0 });
    return 'overtaken';
  }

  timesContradicted(observer: string): number {
    return this.#contradicted.get(observer) ?? 0;
  }

  /** Who is to be asked for what it saw there before home did. */
  owed(url: string): string | undefined {
    const overtaken = this.#overtaken.get(url);
    if (!overtaken) return undefined;
    if (++overtaken.asked > askedMax) this.#overtaken.delete(url);
    return overtaken.claim.observer;
  }

  isOvertaken(url: string, observer: string): boolean {
    return this.#overtaken.get(url)?.claim.observer === observer;
  }

  /** It has told of all that it saw there. */
  settle(url: string, observer: string): void {
    if (this.isOvertaken(url, observer)) this.#overtaken.delete(url);
  }
}
