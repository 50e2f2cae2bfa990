/**
 * What a page loads while it is shown. Each part is a visit of its own, so robots.txt, the site's turn, the address guard and the
 * limits hold for it as for any request. What a browser loads only to show (images, fonts, media) and what changes
 * something (anything but GET) is not loaded.
 *
 * A page whose scripts or data did not come is half a page, and what it lacks would be told as a change. So a part that fails for now
 * (the server's trouble, time, our own politeness) makes the whole look one that failed. A part that is not there for good
 * (404, forbidden by robots.txt, no such host) is missing in every browser like ours, and the page is as it is; so is one
 * that has failed at every look for a day.
 *
 * Where scripts lead the page to another address, that is the document from then on, and held to what any document is held to:
 * one that does not come, or that says there is trouble, is not what the page says.
 */
import type { Page, Request, Route } from 'playwright-core';
import type { Clock } from '../values/clock.ts';
import { fault } from '../values/fault.ts';
import type { Answer, Ask, Visit } from './ask.ts';
import { headerOf } from './ask.ts';
import { lifetimeSeconds, mediaTypeOf } from './outcome.ts';

const shownOnly = new Set([
  'image',
  'media',
  'font',
  'texttrack',
  'websocket',
  'eventsource',
  'manifest',
  'ping',
  'beacon',
]);
/** Parts without which a page says something else. A style changes how words look; a frame's words are not the page's. */
const tells = new Set(['script', 'xhr', 'fetch']);
/**
 * One address asked so often, whatever its query, each time when it was answered, is a page that asks whether there is news: it is whole
 * without. What it asks for while it waits for others of that address is a list that it puts together.
 */
const repeatsMax = 10;
/** What carries the page's data, and so the cookies and headers that its scripts have for its server. */
const carriesData = new Set(['xhr', 'fetch', 'document']);
/** What a browser says of itself, or the wire says for us. */
const notOfScripts =
  /^(sec-.*|user-agent|referer|origin|host|cookie|connection|content-length|accept-encoding|upgrade-insecure-requests|purpose|if-.*|range)$/;
/** A page whose parts have all come is there within this, unless a file came in its place. */
const savingMs = 5_000;
/** Parts kept for later pages, by the lifetime their server states. */
const keptBytesMax = 64 * 2 ** 20;

export type Answered = Extract<Answer, { kind: 'answered' }>;

export interface LoadLimits {
  /** Requests of one page. */
  readonly requestsMax: number;
  /** Everything one page loads. */
  readonly bytesMax: number;
  /** How long a part waits in its site's line. */
  readonly turnsMs: number;
}

/** What is known of parts over all pages. */
export interface Known {
  readonly visit: Visit;
  readonly clock: Clock;
  readonly limits: LoadLimits;
  readonly parts: PartMemory;
  readonly troubles: PartTroubles;
}

export class PageLoad {
  readonly #known: Known;
  readonly #ask: Ask;
  readonly #document: Answered;
  readonly #ending = new AbortController();
  readonly #asked = new Set<string>();
  readonly #alike = new Map<string, { times: number; underWay: number }>();
  readonly #signal: AbortSignal;
  readonly #missed: () => void;
  /** What the page is now, and with which cookies it was asked for: a page may set one and ask for itself again. */
  #shown: Answered;
  #shownTo = '';
  #requests = 0;
  #isLoaded = false;
  /** Parts under way without which the page is not whole, and when the last of them came. */
  #awaited = 0;
  #lastMs = 0;
  bytesReceived: number;
  /** Why the page is not whole, where it is not. */
  missing: Answer | undefined;

  constructor(known: Known, ask: Ask, document: Answered, missed: () => void) {
    this.#known = known;
    this.#ask = ask;
    this.#document = document;
    this.#shown = document;
    this.#missed = missed;
    this.bytesReceived = document.bytesReceived;
    this.#signal = ask.signal ? AbortSignal.any([ask.signal, this.#ending.signal]) : this.#ending.signal;
  }

  /** Whether nothing that the page needs has been under way for so long. */
  isQuiet(forMs: number): boolean {
    return this.#awaited === 0 && performance.now() - this.#lastMs >= forMs;
  }

  /** The document is there, and what it names; what its scripts ask for comes now. */
  loaded(): void {
    this.#isLoaded = true;
    this.#lastMs = performance.now();
  }

  /** Nothing more is asked for. */
  end(): void {
    this.#ending.abort();
  }

  /**
   * A file is handed over. One that the page saves beside what it shows does not matter; one that it leads to takes the place of the page,
   * and the browser waits for ever for what is to be shown there.
   */
  saves(): void {
    this.#lastMs = performance.now();
    const timer = setInterval(() => {
      const isSettled = this.#isLoaded || this.#ending.signal.aborted;
      if (isSettled || this.isQuiet(savingMs)) clearInterval(timer);
      if (!isSettled && this.isQuiet(savingMs))
        this.#miss(fault('render-incomplete', `${this.#ask.url.host}: the page leads to a file to be saved`));
    }, savingMs / 10);
  }

