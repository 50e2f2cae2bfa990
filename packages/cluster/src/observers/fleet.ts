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
import { type Observation, type ObserverReport, type Probe, ignoredOf } from 'revisit/ports';
import {
  type Errand,
  type Mandate,
  type ObservedPage,
  type ReceivedReport,
  type Report,
  bodyOf,
  fingerprint,
  implausible,
  unpackReport,
} from './errand.ts';
import { handedBack } from '../dispatch/wire.ts';
import { Arrivals } from './arrivals.ts';
import { Bodies } from './bodies.ts';
import { Mandates, type MandatesParts } from './mandates.ts';
import { Placement, type PlacementParts } from './placement.ts';
import { awaitedAt, reportsOf } from './observer-reports.ts';
import { type Member, Roster, type Word } from './roster.ts';
import { type SiteBook, type Watched, freshBook, fromOf, learnLink, requestsPerLook, stillTrue } from './site-book.ts';
import { nextTrial, rests } from './trials.ts';

/** Looks of the observer's own between two errands. */
const looksPerErrand = 4;
/** Between two looks at a page of which the plan has not said how often it is wanted. */
const unplannedMs = 60_000;
/** One errand in so many is carried out from home instead, to compare. */
const auditEvery = 50;
/** Then home asks the site itself: one that is only tried could keep a site shut by saying so. */
const doubtedHoldMsMax = 600_000;

/** For the eyes of somebody who may want to watch the page: it is no look, so nothing that looks are held against follows from it. */
const isPeek = ({ pageIds }: Probe): boolean => pageIds.length === 0;

export interface FleetParts extends PlacementParts, MandatesParts {
  readonly mandateMs: number;
  readonly pageOf: (id: string) => Watched | undefined;
  readonly probeSoon: (id: string) => void;
  /** Keeps it where a successor finds it: what was lent to the observer is lent to this life of it from now on. */
  readonly outlive: (observer: string, life: string) => void;
}

export class Fleet {
  readonly #parts: FleetParts;
  readonly #roster: Roster;
  readonly #sites = new Map<string, SiteBook>();
  readonly #bodies = new Bodies();
  readonly #arrivals = new Arrivals();
  readonly #mandates: Mandates;
  readonly #placement: Placement;

  constructor(parts: FleetParts) {
    this.#parts = parts;
    this.#roster = new Roster(parts);
    this.#mandates = new Mandates(parts);
    const known = { sites: this.#sites, roster: this.#roster, mandates: this.#mandates, bodies: this.#bodies };
    this.#placement = new Placement(parts, known);
  }

  #site(site: string): SiteBook {
    let book = this.#sites.get(site);
    if (!book) this.#sites.set(site, (book = freshBook()));
    return book;
  }

  /**
   * What the last holder of a shard had given away, and to which life of whom: under mandate for as long as the longest may last, or until
   * another life says that this one is over.
   */
  restore(site: string, observer: string, given = '', life?: string): void {
    const book = this.#site(site);
    book.observer = observer;
    book.given = given;
    book.life = life;
    book.mandateEndsMs = this.#parts.clock.nowMs() + this.#parts.mandateMs;
  }

  /** Whose mandates there had run out, and when. */
  restorePast(site: string, past: ReadonlyMap<string, number>): void {
    const book = this.#site(site);
    for (const [observer, endedMs] of past) book.past.ended(observer, endedMs);
  }

  /** The shard's sites are another's. What was read and not kept before that is told again, if the shard should come back. */
  forget(whose: (site: string) => boolean): void {
    this.#bodies.forget(whose);
    this.#arrivals.forget(whose);
    for (const site of this.#sites.keys()) {
      if (!whose(site)) continue;
      this.#sites.delete(site);
      this.#mandates.endAt(site, this.#parts.clock.nowMs());
    }
  }

  heard(name: string, word: Word): void {
    this.#roster.heard(name, word);
    if (word.leaves) this.#left(name);
    else if (word.life !== undefined) this.#lives(name, word.life);
    for (const id of word.stirred) {
      const page = this.#parts.pageOf(id)?.page;
      if (!page) continue;
      const { observer, past, claims } = this.#site(page.site);
      const isPast = observer !== name && past.has(name);
      if (isPast) past.owes(page.url, name);
      // What was found there waits to be fetched.
      if (isPast || observer === name) this.#parts.probeSoon(id);
      // It had no mandate there that anybody knows of: home looks first, when the plan wants that.
      else if (this.#roster.isThere(name)) claims.stirred(page.url, name, this.#parts.clock.nowMs());
    }
  }

  /** Nobody asks for pages that somebody looks at by itself, and whoever did may be dead. */
  #lives(name: string, life: string): void {
    const lapsed = this.#placement.lapse(name, life, this.#parts.mandateMs);
    if (!lapsed) return;
    this.#parts.outlive(name, life);
    for (const id of lapsed) this.#parts.probeSoon(id);
  }

