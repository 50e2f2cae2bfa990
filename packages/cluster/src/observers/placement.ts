/**
 * Who has which site: home or an observer, thought over again and again, and changed only when whoever had it has let go or
 * its mandate must have run out.
 */
import type { Bodies } from './bodies.ts';
import { succeeds } from './life.ts';
import { type Mandates, paceBehind } from './mandates.ts';
import type { Roster, RosterParts } from './roster.ts';
import { type SiteBook, type Watched, documentsOf, linkOf, looksPerDay, requestsPerLook } from './site-book.ts';
import { type ObserverFacts, whereFrom } from './vantage-points.ts';

/** How long a site waits for the answers to its errands before it is given to another: then it stays where it is. */
const answersMsMax = 2_000;
const answersPollMs = 20;
/** For how long nothing is lent because pages of lapsed mandates have not been asked for: some may have gone, or rest. */
const lapsedMsMax = 60_000;

export interface PlacementParts extends RosterParts {
  readonly spacingMs: number;
  readonly budgetPerSecond: () => number;
  readonly everyPage: () => Iterable<Watched>;
  readonly pageCount: () => number;
  /** Keeps it where a successor finds it: who has the site, by which giving of it, and whose mandates there have run out, and when. */
  readonly remember: (
    site: string,
    observer: string | undefined,
    past: ReadonlyMap<string, number>,
    giving: Giving,
  ) => Promise<void>;
}

/** What the giving of a site is called, and which life of its observer it was given to. */
export interface Giving {
  readonly name: string;
  readonly life: string | undefined;
}

export class Placement {
  readonly #parts: PlacementParts;
  readonly #sites: ReadonlyMap<string, SiteBook>;
  readonly #roster: Roster;
  readonly #mandates: Mandates;
  readonly #bodies: Bodies;
  #lapsed: { readonly urls: Set<string>; readonly untilMs: number } = { urls: new Set(), untilMs: -Infinity };

  constructor(
    parts: PlacementParts,
    /** What is known of sites, of observers, of what is lent to them, and of the pages' sizes. */
    known: {
      readonly sites: ReadonlyMap<string, SiteBook>;
      readonly roster: Roster;
      readonly mandates: Mandates;
      readonly bodies: Bodies;
    },
  ) {
    this.#parts = parts;
    this.#sites = known.sites;
    this.#roster = known.roster;
    this.#mandates = known.mandates;
    this.#bodies = known.bodies;
  }

