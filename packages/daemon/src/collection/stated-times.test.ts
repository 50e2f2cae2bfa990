/** What sitemaps and feeds say of when pages changed, and what is learned from it, by the whole loop in virtual time. */
import { expect, test } from 'vitest';
import { Collection } from './collection.ts';
import { IndexHints } from './index-hints.ts';
import { stated } from '../observe/discover/listed.ts';
import { dayMs, hourMs, minuteMs, type SitePage, sitemap, startMs, watchSite } from '../trial/watched-site.ts';
import type { WatchedPage } from '../values/look.ts';
import { usualSettings } from '../values/page.ts';

const url = 'https://example.org/a';
const iso = (ms: number): string => new Date(ms).toISOString();

/** A page that changes once a day at 9:17 or so, for fourteen days, beside a sitemap that dates it; what its looks told. */
async function toldBy(sitemapAt: (nowMs: number, changedMs: number) => Record<string, string>) {
  const now = { changedMs: startMs, ms: () => startMs };
  const site = new Map<string, SitePage>([
    [
      '/sitemap.xml',
      {
        type: 'application/xml',
        get body() {
          return sitemap(['/a'], sitemapAt(now.ms(), now.changedMs)).body;
        },
      },
    ],
    ['/a', { body: 'version 0' }],
  ]);
  const watch = await watchSite(site, [{ url: 'https://example.org/sitemap.xml' }, { url }]);
  now.ms = () => watch.clock.nowMs();
  const changes: number[] = [];
  for (let day = 0; day < 14; day++) {
    await watch.until(day * dayMs + 9 * hourMs + (17 + 7 * (day % 5)) * minuteMs);
    now.changedMs = watch.clock.nowMs();
    changes.push(now.changedMs / 1000);
    site.set('/a', { body: `version ${day + 1}` });
  }
  await watch.until(14 * dayMs);
  const [page] = watch.loop.collection.withUrl(url);
  const found = watch.findings
    .filter(({ page: index, finding }) => index === page!.index && finding.kind === 'changed')
    .map(({ finding }) => finding);
  await watch.end();
  expect(found.length).toBe(changes.length);
  return { changes, told: found.map(({ changedAt }) => changedAt) };
}

test('what a sitemap that has proven true says of a change is when it happened', async () => {
  const { changes, told } = await toldBy((_, changedMs) => ({ '/a': iso(changedMs) }));
  const times = told.filter((at) => at !== undefined);
  expect(times.length).toBeGreaterThanOrEqual(3);
  told.forEach((at, n) => expect([undefined, changes[n]]).toContain(at));
  // Not before it has been right three times.
  expect(told.slice(0, 3)).toEqual([undefined, undefined, undefined]);
});

test.each([
  ['the time of reading', (nowMs: number) => ({ '/a': iso(nowMs - 1000) })],
  ['the future', (nowMs: number) => ({ '/a': iso(nowMs + hourMs) })],
  ['another time every three hours', (nowMs: number) => ({ '/a': iso(nowMs - (nowMs % (3 * hourMs)) + minuteMs) })],
  ['what was before our last look', (_: number, changedMs: number) => ({ '/a': iso(changedMs - 5 * hourMs) })],
])('a sitemap that says %s says nothing of when a page changed', async (_, dates) => {
  const { told } = await toldBy(dates);
  expect(told.filter((at) => at !== undefined)).toEqual([]);
});

const pageOf = (id: string, lastSeenMs: number): WatchedPage => ({
  page: { id, url: `https://example.org/${id}`, site: 'example.org', ...usualSettings, addedAtMs: 0 },
  state: {
    status: 'present',
    version: 1,
    toldVersion: 1,
    validators: {},
    failures: 0,
    looks: 1,
    changes: 0,
    lastSeenMs,
  },
});

