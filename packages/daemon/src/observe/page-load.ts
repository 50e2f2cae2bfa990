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
import { hash } from 'node:crypto';
import type { Frame, Page, Request, Route } from 'playwright-core';
import type { Clock } from '../values/clock.ts';
import { fault } from '../values/fault.ts';
import type { Answer, Answered, Ask, Visit } from './ask.ts';
import { headerOf } from './ask.ts';
import { mediaTypeOf } from './outcome.ts';
import type { PartMemory, PartTroubles } from './part-memory.ts';
import { type Repeat, Repeats } from './part-repeats.ts';

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
/** Parts without which a page says something else, frames among them. A style changes how words look. */
const tells = new Set(['script', 'xhr', 'fetch', 'document']);
/** What scripts can read: of other origins' answers, those whose servers say so. */
const read = new Set(['xhr', 'fetch']);
/** What the page leads to takes its place, and is no part of it. */
const once: Repeat = { isLater: false, isNews: false, end: () => {} };
/** A page leads to one address so often at most, and to all together. */
const sameLeadsMax = 4;
const leadsMax = 10;
/** What is asked for again is waited for no longer than this, but for its site's turn. */
const laterMsMax = 10_000;
const laterPollMs = 200;
/** A page that is busy for longer says the same as before, as far as anybody knows. */
const printMsMax = 2_000;
/** What carries the page's data, and so the cookies and headers that its scripts have for its server. */
const carriesData = new Set(['xhr', 'fetch', 'document']);
/** What a browser says of itself, or the wire says for us. */
const notOfScripts =
  /^(sec-.*|user-agent|referer|origin|host|cookie|connection|content-length|accept-encoding|upgrade-insecure-requests|purpose|if-.*|range)$/;
