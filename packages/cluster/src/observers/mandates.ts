/**
 * What a coordinator has lent of its budget to observers, who go on looking while nobody can reach them.
 *
 *   lent     from the errand on, so many requests a second count as made, whether or not anybody can say so
 *   slowed   whoever looks has been told to look less often, because home needs it, and has said that it does
 *   told     a report counts its requests one by one; what was counted for the time that it is about is given back
 *   ended    nothing more counts; what was counted and never told, because whoever looked was lost, stays so
 *
 * Invariant: what is lent is at most `lentShare` of the budget. Where the plan wants more, each page gets its part
 * of that, as far as those who have too much have been asked since. O(1) a mandate.
 */

/**
 * The rest lets errands out, and pays for what nobody could foresee: were all of it lent, nobody could be asked before the
 * mandates end.
 */
const lentShare = 0.9;
/**
 * Of its part a page gets at least so much or nothing, and is looked at when it is asked for: what is left while others have too
 * much is soon more, because each of them gets less when it is asked next.
 */
const leastShare = 0.5;
/**
 * Nor does it get less than this share of what the plan wants: prices fall by a factor of 1024 at most, and looks go as their root.
 * Where the plan wants more, the budget is that of a coordinator which has only just got its pages.
 */
const wantedShareMin = 1 / 32;
/** While pages that nobody has seen wait at home for the budget: they and the plan take turns, as in a process by itself. */
export const paceBehind = 0.5;

interface Lent {
  readonly firstMs: number;
  wantedPerSecond: number;
  perSecond: number;
  /** The share of its part that it has. */
  pace: number;
  sinceMs: number;
  endsMs: number;
  /** Counted before the last errand, over how long, and how much of that time reports were about. */
  counted: number;
  countedMs: number;
  toldMs: number;
}

export interface MandatesParts {
  /** The coordinator's own part of the budget, in requests a second. */
  readonly budgetPerSecond: () => number;
  /** Whether pages that nobody has seen wait for the budget. */
  readonly behind: () => boolean;
  /** What is lent has become so much. */
  readonly lend: (perSecond: number) => void;
  readonly giveBack: (requests: number) => void;
}

export class Mandates {
  readonly #parts: MandatesParts;
  readonly #sites = new Map<string, Map<string, Lent>>();
  #wantedPerSecond = 0;
  #perSecond = 0;

  constructor(parts: MandatesParts) {
    this.#parts = parts;
  }

  /** Lends the URL's observer what it may use until then, in place of what it had; answers how many requests a second, 0 for none. */
  lend(site: string, url: string, wantedPerSecond: number, nowMs: number, endsMs: number): number {
    const urls = this.#sites.get(site) ?? new Map<string, Lent>();
    this.#sites.set(site, urls);
    const lent = urls.get(url) ?? fresh(nowMs);
    urls.set(url, lent);
    this.#end(lent, nowMs);
    const most = lentShare * this.#parts.budgetPerSecond();
    const pace = this.#parts.behind() ? paceBehind : 1;
    const part = wantedPerSecond * Math.min(1, most / (this.#wantedPerSecond + wantedPerSecond));
    const left = most - this.#perSecond;
    const enough = Math.max(leastShare * part, wantedShareMin * wantedPerSecond);
    const perSecond = Math.min(part, left) >= enough ? pace * Math.min(part, left) : 0;
    Object.assign(lent, { wantedPerSecond, perSecond, pace, sinceMs: nowMs, endsMs });
    this.#add(wantedPerSecond, perSecond);
    this.#parts.lend(this.#perSecond);
    return perSecond;
  }

  /** Whether a part of what the site's observer was lent is needed at home. */
  isNeeded(site: string): boolean {
    return this.#parts.behind() && [...(this.#sites.get(site)?.values() ?? [])].some(({ pace }) => pace > paceBehind);
  }

  /** The site's observer looks at all of it at that pace from now on. */
  slowed(site: string, nowMs: number): void {
    for (const lent of this.#sites.get(site)?.values() ?? []) {
      const { wantedPerSecond } = lent;
      const perSecond = paceBehind * lent.perSecond;
      this.#end(lent, nowMs);
      Object.assign(lent, { wantedPerSecond, perSecond, pace: paceBehind });
      this.#add(wantedPerSecond, perSecond);
    }
    this.#parts.lend(this.#perSecond);
  }

  /** Whether something of the site was lent from here. */
  has(site: string): boolean {
    return this.#sites.has(site);
  }

  /** When something was first lent from here for the URL; undefined where nothing was. */
  firstMs(site: string, url: string): number | undefined {
    return this.#sites.get(site)?.get(url)?.firstMs;
  }

  /** What the URL's observer may use now. */
  perSecondOf(site: string, url: string): number {
    return this.#sites.get(site)?.get(url)?.perSecond ?? 0;
  }

  /** A report has come that is about so long. */
  told(site: string, url: string, overMs: number): void {
    const lent = this.#sites.get(site)?.get(url);
    if (!lent) return;
    lent.toldMs += overMs;
    if (lent.countedMs === 0) return;
    const share = Math.min(1, lent.toldMs / lent.countedMs);
    this.#parts.giveBack(share * lent.counted);
    lent.counted *= 1 - share;
    lent.toldMs -= share * lent.countedMs;
    lent.countedMs *= 1 - share;
  }

  /** The site's observer has let go of it, or it is another coordinator's. */
  endAt(site: string, nowMs: number): void {
    for (const lent of this.#sites.get(site)?.values() ?? []) this.#end(lent, nowMs);
    this.#sites.delete(site);
    this.#parts.lend(this.#perSecond);
  }

  /** Mandates whose time has come count no more; to be called now and then. */
  endOld(nowMs: number): void {
    // Sums are made anew, or the rounding errors of many additions would add up.
    this.#wantedPerSecond = 0;
    this.#perSecond = 0;
    for (const urls of this.#sites.values())
      for (const lent of urls.values()) {
        this.#add(lent.wantedPerSecond, lent.perSecond);
        if (lent.endsMs <= nowMs) this.#end(lent, nowMs);
      }
    this.#parts.lend(this.#perSecond);
  }

  #end(lent: Lent, nowMs: number): void {
    this.#add(-lent.wantedPerSecond, -lent.perSecond);
    const passedMs = Math.max(0, nowMs - lent.sinceMs);
    lent.counted += (lent.perSecond * passedMs) / 1000;
    if (lent.perSecond > 0) lent.countedMs += passedMs;
    Object.assign(lent, { wantedPerSecond: 0, perSecond: 0, sinceMs: nowMs });
  }

  #add(wantedPerSecond: number, perSecond: number): void {
    this.#wantedPerSecond += wantedPerSecond;
    this.#perSecond += perSecond;
  }
}

function fresh(nowMs: number): Lent {
  return {
    firstMs: nowMs,
    wantedPerSecond: 0,
    perSecond: 0,
    pace: 1,
    sinceMs: nowMs,
    endsMs: nowMs,
    counted: 0,
    countedMs: 0,
    toldMs: 0,
  };
}
