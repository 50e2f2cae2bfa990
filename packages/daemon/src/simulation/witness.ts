/**
 * What owners of sites would see in their logs: every request, against the rules that hold for it. Spacing, the cap, the
 * hours, Retry-After and Crawl-delay for each site, robots.txt as far as the process that asks has heard it, and the budget
 * over all sites.
 */
import type { Ask } from '../observe/ask.ts';
import type { FaultyWebOptions, RobotsText } from './faulty-web.ts';

/** One life of the daemon. */
export interface Process {
  alive: boolean;
}

interface Heard {
  readonly text: RobotsText;
  readonly atMs: number;
}

interface Log {
  /** When requests came, as many as the cap counts. */
  readonly capped: number[];
  lastMs: number;
  lastPageMs: number;
  leaveAloneUntilMs: number;
  /** By the processes that read it. */
  readonly robots: Map<Process, Heard>;
}

/** A request that found its page allowed may have waited at its site's gate while robots.txt was read again. */
const lineMs = 180_000;
/** What a look may cost beyond the request it was counted for: robots.txt and a redirect, at two sites. */
const extraRequests = 4;

type WitnessOptions = Pick<FaultyWebOptions, 'rules' | 'requestsPerMs' | 'robots' | 'startMs'>;

export class Witness {
  readonly violations: string[] = [];
  /** When each page was asked for, by its URL. */
  readonly looks = new Map<string, number[]>();
  requests = 0;
  readonly #options: WitnessOptions;
  readonly #logs = new Map<string, Log>();
  #tokens = 0;
  #tokensAtMs: number;

  constructor(options: WitnessOptions) {
    this.#options = options;
    this.#tokensAtMs = options.startMs;
  }

  #log(host: string): Log {
    let log = this.#logs.get(host);
    if (!log) {
      log = { capped: [], lastMs: -Infinity, lastPageMs: -Infinity, leaveAloneUntilMs: 0, robots: new Map() };
      this.#logs.set(host, log);
    }
    return log;
  }

  /** The site has asked to be left alone. */
  toldToWait(host: string, untilMs: number): void {
    const log = this.#log(host);
    log.leaveAloneUntilMs = Math.max(log.leaveAloneUntilMs, untilMs);
  }

  readRobots(host: string, text: RobotsText, atMs: number, process: Process): void {
    this.#log(host).robots.set(process, { text, atMs });
  }

  /** A new process: what the last one had not yet paid for is forgiven. */
  restarted(): void {
    this.#tokens = Math.max(0, this.#tokens);
  }

  /** Answers how to strike the request from the cap's count: whether it was ever seen, a process killed meanwhile cannot know. */
  asked(ask: Ask, nowMs: number, process: Process): { readonly unheard: () => void } {
    const { rules } = this.#options;
    this.requests++;
    const log = this.#log(ask.url.hostname);
    const wrong = (what: string): void => {
      this.violations.push(`${ask.url.href} at ${new Date(nowMs).toISOString()}: ${what}`);
    };
    const last = log.lastMs;
    if (nowMs - last < rules.spacingMs) wrong(`${nowMs - last} ms after the last request`);
    if (nowMs < log.leaveAloneUntilMs) wrong(`${log.leaveAloneUntilMs - nowMs} ms before it may be asked again`);
    if (rules.quietUntilMs?.(nowMs) !== undefined) wrong('in its quiet hours');
    const { cap } = rules;
    if (cap) {
      const before = log.capped.at(-cap.count);
      if (before !== undefined && nowMs - before < cap.periodMs)
        wrong(`more than ${cap.count} requests in ${cap.periodMs} ms`);
      if (log.capped.length >= cap.count) log.capped.shift();
    }
    log.capped.push(nowMs);
    log.lastMs = nowMs;
    if (ask.url.pathname !== '/robots.txt') this.#page(ask, log, nowMs, process, wrong);
    this.#pay(nowMs, wrong);
    return {
      unheard: () => {
        const place = log.capped.lastIndexOf(nowMs);
        if (place >= 0) log.capped.splice(place, 1);
      },
    };
  }

  #page(ask: Ask, log: Log, nowMs: number, process: Process, wrong: (what: string) => void): void {
    const looks = this.looks.get(ask.url.href);
    if (looks) looks.push(nowMs);
    else this.looks.set(ask.url.href, [nowMs]);
    const heard = log.robots.get(process);
    if (heard) {
      if (ask.url.pathname === heard.text.forbids && nowMs > heard.atMs + lineMs)
        wrong(`its robots.txt, read at ${new Date(heard.atMs).toISOString()}, forbids it`);
      if (log.lastPageMs >= heard.atMs && nowMs - log.lastPageMs < heard.text.crawlDelayMs)
        wrong(`${nowMs - log.lastPageMs} ms after the last page, against its Crawl-delay`);
    }
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