  async supply(route: Route, page: Page): Promise<void> {
    const request = route.request();
    const document = this.#document;
    if (!isOf(page, request)) return route.abort();
    const leads = request.isNavigationRequest() && request.frame() === page.mainFrame();
    const url = URL.parse(request.url());
    const cookies = url?.origin === document.url.origin ? await cookiesFor(page, url) : '';
    if (leads && request.url() === document.url.href && cookies === this.#shownTo) return answer(route, this.#shown);
    const wanted =
      url && /^https?:$/.test(url.protocol) && request.method() === 'GET' && !shownOnly.has(request.resourceType());
    if (leads && !wanted) this.#miss(this.#leadsTo(url, 'that is no page to be asked for'));
    if (!wanted || this.#ending.signal.aborted) return route.abort();
    url.hash = '';
    const alike = this.#alikeTo(url);
    const needed = (leads || tells.has(request.resourceType())) && !this.#isRepeated(url, alike);
    const { requestsMax, bytesMax } = this.#known.limits;
    if (++this.#requests > requestsMax || this.bytesReceived > bytesMax) {
      const most = this.#requests > requestsMax ? `${requestsMax} parts` : `${bytesMax} bytes`;
      if (needed || leads)
        this.#miss(fault('render-incomplete', `${this.#ask.url.host}: the page loads more than ${most}`));
      return route.abort();
    }
    if (needed) this.#awaited++;
    alike.underWay++;
    const part = await this.#fetch(url, this.#saidBy(request, url, cookies)).finally(() => {
      alike.underWay--;
      if (!needed) return;
      this.#awaited--;
      this.#lastMs = performance.now();
    });
    if (this.#ending.signal.aborted) return route.abort();
    if (leads && url.href === document.url.href && part.kind === 'answered') {
      this.#shown = part;
      this.#shownTo = cookies;
    }
    if (leads) this.#judgeDocument(url, part);
    else if (needed) this.#judge(url, part);
    return part.kind === 'answered' ? answer(route, part) : route.abort();
  }

  #alikeTo({ origin, pathname }: URL): { times: number; underWay: number } {
    const known = this.#alike.get(origin + pathname) ?? { times: 0, underWay: 0 };
    this.#alike.set(origin + pathname, known);
    return known;
  }

  #isRepeated({ href }: URL, alike: { times: number; readonly underWay: number }): boolean {
    const isSame = this.#asked.has(href);
    this.#asked.add(href);
    if (alike.underWay === 0) alike.times++;
    return isSame || alike.times > repeatsMax;
  }

  /** What the page's scripts say to its own server, and the cookies that this showing of it has been given; to no other. */
  #saidBy(request: Request, url: URL, cookies: string): Readonly<Record<string, string>> {
    if (url.origin !== this.#document.url.origin || !carriesData.has(request.resourceType())) return {};
    const own = Object.entries(request.headers()).filter(([name]) => !notOfScripts.test(name));
    return { ...Object.fromEntries(own), ...(cookies === '' ? {} : { cookie: cookies }) };
  }

  async #fetch(url: URL, said: Readonly<Record<string, string>>): Promise<Answer> {
    const { parts, visit, limits } = this.#known;
    const headers = headersFor(url.origin === this.#ask.url.origin ? this.#ask.headers : {}, said);
    // What a server gives to whoever sends them is no other page's.
    const isShared = Object.keys(headers).length === 0;
    const kept = isShared ? parts.get(url.href) : undefined;
    if (kept) return kept;
    const part = await visit({
      url,
      headers: { accept: '*/*', ...headers },
      purpose: 'part',
      patienceMs: limits.turnsMs,
      meter: this.#ask.meter,
      signal: this.#signal,
      mayAsk: this.#ask.mayAsk,
    });
    this.bytesReceived += part.bytesReceived;
    if (part.kind === 'answered' && isShared) parts.set(url.href, part);
    return part;
  }

  #judgeDocument(url: URL, part: Answer): void {
    const why = troubleOf(url, part);
    if (why !== undefined) this.#miss(this.#leadsTo(url, why), part);
  }

  #leadsTo(url: URL | null, why: string): ReturnType<typeof fault> {
    const { host } = this.#ask.url;
    return fault('render-incomplete', `${host}: the page leads to ${url ? nameOf(url, host) : 'nowhere'}: ${why}`);
  }

  #judge(url: URL, part: Answer): void {
    const { troubles } = this.#known;
    if (isForGood(part)) return troubles.forget(url.href);
    if (troubles.isLasting(url.href)) return;
    const { host } = this.#ask.url;
    const why = part.kind === 'answered' ? `${url.host} answers ${part.status}` : part.fault.sentence;
    const notWhole = fault('render-incomplete', `${host}: the page is not whole without ${nameOf(url, host)}: ${why}`);
    this.#miss(notWhole, part);
  }

  #miss(why: ReturnType<typeof fault>, part?: Answer): void {
    const bytesReceived = this.bytesReceived;
    // Where a site asked to be left alone, whoever plans hears of it.
    this.missing ??=
      part?.kind === 'refused' ? { ...part, fault: why, bytesReceived } : { kind: 'failed', fault: why, bytesReceived };
    this.end();
    this.#missed();
  }
}

