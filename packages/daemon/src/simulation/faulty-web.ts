/**
 * A web in trouble, seen from the wire: sites that fail, slow down, limit and recover, pages that change all the while. It
 * stands where the sockets are, so the whole politeness of the real observer runs above it; it keeps the rules in mind
 * and notes every request that breaks one.
 */
import { exponential, integer, type Random } from '@revisit/core';
import type { Answer, Ask } from '../observe/ask.ts';
import type { Clock } from '../values/clock.ts';

export type Condition = 'fine' | 'slow' | 'down' | 'errors' | 'limits' | 'unavailable';
const conditions: readonly Condition[] = ['fine', 'fine', 'fine', 'slow', 'down', 'errors', 'limits', 'unavailable'];

export interface FaultyWebOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly sites: number;
  readonly pagesPerSite: number;
  readonly spacingMs: number;
  readonly cap: { readonly count: number; readonly periodMs: number };
  readonly startMs: number;
  /** From here on all is fine. */
  readonly calmMs: number;
  readonly endMs: number;
}

interface Site {
  readonly spells: readonly { readonly fromMs: number; readonly condition: Condition }[];
  readonly crawlDelayMs: number;
  readonly requests: number[];
  lastPageMs: number;
  leaveAloneUntilMs: number;
  underWay: number;
}

export class FaultyWeb {
  readonly urls: string[] = [];
  readonly violations: string[] = [];
  requests = 0;
  readonly #options: FaultyWebOptions;
  readonly #sites = new Map<string, Site>();
  readonly #changes = new Map<string, readonly number[]>();

  constructor(options: FaultyWebOptions) {
    this.#options = options;
    const { random, startMs, endMs } = options;
    for (let index = 0; index < options.sites; index++) {
      const name = `site${index}.example`;
      this.#sites.set(name, {
        spells: this.#weather(),
        crawlDelayMs: index % 3 === 0 ? 5_000 + integer(random, 10_000) : 0,
        requests: [],
        lastPageMs: -Infinity,
        leaveAloneUntilMs: 0,
        underWay: 0,
      });
      for (let page = 0; page < options.pagesPerSite; page++) {
        const url = `https://${name}/${page}`;
        this.urls.push(url);
        const changes: number[] = [];
        const meanMs = 3_600_000 * (1 + integer(random, 24));
        for (let at = startMs + exponential(random, meanMs); at < endMs; at += exponential(random, meanMs))
          changes.push(at);
        this.#changes.set(url, changes);
      }
    }
  }

  #weather(): Site['spells'] {
    const { random, startMs, calmMs } = this.#options;
    const spells: { fromMs: number; condition: Condition }[] = [{ fromMs: startMs, condition: 'fine' }];
    for (let at = startMs + exponential(random, 3 * 3_600_000); at < calmMs; at += exponential(random, 3 * 3_600_000)) {
      spells.push({ fromMs: at, condition: conditions[integer(random, conditions.length)]! });
    }
    spells.push({ fromMs: calmMs, condition: 'fine' });
    return spells;
  }

  /** How often the page had changed by then, counted from 1. */
  versionAt(url: string, atMs: number): number {
    return 1 + (this.#changes.get(url) ?? []).filter((at) => at <= atMs).length;
  }

  /** One process's way to this web. After it was killed its requests go nowhere, and nobody hears the answers. */
  connection(isAlive: () => boolean): (ask: Ask) => Promise<Answer> {
    return async (ask) => {
      if (!isAlive()) return new Promise<Answer>(() => {});
      return this.#answer(ask, isAlive);
    };
  }

  async #answer(ask: Ask, isHeard: () => boolean): Promise<Answer> {
    const { clock, random } = this.#options;
    const askedAtMs = clock.nowMs();
    const site = this.#sites.get(ask.url.hostname)!;
    this.#check(ask, site, askedAtMs);
    site.underWay++;
    const condition = site.spells.findLast(({ fromMs }) => fromMs <= askedAtMs)!.condition;
    await clock.sleep(
      condition === 'down'
        ? 10_000
        : condition === 'slow'
          ? 3_000 + integer(random, 15_000)
          : 20 + integer(random, 400),
    );
    site.underWay--;
    if (condition === 'down')
      return { kind: 'failed', fault: { code: 'connection-timeout', sentence: 'down' }, bytesReceived: 0 };
    const reply = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
      kind: 'answered',
      url: ask.url,
      status,
      headers: { 'content-type': 'text/html', ...headers },
      body: Buffer.from(body),
      bytesReceived: body.length,
      askedAtMs,
      answeredAtMs: clock.nowMs(),
    });
    if (condition === 'errors') return reply(500, '');
    if (condition === 'unavailable') return reply(503, '');
    if (condition === 'limits') {
      const seconds = 30 + integer(random, 3_000);
      // Whoever was killed before the answer came was never told.
      if (isHeard()) site.leaveAloneUntilMs = Math.max(site.leaveAloneUntilMs, clock.nowMs() + seconds * 1_000);
      return reply(429, '', { 'retry-after': String(seconds) });
    }
    if (ask.url.pathname === '/robots.txt') {
      return site.crawlDelayMs > 0
        ? reply(200, `User-agent: *\nCrawl-delay: ${site.crawlDelayMs / 1000}`)
        : reply(404, '');
    }
    const version = this.versionAt(ask.url.href, clock.nowMs());
    const etag = `"${version}"`;
    return ask.headers['if-none-match'] === etag ? reply(304, '') : reply(200, `<p>version ${version}</p>`, { etag });
  }

  #check(ask: Ask, site: Site, nowMs: number): void {
    const { spacingMs, cap } = this.#options;
    this.requests++;
    const wrong = (what: string) =>
      this.violations.push(`${ask.url.href} at ${new Date(nowMs).toISOString()}: ${what}`);
    const last = site.requests.at(-1) ?? -Infinity;
    if (nowMs - last < spacingMs) wrong(`${nowMs - last} ms after the last request`);
    if (nowMs < site.leaveAloneUntilMs) wrong(`${site.leaveAloneUntilMs - nowMs} ms before it may be asked again`);
    const before = site.requests.at(-cap.count);
    if (before !== undefined && nowMs - before < cap.periodMs)
      wrong(`more than ${cap.count} requests in ${cap.periodMs} ms`);
    if (ask.url.pathname !== '/robots.txt') {
      if (nowMs - site.lastPageMs < site.crawlDelayMs)
        wrong(`${nowMs - site.lastPageMs} ms after the last page, against its Crawl-delay`);
      site.lastPageMs = nowMs;
    }
    site.requests.push(nowMs);
    if (site.requests.length > cap.count) site.requests.shift();
  }
}
