/**
 * Whose turn it is at one site. Pure bookkeeping over times that are passed in; `site-gate.ts` waits and asks.
 *
 * States of a site:
 *   open      a request may start when fewer than `connections` are under way, `spacingMs` has passed since the last one and
 *             the period's cap is not reached
 *   closed    until `closedUntilMs`: the server said when (Retry-After), or it failed and we wait longer each time
 *   on trial  the wait is over and nothing has succeeded since: one request at a time; success opens, failure closes
 * Quiet hours close a site too, by the operator's rule, and count as neither success nor failure.
 *
 * Spacing and the cap count from the moment an answer began, not from when it was asked for: what the server sees is then never
 * closer, nor more, than the rule, however long its connection took to make. Until then a request counts as one of now.
 */

export interface SiteRules {
  readonly spacingMs: number;
  /** Requests under way at once. */
  readonly connections: number;
  /** At most `count` requests in any stretch of `periodMs`. */
  readonly cap?: { readonly count: number; readonly periodMs: number };
  /** When the site is closed by the clock: until when, or undefined while it is open. */
  readonly quietUntilMs?: (nowMs: number) => number | undefined;
}

/** First wait after a failure; doubles. */
const backoffMsMin = 10_000;
/** A site that is down for long is still seen within hours of its return. */
const backoffMsMax = 6 * 3_600_000;
/** One lost connection is no reason to doubt a site; the second in a row is. */
const failuresTolerated = 1;

export class Gate {
  nextStartMs = 0;
  closedUntilMs = 0;
  underWay = 0;
  /** Entered and not begun: nobody else starts before. */
  entering = false;
  failures = 0;
  /** The last time promised to a page that was turned away. */
  promisedMs = 0;
  /** When the last request went out or was seen, as far as is known. */
  lastMs = -Infinity;
  /** When requests were seen, for the cap, oldest first, at most `cap.count`. */
  seen: number[] = [];
  /** Requests that went out and may not have been seen yet. */
  out = 0;

  /** The earliest start as far as is known now. */
  earliestMs(nowMs: number, rules: SiteRules): number {
    let atMs = Math.max(nowMs, this.nextStartMs, this.closedUntilMs);
    const { cap } = rules;
    const first = cap ? this.seen.length + this.out - cap.count : -1;
    if (cap && first >= 0) atMs = Math.max(atMs, (this.seen[first] ?? nowMs) + cap.periodMs);
    return rules.quietUntilMs?.(atMs) ?? atMs;
  }

  /** The last requests, at most so many: those that are out count as of now. */
  lastStarts(nowMs: number, count: number): number[] {
    return [...this.seen, ...Array<number>(this.out).fill(nowMs)].slice(-count);
  }

  isFull(rules: SiteRules): boolean {
    return this.entering || this.underWay >= (this.keepsFailing ? 1 : rules.connections);
  }

  enter(): void {
    this.underWay++;
    this.entering = true;
  }

  begin(nowMs: number, spacingMs: number): void {
    this.entering = false;
    this.out++;
    this.lastMs = Math.max(this.lastMs, nowMs);
    this.restUntil(nowMs + spacingMs);
  }

  /** A request counts against the cap, where there is one. */
  #count(atMs: number, { cap }: SiteRules): void {
    if (!cap) return;
    this.seen.splice(this.seen.findLastIndex((otherMs) => otherMs <= atMs) + 1, 0, atMs);
    if (this.seen.length > cap.count) this.seen.splice(0, this.seen.length - cap.count);
  }

  /** No start before then. */
  restUntil(atMs: number): void {
    this.nextStartMs = Math.max(this.nextStartMs, atMs);
  }

  /** A request of an earlier process. */
  recall(atMs: number, spacingMs: number, rules: SiteRules): void {
    this.#count(atMs, rules);
    this.lastMs = Math.max(this.lastMs, atMs);
    this.restUntil(atMs + spacingMs);
  }

  /** Entered, and nothing goes out. */
  turnBack(): void {
    this.underWay--;
    this.entering = false;
  }

  /** `seenMs` is when the server had surely seen the request: its first byte, or the end of the attempt. */
  leave(seenMs: number, spacingMs: number, rules: SiteRules): void {
    this.underWay--;
    this.out--;
    this.lastMs = Math.max(this.lastMs, seenMs);
    this.restUntil(seenMs + spacingMs);
    this.#count(seenMs, rules);
  }

  get keepsFailing(): boolean {
    return this.failures > failuresTolerated;
  }

  succeeded(): void {
    this.failures = 0;
  }

  /** `random` in [0, 1) spreads the sites that failed together. */
  failed(nowMs: number, random: number): void {
    this.failures++;
    if (this.keepsFailing) this.close(nowMs + this.#backoffMs(random));
  }

  #backoffMs(random: number): number {
    const doubled = backoffMsMin * 2 ** Math.min(30, this.failures - failuresTolerated - 1);
    return Math.min(backoffMsMax, doubled) * (0.5 + random);
  }

  /** The server itself asked to be left alone. */
  turnedAway(nowMs: number, retryAfterMs: number | undefined, random: number): void {
    const again = this.keepsFailing;
    this.failures = Math.max(this.failures, failuresTolerated);
    if (retryAfterMs === undefined) {
      this.failed(nowMs, random);
    } else {
      this.failures++;
      // A little later than asked, never earlier: others who were told the same come back on the dot.
      const saidMs = retryAfterMs * (1 + 0.05 * random) + 1000 * random;
      // Who says "at once" and turns us away at once knows no better than we do when it will be well.
      const isNoTime = again && retryAfterMs < backoffMsMin;
      this.close(nowMs + (isNoTime ? Math.max(saidMs, this.#backoffMs(random)) : saidMs));
    }
  }

  close(untilMs: number): void {
    this.closedUntilMs = Math.max(this.closedUntilMs, untilMs);
  }

  /**
   * A time to come back for a page that is turned away: each page gets its own, spaced and shaken, so that the pages of a
   * site do not all return in the moment it opens.
   */
  promise(openMs: number, spacingMs: number, spreadMsMax: number, random: number): number {
    const stepMs = Math.max(spacingMs, 100) * (1 + random);
    const lastMs = this.promisedMs > openMs + spreadMsMax ? openMs : Math.max(openMs, this.promisedMs);
    this.promisedMs = lastMs + stepMs;
    return Math.ceil(this.promisedMs);
  }

  /** Nothing is remembered that a new gate would not know. */
  isIdle(nowMs: number, rules: SiteRules): boolean {
    const capped = rules.cap && this.seen.length > 0 && this.seen.at(-1)! + rules.cap.periodMs > nowMs;
    return (
      this.underWay === 0 && this.failures === 0 && !capped && Math.max(this.nextStartMs, this.closedUntilMs) <= nowMs
    );
  }
}