/** A page whose parts have all come is there within this, unless a file came in its place. */
const savingMs = 5_000;

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
  readonly #repeats = new Repeats();
  /** How often the page led to each address, and at all. */
  readonly #ledTo = new Map<string, number>();
  #leads = 0;
  /** What is being asked for, by address and words: several scripts of a page may want the same. */
  readonly #underWay = new Map<string, Promise<Answer>>();
  /** Documents and modules that were found at another address than they were asked for, until the browser asks for them there. */
  readonly #found = new Map<string, Answered>();
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
    const isOwn = url?.origin === document.url.origin && askerOf(request) === document.url.origin;
    const cookies = isOwn ? await cookiesFor(page, url) : '';
    if (leads && request.url() === document.url.href && cookies === this.#shownTo) return answer(route, this.#shown);
    const found = read.has(request.resourceType()) ? undefined : this.#found.get(request.url());
    if (found) {
      this.#found.delete(request.url());
      return answer(route, found);
    }
    const wanted =
      url && /^https?:$/.test(url.protocol) && request.method() === 'GET' && !shownOnly.has(request.resourceType());
    if (leads && !wanted) this.#miss(this.#leadsTo(url, 'that is no page to be asked for'));
    if (!wanted || this.#ending.signal.aborted) return route.abort();
    url.hash = '';
    if (leads && this.#isLedOn(url)) {
      this.#miss(this.#leadsTo(url, 'it leads on and on'));
      return route.abort();
    }
    // A page that is busy takes its time to say what it says, and is not finished meanwhile.
    this.#awaited++;
    const repeat = await (leads ? once : this.#repeats.begin(url, () => printOf(page)));
    this.#awaited--;
    const needed = leads || (tells.has(request.resourceType()) && !repeat.isNews);
    const { requestsMax, bytesMax } = this.#known.limits;
    if (++this.#requests > requestsMax || this.bytesReceived > bytesMax) {
      const most = this.#requests > requestsMax ? `${requestsMax} parts` : `${bytesMax} bytes`;
      if (needed) this.#miss(fault('render-incomplete', `${this.#ask.url.host}: the page loads more than ${most}`));
      repeat.end();
      return route.abort();
    }
    const arrived = needed ? this.#await(repeat.isLater) : undefined;
    const part = await this.#fetch(url, this.#saidBy(request, isOwn, cookies), isOwn).finally(() => {
      repeat.end();
      arrived?.();
    });
    if (this.#ending.signal.aborted) return route.abort();
    if (leads && url.href === document.url.href && part.kind === 'answered') {
      this.#shown = part;
      this.#shownTo = cookies;
    }
    if (leads) this.#judgeDocument(url, part);
    else if (needed) this.#judge(url, part);
    if (part.kind !== 'answered' || !mayRead(request, part)) return route.abort();
    const leading = part.url.href === url.href ? undefined : leadingTo(request, part);
    if (!leading) return answer(route, part);
    this.#found.set(part.url.href, part);
    return route.fulfill({ status: 200, ...leading });
  }

  /** A page may set a cookie and ask for itself, and lead elsewhere, but not without end. */
  #isLedOn({ href }: URL): boolean {
    const times = (this.#ledTo.get(href) ?? 0) + 1;
    this.#ledTo.set(href, times);
    this.#leads++;
    return times > sameLeadsMax || this.#leads > leadsMax;
  }

  /**
   * The page is not whole before it has come; answers what to call then. One that is asked for again and takes long is kept open by its
   * server until there is news.
   */
  #await(isLater: boolean): () => void {
    this.#awaited++;
    let [isAwaited, tookMs] = [true, 0];
    const arrived = (): void => {
      clearInterval(timer);
      if (!isAwaited) return;
      isAwaited = false;
      this.#awaited--;
      this.#lastMs = performance.now();
    };
    const timer = setInterval(() => {
      // What waits for its site's turn is not the server's doing.
      if ((this.#ask.meter?.waiting ?? 0) === 0) tookMs += laterPollMs;
      if (isLater && tookMs > laterMsMax) arrived();
    }, laterPollMs);
    return arrived;
  }

  /** What the page's scripts say to its own server, and the cookies that this showing of it has been given; to others, who asks, where they are to allow it. */
  #saidBy(request: Request, isOwn: boolean, cookies: string): Readonly<Record<string, string>> {
    const { origin } = request.headers();
    const asks = origin === undefined || isOwn ? {} : { origin };
    if (!isOwn || !carriesData.has(request.resourceType())) return asks;
    const own = Object.entries(request.headers()).filter(([name]) => !notOfScripts.test(name));
    return { ...Object.fromEntries(own), ...(cookies === '' ? {} : { cookie: cookies }) };
  }

  async #fetch(url: URL, said: Readonly<Record<string, string>>, isOwn: boolean): Promise<Answer> {
    const { parts } = this.#known;
    const headers = headersFor(isOwn && url.origin === this.#ask.url.origin ? this.#ask.headers : {}, said);
    const key = JSON.stringify([url.href, Object.entries(headers).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    const known = parts.get(key) ?? this.#underWay.get(key);
    if (known) return known;
    const asking = this.#visit(url, headers).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, asking);
    const part = await asking;
    if (part.kind === 'answered') parts.set(key, part);
    return part;
  }

  async #visit(url: URL, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const { visit, limits } = this.#known;
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

/**
 * As browsers keep it: what another origin answers is for a script to read only where that origin says so. Whoever asks to be allowed is
 * named by the browser; what is asked for without that is the asker's own, or can be used and not be read.
 */
function mayRead(request: Request, { url, headers }: Answered): boolean {
  const named = request.headers()['origin'];
  const own = new URL(request.url()).origin;
  const isReadAsOwn = read.has(request.resourceType()) && askerOf(request) === own;
  const asker = named ?? (isReadAsOwn ? own : url.origin);
  if (url.origin === asker) return true;
  const allowed = headerOf(headers, 'access-control-allow-origin')?.trim();
  return allowed === '*' || allowed === asker;
}

/** The origin of the frame that asks; frames without an address of their own are of the origin of those around them. */
function askerOf(request: Request): string {
  for (let frame: Frame | null = request.frame(); frame; frame = frame.parentFrame()) {
    const own = URL.parse(frame.url());
    // A window that leads somewhere stands where it led from.
    if (own?.protocol !== 'about:') return own?.origin ?? 'null';
  }
  return new URL(request.url()).origin;
}

/** What the page says, as far as that tells one moment from another; undefined where it does not answer. */
async function printOf(page: Page): Promise<string | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), printMsMax).unref());
  const asked = page.evaluate(() => document.documentElement.textContent ?? '').catch(() => undefined);
  const text = await Promise.race([asked, late]);
  return text === undefined ? undefined : hash('sha1', text);
}

const javaScript = /javascript|ecmascript/i;
const defaultExport = /\bexport\s+default\b|\bas\s+default\b/;

/**
 * Leads the browser to where the answer was found, as a redirect does, where that matters: what a document or a module names is to be
 * found from where it stands, and only its own origin may look into a document.
 */
function leadingTo(
  request: Request,
  { url, headers, body }: Answered,
): { contentType: string; body: string } | undefined {
  const to = JSON.stringify(url.href).replaceAll('<', '\\u003c');
  if (request.isNavigationRequest())
    return {
      contentType: 'text/html; charset=utf-8',
      body: `<!doctype html><script>location.replace(${to})</script>`,
    };
  // Of scripts, the browser says who asks for modules alone.
  const isModule = request.resourceType() === 'script' && request.headers()['origin'] !== undefined;
  if (!isModule || !javaScript.test(headerOf(headers, 'content-type') ?? '')) return undefined;
  const script = Buffer.from(body).toString();
  const ownName = defaultExport.test(script) ? `export { default } from ${to};` : '';
  return { contentType: 'text/javascript', body: `export * from ${to};${ownName}` };
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
