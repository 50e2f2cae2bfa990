/** The sites and pages of the demonstration, each with a law of its own, and what they say at any moment. */
import { type Random, random } from '@revisit/core';
import { type ShapeName, type Times, burstTimes, poissonTimes, releaseTimes } from './laws.ts';
import type { Kind } from './report-form.ts';

export interface SiteManner {
  readonly host: string;
  readonly kind: Kind;
  /** Real milliseconds that an answer takes. */
  readonly answerMs: number;
  readonly failChance: number;
  readonly validators: 'etag' | 'last-modified' | 'none';
}

export interface LivingPage {
  readonly site: SiteManner;
  readonly path: string;
  readonly url: string;
  /** Changes a day on average over weeks, by the law. */
  readonly ratePerDay: number;
  /** How the law spreads them over the week, when no burst or release is known. */
  readonly shape: ShapeName;
  /** When it changed, in virtual milliseconds, up to the last time anyone asked. */
  readonly changesMs: number[];
  readonly luck: Random;
}

interface Stream {
  readonly times: Times;
  nextMs: number;
}

interface Plot {
  readonly kind: Kind;
  readonly names: readonly string[];
  readonly pages: number;
  readonly law: (
    fromSeconds: number,
    luck: Random,
    site: number,
  ) => { times: Times; ratePerDay: number; shape: ShapeName };
  readonly manner?: Partial<Pick<SiteManner, 'answerMs' | 'failChance' | 'validators'>>;
}

const shaped =
  (shape: ShapeName, low: number, high: number): Plot['law'] =>
  (from, luck) => {
    // Rates differ by page as they do on the web: a few are fast, most are not.
    const ratePerDay = low * (high / low) ** luck();
    return { times: poissonTimes(shape, ratePerDay, from, luck), ratePerDay, shape };
  };

const bursty: Plot['law'] = (from, luck) => {
  const burstsPerDay = 0.05 * 8 ** luck();
  const followers = 4;
  return {
    times: burstTimes({ burstsPerDay, followers, apartSeconds: 1_800 }, from, luck),
    ratePerDay: burstsPerDay * (1 + followers),
    shape: 'flat',
  };
};

const releases: Plot['law'] = (from, luck, site) => {
  const share = 0.4;
  const perDay = 0.5;
  const stream = poissonTimes('office', perDay, from, random(site));
  return { times: releaseTimes(stream, share, luck), ratePerDay: perDay * share, shape: 'office' };
};

const plots: readonly Plot[] = [
  {
    kind: 'news',
    names: ['daily-herald', 'city-post', 'the-courier', 'north-gazette'],
    pages: 20,
    law: shaped('office', 0.5, 16),
    manner: { validators: 'last-modified' },
  },
  {
    kind: 'shop',
    names: ['tea-shop', 'bike-parts', 'book-barn', 'garden-store', 'lamp-house'],
    pages: 20,
    law: shaped('flat', 0.05, 3),
  },
  {
    kind: 'blog',
    names: ['ada-writes', 'slow-web', 'kernel-notes', 'bread-diary', 'map-room', 'type-talk', 'sea-log', 'left-bank'],
    pages: 6,
    law: bursty,
    manner: { validators: 'none' },
  },
  {
    kind: 'feed',
    names: ['wire-feed', 'release-feed', 'advisory-feed', 'weather-feed', 'court-feed', 'radio-feed'],
    pages: 2,
    law: shaped('evening', 2, 20),
  },
  { kind: 'json', names: ['status-api', 'rates-api', 'parts-api'], pages: 8, law: shaped('night', 0.3, 5) },
  { kind: 'docs', names: ['handbook', 'standards'], pages: 30, law: releases },
  {
    kind: 'noisy',
    names: ['ad-town', 'counter-corner', 'clock-blog'],
    pages: 6,
    law: shaped('office', 0.2, 3),
    manner: { validators: 'none' },
  },
  {
    kind: 'slow',
    names: ['old-server', 'far-archive'],
    pages: 4,
    law: shaped('flat', 0.2, 2),
    manner: { answerMs: 400 },
  },
  {
    kind: 'failing',
    names: ['shaky-host', 'tired-cms'],
    pages: 4,
    law: shaped('flat', 0.3, 3),
    manner: { failChance: 0.3, validators: 'none' },
  },
];

/** Names below .localhost are this machine's for every browser; the demo's own resolver knows them without asking anyone. */
export class LivingWeb {
  readonly sites = new Map<string, readonly LivingPage[]>();
  readonly pages: readonly LivingPage[];
  readonly #streams = new Map<LivingPage, Stream>();
  readonly #byUrl = new Map<string, LivingPage>();

  constructor(startMs: number, port: number, seed: number) {
    const all: LivingPage[] = [];
    let siteSeed = seed;
    for (const plot of plots) {
      for (const name of plot.names) {
        siteSeed += 7919;
        const site: SiteManner = {
          kind: plot.kind,
          host: `${name}.localhost`,
          answerMs: 1,
          failChance: 0,
          validators: 'etag',
          ...plot.manner,
        };
        const pages = Array.from({ length: plot.pages }, (_, i) => this.#grow(site, i, plot, startMs, port, siteSeed));
        this.sites.set(site.host, pages);
        all.push(...pages);
      }
    }
    this.pages = all;
  }

  #grow(site: SiteManner, i: number, plot: Plot, startMs: number, port: number, siteSeed: number): LivingPage {
    const luck = random(siteSeed * 1_000 + i);
    const { times, ratePerDay, shape } = plot.law(startMs / 1000, luck, siteSeed);
    const path = pathOf(site.kind, i);
    const page: LivingPage = {
      site,
      path,
      url: `http://${site.host}:${port}${path}`,
      ratePerDay,
      shape,
      changesMs: [],
      luck,
    };
    this.#streams.set(page, { times, nextMs: nextOf(times) });
    this.#byUrl.set(`${site.host}${path}`, page);
    return page;
  }

  find(host: string, path: string): LivingPage | undefined {
    return this.#byUrl.get(`${host}${path}`);
  }

  /** Lets the page live until then; each change that happens is handed over once. */
  advance(page: LivingPage, nowMs: number, happened: (page: LivingPage, atMs: number) => void): void {
    const stream = this.#streams.get(page)!;
    while (stream.nextMs <= nowMs) {
      page.changesMs.push(stream.nextMs);
      happened(page, stream.nextMs);
      stream.nextMs = nextOf(stream.times);
    }
  }
}

function nextOf(times: Times): number {
  const next = times.next();
  return next.done ? Infinity : next.value * 1000;
}

function pathOf(kind: Kind, i: number): string {
  if (kind === 'feed') return i === 0 ? '/feed.xml' : `/feed-${i}.xml`;
  if (kind === 'json') return `/v1/items/${i}.json`;
  if (kind === 'docs') return `/${['guide', 'reference', 'notes'][i % 3]}/chapter-${i}`;
  if (kind === 'shop') return `/products/${i}`;
  return i === 0 ? '/' : `/${kind === 'blog' ? 'posts' : 'stories'}/${i}`;
}