test('of an index that was right ten times a date counts that may be that of a change, and of two the truer one', () => {
  const collection = new Collection();
  const sure = collection.add(pageOf('sitemap.xml', 0));
  const doubtful = collection.add(pageOf('feed', 0));
  const page = collection.add(pageOf('a', startMs));
  const hints = new IndexHints(collection);
  const readMs = startMs + 3 * dayMs;
  const say = (index: typeof sure, date: string, alike: readonly string[] = []) =>
    hints.of(
      index,
      [page.page.url, ...alike].map((address) => ({ url: address, ...stated(date) })),
      readMs,
    );
  for (let n = 0; n < 10; n++) {
    say(sure, iso(startMs + hourMs + n));
    expect(hints.changedAtMs(page, readMs) !== undefined).toBe(n >= 3);
    if (n < 4) say(doubtful, iso(startMs + dayMs + n));
    hints.looked(page, true);
  }
  const told = (lookMs = readMs + hourMs) => {
    const at = hints.changedAtMs(page, lookMs);
    hints.looked(page, true);
    return at;
  };
  say(sure, iso(startMs + 2 * hourMs));
  say(doubtful, iso(startMs + 3 * hourMs));
  expect(told()).toBe(startMs + 2 * hourMs);
  // A day, midnight, the moment of reading, after the look.
  for (const date of ['2026-01-07', '2026-01-07T00:00:00+02:00', iso(readMs - 1000)]) {
    expect(say(sure, date)).toHaveLength(1);
    expect(told()).toBeUndefined();
  }
  say(sure, iso(startMs + dayMs));
  expect(told(startMs + hourMs)).toBeUndefined();
  // When the index was written.
  const others = ['b', 'c', 'd'].map((id) => `https://example.org/${id}`);
  say(sure, iso(startMs + 5 * hourMs), others);
  expect(told()).toBeUndefined();
  say(sure, iso(startMs + 5 * hourMs), others.slice(0, 1));
  expect(told()).toBe(startMs + 5 * hourMs);
});

test('a feed that is watched tells when each of its new entries came', async () => {
  const entries: number[] = [];
  const feed = (lie = 0): SitePage => ({
    type: 'application/rss+xml',
    body: `<rss version="2.0"><channel><title>t</title>${entries
      .map((ms, n) => [n, new Date(ms + lie).toUTCString()] as const)
      .map(([n, date]) => `<item><title>${n}</title><guid>${n}</guid><pubDate>${date}</pubDate></item>`)
      .map((item, n) => item.replace('<guid>', `<link>https://example.org/${n}</link><guid>`))
      .join('')}</channel></rss>`,
  });
  const site = new Map<string, SitePage>([['/feed', feed()]]);
  const watch = await watchSite(site, [{ url: 'https://example.org/feed' }]);
  const after = (ms: number) => watch.until(watch.clock.nowMs() - startMs + ms);
  /** Three entries within minutes of a look, and then the looks that find them. */
  const publish = async (lie = 0): Promise<void> => {
    for (const { length } = watch.asked; watch.asked.length === length;) await after(minuteMs);
    for (const minutes of [2, 3, 4]) {
      await after(minutes * minuteMs);
      entries.push(watch.clock.nowMs());
    }
    site.set('/feed', feed(lie));
    await after(2 * hourMs);
  };
  await watch.until(hourMs);
  const foundSince = (from: number) => watch.findings.slice(from).filter(({ finding }) => finding.kind === 'changed');
  await publish();
  expect(foundSince(0)).toMatchObject([{ finding: { count: 3 } }]);
  const [first] = foundSince(0);
  expect(first!.finding.times).toEqual(Float64Array.from(entries, (ms) => ms / 1000));
  const before = watch.findings.length;
  // Dates from before the last look are not when the entries came: then only their number is known.
  await publish(-2 * dayMs);
  expect(foundSince(before).map(({ finding }) => [finding.count, finding.times])).toEqual([[3, undefined]]);
  await watch.end();
});

test('dates are days where they name no time, or midnight', () => {
  const day = { isDay: true };
  expect(stated('2026-01-05')).toMatchObject(day);
  expect(stated('2026-01-05T00:00:00+02:00')).toMatchObject(day);
  expect(stated('Mon, 05 Jan 2026 00:00:00 GMT')).toMatchObject(day);
  expect(stated('never')).toEqual({});
  for (const text of ['2026-01-05T00:00:07Z', '2026-01-05T10:00:00+00:00', 'Mon, 05 Jan 2026 10:00:00 GMT'])
    expect(stated(text)).toEqual({ modifiedMs: Date.parse(text) });
});