  /** All that follows from these probes is kept, or nothing does. */
  kept(probeIds: readonly string[]): void {
    this.#arrivals.ended(probeIds);
  }

  /** Its mandates are at an end; a site that it has just looked at waits for its spacing. */
  #left(name: string): void {
    const freeMs = this.#parts.clock.nowMs() + this.#parts.spacingMs;
    for (const book of this.#sites.values())
      if (book.observer === name) book.mandateEndsMs = Math.min(book.mandateEndsMs, freeMs);
  }

  measure(): Promise<void> {
    return this.#roster.measure();
  }

  /** What home needs comes back at once from those who can be reached; the others have it until their mandates end. */
  recall(): Promise<void> {
    return this.#placement.recall();
  }

  /** Thinks again about where each site is observed from. */
  decide(): Promise<void> {
    return this.#placement.decide();
  }

  /** Before this process ends: sites of observers that have left come home, so that whoever follows need not wait for their mandates. */
  bringHome(waitMsMax: number): Promise<void> {
    return this.#placement.bringHome(waitMsMax);
  }

  /** Who is to carry the probe out: an observer with its errand, or the robots. */
  async route(probe: Probe): Promise<{ readonly observer: string; readonly errand: Errand } | undefined> {
    // Without observers nothing is remembered of sites, or a million of them would be for nobody.
    if (this.#roster.size === 0 && !this.#sites.has(probe.site)) return undefined;
    const book = this.#site(probe.site);
    while (book.moving) await book.moving;
    const nowMs = this.#parts.clock.nowMs();
    if (probe.plannedMs !== undefined) book.plannedMs.set(probe.url, probe.plannedMs);
    const once = { everyMs: this.#parts.spacingMs, forMs: 0 };
    const peeks = isPeek(probe);
    const owing = peeks ? undefined : (book.past.takeOwed(probe.url) ?? book.claims.owed(probe.url));
    if (owing !== undefined && owing !== book.observer && this.#roster.isThere(owing))
      return this.#errand(owing, book, probe, once, { foundOnly: true });
    if (book.observer === undefined) {
      const isKnown = !peeks && this.#bodies.printOf(probe.url) !== undefined;
      const trial = isKnown ? nextTrial(book, probe.url, this.#roster, nowMs) : undefined;
      return trial === undefined ? undefined : this.#errand(trial, book, probe, once);
    }
    if (peeks) return this.#errand(book.observer, book, probe, once);
    book.errands++;
    const audits = book.errands % auditEvery === 0 && this.#roster.isThere(book.observer);
    if (audits && (await this.#placement.alone(book, () => this.#placement.letGo(probe.site, book)))) return undefined;
    const waits = this.#placement.othersWait(probe.url);
    return this.#errand(book.observer, book, probe, waits ? once : this.#mandate(book.observer, book, probe, nowMs));
  }

  /** As often as the plan wants it, as far as there is something to lend; else it is looked at only when it is asked for. */
  #mandate(observer: string, book: SiteBook, { site, url }: Probe, nowMs: number): Pick<Mandate, 'everyMs' | 'forMs'> {
    const { spacingMs, mandateMs } = this.#parts;
    const everyMs = Math.max(1, spacingMs, book.plannedMs.get(url) ?? unplannedMs);
    // It counts from its last word, so one that is away gets no more time by being asked.
    const endsMs = (this.#roster.get(observer)?.heardMs ?? -Infinity) + mandateMs;
    if (endsMs <= nowMs) return { everyMs, forMs: 0 };
    const requests = 1000 * requestsPerLook(book);
    const perSecond = this.#mandates.lend(site, url, requests / everyMs, nowMs, endsMs);
    if (perSecond === 0) return { everyMs, forMs: 0 };
    book.mandateEndsMs = Math.max(book.mandateEndsMs, endsMs);
    return { everyMs: requests / perSecond, forMs: mandateMs };
  }

  #errand(
    observer: string,
    book: SiteBook,
    probe: Probe,
    { everyMs, forMs }: Pick<Mandate, 'everyMs' | 'forMs'>,
    only: Pick<Errand, 'foundOnly'> = {},
  ): { observer: string; errand: Errand } {
    const pages: ObservedPage[] = probe.pageIds.flatMap((id) => {
      const watched = this.#parts.pageOf(id);
      if (!watched) return [];
      const { select, options } = watched.page;
      return [{ id, select, options, noise: ignoredOf(watched.state.detectState) }];
    });
    const settings = JSON.stringify(pages);
    const saidBefore = forMs > 0 && book.said.get(probe.url) === settings;
    if (forMs > 0) book.said.set(probe.url, settings);
    const sinceMs = this.#roster.get(observer)?.word.atMs ?? 0;
    if (only.foundOnly) book.foundOnly.add(probe.url);
    const base = (isPeek(probe) ? undefined : this.#bodies.printOf(probe.url)) ?? '';
    const mandate = { everyMs, forMs, sinceMs };
    const given = book.observer === observer ? { given: book.given } : {};
    const about = saidBefore ? {} : { pages, ...given };
    const known = { ...this.#arrivals.of(probe.url, observer), ...only, ...about };
    book.underWay++;
    return { observer, errand: { probe, mandate, base, ...known } };
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
  unknown({ site, url }: Probe): void {
    this.#sites.get(site)?.said.delete(url);
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
    if (isPeek(probe)) return;
    if (outcome.kind !== 'fetched') {
      if (outcome.kind === 'not-modified' || outcome.kind === 'gone')
        this.#holdAgainst(book, probe, outcome.kind === 'gone' ? '' : undefined);
      return;
    }
    const [print, before] = [fingerprint(outcome.body), this.#bodies.printOf(probe.url)];
    this.#holdAgainst(book, probe, print);
    // What left before the observer's last word is older than that, however late it comes.
    if (probe.atMs < (book.toldMs.get(probe.url) ?? -Infinity)) return;
    if (book.observer !== undefined) book.auditedMs.set(probe.url, probe.atMs);
    if (book.observer !== undefined && before !== undefined && before !== print)
      book.contested.set(probe.url, { print: before, atMs: this.#parts.clock.nowMs() });
    this.#bodies.keep(probe, outcome.body, print);
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
    // Of when it looked only its age is believed: its clock may be minutes off.
    const told = { ...report.observation, probe, toldAfterMs: report.agoMs };
    member.reportBytes += bytes.length;
    member.wholeBytes += report.wholeBytes;
    member.looks += report.looks;
    member.reports++;
    const book = this.#site(probe.site);
    const from = fromOf(book, observer);
    const first = from.latency.mean === undefined;
    learnLink(from, report.observation);
    this.#mandates.told(probe.site, probe.url, report.overMs);
    // The first look from there asks for robots.txt, which others do once a day: no measure of what is to be lent.
    if (report.looks > 0 && !first) book.requestsPerLook.learn(report.observation.requests / report.looks);
    const requests = this.#ownRequests(probe, report);
    const back = (why: string): Observation => ({ ...handedBack(probe, this.#parts.clock.nowMs(), why), requests });
    const isOnlyFound = !isPeek(probe) && book.foundOnly.delete(probe.url);
    if (report.finding === undefined && !isPeek(probe)) this.#arrivals.known(probe.url, observer);
    if (isOnlyFound && report.finding === undefined) {
      book.claims.settle(probe.url, observer);
      return back('It has nothing more to tell.');
    }
    const isOurs = book.observer === observer;
    const lookedMs = this.#parts.clock.nowMs() - report.agoMs;
    const isOvertaken = report.given !== book.given || lookedMs < (book.auditedMs.get(probe.url) ?? -Infinity);
    const isBygone = report.finding !== undefined && (!isOurs || isOvertaken);
    const isBelieved = isOurs || (report.given !== undefined && book.past.has(observer));
    if (isBygone && (isBelieved || book.claims.isOvertaken(probe.url, observer)))
      return this.#past(member, received, { ...told, requests }, isBelieved);
    const isTurnedAway = outcome.kind === 'refused' && outcome.fault.code === 'turned-away';
    // That a site turned somebody away is believed of anybody, for a while: home could find out only by asking it.
    if (!isOurs && isTurnedAway && outcome.siteUntilMs !== undefined) {
      const siteUntilMs = Math.min(outcome.siteUntilMs, report.observation.endedAtMs + doubtedHoldMsMax);
      return { ...told, requests, outcome: { ...outcome, siteUntilMs } };
    }
    if (!isOurs && !isPeek(probe) && this.#claims(observer, book, probe, report))
      return back('Home looks before it is believed.');
    if (outcome.kind !== 'fetched') return { ...told, ...this.#arrivals.read(probe, observer, report), requests };
    const base = this.#bodies.bodyOf(probe.url);
    const body = bodyOf(received, base);
    if (!body) {
      this.#bodies.drop(probe.url);
      // A difference from a copy that we have lost is nobody's lie.
      return base && report.what !== 'same' ? this.#roster.strike(member, 'it is not what it says it is') : undefined;
    }
    const observation = { ...told, requests, outcome: { ...outcome, body } };
    if (isPeek(probe)) return observation;
    const isTrue = stillTrue(book, probe.url, report, this.#parts.clock.nowMs());
    if (isTrue === false) this.#roster.strike(member, 'a look from home saw another page');
    else if (isTrue) member.strikes = 0;
    if (report.more > 0) for (const id of probe.pageIds) this.#parts.probeSoon(id);
    if (report.what === 'difference') book.compression.learn(received.payload.length / Math.max(1, body.length));
    this.#bodies.keep(probe, body, report.fingerprint);
    const known = this.#arrivals.read(probe, observer, report);
    return { ...observation, ...known, ...(isOurs ? this.#watched(book, probe) : {}) };
  }

  /**
   * Found under a mandate that has run out, or without one; home has looked since, and what it saw stays the copy that all is held
   * against.
   */
  #past(member: Member, received: ReceivedReport, told: Observation, isBelieved: boolean): Observation | undefined {
    const { probe, outcome } = told;
    const { report } = received;
    const body = outcome.kind === 'fetched' ? bodyOf(received, this.#bodies.bodyOf(probe.url)) : undefined;
    if (outcome.kind === 'fetched' && !body) {
      this.#bodies.drop(probe.url);
      return report.what === 'whole' ? this.#roster.strike(member, 'it is not what it says it is') : undefined;
    }
    const { name } = member;
    const { past, observer, given } = this.#site(probe.site);
    // The rest of it before home looks again, which would take it for what is there now; or that all of it has arrived.
    if (isBelieved && observer !== name) past.owes(probe.url, name);
    const isTried = report.given === undefined;
    const seen = outcome.kind === 'fetched' ? { ...outcome, body: body! } : outcome;
    const isEnded = !isTried && (observer !== name || report.given !== given);
    const endedAgoMs = isEnded ? past.endedAgoMs(name, this.#parts.clock.nowMs()) : 0;
    return {
      ...told,
      ...this.#arrivals.read(probe, name, report),
      toldAfterMs: Math.max(report.agoMs, endedAgoMs),
      outcome: seen,
      overtaken: {
        more: report.more > 0,
        ...(isTried ? { triedFrom: name } : {}),
        ...(isBelieved
          ? {}
          : { doubted: true as const, earlierMs: Math.max(0, this.#parts.clock.nowMs() - probe.atMs) }),
      },
    };
  }

  /** Whoever is only tried is measured and not believed: that it saw something else than home is for home to say. */
  #claims(observer: string, book: SiteBook, { url, atMs: leftMs }: Probe, report: Report): boolean {
    const { fingerprint: print, finding } = report;
    const before = this.#bodies.printOf(url) ?? '';
    const { kind } = report.observation.outcome;
    if (kind === 'fetched' && print === before) {
      book.claims.agrees(observer);
      return false;
    }
    const saw = kind === 'fetched' || kind === 'gone' ? print : undefined;
    const atMs = this.#parts.clock.nowMs();
    // However long the report was under way: it says how old the finding was when it left, and that was after the errand did.
    const isEarlier = finding !== undefined && leftMs - report.agoMs < (book.homeMs.get(url) ?? -Infinity);
    book.claims.say(url, { observer, print: saw, before, atMs, finding, ...(isEarlier ? { isEarlier } : {}) });
    return true;
  }

  /** Home has looked too: what of a claim is told by that, asked for, or not believed. */
  #holdAgainst(book: SiteBook, { site, url, atMs, pageIds }: Probe, print: string | undefined): void {
    book.homeMs.set(url, Math.max(atMs, book.homeMs.get(url) ?? -Infinity));
    const held = book.claims.heldAgainst(url, atMs, print);
    if (!held) return;
    const { observer, finding, verdict } = held;
    if (verdict === 'overtaken') for (const id of pageIds) this.#parts.probeSoon(id);
    else if (finding !== undefined) void this.#roster.ask(observer, { forget: [finding] }).catch(() => {});
    if (verdict === 'contradicted' && rests(book, observer, this.#parts.clock.nowMs()))
      this.#parts.log('warn', 'an observer sees another page than home does', { site, observer });
  }

  /** Who has the site and cannot be reached, and until when it may be looking there. */
  awaited(site: string): ReturnType<typeof awaitedAt> {
    return awaitedAt(this.#roster, this.#sites.get(site), site, this.#parts.clock.nowMs());
  }

  reports(): readonly ObserverReport[] {
    return reportsOf(this.#roster, this.#sites, this.#parts.clock.nowMs());
  }
}
