/**
 * A web in trouble, seen from the wire: sites that fail, slow down, limit and recover, that change their robots.txt, and whose
 * pages change, move, go and come back all the while. It stands where the sockets are, so the whole politeness of the real
 * observer runs above it; a witness notes every request that breaks a rule.
 */
import { exponential, integer, type Random } from '@revisit/core';
import type { Answer, Ask } from '../observe/ask.ts';
import type { SiteRules } from '../observe/gate.ts';
import type { Clock } from '../values/clock.ts';
import { otherAddress } from './restless-user.ts';
import { type Process, Witness } from './witness.ts';

type Condition = 'fine' | 'slow' | 'down' | 'resets' | 'errors' | 'limits' | 'unavailable';
const conditions: readonly Condition[] = [
  'fine',
  'fine',
  'fine',
  'fine',
  'slow',
  'down',
  'resets',
  'errors',
  'limits',
  'unavailable',
];

const hourMs = 3_600_000;
/** How long one condition of a site lasts on average. */
const weatherMs = 3 * hourMs;
/** How long a robots.txt, and a page at its place, last on average. */
const robotsMs = 72 * hourMs;
const placeMs = 60 * hourMs;
/** How long a copy of robots.txt may be used: so long before all is fine it is the last time what it was. */
const robotsKeptMs = 26 * hourMs;
/** A process that follows one whose machine slept takes that for a clock that was set, and holds a copy for as much longer. */
const sleepMsMax = 10 * hourMs;
/** From being sent to another address to being asked there: the other site's turn must come. */
const onTheWayMs = 180_000;
/** How long sites are left alone at most, from the first failure in a row on and after many. */
const restMsMin = 60_000;
const restMsMax = 6 * hourMs;
const restJitter = 1.5;
/** How long a page is away. */
const awayMs = 8 * hourMs;

export interface FaultyWebOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly sites: number;
  readonly pagesPerSite: number;
  readonly rules: SiteRules;
  /** The address of a host that stands on a server with others, and what holds for those. */
  readonly serverOf: (host: string) => string | undefined;
  readonly serverRules: SiteRules;
  /** The most requests a millisecond, over all sites. */
  readonly requestsPerMs: number;
  /** Requests under way at once. */
  readonly robots: number;
  readonly startMs: number;
  /** When nothing can be kept of what is said. */
  readonly isFull: (atMs: number) => boolean;
  /** From here on all is fine. */
  readonly calmMs: number;
  readonly endMs: number;
}

export interface RobotsText {
  readonly crawlDelayMs: number;
  /** A path that is not to be visited. */
  readonly forbids: string | undefined;
}

/** Where a page is: at its own address, nowhere, or somewhere else. */
type Place =
  | { readonly kind: 'there' }
  | { readonly kind: 'gone'; readonly status: number }
  | { readonly kind: 'moved'; readonly status: number; readonly to: string };

interface From<Value> {
  readonly fromMs: number;
  readonly value: Value;
}

interface LivingPage {
  readonly changes: readonly number[];
  readonly places: readonly From<Place>[];
  /** Where it goes when it moves. */
  readonly elsewhere: string;
  /** Says when it changed by Last-Modified, not by a tag. */
  readonly dated: boolean;
}

function at<Value>(spells: readonly From<Value>[], atMs: number): Value {
  return spells.findLast(({ fromMs }) => fromMs <= atMs)!.value;
}

export class FaultyWeb {
  readonly urls: string[] = [];
  readonly witness: Witness;
  readonly #options: FaultyWebOptions;
  readonly #weather = new Map<string, readonly From<Condition>[]>();
  readonly #robots = new Map<string, readonly From<RobotsText>[]>();
  readonly #pages = new Map<string, LivingPage>();
  /** Failures in a row of each host, and until when it may be left alone for them. */
  readonly #failing = new Map<string, { readonly inRow: number; readonly restsUntilMs: number }>();
  /** The page that each host's robots.txt forbade when it was last read, and until when a page may be taken for forbidden. */
  readonly #forbids = new Map<string, string | undefined>();
  readonly #forbiddenUntilMs = new Map<string, number>();
  /** What stands at an address to which a page has moved. */
  readonly #aliases = new Map<string, string>();

