/**
 * The coordinator's side of observers: who is there, which site each of them has, what they report and whether to believe it.
 *
 * A site under mandate is looked at by its observer and by nobody else until the observer has let go of it or the mandate
 * must have run out, counted from the last errand by our clock; so politeness holds without a link, too. Which observer has
 * a site is kept in the store before the first errand goes out, and whoever takes over the shard goes by it.
 *
 * An observer is believed while its reports are whole and, now and then, a look from home agrees with them. One that fails
 * three times loses its sites for a day.
 */
import type { VantageDocument } from '@revisit/core';
import type { Observation, ObserverReport, Page, PageState, Probe } from 'revisit/ports';
import { type Errand, type ObservedPage, bodyOf, fingerprint, implausible, unpackReport } from './errand.ts';
import { Bodies } from './bodies.ts';
import { Roster, type RosterParts, type Word } from './roster.ts';
import {
  type SiteBook,
  freshBook,
  fromOf,
  keepPace,
  learnLink,
  linkOf,
  looksPerDay,
  looksPerErrand,
} from './site-book.ts';
import { type ObserverFacts, whereFrom } from './vantage-points.ts';

/**
 * The next errand comes no sooner than after this share of them: less than all, so that it shows when more looks are wanted
 * and the pace can follow; not at once, or the observer would look so often that the budget is in debt for minutes.
 */
const leastShare = 0.5;
/**
 * A site is tried from an observer so many times, and as often again after some seconds, and after twice as long each time,
 * up to a day: a moment in which a machine was busy must not decide for long.
 */
const triesAtOnce = 4;
const tryAgainMsMin = 15_000;
const tryAgainMsMax = 86_400_000;
/** How long a site waits for the answers to its errands before it is given to another: then it stays where it is. */
const answersMsMax = 2_000;
const answersPollMs = 20;
/** One errand in so many is carried out from home instead, to compare. */
const auditEvery = 50;
interface Watched {
  readonly page: Page;
  readonly state: PageState;
}

export interface FleetParts extends RosterParts {
  readonly mandateMs: number;
  readonly spacingMs: number;
  readonly pageOf: (id: string) => Watched | undefined;
  readonly everyPage: () => Iterable<Watched>;
  readonly probeNow: (id: string) => void;
  readonly remember: (site: string, observer: string | undefined) => Promise<void>;
}

