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
/** One address asked so often, whatever its query, is a page that asks whether there is news: it is whole without. */
const repeatsMax = 10;
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
  readonly #asked = new Map<string, number>();
  readonly #signal: AbortSignal;
  readonly #missed: () => void;
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
    if (leads && request.url() === document.url.href) return answer(route, document);
    const url = URL.parse(request.url());
    const wanted =
      url && /^https?:$/.test(url.protocol) && request.method() === 'GET' && !shownOnly.has(request.resourceType());
    if (leads && !wanted) this.#miss(this.#leadsTo(url, 'that is no page to be asked for'));
    if (!wanted || this.#ending.signal.aborted) return route.abort();
    url.hash = '';
    const needed = (leads || tells.has(request.resourceType())) && !this.#isRepeated(url);
    const { requestsMax, bytesMax } = this.#known.limits;
    if (++this.#requests > requestsMax || this.bytesReceived > bytesMax) {
      const most = this.#requests > requestsMax ? `${requestsMax} parts` : `${bytesMax} bytes`;
      if (needed || leads)
        this.#miss(fault('render-incomplete', `${this.#ask.url.host}: the page loads more than ${most}`));
      return route.abort();
    }
    if (needed) this.#awaited++;
    const part = await this.#fetch(url).finally(() => {
      if (!needed) return;
      this.#awaited--;
      this.#lastMs = performance.now();
    });
    if (this.#ending.signal.aborted) return route.abort();
    if (leads) this.#judgeDocument(url, part);
    else if (needed) this.#judge(url, part);
    return part.kind === 'answered' ? answer(route, part) : route.abort();
  }

  #isRepeated({ href, origin, pathname }: URL): boolean {
    const times = this.#asked.get(href) ?? 0;
    const alike = this.#asked.get(origin + pathname) ?? 0;
    this.#asked.set(href, times + 1);
    if (href !== origin + pathname) this.#asked.set(origin + pathname, alike + 1);
    return times > 0 || alike >= repeatsMax;
  }

  async #fetch(url: URL): Promise<Answer> {
    const { parts, visit, limits } = this.#known;
    // Headers given for a page are for its origin; what the page's own scripts add is not passed on.
    const headers = url.origin === this.#ask.url.origin ? this.#ask.headers : {};
    // What a server gives to whoever sends them is no other page's.
    const isShared = Object.keys(headers).length === 0;
    const kept = isShared ? parts.get(url.href) : undefined;
    if (kept) return kept;
    const part = await visit({
      url,
      headers: { ...headers, accept: '*/*' },
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
  'set-cookie',
]);

function answer(route: Route, answer: Answered): Promise<void> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !notPassedOn.has(name)) headers[name] = Array.isArray(value) ? value.join(', ') : value;
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
