/**
 * Pages that need a browser. The user's Chromium runs the page; everything it loads comes through our own visits, one by
 * one, so robots.txt, the site's turn, the address guard and the limits hold for each part as for any request. The browser
 * itself has no way to the network: names resolve to nothing inside it.
 *
 * One browser for all, started with the first page that needs it, ended when idle; a fresh context for each page. What a
 * browser loads only to show (images, fonts, media) and what changes something (anything but GET) is not loaded.
 */
import { existsSync } from 'node:fs';
import type { Browser, Page, Route } from 'playwright-core';
import type { Clock } from '../values/clock.ts';
import { fault } from '../values/fault.ts';
import type { Answer, Ask, Visit } from './ask.ts';
import { agentFor, headerOf } from './ask.ts';
import { endProcess, limitMemory, markFolder, processIdOf, removeLeftFolders } from './browser-processes.ts';
import { lifetimeSeconds, mediaTypeOf } from './outcome.ts';

export interface RenderLimits {
  /** From opening the page to its last change; parts wait for their site's spacing. */
  readonly totalMs: number;
  /** After loading, how long nothing must happen before the page counts as finished. */
  readonly quietMs: number;
  /** Requests of one page; real ones stay below once images are left out. */
  readonly requestsMax: number;
  /** Everything one page loads. */
  readonly bytesMax: number;
  /** Pages in the browser at once; each takes around 100 MB. */
  readonly pagesMax: number;
  /** Memory for the scripts of a page; a page that needs more is not for reading. */
  readonly heapMegabytes: number;
  /** All of a page's memory: buffers and its tree count, which no limit on scripts holds. */
  readonly memoryMegabytes: number;
  /** A browser without work is ended after this. */
  readonly idleMs: number;
  /** A browser that takes longer to open or close anything hangs, and is ended; a busy machine takes seconds. */
  readonly browserMs: number;
}

export const defaultRenderLimits: RenderLimits = {
  totalMs: 90_000,
  quietMs: 500,
  requestsMax: 60,
  bytesMax: 32 * 2 ** 20,
  pagesMax: 2,
  heapMegabytes: 256,
  memoryMegabytes: 768,
  idleMs: 60_000,
  browserMs: 30_000,
};

export interface RendererOptions {
  readonly visit: Visit;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly chromium: string | undefined;
  readonly limits?: Partial<RenderLimits> | undefined;
}

export interface Renderer {
  render(ask: Ask): Promise<Answer>;
  close(): Promise<void>;
}

/** Where Chromium and Chrome usually are. */
const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

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
/** Parts kept for later pages, by the lifetime their server states. */
const keptBytesMax = 64 * 2 ** 20;

type Answered = Extract<Answer, { kind: 'answered' }>;

export function createRenderer(options: RendererOptions): Renderer {
  const limits: RenderLimits = { ...defaultRenderLimits, ...options.limits };
  const parts = new PartMemory(options.clock);
  let browser: Promise<Started> | undefined;
  let open = 0;
  let idle: NodeJS.Timeout | undefined;
  const waiting: (() => void)[] = [];

  const enter = async () => {
    clearTimeout(idle);
    while (open >= limits.pagesMax) await new Promise<void>((resolve) => waiting.push(resolve));
    open++;
  };
  const leave = () => {
    open--;
    waiting.shift()?.();
    if (open > 0 || waiting.length > 0) return;
    idle = setTimeout(() => void end(), limits.idleMs);
    idle.unref();
  };
  const end = async (hangs = false) => {
    const ended = browser;
    browser = undefined;
    const started = await ended?.catch(() => undefined);
    if (started && !hangs) await within(started.browser.close(), limits.browserMs).catch(() => (hangs = true));
    if (hangs) endProcess(started?.processId);
  };

  return {
    render: async (ask) => {
      const executable = [options.chromium, ...usualPlaces].find((path) => path !== undefined && existsSync(path));
      if (executable === undefined) return missing(options.chromium);
      // Whether the document changed says nothing about what its scripts show, so it is always fetched.
      const { validators: _validators, ...plain } = ask;
      const document = await options.visit(plain);
      if (document.kind !== 'answered' || !isHtml(document)) return document;
      await enter();
      try {
        const mine = (browser ??= launch(executable, limits));
        const shared = mine.then((started) => started.browser);
        try {
          return await show(await shared, ask, document, { ...options, limits, parts });
        } catch (error) {
          // A page that broke ends alone, and the others stay; with a browser that broke they end as well.
          const hangs = error instanceof BrowserHangs;
          if (browser === mine && (hangs || !(await answers(shared, limits.browserMs)))) await end(hangs);
          throw error;
        }
      } catch (error) {
        return failed(ask, error, document.bytesReceived);
      } finally {
        leave();
      }
    },
    close: async () => {
      clearTimeout(idle);
      await end();
    },
  };
}

function missing(given: string | undefined): Answer {
  const where = given === undefined ? 'none was found' : `there is none at ${given}`;
  const why = fault(
    'render-missing',
    `the page needs Chromium or Chrome and ${where}; install one or set chromium to its path`,
  );
  return { kind: 'failed', fault: why, bytesReceived: 0 };
}