export class Fleet {
  readonly #parts: FleetParts;
  readonly #roster: Roster;
  readonly #sites = new Map<string, SiteBook>();
  readonly #bodies = new Bodies();
  /** What each observer was told of which pages: probe key to their settings. */
  readonly #said = new Map<string, string>();

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#roster = new Roster(parts);
  }

  #site(site: string): SiteBook {
    let book = this.#sites.get(site);
    if (!book) this.#sites.set(site, (book = freshBook()));
    return book;
  }

  /** What the last holder of a shard had given away: under mandate for as long as the longest may last. */
  restore(site: string, observer: string): void {
    const book = this.#site(site);
    book.observer = observer;
    book.mandateEndsMs = this.#parts.clock.nowMs() + this.#parts.mandateMs;
  }

  /** The shard's sites are another's. */
  forget(whose: (site: string) => boolean): void {
    for (const site of this.#sites.keys()) if (whose(site)) this.#sites.delete(site);
  }

  heard(name: string, word: Word): void {
    this.#roster.heard(name, word);
    const overtaken: string[] = [];
    for (const id of word.stirred) {
      const page = this.#parts.pageOf(id)?.page;
      if (!page) continue;
      const book = this.#sites.get(page.site);
      if (book?.observer === name) this.#urge(book, page.url, id);
      else overtaken.push(id);
    }
    // Its site is looked at from elsewhere by now: what it found before that would be told after what is newer.
    if (overtaken.length > 0) void this.#roster.ask(name, { forget: overtaken }).catch(() => {});
  }

  /** Something was found there and waits to be fetched. */
  #urge(book: SiteBook, url: string, id: string): void {
    const pace = book.pace.get(url);
    if (pace) pace.urged = true;
    this.#parts.probeNow(id);
  }

  measure(): Promise<void> {
    return this.#roster.measure();
  }

  /** Thinks again about where each site is observed from. */
  async decide(): Promise<void> {
    if (this.#roster.size === 0) return;
    const pages = this.#pagesBySite();
    for (const [site, book] of this.#sites) {
      const nowMs = this.#parts.clock.nowMs();
      if (book.observer !== undefined && !this.#roster.isThere(book.observer)) {
        if (book.mandateEndsMs <= nowMs) await this.#give(site, book, undefined);
        continue;
      }
      const wanted = whereFrom(
        {
          home: linkOf(book.home),
          documents: this.#documentsOf(pages.get(site) ?? [], book),
          looksPerDay: looksPerDay(book),
          observer: book.observer,
        },
        this.#observersOf(book),
      );
      if (wanted !== book.observer && book.home.latency.mean !== undefined) await this.#give(site, book, wanted);
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

  #documentsOf(pages: readonly Watched[], book: SiteBook): VantageDocument[] {
    const documents: VantageDocument[] = [];
    for (const { page, state } of pages) {
      if (page.paused) continue;
      const bytes = this.#bodies.sizeOf(page.url);
      if (bytes === undefined) continue;
      const changedShare = (state.changes + 0.5) / (state.looks + 1);
      documents.push({ bytes, changedShare: Math.min(1, changedShare), compression: book.compression.mean ?? 0.1 });
    }
    return documents;
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
    await this.#alone(book, () => this.#giveNow(site, book, observer));
  }

  /**
   * Meanwhile no errand goes out, and none is under way: one that arrived after its observer had let go would be a mandate
   * that nobody counts.
   */
  async #alone<Value>(book: SiteBook, work: () => Promise<Value>): Promise<Value | undefined> {
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
    if (book.observer !== undefined && !(await this.#letGo(site, book))) return;
    await this.#parts.remember(site, observer);
    this.#parts.log('info', 'a site is observed from elsewhere', { site, from: observer ?? 'home' });
    // The budget counts every look: what was asked for once a look is now asked for once in several. Had the observer to
    // find that out, it would first look several times too often, and all other sites would wait for what it used up.
    const rarer = (observer === undefined ? 1 : looksPerErrand) / (book.observer === undefined ? 1 : looksPerErrand);
    for (const { gapMs } of book.pace.values()) gapMs.scale(rarer);
    book.observer = observer;
  }

  async #letGo(site: string, book: SiteBook): Promise<boolean> {
    const { clock, spacingMs } = this.#parts;
    if (book.mandateEndsMs <= clock.nowMs()) return true;
    try {
      const { agoMs } = await this.#roster.ask<{ agoMs?: number }>(book.observer!, { shed: site });
      // Not while it has something untold, which is being asked for.
      if (typeof agoMs !== 'number') return false;
      if (agoMs < spacingMs) await clock.sleep(spacingMs - agoMs);
      book.mandateEndsMs = -Infinity;
      for (const key of this.#said.keys()) if (key.startsWith(`${book.observer} `)) this.#said.delete(key);
      return true;
    } catch {
      return false;
    }
  }

  /** Who is to carry the probe out: an observer with its errand, or the robots. */
  async route(probe: Probe): Promise<{ readonly observer: string; readonly errand: Errand } | undefined> {
    // Without observers nothing is remembered of sites, or a million of them would be for nobody.
    if (this.#roster.size === 0 && !this.#sites.has(probe.site)) return undefined;
    const { clock } = this.#parts;
    const book = this.#site(probe.site);
    while (book.moving) await book.moving;
    const nowMs = clock.nowMs();
    keepPace(book, probe.url, nowMs);
    if (book.observer === undefined) {
      const trial = this.#trial(book, nowMs);
      return trial === undefined ? undefined : this.#errand(trial, book, probe, 0);
    }
    book.errands++;
    const audits = book.errands % auditEvery === 0 && this.#roster.isThere(book.observer);
    if (audits && (await this.#alone(book, () => this.#letGo(probe.site, book)))) return undefined;
    return this.#errand(book.observer, book, probe, this.#parts.mandateMs);
  }

  /** An observer that has not been tried at the site looks a few times, without a mandate. */
  #trial(book: SiteBook, nowMs: number): string | undefined {
    if (book.home.latency.mean === undefined) return undefined;
    for (const { name } of this.#roster.all()) {
      const from = fromOf(book, name);
      const often = Math.floor(from.tries / triesAtOnce);
      const restMs = from.tries % triesAtOnce > 0 ? 0 : Math.min(tryAgainMsMax, tryAgainMsMin * 2 ** (often - 1));
      if (!this.#roster.isThere(name) || (from.tries > 0 && nowMs - from.triedMs < restMs)) continue;
      from.tries++;
      from.triedMs = nowMs;
      return name;
    }
    return undefined;
  }

  #errand(observer: string, book: SiteBook, probe: Probe, forMs: number): { observer: string; errand: Errand } {
    const pages: ObservedPage[] = probe.pageIds.flatMap((id) => {
      const page = this.#parts.pageOf(id)?.page;
      return page ? [{ id, select: page.select, options: page.options }] : [];
    });
    const key = `${observer} ${probe.url}`;
    const settings = JSON.stringify(pages);
    const saidBefore = forMs > 0 && this.#said.get(key) === settings;
    if (forMs > 0) this.#said.set(key, settings);
    const everyMs = this.#everyMs(book, probe.url);
    const sinceMs = this.#roster.get(observer)?.word.atMs ?? 0;
    book.mandateEndsMs = Math.max(book.mandateEndsMs, this.#parts.clock.nowMs() + forMs);
    const base = this.#bodies.printOf(probe.url) ?? '';
    book.underWay++;
    return {
      observer,
      errand: { probe, mandate: { everyMs, forMs, sinceMs }, base, ...(saidBefore ? {} : { pages }) },
    };
  }

  /** Between two looks of the observer that has the site. */
  #everyMs(book: SiteBook, url: string): number {
    return Math.max(this.#parts.spacingMs, (book.pace.get(url)?.gapMs.mean ?? 60_000) / looksPerErrand);
  }

  /** The errand has been answered, or given up, or never went out. */
  ended(site: string): void {
    const book = this.#sites.get(site);
    if (book) book.underWay = Math.max(0, book.underWay - 1);
  }

  /** The observer has never heard of these pages: the next errand says it all. */
  unknown(observer: string, probe: Probe): void {
    this.#said.delete(`${observer} ${probe.url}`);
  }

  sent(observer: string, bytes: number): void {
    const member = this.#roster.get(observer);
    if (member) member.errandBytes += bytes;
  }

  /** When an errand to an observer that is away may be given up: its mandate, and every other, has run out by then. */
  lostAtMs(observer: string, site: string): number {
    return this.#roster.isThere(observer) ? Infinity : (this.#sites.get(site)?.mandateEndsMs ?? -Infinity);
  }

  /** What robots saw: the links from home, the sizes, and whether an observer told the truth. */
  fromHome(observation: Observation): void {
    if (this.#roster.size === 0) return;
    const { probe, outcome } = observation;
    const book = this.#site(probe.site);
    learnLink(book.home, observation);
    if (outcome.kind !== 'fetched') return;
    const print = fingerprint(outcome.body);
    const before = this.#bodies.printOf(probe.url);
    if (book.observer !== undefined && before !== undefined && before !== print) book.contested.set(probe.url, before);
    this.#bodies.keep(probe.url, outcome.body, print);
  }

  /** An observer's report as the observation it stands for; undefined when it is not to be believed. */
  read(observer: string, bytes: Uint8Array, probe: Probe): Observation | undefined {
    const member = this.#roster.get(observer);
    const received = unpackReport(bytes);
    if (!member) return undefined;
    const wrong = received ? implausible(received) : 'it cannot be read';
    if (!received || wrong !== undefined) return this.#roster.strike(member, wrong!);
    const { report } = received;
    const { outcome } = report.observation;
    member.reportBytes += bytes.length;
    member.wholeBytes += report.wholeBytes;
    member.looks += report.looks;
    const book = this.#site(probe.site);
    learnLink(fromOf(book, observer), report.observation);
    if (outcome.kind !== 'fetched') return { ...report.observation, probe };
    const base = this.#bodies.bodyOf(probe.url);
    const body = bodyOf(received, base);
    if (!body) {
      this.#bodies.drop(probe.url);
      // A difference from a copy that we have lost is nobody's lie.
      return base && report.what !== 'same' ? this.#roster.strike(member, 'it is not what it says it is') : undefined;
    }
    if (book.contested.get(probe.url) === report.fingerprint) {
      book.contested.delete(probe.url);
      this.#roster.strike(member, 'a look from home saw another page');
    } else if (book.contested.delete(probe.url)) member.strikes = 0;
    const known = book.observer === observer && book.pace.get(probe.url)?.gapMs.mean !== undefined;
    const watched = known ? { watchedForMs: leastShare * looksPerErrand * this.#everyMs(book, probe.url) } : {};
    if (report.more > 0) for (const id of probe.pageIds) this.#urge(book, probe.url, id);
    if (report.what === 'difference') book.compression.learn(received.payload.length / Math.max(1, body.length));
    this.#bodies.keep(probe.url, body, report.fingerprint);
    return {
      ...report.observation,
      probe,
      outcome: { ...outcome, body },
      ...watched,
    };
  }

  reports(): readonly ObserverReport[] {
    return this.#roster.all().map((member) => {
      const sites = [...this.#sites].filter(([, book]) => book.observer === member.name).map(([site]) => site);
      const linkBytes = member.errandBytes + member.reportBytes;
      return {
        name: member.name,
        state: this.#roster.standing(member),
        sites,
        places: member.word.places,
        looks: member.looks,
        reports: member.word.reports,
        latencyMs: member.latency.mean === undefined ? null : member.latency.mean * 1000,
        linkBytes,
        savedBytes: Math.max(0, member.wholeBytes - linkBytes),
      };
    });
  }
}
