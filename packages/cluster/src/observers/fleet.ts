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
import type { NatsConnection } from '@nats-io/transport-node';
import type { VantageDocument } from '@revisit/core';
import type { Clock, Observation, ObserverReport, Page, PageState, Probe } from 'revisit/ports';
import { subjects } from '../dispatch/streams.ts';
import { type Errand, type ObservedPage, bodyOf, fingerprint, implausible, unpackReport } from './errand.ts';
import { Bodies } from './bodies.ts';
import { Measured, type ObserverFacts, whereFrom } from './vantage-points.ts';

/** An observer that says nothing for so long is away; it speaks every two seconds. */
const awayMs = 7_000;
const askMsMax = 2_000;
/** How much is sent to see what a byte takes, how many times, and how often when that is known: it is the larger part of an idle link. */
const sizedBytes = 65_536;
const sizedOften = 3;
const sizeEveryMs = 10 * 60_000;
/** Looks of the observer's own between two errands. */
const looksPerErrand = 4;
/** A site is tried from an observer so many times, and again when a day has passed. */
const triesMax = 4;
const tryAgainMs = 86_400_000;
/** Strikes after which an observer is not believed, and for how long. */
const strikesMax = 3;
const disbeliefMs = 86_400_000;
/** One errand in so many is carried out from home instead, to compare. */
const auditEvery = 50;
/** What a look from home costs beyond its body. */
const defaultLink = { latency: 0.05, secondsPerByte: 1e-7 };

export interface Word {
  readonly places: number;
  readonly looks: number;
  readonly reports: number;
  readonly wholeBytes: number;
  readonly sentBytes: number;
  readonly stirred: readonly string[];
}

interface Member {
  readonly name: string;
  heardMs: number;
  word: Word;
  readonly latency: Measured;
  readonly secondsPerByte: Measured;
  /** How often and when the link was last measured with a large message. */
  sized: number;
  sizedMs: number;
  strikes: number;
  disbelievedUntilMs: number;
  errandBytes: number;
  reportBytes: number;
  wholeBytes: number;
  looks: number;
}

interface SiteBook {
  observer: string | undefined;
  /** When the last mandate ends at the latest. */
  mandateEndsMs: number;
  readonly home: { readonly latency: Measured; readonly secondsPerByte: Measured };
  readonly from: Map<
    string,
    { readonly latency: Measured; readonly secondsPerByte: Measured; triedMs: number; tries: number }
  >;
  readonly compression: Measured;
  readonly gapMs: Measured;
  lastProbeMs: number | undefined;
  errands: number;
  /** What the observer last said a URL's fingerprint was, while a look from home said otherwise. */
  readonly contested: Map<string, string>;
}

interface Watched {
  readonly page: Page;
  readonly state: PageState;
}

export interface FleetParts {
  readonly clock: Clock;
  readonly connection: NatsConnection;
  readonly mandateMs: number;
  readonly spacingMs: number;
  readonly pageOf: (id: string) => Watched | undefined;
  readonly everyPage: () => Iterable<Watched>;
  readonly probeNow: (id: string) => void;
  readonly remember: (site: string, observer: string | undefined) => Promise<void>;
  readonly log: (level: 'info' | 'warn', message: string, fields?: Record<string, unknown>) => void;
}