/** Whether the page asks for it; a window that it opened has no frame yet when it asks for the first time. */
function isOf(page: Page, request: Request): boolean {
  try {
    return request.frame().page() === page;
  } catch {
    return false;
  }
}

async function cookiesFor(page: Page, { href }: URL): Promise<string> {
  const cookies = await page.context().cookies(href);
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}

/** Headers given for a page go before what its scripts say, whatever their case; cookies of both go together. */
function headersFor(
  given: Readonly<Record<string, string>>,
  { cookie, ...said }: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const others = Object.entries(said).filter(([name]) => !names.has(name));
  const all: Record<string, string> = { ...Object.fromEntries(others), ...given };
  if (cookie === undefined) return all;
  const own = Object.keys(given).find((name) => name.toLowerCase() === 'cookie') ?? 'cookie';
  all[own] = all[own] === undefined ? cookie : `${all[own]}; ${cookie}`;
  return all;
}

/** As a sentence about a page of that host calls it. */
function nameOf(url: URL, host: string): string {
  return (url.host === host ? '' : url.host) + url.pathname.slice(0, 200);
}

/** Why an answer is no document to be shown; undefined where it is one. */
function troubleOf(url: URL, part: Answer): string | undefined {
  if (part.kind !== 'answered') return part.fault.sentence;
  if (part.status < 200 || part.status >= 300) return `${url.host} answers ${part.status}`;
  const type = mediaTypeOf(headerOf(part.headers, 'content-type')) ?? 'text/html';
  return shownTypes.test(type) ? undefined : `it is a file to be saved (${type})`;
}

/** What a browser shows and does not save. */
const shownTypes = /[/+](html|xml|json)$|^image\/|^text\/(plain|css|javascript)$/;

/** Faults of a part that every browser like ours would meet at every look. */
const lastingFaults = new Set([
  'address-refused',
  'certificate-invalid',
  'dns-unknown',
  'redirect-loop',
  'redirect-refused',
  'robots-disallowed',
]);
/** Answers below 500 that are of the moment: it took too long, came too early, or was one too many. */
const ofTheMoment = new Set([408, 425, 429]);

function isForGood(part: Answer): boolean {
  if (part.kind === 'answered') return part.status < 500 && !ofTheMoment.has(part.status);
  return lastingFaults.has(part.fault.code);
}

/** Connections and lengths are the wire's business, and the body is unpacked already; a page is to be shown, and not to be saved. */
const notPassedOn = new Set([
  'content-disposition',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
]);

function answer(route: Route, answer: Answered): Promise<void> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value === undefined || notPassedOn.has(name)) continue;
    // As the browser takes several cookies.
    headers[name] = Array.isArray(value) ? value.join(name === 'set-cookie' ? '\n' : ', ') : value;
  }
  return route.fulfill({ status: answer.status, headers, body: Buffer.from(answer.body) });
}

/** Parts that fail, and since when they have at every look. */
export class PartTroubles {
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly sinceMs: number; times: number }>();
  /** From then on the page is what it is without the part. */
  static readonly lastingMs = 86_400_000;
  static readonly lastingTimes = 3;
  static readonly keptMax = 10_000;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  forget(url: string): void {
    this.#known.delete(url);
  }

  /** It has failed again; whether it has for long. */
  isLasting(url: string): boolean {
    const nowMs = this.#clock.nowMs();
    const trouble = this.#known.get(url) ?? { sinceMs: nowMs, times: 0 };
    trouble.times++;
    this.#known.set(url, trouble);
    if (this.#known.size > PartTroubles.keptMax) this.#known.delete(this.#known.keys().next().value!);
    return trouble.times >= PartTroubles.lastingTimes && nowMs - trouble.sinceMs >= PartTroubles.lastingMs;
  }
}

/** Scripts and styles that many pages share, for as long as their server says. */
export class PartMemory {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly part: Answered; readonly untilMs: number }>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(url: string): Answered | undefined {
    const kept = this.#kept.get(url);
    if (!kept) return undefined;
    if (kept.untilMs > this.#clock.nowMs()) return kept.part;
    this.#forget(url);
    return undefined;
  }

  set(url: string, part: Answered): void {
    const seconds = part.status === 200 ? (lifetimeSeconds(part.headers) ?? 0) : 0;
    if (seconds <= 0 || part.body.length > keptBytesMax / 8) return;
    this.#forget(url);
    this.#kept.set(url, { part, untilMs: this.#clock.nowMs() + seconds * 1000 });
    this.#bytes += part.body.length;
    while (this.#bytes > keptBytesMax) this.#forget(this.#kept.keys().next().value!);
  }

  #forget(url: string): void {
    const old = this.#kept.get(url);
    if (!old) return;
    this.#bytes -= old.part.body.length;
    this.#kept.delete(url);
  }
}
