/** A page that is wanted and not looked at says why, and until when: in the list of pages, and among the reasons for its next look. */
import { policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { createApi } from '../api/server.ts';
import { siteSettings } from '../config/site-rules.ts';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { waitAt } from './page-waits.ts';
import { memoryStore } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { usualSettings } from '../values/page.ts';

/** A Monday. */
const startMs = Date.UTC(2026, 0, 5, 1);
const hourMs = 3_600_000;

test('quiet hours, business hours, a cap and a site that asked to be left alone are said', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  const siteRules = siteSettings({
    'quiet.example': { quiet: ['22:00-07:00'] },
    'business.example': { hours: ['mon-fri 08:00-18:00'] },
    'capped.example': { atMost: '4/hour' },
  });
  const fetchPage = async ({ url }: Ask): Promise<Answer> => {
    const askedAtMs = clock.nowMs();
    await clock.sleep(50);
    const times = { askedAtMs, answeredAtMs: clock.nowMs() };
    const isBusy = url.hostname === 'busy.example' && url.pathname !== '/robots.txt';
    const headers = isBusy ? { 'retry-after': '7200' } : {};
    const status = isBusy ? 503 : url.pathname === '/robots.txt' ? 404 : 200;
    return { kind: 'answered', url, status, headers, body: Buffer.from('x'), bytesReceived: 1, ...times };
  };
  const common = { clock, random: random(3), siteRules };
  const options = { userAgent: 'Revisit', allowNetworks: [], spacingMs: 1_000 };
  const observer = createObserver({ ...common, ...options, fetchPage });
  const parts = { ...common, store, observer, policy: policies['revisit']!.create(1), detect: detector(store) };
  const settings = { looksPerSecond: 0.2, spacingMs: 1_000, robots: 8, queueMax: 64 };
  const loop = new Loop({ ...parts, log: () => {} }, settings);
  const sites = ['quiet', 'business', 'capped', 'busy', 'free'].map((name) => `${name}.example`);
  const pages = sites.flatMap((site) =>
    [1, 2, 3, 4, 5].map((n) => ({ url: `https://${site}/${n}`, site, ...usualSettings })),
  );
  await new Desk(store, clock, () => {}).add(pages);
  await loop.load();
  void loop.run(new AbortController().signal);
  await clock.runUntil(startMs + 10 * 60_000);

  const app = createApi(new Desk(store, clock, () => {}, loop));
  const shown = async <Body>(url: string) => (await app.inject(url)).json<Body>();
  const at = (hour: number) => new Date(Date.UTC(2026, 0, 5, hour)).toISOString();
  type Page = { id: string; looks: number; waits: { why: string; until: string } | null; nextProbe: string | null };
  const lastOf = async (site: string) => {
    const { pages: all } = await shown<{ pages: Page[] }>(`/api/pages?site=${site}.example`);
    return all.find(({ looks }) => looks === 0) ?? all.at(-1)!;
  };

  const quiet = await lastOf('quiet');
  const quietWait = { why: 'quiet hours of quiet.example', until: at(7) };
  expect(quiet).toMatchObject({ looks: 0, waits: quietWait, nextProbe: at(7) });
  const waits = { why: 'quiet hours of business.example', until: at(8) };
  expect(await lastOf('business')).toMatchObject({ looks: 0, waits, nextProbe: at(8) });

  const capped = await lastOf('capped');
  expect(capped).toMatchObject({ looks: 0, waits: { why: 'cap of capped.example (4 in an hour)' } });
  const restMs = Date.parse(capped.waits!.until) - startMs;
  expect(restMs).toBeGreaterThan(hourMs);
  expect(restMs).toBeLessThan(hourMs + 600_000);

  const busy = await lastOf('busy');
  expect(busy.waits!.why).toBe('busy.example is left alone, as it asked for or keeps failing,');
  expect(Date.parse(busy.waits!.until)).toBeGreaterThan(startMs + 2 * hourMs);
  expect((await lastOf('free')).waits).toBeNull();

  const { state, looks, reasons } = await shown<{ state: string; looks: { at: string }[]; reasons: string[] }>(
    `/api/pages/${quiet.id}/coming`,
  );
  expect([state, looks[0]!.at, reasons[0]]).toEqual([
    'planned',
    at(7),
    'It waits: quiet hours of quiet.example until then.',
  ]);

  await clock.runUntil(startMs + 8 * hourMs);
  for (const site of ['quiet', 'business']) expect(await lastOf(site)).toMatchObject({ waits: null });
  expect((await lastOf('quiet')).looks).toBeGreaterThan(0);
  loop.die();
  await app.close();
  await store.close();
});