function failed(ask: Ask, error: unknown, bytesReceived: number): Answer {
  const words = (error instanceof Error ? error.message : String(error)).split('\n')[0]!;
  return {
    kind: 'failed',
    fault: fault('render-failed', `${ask.url.host}: the browser could not show the page (${words})`),
    bytesReceived,
  };
}

function isHtml(answer: Answered): boolean {
  const type = mediaTypeOf(headerOf(answer.headers, 'content-type')) ?? 'text/html';
  return answer.status >= 200 && answer.status < 300 && /html/.test(type);
}

interface Started {
  readonly browser: Browser;
  readonly processId: number | undefined;
}

async function launch(executablePath: string, limits: RenderLimits): Promise<Started> {
  const { chromium } = await import('playwright-core');
  await removeLeftFolders().catch(() => {});
  const browser = await chromium.launch({
    // Else the browser's own listeners end the whole process at Ctrl-C, before anything was put away.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
      '--host-resolver-rules=MAP * ~NOTFOUND',
      '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
      `--js-flags=--max-old-space-size=${limits.heapMegabytes}`,
    ],
  });
  await markFolder(browser).catch(() => {});
  return { browser, processId: await processIdOf(browser).catch(() => undefined) };
}

class BrowserHangs extends Error {}

async function within<Value>(work: Promise<Value>, ms: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BrowserHangs(`the browser did not answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function answers(browser: Promise<Browser>, ms: number): Promise<boolean> {
  const asked = browser.then(async (started) => started.isConnected() && (await processIdOf(started)) !== undefined);
  return within(asked, ms).catch(() => false);
}

interface Showing extends RendererOptions {
  readonly limits: RenderLimits;
  readonly parts: PartMemory;
}

async function show(browser: Browser, ask: Ask, document: Answered, options: Showing): Promise<Answer> {
  const { limits } = options;
  const context = await within(
    browser.newContext({
      userAgent: agentFor(ask.headers, options.userAgent),
      serviceWorkers: 'block',
      acceptDownloads: false,
    }),
    limits.browserMs,
  );
  const load = { requests: 0, bytesReceived: document.bytesReceived };
  const memory = limitMemory(browser, limits.memoryMegabytes);
  const timer = setTimeout(() => void context.close().catch(() => {}), limits.totalMs);
  const stop = () => void context.close().catch(() => {});
  ask.signal?.addEventListener('abort', stop, { once: true });
  try {
    const page = await context.newPage();
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}));
    await context.route('**/*', (route) =>
      supply(route, ask, document, options, load).catch(() => route.abort().catch(() => {})),
    );
    await page.goto(document.url.href, { waitUntil: 'load', timeout: limits.totalMs });
    await settled(page, limits);
    const body = Buffer.from(await page.content());
    if (body.length > limits.bytesMax) return failed(ask, new Error(`it has ${body.length} bytes`), load.bytesReceived);
    const headers = {
      ...document.headers,
      'content-type': 'text/html; charset=utf-8',
      etag: undefined,
      'last-modified': undefined,
    };
    return { ...document, body, headers, bytesReceived: load.bytesReceived };
  } finally {
    memory.stop();
    clearTimeout(timer);
    ask.signal?.removeEventListener('abort', stop);
    await within(context.close(), limits.browserMs).catch(() => {});
  }
}

/** Loaded, and nothing has happened for a moment; a page that never rests is read as it is. */
async function settled(page: Page, limits: RenderLimits): Promise<void> {
  await page.waitForLoadState('networkidle', { timeout: limits.totalMs / 2 }).catch(() => {});
  await page.waitForTimeout(limits.quietMs);
}

async function supply(
  route: Route,
  ask: Ask,
  document: Answered,
  options: Showing,
  load: { requests: number; bytesReceived: number },
): Promise<void> {
  const request = route.request();
  if (request.isNavigationRequest() && request.url() === document.url.href) return answer(route, document);
  const url = URL.parse(request.url());
  const wanted =
    url && /^https?:$/.test(url.protocol) && request.method() === 'GET' && !shownOnly.has(request.resourceType());
  const { limits, parts } = options;
  if (!wanted || ++load.requests > limits.requestsMax || load.bytesReceived > limits.bytesMax) return route.abort();
  url.hash = '';
  // Headers given for a page are for its origin; what the page's own scripts add is not passed on.
  const headers = url.origin === ask.url.origin ? ask.headers : {};
  // What a server gives to whoever sends them is no other page's.
  const isShared = Object.keys(headers).length === 0;
  const kept = isShared ? parts.get(url.href) : undefined;
  if (kept) return answer(route, kept);
  const part = await options.visit({
    url,
    headers: { ...headers, accept: '*/*' },
    purpose: 'part',
    meter: ask.meter,
    signal: ask.signal,
  });
  load.bytesReceived += part.bytesReceived;
  if (part.kind !== 'answered') return route.abort();
  if (isShared) parts.set(url.href, part);
  return answer(route, part);
}

/** Connections and lengths are the wire's business, and the body is unpacked already. */
const notPassedOn = new Set([
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

/** Scripts and styles that many pages share, for as long as their server says. */
class PartMemory {
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
