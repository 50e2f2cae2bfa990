/**
 * Pages that need a browser. The user's Chromium runs the page; everything it loads comes through our own visits, one by
 * one (page-load.ts), and a page that lacks something counts as not seen. The browser itself has no way to the network: names
 * resolve to nothing inside it.
 *
 * One browser for all, started with the first page that needs it, ended when idle; a fresh context for each page.
 */
import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import type { Clock } from '../values/clock.ts';
import { fault } from '../values/fault.ts';
import type { Answer, Answered, Ask, Visit } from './ask.ts';
import { agentFor, headerOf } from './ask.ts';
import { type Started, launch, withoutDatagrams } from './browser-launch.ts';
import { endProcess, limitMemory, processIdOf } from './browser-processes.ts';
import { BrowserSlots } from './browser-slots.ts';
import { mediaTypeOf } from './outcome.ts';
import { type Known, PageLoad } from './page-load.ts';
import { PartMemory, PartTroubles } from './part-memory.ts';
import { shownHtml } from './shown-page.ts';

export interface RenderLimits {
  /** From opening the page to its last change, but for the time in which its parts wait for their sites' turn. */
  readonly totalMs: number;
  /** That time: as many parts as a page may have, at the usual spacing. It keeps its place in the browser meanwhile. */
  readonly turnsMs: number;
  /** After loading, how long nothing must happen before the page counts as finished. */
  readonly quietMs: number;
  /** Requests of one page; real ones stay below once images are left out. */
  readonly requestsMax: number;
  /** Everything one page loads. */
  readonly bytesMax: number;
  /** Pages in the browser at once; each takes around 100 MB. One place is kept for pages that were shown before. */
  readonly pagesMax: number;
  /** How long a page waits for a place, and its robot with it. */
  readonly placeMs: number;
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
  totalMs: 60_000,
  turnsMs: 240_000,
  quietMs: 1_000,
  requestsMax: 120,
  bytesMax: 32 * 2 ** 20,
  pagesMax: 2,
  placeMs: 120_000,
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

export function createRenderer(options: RendererOptions): Renderer {
  const limits: RenderLimits = { ...defaultRenderLimits, ...options.limits };
  const { clock } = options;
  const parts = new PartMemory(clock);
  const known: Known = { visit: options.visit, clock, limits, parts, troubles: new PartTroubles(clock) };
  const slots = new BrowserSlots(limits.pagesMax, clock);
  let browser: Promise<Started> | undefined;
  let idle: NodeJS.Timeout | undefined;

  const rest = () => {
    if (!slots.isIdle) return;
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

  const open = async (executable: string, ask: Ask, document: Answered): Promise<Answer> => {
    try {
      const mine = (browser ??= launch(executable, limits.heapMegabytes));
      const shared = mine.then((started) => started.browser);
      try {
        return await show(await shared, ask, document, { ...options, limits, known });
      } catch (error) {
        // A page that broke ends alone, and the others stay; with a browser that broke they end as well.
        const hangs = error instanceof BrowserHangs;
        if (browser === mine && (hangs || !(await answers(shared, limits.browserMs)))) await end(hangs);
        throw error;
      }
    } catch (error) {
      const failure = failed(ask, error, document.bytesReceived);
      return error instanceof OutOfTime
        ? { ...failure, kind: 'refused', untilMs: slots.ranLate(ask.url.href) }
        : failure;
    }
  };

  return {
    render: async (ask) => {
      // A browser that the operator named is the one that is meant.
      const places = options.chromium === undefined ? usualPlaces : [options.chromium];
      const executable = places.find((path) => existsSync(path));
      if (executable === undefined) return missing(options.chromium);
      clearTimeout(idle);
      const place = await slots.enter(ask.url.href, limits.placeMs);
      if (!place) return busy(ask, clock.nowMs() + limits.placeMs);
      try {
        // Whether the document changed says nothing about what its scripts show, so it is always fetched.
        const { validators: _validators, ...plain } = ask;
        const document = await options.visit(plain);
        if (document.kind !== 'answered' || !isHtml(document)) return document;
        const shown = await open(executable, ask, document);
        if (shown.kind === 'answered') slots.showed(ask.url.href);
        else slots.failed(ask.url.href);
        return shown;
      } finally {
        place.leave();
        rest();
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

function busy(ask: Ask, untilMs: number): Answer {
  const why = fault('render-busy', `${ask.url.host}: the browser is busy with other pages; the page is shown later`);
  return { kind: 'refused', fault: why, untilMs, bytesReceived: 0 };
}

function failed(ask: Ask, error: unknown, bytesReceived: number): Extract<Answer, { kind: 'failed' }> {
  const words = inWords((error instanceof Error ? error.message : String(error)).split('\n')[0]!);
  return {
    kind: 'failed',
    fault: fault('render-failed', `${ask.url.host}: the browser could not show the page (${words})`),
    bytesReceived,
  };
}

/** What the browser's driver says, for people who have never heard of it. */
function inWords(words: string): string {
  if (words.includes('Page crashed')) return 'it broke off: the page needs more memory than it may have';
  if (words.startsWith('browserType.launch:')) return 'it did not start; is it a Chromium or Chrome that works?';
  return words.replace(/^[a-z]+[A-Za-z]*\.[A-Za-z]+: /, '');
}

function isHtml(answer: Answered): boolean {
  const type = mediaTypeOf(headerOf(answer.headers, 'content-type')) ?? 'text/html';
  return answer.status >= 200 && answer.status < 300 && /html/.test(type);
}

class BrowserHangs extends Error {}
class OutOfTime extends Error {}

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
  readonly known: Known;
}

/** How often it is looked whether the page is finished, or its time over. */
const watchMs = 50;

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
  const stop = () => void context.close().catch(() => {});
  const load = new PageLoad(options.known, ask, document, stop);
  const memory = limitMemory(browser, limits.memoryMegabytes);
  const time = keepTime(ask, limits, stop);
  ask.signal?.addEventListener('abort', stop, { once: true });
  try {
    await context.addInitScript(withoutDatagrams);
    const page = await context.newPage();
    page.on('dialog', (dialog) => void dialog.dismiss().catch(() => {}));
    page.on('download', () => load.saves());
    context.on('page', (window) => void window.close().catch(() => {}));
    await context.route('**/*', (route) => load.supply(route, page).catch(() => route.abort().catch(() => {})));
    await page.goto(document.url.href, { waitUntil: 'load', timeout: 0 });
    load.loaded();
    // Loaded, and nothing that it needs has been asked for or come for a moment.
    do await page.waitForTimeout(watchMs);
    while (!load.isQuiet(limits.quietMs));
    const shown = await shownHtml(page, limits.bytesMax);
    if (load.missing) return load.missing;
    if (page.url().startsWith('chrome-error:'))
      return failed(ask, new Error('it shows an error of its own'), load.bytesReceived);
    if (shown.kind === 'too large') return failed(ask, new Error(`it has ${shown.what}`), load.bytesReceived);
    const body = Buffer.from(shown.html);
    if (body.length > limits.bytesMax) return failed(ask, new Error(`it has ${body.length} bytes`), load.bytesReceived);
    const headers = {
      ...document.headers,
      'content-type': 'text/html; charset=utf-8',
      etag: undefined,
      'last-modified': undefined,
    };
    return { ...document, body, headers, bytesReceived: load.bytesReceived };
  } catch (error) {
    if (load.missing) return load.missing;
    throw time.over ?? error;
  } finally {
    load.end();
    memory.stop();
    time.stop();
    ask.signal?.removeEventListener('abort', stop);
    await within(context.close(), limits.browserMs).catch(() => {});
  }
}

/** Ends the page when its time is over. What it waits for its sites' turn is politeness and not its own. */
function keepTime(ask: Ask, limits: RenderLimits, end: () => void) {
  let [ownMs, turnsMs, lastMs] = [0, 0, performance.now()];
  const time = { over: undefined as OutOfTime | undefined, stop: () => clearInterval(timer) };
  const timer = setInterval(() => {
    const passedMs = performance.now() - lastMs;
    lastMs += passedMs;
    if ((ask.meter?.waiting ?? 0) > 0) turnsMs += passedMs;
    else ownMs += passedMs;
    if (ownMs <= limits.totalMs && turnsMs <= limits.turnsMs) return;
    time.over = new OutOfTime(
      ownMs > limits.totalMs
        ? `it took longer than ${limits.totalMs / 1000} s`
        : `its parts could not all be asked for within ${limits.turnsMs / 1000} s, at the spacing of their sites`,
    );
    end();
  }, watchMs);
  return time;
}