test('a page that may not be visited says why, and when it is tried again', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  const fetchPage = async ({ url }: Ask): Promise<Answer> => {
    const askedAtMs = clock.nowMs();
    await clock.sleep(50);
    const times = { askedAtMs, answeredAtMs: clock.nowMs() };
    const forbids = url.pathname === '/robots.txt' && clock.nowMs() < startMs + hourMs;
    const body = Buffer.from(forbids ? 'User-agent: *\nDisallow: /private' : '');
    if (url.hostname !== 'inside.example')
      return { kind: 'answered', url, status: 200, headers: {}, body, bytesReceived: body.length, ...times };
    const why = { code: 'address-refused', sentence: 'inside.example leads to 10.0.0.1, which is private' };
    return { kind: 'failed', fault: why, bytesReceived: 0 };
  };
  const common = { clock, random: random(3) };
  const observer = createObserver({
    ...common,
    userAgent: 'Revisit',
    allowNetworks: [],
    spacingMs: 1_000,
    fetchPage,
  });
  const parts = { ...common, store, observer, policy: policies['revisit']!.create(1), detect: detector(store) };
  const loop = new Loop(
    { ...parts, log: () => {} },
    { looksPerSecond: 0.2, spacingMs: 1_000, robots: 8, queueMax: 64 },
  );
  const at = (url: string, site: string) => ({ url, site, ...usualSettings });
  const pages = [at('https://open.example/private', 'open.example'), at('https://inside.example/', 'inside.example')];
  await new Desk(store, clock, () => {}).add(pages);
  await loop.load();
  void loop.run(new AbortController().signal);
  await clock.runUntil(startMs + 60_000);

  const app = createApi(new Desk(store, clock, () => {}, loop));
  type Page = { id: string; looks: number; waits: { why: string; until: string } | null; nextProbe: string | null };
  const page = async (site: string) =>
    (await app.inject(`/api/pages?site=${site}`)).json<{ pages: Page[] }>().pages[0]!;
  for (const [site, why] of [
    ['open.example', 'open.example asks robots not to visit /private,'],
    ['inside.example', 'inside.example leads to 10.0.0.1, which is private,'],
  ] as const) {
    const { id, looks, waits, nextProbe } = await page(site);
    expect([site, looks, waits?.why, nextProbe]).toEqual([site, 1, why, waits?.until]);
    const untilMs = Date.parse(waits!.until);
    expect(untilMs).toBeGreaterThan(startMs + 23 * hourMs);
    expect(untilMs).toBeLessThan(startMs + 25 * hourMs);
    const coming = (await app.inject(`/api/pages/${id}/coming`)).json<{ state: string; looks: { at: string }[] }>();
    expect([coming.state, coming.looks[0]!.at]).toEqual(['planned', waits!.until]);
  }
  // What a person asks for is looked at all the same, and says anew how it is.
  const { id } = await page('inside.example');
  const before = (await page('inside.example')).waits!.until;
  await clock.runUntil(startMs + 2 * hourMs);
  loop.probeNow(id);
  await clock.runUntil(startMs + 2 * hourMs + 60_000);
  const after = await page('inside.example');
  expect(after.looks).toBe(2);
  expect(Date.parse(after.waits!.until) - Date.parse(before)).toBeGreaterThan(hourMs);

  await clock.runUntil(startMs + 27 * hourMs);
  expect(await page('open.example')).toMatchObject({ waits: null });
  expect((await page('open.example')).looks).toBeGreaterThan(1);
  loop.die();
  await app.close();
  await store.close();
});

test('where robots.txt cannot be read, no look is made before it is tried again, and the page says so', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  let requests = 0;
  const fetchPage = async (): Promise<Answer> => {
    requests++;
    await clock.sleep(50);
    const why = { code: 'certificate-invalid', sentence: 'down.example: its certificate has expired' };
    return { kind: 'failed', fault: why, bytesReceived: 0 };
  };
  const common = { clock, random: random(3), spacingMs: 1_000 };
  const observer = createObserver({ ...common, userAgent: 'Revisit', allowNetworks: [], fetchPage });
  const parts = { ...common, store, observer, policy: policies['uniform']!.create(1), detect: detector(store) };
  const settings = { looksPerSecond: 1, spacingMs: 1_000, robots: 8, queueMax: 64 };
  const loop = new Loop({ ...parts, log: () => {} }, settings);
  await new Desk(store, clock, () => {}).add([
    { url: 'https://down.example/', site: 'down.example', ...usualSettings },
  ]);
  await loop.load();
  void loop.run(new AbortController().signal);
  const app = createApi(new Desk(store, clock, () => {}, loop));
  const page = async () =>
    (await app.inject('/api/pages')).json<{ pages: { looks: number; waits: { why: string } | null }[] }>().pages[0]!;
  await clock.runUntil(startMs + 20_000);
  expect(await page()).toMatchObject({ looks: 1, waits: { why: 'down.example: its certificate has expired,' } });
  await clock.runUntil(startMs + hourMs);
  expect(requests).toBeGreaterThan(3);
  expect((await page()).looks).toBe(requests);
  loop.die();
  await app.close();
  await store.close();
});

