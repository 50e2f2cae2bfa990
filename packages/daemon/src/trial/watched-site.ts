/** A site whose pages are what a test makes of them, watched by the whole loop in virtual time. */
import { type Finding, type Policy, policies, random } from '@revisit/core';
import { detector } from '../daemon.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { openSqlite } from '../store/sqlite.ts';
import type { Select } from '../values/page.ts';

export const startMs = Date.UTC(2026, 0, 5);
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export interface SitePage {
  body: string | Uint8Array;
  type?: string;
  /** Moved for good to there. */
  to?: string;
  etag?: string;
}

export async function watchSite(
  site: Map<string, SitePage>,
  roots: { url: string; discover?: unknown; select?: Select }[],
) {
  const clock = new VirtualClock(startMs);
  const asked: string[] = [];
  const answers: { path: string; status: number }[] = [];
  const fetchPage = async (ask: Ask): Promise<Answer> => {
    const askedAtMs = clock.nowMs();
    asked.push(ask.url.href);
    await clock.sleep(20);
    const page = site.get(ask.url.pathname);
    const same = page?.etag !== undefined && ask.headers['if-none-match'] === page.etag;
    const body = Buffer.from(same ? '' : (page?.body ?? ''));
    const headers = {
      'content-type': page?.type ?? 'text/html',
      ...(page?.to ? { location: page.to } : {}),
      ...(page?.etag ? { etag: page.etag } : {}),
    };
    const status = same ? 304 : page?.to ? 301 : page ? 200 : 404;
    answers.push({ path: ask.url.pathname, status });
    return {
      kind: 'answered',
      url: ask.url,
      status,
      headers,
      body,
      bytesReceived: body.length,
      askedAtMs,
      answeredAtMs: clock.nowMs(),
    };
  };
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const { store } = opened;
  await store.addPages(
    roots.map(({ url, discover, select = { kind: 'text' } }) => ({
      url,
      site: 'example.org',
      select,
      tags: ['all'],
      weight: 1,
      paused: false,
      options: discover === undefined ? {} : { discover },
      addedAtMs: startMs,
    })),
  );
  const observer = createObserver({
    clock,
    random: random(1),
    userAgent: 'Revisit',
    allowNetworks: [],
    spacingMs: 1000,
    fetchPage,
  });
  const said: { level: string; message: string; fields?: Record<string, unknown> | undefined }[] = [];
  const hinted: { page: number; chance: number }[] = [];
  const findings: { page: number; finding: Finding }[] = [];
  const uniform = policies['uniform']!.create(1);
  const looked = uniform.looked.bind(uniform);
  const policy: Policy = Object.assign(uniform, {
    hinted: (page: number, _now: number, chance: number) => void hinted.push({ page, chance }),
    looked: (page: number, at: number, finding: Finding) => {
      findings.push({ page, finding });
      looked(page, at, finding);
    },
  });
  const log = (level: string, message: string, fields?: Record<string, unknown>) =>
    void said.push({ level, message, fields });
  const loop = new Loop(
    { clock, random: random(2), store, observer, policy, detect: detector(store), log },
    { looksPerSecond: 0.001, spacingMs: 1000, robots: 4, queueMax: 100 },
  );
  await loop.load();
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  return {
    clock,
    store,
    asked,
    answers,
    hinted,
    findings,
    said,
    loop,
    until: (ms: number) => clock.runUntil(startMs + ms),
    urls: async () => (await store.pages({ limit: 1000 })).map(({ page }) => page.url).sort(),
    end: async () => {
      stop.abort();
      await clock.runUntil(Infinity, running);
      await store.close();
    },
  };
}

export const sitemap = (paths: readonly string[], dates: Record<string, string> = {}) => ({
  type: 'application/xml',
  body: `<urlset>${paths.map((path) => `<url><loc>https://example.org${path}</loc>${dates[path] ? `<lastmod>${dates[path]}</lastmod>` : ''}</url>`).join('')}</urlset>`,
});
