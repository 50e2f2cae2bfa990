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
import type { Observation, ObserverReport, Probe } from 'revisit/ports';
import {
  type Errand,
  type Mandate,
  type ObservedPage,
  type Report,
  bodyOf,
  fingerprint,
  implausible,
  unpackReport,
} from './errand.ts';
import { Bodies } from './bodies.ts';
import { Mandates, type MandatesParts } from './mandates.ts';
import { Roster, type RosterParts, type Word } from './roster.ts';
import {
  type SiteBook,
  type Watched,
  documentsOf,
  freshBook,
  fromOf,
  learnLink,
  linkOf,
  looksPerDay,
  requestsPerLook,
} from './site-book.ts';
import { type ObserverFacts, whereFrom } from './vantage-points.ts';

/** Looks of the observer's own between two errands. */
const looksPerErrand = 4;
/** Between two looks at a page of which the plan has not said how often it is wanted. */
const unplannedMs = 60_000;
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

export interface FleetParts extends RosterParts, MandatesParts {
  readonly mandateMs: number;
  readonly spacingMs: number;
  readonly pageOf: (id: string) => Watched | undefined;
  readonly everyPage: () => Iterable<Watched>;
  readonly pageCount: () => number;
  readonly probeNow: (id: string) => void;
  readonly remember: (site: string, observer: string | undefined) => Promise<void>;
}

export class Fleet {
  readonly #parts: FleetParts;
  readonly #roster: Roster;
  readonly #sites = new Map<string, SiteBook>();
  readonly #bodies = new Bodies();
  readonly #mandates: Mandates;
  /** What each observer was told of which pages: probe key to their settings. */
  readonly #said = new Map<string, string>();

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#roster = new Roster(parts);
    this.#mandates = new Mandates(parts);
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
    for (const site of this.#sites.keys()) {
      if (!whose(site)) continue;
      this.#sites.delete(site);
      this.#mandates.endAt(site, this.#parts.clock.nowMs());
    }
  }

  heard(name: string, word: Word): void {
    this.#roster.heard(name, word);
    const overtaken: string[] = [];
    for (const id of word.stirred) {
      const page = this.#parts.pageOf(id)?.page;
      if (!page) continue;
      // What was found there waits to be fetched.
      if (this.#sites.get(page.site)?.observer === name) this.#parts.probeNow(id);
      else overtaken.push(id);
    }
    // Its site is looked at from elsewhere by now: what it found before that would be told after what is newer.
    if (overtaken.length > 0) void this.#roster.ask(name, { forget: overtaken }).catch(() => {});
  }

  measure(): Promise<void> {
    return this.#roster.measure();
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
    this.#mandates.endAt(site, this.#parts.clock.nowMs());
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
      this.#mandates.endAt(site, clock.nowMs());
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
    if (probe.plannedMs !== undefined) book.plannedMs.set(probe.url, probe.plannedMs);
    if (book.observer === undefined) {
      const trial = this.#trial(book, nowMs);
      const once = { everyMs: this.#parts.spacingMs, forMs: 0 };
      return trial === undefined ? undefined : this.#errand(trial, book, probe, once);
    }
    book.errands++;
    const audits = book.errands % auditEvery === 0 && this.#roster.isThere(book.observer);
    if (audits && (await this.#alone(book, () => this.#letGo(probe.site, book)))) return undefined;
    return this.#errand(book.observer, book, probe, this.#mandate(book, probe, nowMs));
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

  /** As often as the plan wants it, as far as there is something to lend; else it is looked at only when it is asked for. */
  #mandate(book: SiteBook, { site, url }: Probe, nowMs: number): Pick<Mandate, 'everyMs' | 'forMs'> {
    const { spacingMs, mandateMs } = this.#parts;
    const everyMs = Math.max(1, spacingMs, book.plannedMs.get(url) ?? unplannedMs);
    const requests = 1000 * requestsPerLook(book);
    const perSecond = this.#mandates.lend(site, url, requests / everyMs, nowMs, nowMs + mandateMs);
    return perSecond > 0 ? { everyMs: requests / perSecond, forMs: mandateMs } : { everyMs, forMs: 0 };
  }

  #errand(
    observer: string,
    book: SiteBook,
    probe: Probe,
    { everyMs, forMs }: Pick<Mandate, 'everyMs' | 'forMs'>,
  ): { observer: string; errand: Errand } {
    const pages: ObservedPage[] = probe.pageIds.flatMap((id) => {
      const page = this.#parts.pageOf(id)?.page;
      return page ? [{ id, select: page.select, options: page.options }] : [];
    });
    const key = `${observer} ${probe.url}`;
    const settings = JSON.stringify(pages);
    const saidBefore = forMs > 0 && this.#said.get(key) === settings;
    if (forMs > 0) this.#said.set(key, settings);
    const sinceMs = this.#roster.get(observer)?.word.atMs ?? 0;
    book.mandateEndsMs = Math.max(book.mandateEndsMs, this.#parts.clock.nowMs() + forMs);
    const base = this.#bodies.printOf(probe.url) ?? '';
    book.underWay++;
    return {
      observer,
      errand: { probe, mandate: { everyMs, forMs, sinceMs }, base, ...(saidBefore ? {} : { pages }) },
    };
  }

  /** What was asked for before this coordinator lent anything counts where it was lent; here it would be a debt of nobody's making. */
  #ownRequests({ site, url }: Probe, { observation: { requests }, overMs }: Report): number {
    const oursMs = this.#parts.clock.nowMs() - (this.#mandates.firstMs(site, url) ?? -Infinity);
    return oursMs < overMs ? Math.ceil((requests * oursMs) / overMs) : requests;
  }

  /** Nobody need ask while its observer looks on; but of a page that is not planned yet the plan must say how often. */
  #watched(book: SiteBook, { site, url }: Probe): Pick<Observation, 'watchedForMs'> {
    const perSecond = this.#mandates.perSecondOf(site, url);
    if (perSecond === 0 || !book.plannedMs.has(url)) return {};
    const everyMs = (1000 * requestsPerLook(book)) / perSecond;
    return { watchedForMs: Math.min(this.#parts.mandateMs, looksPerErrand * everyMs) };
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
    const [print, before] = [fingerprint(outcome.body), this.#bodies.printOf(probe.url)];
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
    const from = fromOf(book, observer);
    const first = from.latency.mean === undefined;
    learnLink(from, report.observation);
    this.#mandates.told(probe.site, probe.url, report.overMs);
    // The first look from there asks for robots.txt, which others do once a day: no measure of what is to be lent.
    if (report.looks > 0 && !first) book.requestsPerLook.learn(report.observation.requests / report.looks);
    const requests = this.#ownRequests(probe, report);
    if (outcome.kind !== 'fetched') return { ...report.observation, requests, probe };
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
    if (report.more > 0) for (const id of probe.pageIds) this.#parts.probeNow(id);
    if (report.what === 'difference') book.compression.learn(received.payload.length / Math.max(1, body.length));
    this.#bodies.keep(probe.url, body, report.fingerprint);
    return {
      ...report.observation,
      requests,
      probe,
      outcome: { ...outcome, body },
      ...(book.observer === observer ? this.#watched(book, probe) : {}),
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
