/**
 * A web whose laws are known: each page changes by a law of its own, each site answers with its own latency and fails at
 * its own rate. Everything follows from the random numbers passed in, so one seed reproduces a run exactly.
 */
import { exponential, type Random } from '@revisit/core';
import type { Clock } from '../values/clock.ts';
import type { Observation, Observer, Outcome } from '../values/observation.ts';
import type { PageSettings } from '../values/page.ts';
import type { Probe } from '../values/probe.ts';

export interface SiteLaw {
  readonly latencyMeanMs: number;
  /** Chances per request. */
  readonly errorChance: number;
  readonly timeOutChance: number;
  readonly timeOutMs: number;
}

/** The waiting time from one change to the next, in milliseconds. */
export type ChangeLaw = (random: Random, atMs: number) => number;

export const poissonLaw =
  (meanMs: number): ChangeLaw =>
  (random) =>
    exponential(random, meanMs);

export interface SimulatedPage {
  readonly url: string;
  readonly site: string;
  readonly law: ChangeLaw;
  /** What its user sets beside the address. */
  readonly settings?: Partial<PageSettings>;
}

export interface Sent {
  readonly url: string;
  readonly site: string;
  readonly atMs: number;
}

export const calmSite: SiteLaw = { latencyMeanMs: 200, errorChance: 0, timeOutChance: 0, timeOutMs: 30_000 };

interface LivingPage {
  readonly law: ChangeLaw;
  version: number;
  nextChangeMs: number;
  readonly changes: number[];
}

export class SimulatedWeb implements Observer {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #siteLaw: (site: string) => SiteLaw;
  readonly #pages = new Map<string, LivingPage>();
  /** Every request, in order: what a site owner would see in the log. */
  readonly sent: Sent[] = [];

  constructor(
    clock: Clock,
    random: Random,
    pages: readonly SimulatedPage[],
    siteLaw: (site: string) => SiteLaw = () => calmSite,
  ) {
    this.#clock = clock;
    this.#random = random;
    this.#siteLaw = siteLaw;
    for (const page of pages) {
      const start = clock.nowMs();
      this.#pages.set(page.url, {
        law: page.law,
        version: 1,
        nextChangeMs: start + page.law(random, start),
        changes: [],
      });
    }
  }

  /** The true times at which the page changed up to now. */
  changesOf(url: string): readonly number[] {
    const page = this.#pages.get(url);
    if (page) this.#age(page);
    return page?.changes ?? [];
  }

  bodyOf(url: string): string {
    const page = this.#pages.get(url);
    if (!page) return '';
    this.#age(page);
    return `<title>${url}</title><p>version ${page.version}</p>`;
  }

  #age(page: LivingPage): void {
    const now = this.#clock.nowMs();
    while (page.nextChangeMs <= now) {
      page.changes.push(page.nextChangeMs);
      page.version++;
      page.nextChangeMs += page.law(this.#random, page.nextChangeMs);
    }
  }

  async observe(probe: Probe): Promise<Observation> {
    const startedAtMs = this.#clock.nowMs();
    this.sent.push({ url: probe.url, site: probe.site, atMs: startedAtMs });
    const law = this.#siteLaw(probe.site);
    const luck = this.#random();
    const timesOut = luck < law.timeOutChance;
    await this.#clock.sleep(timesOut ? law.timeOutMs : exponential(this.#random, law.latencyMeanMs));
    const outcome = timesOut
      ? failed('time-out', 'The server did not answer in time.')
      : luck < law.timeOutChance + law.errorChance
        ? failed('http-error', 'The server answered 500.')
        : this.#answer(probe);
    return {
      probe,
      startedAtMs,
      endedAtMs: this.#clock.nowMs(),
      outcome,
      requests: 1,
      bytesReceived: outcome.kind === 'fetched' ? outcome.body.length : 100,
    };
  }

  #answer(probe: Probe): Outcome {
    const page = this.#pages.get(probe.url);
    if (!page) return { kind: 'gone', status: 404 };
    this.#age(page);
    const etag = `"${page.version}"`;
    if (probe.validators.etag === etag) return { kind: 'not-modified' };
    return {
      kind: 'fetched',
      status: 200,
      body: new TextEncoder().encode(this.bodyOf(probe.url)),
      mediaType: 'text/html',
      charset: 'utf-8',
      validators: { etag },
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function failed(code: string, sentence: string): Outcome {
  return { kind: 'failed', fault: { code, sentence } };
}