test('of several things the one that lasts longest is said, and hours of a shared server count', () => {
  const server = { address: '203.0.113.7', spacingMs: 250, connections: 8 };
  const rulesOf = (name: string) => (name === server.address ? { quietUntilMs: () => 5_000 } : undefined);
  const common = { site: 'a.example', rulesOf, hold: undefined };
  expect(waitAt(0, { ...common, server, quietUntilMs: 4_000 })).toEqual({
    why: 'quiet hours of 203.0.113.7',
    untilMs: 5_000,
  });
  expect(waitAt(0, { ...common, server, quietUntilMs: 6_000 })).toEqual({ why: 'quiet hours', untilMs: 6_000 });
  const hold = { untilMs: 9_000, byLimits: true };
  const half = { count: 1, periodMs: 7_200_000 };
  expect(waitAt(0, { ...common, hold, server: { ...server, cap: half }, quietUntilMs: undefined })).toEqual({
    why: 'cap of a.example (1 in 2 hours)',
    untilMs: 9_000,
  });
  expect(waitAt(9_000, { ...common, hold, server: undefined, quietUntilMs: undefined })).toBeUndefined();
});

test('pages of an origin whose robots.txt cannot be read wait for it and say so, and no look is told of that nobody made', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  const asked: string[] = [];
  const downUntilMs = startMs + 10 * hourMs;
  const fetchPage = async ({ url }: Ask): Promise<Answer> => {
    const askedAtMs = clock.nowMs();
    asked.push(url.href);
    await clock.sleep(50);
    const times = { askedAtMs, answeredAtMs: clock.nowMs() };
    const isDown = clock.nowMs() < downUntilMs;
    if (isDown && url.hostname === 'silent.example')
      return {
        kind: 'failed',
        fault: { code: 'connection-refused', sentence: 'nothing listens there' },
        bytesReceived: 0,
      };
    // That of one leads to another site, which is in trouble.
    if (url.hostname === 'leads.example' && url.pathname === '/robots.txt')
      return {
        kind: 'answered',
        url,
        status: 302,
        headers: { location: 'https://other.example/robots.txt' },
        body: Buffer.from(''),
        bytesReceived: 0,
        ...times,
      };
    const status = isDown && url.hostname === 'other.example' ? 500 : 200;
    return { kind: 'answered', url, status, headers: {}, body: Buffer.from('x'), bytesReceived: 1, ...times };
  };
  const common = { clock, random: random(3) };
  const observer = createObserver({ ...common, userAgent: 'Revisit', allowNetworks: [], spacingMs: 1_000, fetchPage });
  const parts = { ...common, store, observer, policy: policies['revisit']!.create(1), detect: detector(store) };
  const settings = { looksPerSecond: 2, spacingMs: 1_000, robots: 8, queueMax: 64 };
  const loop = new Loop({ ...parts, log: () => {} }, settings);
  const sites = ['silent.example', 'leads.example'];
  const pages = sites.flatMap((site) =>
    Array.from({ length: 5 }, (_, n) => ({ url: `https://${site}/${n}`, site, ...usualSettings })),
  );
  await new Desk(store, clock, () => {}).add(pages);
  await loop.load();
  void loop.run(new AbortController().signal);
  const app = createApi(new Desk(store, clock, () => {}, loop));
  type Page = { id: string; looks: number; status: string; waits: { why: string; until: string } | null };
  const pagesOf = async (site: string) => (await app.inject(`/api/pages?site=${site}`)).json<{ pages: Page[] }>().pages;
  await clock.runUntil(startMs + 20_000);
  for (const site of sites) {
    const all = await pagesOf(site);
    const looks = all.reduce((sum, page) => sum + page.looks, 0);
    // Each look has a request of its own: for robots.txt, by whoever came first.
    expect([site, looks]).toEqual([site, asked.filter((url) => url === `https://${site}/robots.txt`).length]);
    expect(
      all.filter(({ waits }) => waits && waits.why.length > 0 && Date.parse(waits.until) > clock.nowMs()),
    ).toHaveLength(5);
  }
  await clock.runUntil(downUntilMs + 8 * hourMs);
  for (const site of sites) expect((await pagesOf(site)).map(({ status }) => status)).toEqual(Array(5).fill('present'));
  loop.die();
  await store.close();
});
