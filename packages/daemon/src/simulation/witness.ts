/**
 * What owners of sites would see in their logs: every request, against the rules that hold for it. Spacing, the cap, the
 * hours, Retry-After and Crawl-delay for each site, spacing and cap of servers that several share, robots.txt as far as the process that asks has heard it, and the budget
 * over all sites.
 */
import type { Ask } from '../observe/ask.ts';
import type { SiteRules } from '../observe/gate.ts';
import type { FaultyWebOptions, RobotsText } from './faulty-web.ts';

/** One life of the daemon. */
export interface Process {
  alive: boolean;
  /** When it was killed. */
  diedMs?: number;
}

/** A site has asked to be left alone. */
interface Told {
  readonly atMs: number;
  readonly untilMs: number;
  readonly process: Process;
}

interface Heard {
  readonly text: RobotsText;
  readonly atMs: number;
}

/** What one site, or one server of several, saw of requests. */
interface Visits {
  /** When requests came, as many as the cap counts. */
  readonly capped: number[];
  lastMs: number;
}

interface Log extends Visits {
  lastPageMs: number;
  /** By what the site has asked for, whoever was told. */
  told: readonly Told[];
  /** By the processes that read it. */
  readonly robots: Map<Process, Heard>;
  /** The least that any of them read: whoever has not read it goes by what one before it did. */
  crawlDelayMsLeast: number;
}

/** A request that found its page allowed may have waited at its site's gate while robots.txt was read again. */
const lineMs = 180_000;
/** How long it takes to note for the next process what a site has asked for, and to see that a disk has space again. */
const noteMs = 2_000;
const seeSpaceMs = 6_000;
/** What a look may cost beyond the request it was counted for: robots.txt and a redirect, at two sites. */
const extraRequests = 4;

type WitnessOptions = Pick<
  FaultyWebOptions,
  'rules' | 'requestsPerMs' | 'robots' | 'serverOf' | 'serverRules' | 'startMs' | 'isFull'
>;

export class Witness {
  readonly violations: string[] = [];
  requests = 0;
  readonly #options: WitnessOptions;
  readonly #logs = new Map<string, Log>();
  readonly #servers = new Map<string, Visits>();
  #tokens = 0;
  #tokensAtMs: number;

  constructor(options: WitnessOptions) {
    this.#options = options;
    this.#tokensAtMs = options.startMs;
  }

  #log(host: string): Log {
    let log = this.#logs.get(host);
    if (!log) {
      const never = { lastMs: -Infinity, lastPageMs: -Infinity, crawlDelayMsLeast: Infinity };
      log = { capped: [], ...never, told: [], robots: new Map() };
      this.#logs.set(host, log);
    }
    return log;
  }

  /** The site has asked to be left alone. */
  toldToWait(host: string, told: Told): void {
    const log = this.#log(host);
    log.told = [...log.told.filter(({ untilMs }) => untilMs > told.atMs), told];
  }

  /** Until when the process must leave the site alone: one that was killed before it could note what it was told could not hand it on. */
  #leaveAloneUntilMs(log: Log, process: Process): number {
    const known = log.told.filter(
      (told) => told.process === process || (told.process.diedMs ?? Infinity) >= this.#notedMs(told.atMs),
    );
    return Math.max(0, ...known.map(({ untilMs }) => untilMs));
  }

  #notedMs(toldMs: number): number {
    const { isFull } = this.#options;
    const took = (atMs: number): boolean => !isFull(atMs) && !isFull(atMs + noteMs);
    if (took(toldMs)) return toldMs + noteMs;
    let spaceMs = toldMs;
    while (!took(spaceMs) || !took(spaceMs + seeSpaceMs)) spaceMs += 1_000;
    return spaceMs + seeSpaceMs + noteMs;
  }

  readRobots(host: string, text: RobotsText, atMs: number, process: Process): void {
    const log = this.#log(host);
    log.robots.set(process, { text, atMs });
    log.crawlDelayMsLeast = Math.min(log.crawlDelayMsLeast, text.crawlDelayMs);
  }

  /** A new process: what the last one had not yet paid for is forgiven. */
  restarted(): void {
    this.#tokens = Math.max(0, this.#tokens);
  }

  /** A request has come; it went out a moment before. */
  asked(ask: Ask, nowMs: number, process: Process, wentOutMs = nowMs): void {
    const { rules, serverOf, serverRules } = this.#options;
    this.requests++;
    const log = this.#log(ask.url.hostname);
    const wrong = (what: string): void => {
      this.violations.push(`${ask.url.href} at ${new Date(nowMs).toISOString()}: ${what}`);
    };
    const againMs = this.#leaveAloneUntilMs(log, process);
    if (nowMs < againMs) wrong(`${againMs - nowMs} ms before it may be asked again`);
    if (rules.quietUntilMs?.(wentOutMs) !== undefined) wrong('in its quiet hours');
    const address = serverOf(ask.url.hostname);
    visit(log, rules, nowMs, wrong);
    if (address !== undefined) {
      const server = this.#servers.get(address) ?? { capped: [], lastMs: -Infinity };
      this.#servers.set(address, server);
      visit(server, serverRules, nowMs, (what) => wrong(`${what} to ${address}`));
    }
    if (ask.url.pathname !== '/robots.txt') this.#page(ask, log, nowMs, process, wrong);
    this.#pay(nowMs, wrong);
  }

  #page(ask: Ask, log: Log, nowMs: number, process: Process, wrong: (what: string) => void): void {
    const heard = log.robots.get(process);
    if (heard) {
      if (ask.url.pathname === heard.text.forbids && nowMs > heard.atMs + lineMs)
        wrong(`its robots.txt, read at ${new Date(heard.atMs).toISOString()}, forbids it`);
    }
    const delayMs = heard && log.lastPageMs >= heard.atMs ? heard.text.crawlDelayMs : log.crawlDelayMsLeast;
    if (nowMs - log.lastPageMs < delayMs)
      wrong(`${nowMs - log.lastPageMs} ms after the last page, against its Crawl-delay`);
    log.lastPageMs = nowMs;
  }

  #pay(nowMs: number, wrong: (what: string) => void): void {
    const { requestsPerMs, robots } = this.#options;
    const burst = Math.max(1, 60_000 * requestsPerMs);
    this.#tokens = Math.min(burst, this.#tokens + (nowMs - this.#tokensAtMs) * requestsPerMs) - 1;
    this.#tokensAtMs = nowMs;
    if (this.#tokens < -extraRequests * robots) wrong(`${Math.ceil(-this.#tokens)} requests beyond the budget`);
  }
}

/** Notes the request against spacing and cap. */
function visit(to: Visits, { spacingMs, cap }: SiteRules, nowMs: number, wrong: (what: string) => void): void {
  if (nowMs - to.lastMs < spacingMs) wrong(`${nowMs - to.lastMs} ms after the last request`);
  if (cap) {
    const before = to.capped.at(-cap.count);
    if (before !== undefined && nowMs - before < cap.periodMs)
      wrong(`more than ${cap.count} requests in ${cap.periodMs} ms`);
    if (to.capped.length >= cap.count) to.capped.shift();
  }
  to.capped.push(nowMs);
  to.lastMs = nowMs;
}