  /** Thinks again about where each site is observed from. */
  async decide(): Promise<void> {
    // Those who were given sites before this process began may be lost by now.
    if (this.#roster.size === 0 && this.#sites.size === 0) return;
    this.#mandates.endOld(this.#parts.clock.nowMs());
    const pages = this.#pagesBySite();
    for (const [site, book] of this.#sites) {
      const nowMs = this.#parts.clock.nowMs();
      if (book.observer !== undefined && !this.#roster.isThere(book.observer)) {
        if (book.mandateEndsMs <= nowMs) await this.#give(site, book, undefined);
        else if (!this.#mandates.has(site)) this.#assume(site, book, pages.get(site)?.length ?? 0);
        continue;
      }
      const wanted = whereFrom(
        {
          home: linkOf(book.home),
          documents: documentsOf(pages.get(site) ?? [], book, (url) => this.#bodies.sizeOf(url)),
          looksPerDay: looksPerDay(book, this.#parts.spacingMs),
          observer: book.observer,
        },
        this.#observersOf(book),
      );
      if (wanted !== book.observer && book.home.latency.mean !== undefined) await this.#give(site, book, wanted);
    }
  }

  /**
   * Nobody knows what whoever had the shard before lent to an observer that cannot be reached: its pages count as much as
   * others. Where it can be reached, the next errands say it anew, and reports count what was looked at before.
   */
  #assume(site: string, book: SiteBook, pages: number): void {
    const perPage = this.#parts.budgetPerSecond() / Math.max(1, this.#parts.pageCount());
    this.#mandates.lend(site, '', pages * perPage, this.#parts.clock.nowMs(), book.mandateEndsMs);
  }

  /** Whether pages of lapsed mandates wait to be asked for, other than this one, which is now: what is lent before would be lacking for them. */
  othersWait(url: string): boolean {
    this.#lapsed.urls.delete(url);
    return this.#lapsed.urls.size > 0 && this.#parts.clock.nowMs() < this.#lapsed.untilMs;
  }

  /**
   * The observer lives this life: where one before it was lent something, that is dead. It has none of those mandates any more, and still
   * its sites; answers the pages that it looked at by itself, or undefined where there is nothing to be kept of it.
   */
  lapse(observer: string, life: string, mandateMs: number): readonly string[] | undefined {
    let isNew = false;
    const dead = new Map<string, SiteBook>();
    for (const [site, book] of this.#sites) {
      if (book.observer !== observer || book.life === life) continue;
      if (succeeds(life, book.life)) dead.set(site, book);
      else isNew ||= book.life === undefined;
      // Of one from another folder nobody knows whether the one before is dead; what is lent from now on is lent to it.
      book.life = life;
    }
    if (dead.size === 0) return isNew ? [] : undefined;
    const nowMs = this.#parts.clock.nowMs();
    const pages = this.#pagesBySite();
    const lapsed = [...dead].flatMap(([site, book]) => {
      const lent = (pages.get(site) ?? []).filter((watched) => this.#wasLent(book, watched, mandateMs));
      this.#mandates.endAt(site, nowMs);
      book.said.clear();
      return lent.map(({ page }) => page);
    });
    const before = nowMs < this.#lapsed.untilMs ? this.#lapsed.urls : [];
    this.#lapsed = { urls: new Set([...before, ...lapsed.map(({ url }) => url)]), untilMs: nowMs + lapsedMsMax };
    return lapsed.map(({ id }) => id);
  }

  /** Whether its observer looked at the page by itself. What another coordinator lent nobody knows, but of such a page reports came within each mandate. */
  #wasLent(book: SiteBook, { page: { site, url, paused }, state }: Watched, mandateMs: number): boolean {
    if (paused) return false;
    if (this.#mandates.has(site))
      return (1000 * requestsPerLook(book)) / this.#mandates.perSecondOf(site, url) < mandateMs;
    return this.#parts.clock.nowMs() - (state.lastLookMs ?? -Infinity) < 2 * mandateMs;
  }

  async recall(): Promise<void> {
    const having = new Map<string, string[]>();
    for (const [site, { observer, moving, underWay }] of this.#sites) {
      // An errand that is on its way would undo it; there is time when it has been answered.
      if (observer === undefined || moving || underWay > 0 || !this.#mandates.isNeeded(site)) continue;
      if (this.#roster.isThere(observer)) having.set(observer, [...(having.get(observer) ?? []), site]);
    }
    await Promise.all([...having].map(([observer, sites]) => this.#slow(observer, sites)));
  }

  async #slow(observer: string, sites: readonly string[]): Promise<void> {
    let decided = (): void => {};
    const moving = new Promise<void>((resolve) => (decided = resolve));
    const books = sites.map((site) => this.#sites.get(site)!);
    for (const book of books) book.moving = moving;
    try {
      const answer = await this.#roster.ask<{ slowed?: true }>(observer, { slow: sites, factor: paceBehind });
      if (answer.slowed) for (const site of sites) this.#mandates.slowed(site, this.#parts.clock.nowMs());
    } catch {
      // It is away, and has what it was lent.
    } finally {
      for (const book of books) book.moving = undefined;
      decided();
    }
  }

  /** Sites of observers that have left come home as soon as their spacing is over, where that is soon. */
  async bringHome(waitMsMax: number): Promise<void> {
    const { clock } = this.#parts;
    const untilMs = clock.nowMs() + waitMsMax;
    for (const [site, book] of this.#sites) {
      if (book.observer === undefined || !this.#roster.hasLeft(book.observer) || book.mandateEndsMs > untilMs) continue;
      await clock.sleep(book.mandateEndsMs - clock.nowMs());
      // Whoever it was looks at nothing, whatever was asked of it.
      if (!book.moving) await this.#giveNow(site, book, undefined);
    }
  }

  #pagesBySite(): ReadonlyMap<string, readonly Watched[]> {
    const pages = new Map<string, Watched[]>();
    for (const watched of this.#parts.everyPage()) {
      const { site } = watched.page;
      if (!this.#sites.has(site)) continue;
      const list = pages.get(site);
      if (list) list.push(watched);
      else pages.set(site, [watched]);
    }
    return pages;
  }

  #observersOf(book: SiteBook): ObserverFacts[] {
    return this.#roster
      .all()
      .filter(({ name }) => this.#roster.isThere(name))
      .map((member) => {
        const tried = book.from.get(member.name);
        const toSite = tried?.latency.mean === undefined ? undefined : linkOf(tried);
        return { name: member.name, fromHome: linkOf(member), toSite };
      });
  }

  /** Gives the site to an observer or takes it home; whoever had it lets go of it first. */
  async #give(site: string, book: SiteBook, observer: string | undefined): Promise<void> {
    await this.alone(book, () => this.#giveNow(site, book, observer));
  }

  /**
   * Meanwhile no errand goes out, and none is under way: one that arrived after its observer had let go would be a mandate
   * that nobody counts.
   */
  async alone<Value>(book: SiteBook, work: () => Promise<Value>): Promise<Value | undefined> {
    if (book.moving) return undefined;
    let decided = (): void => {};
    book.moving = new Promise((resolve) => (decided = resolve));
    const { clock } = this.#parts;
    const untilMs = clock.nowMs() + answersMsMax;
    try {
      while (book.underWay > 0 && clock.nowMs() < untilMs) await clock.sleep(answersPollMs);
      return book.underWay > 0 ? undefined : await work();
    } finally {
      book.moving = undefined;
      decided();
    }
  }

  async #giveNow(site: string, book: SiteBook, observer: string | undefined): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    const unheard = book.observer !== undefined && book.mandateEndsMs <= nowMs;
    if (book.observer !== undefined && !(await this.letGo(site, book))) return;
    if (unheard) book.past.ended(book.observer!, nowMs);
    const given = this.#parts.clock.nowMs().toString(36);
    const life = observer === undefined ? undefined : this.#roster.get(observer)?.word.life;
    await this.#parts.remember(site, observer, book.past.all(nowMs), { name: given, life });
    if (observer === undefined) this.#parts.log('info', 'a site is looked at from home again', { site });
    else this.#parts.log('info', 'a site is looked at by an observer', { site, observer });
    this.#mandates.endAt(site, this.#parts.clock.nowMs());
    book.observer = observer;
    book.given = given;
    book.life = life;
    book.said.clear();
  }

  /** Whoever has the site lets go of it, if it can be reached; true when nobody looks there any more. */
  async letGo(site: string, book: SiteBook): Promise<boolean> {
    const { clock, spacingMs } = this.#parts;
    if (book.mandateEndsMs <= clock.nowMs()) return true;
    try {
      const { agoMs } = await this.#roster.ask<{ agoMs?: number }>(book.observer!, { shed: site });
      // Not while it has something untold, which is being asked for.
      if (typeof agoMs !== 'number') return false;
      if (agoMs < spacingMs) await clock.sleep(spacingMs - agoMs);
      book.mandateEndsMs = -Infinity;
      this.#mandates.endAt(site, clock.nowMs());
      book.said.clear();
      return true;
    } catch {
      return false;
    }
  }
}