  constructor(options: FaultyWebOptions) {
    this.#options = options;
    this.witness = new Witness(options);
    for (let index = 0; index < options.sites; index++) {
      const host = `site${index}.example`;
      // The first site has no trouble of its own: whatever becomes of the others, its pages are looked at.
      this.#weather.set(
        host,
        index === 0 ? this.#fine() : this.#spells(weatherMs, 'fine', () => this.#roll(conditions)),
      );
      this.#robots.set(host, this.#robotsTexts(index));
      for (let page = 0; page < options.pagesPerSite; page++) {
        const url = `https://${host}/${page}`;
        this.urls.push(url);
        this.#grow(url);
        this.#grow(otherAddress(url));
      }
    }
  }

  #roll<Value>(from: readonly Value[]): Value {
    return from[integer(this.#options.random, from.length)]!;
  }

  #fine(): From<Condition>[] {
    return [{ fromMs: this.#options.startMs, value: 'fine' }];
  }

  /** From one to the next, and in the end what it is when all is fine. */
  #spells<Value>(meanMs: number, calm: Value, next: () => Value, untilMs = this.#options.calmMs): From<Value>[] {
    const { random, startMs } = this.#options;
    const spells = [{ fromMs: startMs, value: calm }];
    for (let atMs = startMs + exponential(random, meanMs); atMs < untilMs; atMs += exponential(random, meanMs))
      spells.push({ fromMs: atMs, value: next() });
    spells.push({ fromMs: Math.max(startMs, untilMs), value: calm });
    return spells;
  }

  #robotsTexts(index: number): From<RobotsText>[] {
    const { random, pagesPerSite, calmMs } = this.#options;
    const delayMs = (): number => (random() < 0.5 ? 5_000 + integer(random, 10_000) : 0);
    const first: RobotsText = { crawlDelayMs: index % 3 === 1 ? delayMs() : 0, forbids: undefined };
    if (index === 0) return [{ fromMs: this.#options.startMs, value: first }];
    const next = (): RobotsText => ({
      crawlDelayMs: delayMs(),
      forbids: random() < 0.3 ? `/${integer(random, pagesPerSite)}` : undefined,
    });
    return this.#spells(robotsMs, first, next, calmMs - robotsKeptMs);
  }

  #grow(url: string): void {
    const { random, startMs, endMs, sites } = this.#options;
    const changes: number[] = [];
    const meanMs = hourMs * (1 + integer(random, 24));
    for (let atMs = startMs + exponential(random, meanMs); atMs < endMs; atMs += exponential(random, meanMs))
      changes.push(atMs);
    const { hostname, pathname } = new URL(url);
    const to = `https://site${integer(random, sites)}.example/moved/${hostname}${pathname}`;
    this.#aliases.set(to, url);
    // The first page never goes anywhere.
    const places = url === this.urls[0] ? [{ fromMs: startMs, value: { kind: 'there' } as const }] : this.#places(to);
    this.#pages.set(url, { changes, places, elsewhere: to, dated: random() < 0.4 });
  }

  #places(to: string): From<Place>[] {
    const { random, calmMs } = this.#options;
    const there: Place = { kind: 'there' };
    const away = (): Place =>
      random() < 0.5
        ? { kind: 'gone', status: random() < 0.5 ? 404 : 410 }
        : { kind: 'moved', status: random() < 0.5 ? 302 : 301, to };
    const spells = this.#spells(placeMs, there, away).slice(1, -1);
    const places: From<Place>[] = [{ fromMs: this.#options.startMs, value: there }];
    for (const { fromMs, value } of spells) {
      if (fromMs < places.at(-1)!.fromMs) continue;
      places.push({ fromMs, value }, { fromMs: fromMs + exponential(random, awayMs), value: there });
    }
    return [...places.filter(({ fromMs }) => fromMs < calmMs), { fromMs: calmMs, value: there }];
  }

  /** How often the page had changed by then, counted from 1. */
  versionAt(url: string, atMs: number): number {
    return 1 + (this.#pages.get(url)?.changes ?? []).filter((changeMs) => changeMs <= atMs).length;
  }

  /**
   * Whether the page was not to be had at some moment of that time; one that came back from another address while somebody was
   * on the way there is not to be had either.
   */
  wasGone(url: string, fromMs: number, toMs: number): boolean {
    const { places } = this.#pages.get(url)!;
    return places.some(({ fromMs: beginMs, value }, index) => {
      const endMs = places[index + 1]?.fromMs ?? Infinity;
      if (value.kind === 'moved') return endMs <= toMs && endMs >= fromMs - onTheWayMs;
      return value.kind === 'gone' && beginMs <= toMs && endMs >= fromMs;
    });
  }

  /** Until when there may be a reason not to ask for the page, by what its site, or the one it led to, has said and done so far. */
  closedUntilMs(url: string, atMs: number): number {
    const { elsewhere, places } = this.#pages.get(url)!;
    const hasMoved = places.some(({ fromMs, value }) => fromMs <= atMs && value.kind === 'moved');
    const rests = (hasMoved ? [url, elsewhere] : [url]).map(
      (address) => this.#failing.get(new URL(address).hostname)?.restsUntilMs ?? 0,
    );
    return Math.max(this.#forbiddenUntilMs.get(url) ?? 0, ...rests);
  }

  #failed(host: string, nowMs: number): void {
    // What was read of robots.txt holds on while it cannot be read again.
    this.#forbidden(this.#forbids.get(host), nowMs + restJitter * restMsMax);
    const inRow = (this.#failing.get(host)?.inRow ?? 0) + 1;
    const backoffMs = Math.min(restMsMax, restMsMin * 2 ** (inRow - 1));
    this.#failing.set(host, { inRow, restsUntilMs: nowMs + restJitter * backoffMs });
  }

  #asksForRest(host: string, untilMs: number): void {
    const { inRow, restsUntilMs } = this.#failing.get(host)!;
    this.#failing.set(host, { inRow, restsUntilMs: Math.max(restsUntilMs, untilMs) });
  }

  #forbidden(url: string | undefined, untilMs: number): void {
    if (url !== undefined) this.#forbiddenUntilMs.set(url, Math.max(untilMs, this.#forbiddenUntilMs.get(url) ?? 0));
  }

  /** One process's way to this web. After it was killed its requests go nowhere, and nobody hears the answers. */
  connection(process: Process, clockOffMs: number): (ask: Ask) => Promise<Answer> {
    return async (ask) => {
      if (!process.alive) return new Promise<Answer>(() => {});
      const answer = await this.#answer(ask, process);
      if (answer.kind !== 'answered') return answer;
      // By the clock of whoever asks.
      const { askedAtMs, answeredAtMs } = answer;
      return { ...answer, askedAtMs: askedAtMs + clockOffMs, answeredAtMs: answeredAtMs + clockOffMs };
    };
  }

  async #answer(ask: Ask, process: Process): Promise<Answer> {
    const { clock, random } = this.#options;
    const host = ask.url.hostname;
    // Until it is connected nobody there sees anything, and a process that is killed meanwhile was never there.
    const wentOutMs = clock.nowMs();
    const isSlow = at(this.#weather.get(host)!, wentOutMs) === 'slow';
    await clock.sleep(integer(random, isSlow ? 8_000 : 50));
    if (!process.alive) return new Promise<Answer>(() => {});
    const askedAtMs = clock.nowMs();
    this.witness.asked(ask, askedAtMs, process, wentOutMs);
    const condition = at(this.#weather.get(host)!, askedAtMs);
    await clock.sleep(
      condition === 'down'
        ? 10_000
        : condition === 'slow'
          ? 3_000 + integer(random, 15_000)
          : 20 + integer(random, 400),
    );
    const nowMs = clock.nowMs();
    const fails = (code: string): Answer => ({
      kind: 'failed',
      fault: { code, sentence: condition },
      bytesReceived: 0,
    });
    const reply = (status: number, body = '', headers: Record<string, string> = {}): Answer => ({
      kind: 'answered',
      url: ask.url,
      status,
      headers: { 'content-type': 'text/html', date: new Date(nowMs).toUTCString(), ...headers },
      body: Buffer.from(body),
      bytesReceived: body.length,
      askedAtMs,
      answeredAtMs: nowMs,
    });
    if (condition !== 'fine' && condition !== 'slow') this.#failed(host, nowMs);
    else this.#failing.delete(host);
    if (condition === 'down') return fails('connection-timeout');
    if (condition === 'resets') return fails(random() < 0.5 ? 'connection-lost' : 'body-truncated');
    if (condition === 'errors') return reply(500);
    if (condition === 'unavailable' && random() < 0.5) return reply(503);
    if (condition === 'limits' || condition === 'unavailable') {
      const seconds = 30 + integer(random, 3_000);
      this.#asksForRest(host, nowMs + restJitter * seconds * 1_000);
      // Whoever was killed before the answer came was never told.
      if (process.alive) this.witness.toldToWait(host, { atMs: nowMs, untilMs: nowMs + seconds * 1_000, process });
      return condition === 'limits'
        ? reply(429, '', { 'retry-after': String(seconds) })
        : reply(503, '', { 'retry-after': new Date(nowMs + seconds * 1_000).toUTCString() });
    }
    return ask.url.pathname === '/robots.txt'
      ? this.#robotsText(host, nowMs, process, reply)
      : this.#page(ask, nowMs, reply);
  }

  #robotsText(host: string, nowMs: number, process: Process, reply: (status: number, body?: string) => Answer): Answer {
    const text = at(this.#robots.get(host)!, nowMs);
    if (process.alive) this.witness.readRobots(host, text, nowMs, process);
    this.#forbids.set(host, text.forbids === undefined ? undefined : `https://${host}${text.forbids}`);
    this.#forbidden(this.#forbids.get(host), nowMs + robotsKeptMs + sleepMsMax);
    if (text.crawlDelayMs === 0 && text.forbids === undefined) return reply(404);
    const delay = text.crawlDelayMs > 0 ? `Crawl-delay: ${text.crawlDelayMs / 1000}\n` : '';
    return reply(200, `User-agent: *\n${delay}${text.forbids === undefined ? '' : `Disallow: ${text.forbids}$\n`}`);
  }

  #page(
    ask: Ask,
    nowMs: number,
    reply: (status: number, body?: string, headers?: Record<string, string>) => Answer,
  ): Answer {
    const own = this.#aliases.get(ask.url.href);
    const url = own ?? ask.url.href;
    const page = this.#pages.get(url);
    if (!page) return reply(404);
    const place = at(page.places, nowMs);
    if (own === undefined) {
      if (place.kind === 'gone') return reply(place.status);
      if (place.kind === 'moved') return reply(place.status, '', { location: place.to });
    } else if (place.kind !== 'moved') return reply(404);
    const version = this.versionAt(url, nowMs);
    const body = `<p>${url} version ${version}</p>`;
    if (!page.dated) {
      // The same tag for every page: only its own URL tells whose it is.
      const etag = `"${version}"`;
      return ask.headers['if-none-match'] === etag ? reply(304) : reply(200, body, { etag });
    }
    const changeMs = page.changes.findLast((changedMs) => changedMs <= nowMs) ?? this.#options.startMs;
    const modified = new Date(changeMs).toUTCString();
    const since = Date.parse(ask.headers['if-modified-since'] ?? '');
    return Date.parse(modified) <= since ? reply(304) : reply(200, body, { 'last-modified': modified });
  }
}