export class Fleet {
  readonly #parts: FleetParts;
  readonly #members = new Map<string, Member>();
  readonly #sites = new Map<string, SiteBook>();
  readonly #bodies = new Bodies();
  /** What each observer was told of which pages: probe key to their settings. */
  readonly #said = new Map<string, string>();

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  #site(site: string): SiteBook {
    let book = this.#sites.get(site);
    if (!book) {
      book = {
        observer: undefined,
        mandateEndsMs: -Infinity,
        home: { latency: new Measured('delay'), secondsPerByte: new Measured() },
        from: new Map(),
        compression: new Measured(),
        gapMs: new Measured(),
        lastProbeMs: undefined,
        errands: 0,
        contested: new Map(),
      };
      this.#sites.set(site, book);
    }
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
    const nowMs = this.#parts.clock.nowMs();
    const known = this.#members.get(name);
    if (known) Object.assign(known, { heardMs: nowMs, word });
    else {
      this.#members.set(name, {
        name,
        heardMs: nowMs,
        word,
        latency: new Measured('delay'),
        secondsPerByte: new Measured(),
        sized: 0,
        sizedMs: -Infinity,
        strikes: 0,
        disbelievedUntilMs: -Infinity,
        errandBytes: 0,
        reportBytes: 0,
        wholeBytes: 0,
        looks: 0,
      });
      this.#parts.log('info', 'an observer is there', { observer: name });
    }
    for (const id of word.stirred) {
      const page = this.#parts.pageOf(id)?.page;
      if (page && this.#sites.get(page.site)?.observer === name) this.#parts.probeNow(id);
    }
  }

  /** Measures the link to every observer that is there. */
  async measure(): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    const there = [...this.#members.values()].filter((member) => nowMs - member.heardMs < awayMs);
    await Promise.all(there.map((member) => this.#measureOne(member)));
  }

  async #measureOne(member: Member): Promise<void> {
    const timed = async (bytes: number): Promise<number> => {
      const beganMs = performance.now();
      await this.#ask(member.name, { echo: 'x'.repeat(bytes) });
      return (performance.now() - beganMs) / 1000;
    };
    try {
      const small = await timed(0);
      member.latency.learn(small / 2);
      const nowMs = this.#parts.clock.nowMs();
      if (member.sized >= sizedOften && nowMs - member.sizedMs < sizeEveryMs) return;
      member.secondsPerByte.learn(Math.max(0, (await timed(sizedBytes)) - small) / sizedBytes);
      member.sized++;
      member.sizedMs = nowMs;
    } catch {
      // It is away, which its silence will show.
    }
  }

  async #ask<Answer>(name: string, words: unknown): Promise<Answer> {
    const { connection } = this.#parts;
    const answer = await connection.request(subjects.ask(name), JSON.stringify(words), { timeout: askMsMax });
    return answer.json<Answer>();
  }

  #isThere(name: string): boolean {
    const member = this.#members.get(name);
    const nowMs = this.#parts.clock.nowMs();
    return member !== undefined && nowMs - member.heardMs < awayMs && member.disbelievedUntilMs <= nowMs;
  }

  /** Thinks again about where each site is observed from. */
  async decide(): Promise<void> {
    if (this.#members.size === 0) return;
    const pages = this.#pagesBySite();
    for (const [site, book] of this.#sites) {
      const nowMs = this.#parts.clock.nowMs();
      if (book.observer !== undefined && !this.#isThere(book.observer)) {
        if (book.mandateEndsMs <= nowMs) await this.#give(site, book, undefined);
        continue;
      }
      const wanted = whereFrom(
        {
          home: linkOf(book.home),
          documents: this.#documentsOf(pages.get(site) ?? [], book),
          looksPerDay: book.gapMs.mean === undefined ? 1 : 86_400_000 / Math.max(1, book.gapMs.mean),
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
    return [...this.#members.values()]
      .filter(({ name }) => this.#isThere(name))
      .map((member) => {
        const tried = book.from.get(member.name);
        const toSite = tried?.latency.mean === undefined ? undefined : linkOf(tried);
        return { name: member.name, fromHome: linkOf(member), toSite };
      });
  }

  /** Gives the site to an observer or takes it home; whoever had it lets go of it first. */
  async #give(site: string, book: SiteBook, observer: string | undefined): Promise<void> {
    if (book.observer !== undefined && !(await this.#letGo(site, book))) return;
    await this.#parts.remember(site, observer);
    this.#parts.log('info', 'a site is observed from elsewhere', { site, from: observer ?? 'home' });
    // The budget counts every look: what was asked for once a look is now asked for once in several. Had the observer to
    // find that out, it would first look several times too often, and all other sites would wait for what it used up.
    if (book.observer === undefined && observer !== undefined) book.gapMs.scale(looksPerErrand);
    if (book.observer !== undefined && observer === undefined) book.gapMs.scale(1 / looksPerErrand);
    book.observer = observer;
  }

  async #letGo(site: string, book: SiteBook): Promise<boolean> {
    const { clock, spacingMs } = this.#parts;
    if (book.mandateEndsMs <= clock.nowMs()) return true;
    try {
      const { agoMs } = await this.#ask<{ agoMs: number }>(book.observer!, { shed: site });
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
    if (this.#members.size === 0 && !this.#sites.has(probe.site)) return undefined;
    const { clock } = this.#parts;
    const book = this.#site(probe.site);
    const nowMs = clock.nowMs();
    if (book.lastProbeMs !== undefined) book.gapMs.learn(nowMs - book.lastProbeMs);
    book.lastProbeMs = nowMs;
    if (book.observer === undefined) {
      const trial = this.#trial(book, nowMs);
      return trial === undefined ? undefined : this.#errand(trial, book, probe, 0);
    }
    book.errands++;
    if (book.errands % auditEvery === 0 && this.#isThere(book.observer) && (await this.#letGo(probe.site, book)))
      return undefined;
    return this.#errand(book.observer, book, probe, this.#parts.mandateMs);
  }

  /** An observer that has not been tried at the site looks a few times, without a mandate. */
  #trial(book: SiteBook, nowMs: number): string | undefined {
    if (book.home.latency.mean === undefined) return undefined;
    for (const { name } of this.#members.values()) {
      const tried = book.from.get(name);
      if (!this.#isThere(name) || (tried && tried.tries >= triesMax && nowMs - tried.triedMs < tryAgainMs)) continue;
      const from = this.#from(book, name);
      from.tries = from.tries >= triesMax ? 1 : from.tries + 1;
      from.triedMs = nowMs;
      return name;
    }
    return undefined;
  }

  #from(book: SiteBook, name: string): SiteBook['from'] extends Map<string, infer Value> ? Value : never {
    let from = book.from.get(name);
    if (!from) {
      from = { latency: new Measured('delay'), secondsPerByte: new Measured(), triedMs: -Infinity, tries: 0 };
      book.from.set(name, from);
    }
    return from;
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
    const everyMs = Math.max(this.#parts.spacingMs, (book.gapMs.mean ?? 60_000) / looksPerErrand);
    book.mandateEndsMs = Math.max(book.mandateEndsMs, this.#parts.clock.nowMs() + forMs);
    const base = this.#bodies.printOf(probe.url) ?? '';
    return { observer, errand: { probe, mandate: { everyMs, forMs }, base, ...(saidBefore ? {} : { pages }) } };
  }

  /** The observer has never heard of these pages: the next errand says it all. */
  unknown(observer: string, probe: Probe): void {
    this.#said.delete(`${observer} ${probe.url}`);
  }

  sent(observer: string, bytes: number): void {
    const member = this.#members.get(observer);
    if (member) member.errandBytes += bytes;
  }

  /** When an errand to an observer that is away may be given up: its mandate, and every other, has run out by then. */
  lostAtMs(observer: string, site: string): number {
    return this.#isThere(observer) ? Infinity : (this.#sites.get(site)?.mandateEndsMs ?? -Infinity);
  }

  /** What robots saw: the links from home, the sizes, and whether an observer told the truth. */
  fromHome(observation: Observation): void {
    if (this.#members.size === 0) return;
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
    const member = this.#members.get(observer);
    const received = unpackReport(bytes);
    if (!member) return undefined;
    const wrong = received ? implausible(received) : 'it cannot be read';
    if (!received || wrong !== undefined) return this.#strike(member, wrong!);
    const { report } = received;
    const { outcome } = report.observation;
    member.reportBytes += bytes.length;
    member.wholeBytes += report.wholeBytes;
    member.looks += report.looks;
    const book = this.#site(probe.site);
    learnLink(this.#from(book, observer), report.observation);
    if (outcome.kind !== 'fetched') return { ...report.observation, probe };
    const base = this.#bodies.bodyOf(probe.url);
    const body = bodyOf(received, base);
    if (!body) {
      this.#bodies.drop(probe.url);
      // A difference from a copy that we have lost is nobody's lie.
      return base && report.what !== 'same' ? this.#strike(member, 'it is not what it says it is') : undefined;
    }
    if (book.contested.get(probe.url) === report.fingerprint) {
      book.contested.delete(probe.url);
      this.#strike(member, 'a look from home saw another page');
    } else if (book.contested.delete(probe.url)) member.strikes = 0;
    if (report.more > 0) for (const id of probe.pageIds) this.#parts.probeNow(id);
    if (report.what === 'difference') book.compression.learn(received.payload.length / Math.max(1, body.length));
    this.#bodies.keep(probe.url, body, report.fingerprint);
    return { ...report.observation, probe, outcome: { ...outcome, body } };
  }

  #strike(member: Member, why: string): undefined {
    member.strikes++;
    this.#parts.log('warn', 'an observer is not believed', { observer: member.name, why, strikes: member.strikes });
    if (member.strikes < strikesMax) return undefined;
    member.strikes = 0;
    member.disbelievedUntilMs = this.#parts.clock.nowMs() + disbeliefMs;
    return undefined;
  }

  reports(): readonly ObserverReport[] {
    const nowMs = this.#parts.clock.nowMs();
    return [...this.#members.values()].map((member) => {
      const sites = [...this.#sites].filter(([, book]) => book.observer === member.name).map(([site]) => site);
      const linkBytes = member.errandBytes + member.reportBytes;
      return {
        name: member.name,
        state: member.disbelievedUntilMs > nowMs ? 'disbelieved' : nowMs - member.heardMs < awayMs ? 'there' : 'away',
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

function linkOf(from: { readonly latency: Measured; readonly secondsPerByte: Measured }): {
  latency: number;
  secondsPerByte: number;
} {
  return {
    latency: from.latency.mean ?? defaultLink.latency,
    secondsPerByte: from.secondsPerByte.mean ?? defaultLink.secondsPerByte,
  };
}

/** Half the time to the first byte is one way; the rest of the time went into the body. */
function learnLink(
  link: { readonly latency: Measured; readonly secondsPerByte: Measured },
  observation: Pick<Observation, 'outcome' | 'latencyMs' | 'startedAtMs' | 'endedAtMs' | 'bytesReceived'>,
): void {
  const { outcome, latencyMs, bytesReceived } = observation;
  if (outcome.kind !== 'fetched' && outcome.kind !== 'not-modified') return;
  const tookMs = observation.endedAtMs - observation.startedAtMs;
  link.latency.learn((latencyMs ?? tookMs) / 2_000);
  if (latencyMs !== undefined && bytesReceived > 2_000)
    link.secondsPerByte.learn(Math.max(0, tookMs - latencyMs) / 1_000 / bytesReceived);
}
