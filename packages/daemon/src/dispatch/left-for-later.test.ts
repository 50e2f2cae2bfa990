/** A check ends, whatever sites do: what may not be looked at for long is left for later, and told. */
import { policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { AskedSweeps } from './asked-sweeps.ts';
import { gatheredLater } from './left-for-later.ts';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { LoopSettings } from '../loop-parts.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import type { SiteRules } from '../observe/gate.ts';
import { createObserver } from '../observe/observe.ts';
import { memoryStore } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { usualSettings } from '../values/page.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);
const perSite = 3;

interface Place {
  readonly rulesOf?: (site: string) => Partial<SiteRules> | undefined;
  readonly statusOf?: (url: URL) => number;
  readonly settings?: Partial<LoopSettings>;
}

/** Three pages on each of two sites, `a.example`, which is well, and `b.example`. */
async function place({ rulesOf = () => undefined, statusOf = () => 200, settings = {} }: Place) {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  const asked: string[] = [];
  const fetchPage = async ({ url }: Ask): Promise<Answer> => {
    const askedAtMs = clock.nowMs();
    if (url.pathname !== '/robots.txt') asked.push(url.hostname);
    await clock.sleep(50);
    const status = url.pathname === '/robots.txt' ? 404 : statusOf(url);
    const headers = status === 429 ? { 'retry-after': String(30 * 86_400) } : {};
    const times = { askedAtMs, answeredAtMs: clock.nowMs() };
    return { kind: 'answered', url, status, headers, body: Buffer.from('<p>x'), bytesReceived: 4, ...times };
  };
  const sites = ['a.example', 'b.example'];
  const pages = sites.flatMap((site) =>
    Array.from({ length: perSite }, (_, n) => ({ url: `https://${site}/${n}`, site, ...usualSettings })),
  );
  await new Desk(store, clock, () => {}).add(pages);
  const common = { clock, random: random(5) };
  const siteRules = (site: string) => ({ spacingMs: 2_000, connections: 1, ...rulesOf(site) });
  const observer = createObserver({
    ...common,
    userAgent: 'Revisit',
    allowNetworks: [],
    spacingMs: 2_000,
    siteRules,
    fetchPage,
  });
  const parts = { ...common, store, observer, policy: policies['uniform']!.create(1), detect: detector(store) };
  const loop = new Loop(
    { ...parts, siteRules, log: () => {} },
    { looksPerSecond: 2, spacingMs: 2_000, robots: 8, queueMax: 64, ...settings },
  );
  await loop.load();
  const sweep = async (all: boolean) => {
    const swept = loop.sweep(new AbortController().signal, all);
    await clock.runUntil(startMs + 48 * hourMs, swept);
    const tookMs = clock.nowMs() - startMs;
    return { later: tookMs < 24 * hourMs ? await swept : undefined, tookMs };
  };
  const times = (site: string): number => asked.filter((each) => each === site).length;
  return { loop, clock, sweep, times };
}

const quietUntilMs = (atMs: number) => (atMs < startMs + 23 * hourMs ? startMs + 23 * hourMs : undefined);

test.each([true, false])('a site in quiet hours is left for later (all: %s)', async (all) => {
  const { sweep, times } = await place({ rulesOf: (site) => (site === 'b.example' ? { quietUntilMs } : undefined) });
  const { later, tookMs } = await sweep(all);
  expect(later).toEqual([{ why: 'quiet hours of b.example', untilMs: startMs + 23 * hourMs, pages: perSite }]);
  expect([times('a.example'), times('b.example')]).toEqual([perSite, 0]);
  expect(tookMs).toBeLessThan(60_000);
});

test.each([true, false])('a site that asks to be left alone for a month is asked once (all: %s)', async (all) => {
  const { sweep, times } = await place({ statusOf: (url) => (url.hostname === 'b.example' ? 429 : 200) });
  const { later } = await sweep(all);
  expect(later).toMatchObject([{ why: expect.stringContaining('b.example is left alone') }]);
  expect([times('a.example'), times('b.example')]).toEqual([perSite, 1]);
});

test("what a site's cap leaves no room for is left for later", async () => {
  const { sweep, times } = await place({ rulesOf: () => ({ cap: { count: 3, periodMs: 24 * hourMs } }) });
  const { later, tookMs } = await sweep(true);
  // robots.txt is one of them.
  expect([times('a.example'), times('b.example')]).toEqual([2, 2]);
  expect(later!.map(({ why, pages }) => [why, pages])).toEqual([
    ['cap of a.example (3 in a day)', 1],
    ['cap of b.example (3 in a day)', 1],
  ]);
  expect(tookMs).toBeLessThan(60_000);
});

test('in quiet hours of all pages nothing is asked for', async () => {
  const { sweep, times } = await place({ settings: { quiet: ['00:00-23:00'] } });
  const { later, tookMs } = await sweep(true);
  expect(later).toEqual([{ why: 'quiet hours', untilMs: startMs + 23 * hourMs, pages: 2 * perSite }]);
  expect([times('a.example'), times('b.example'), tookMs]).toEqual([0, 0, 0]);
});

test('whoever asks for every page waits for the budget, and whoever asks for what is due comes again', async () => {
  const tenMinutely = { looksPerSecond: 1 / 600 };
  const every = await place({ settings: tenMinutely });
  expect((await every.sweep(true)).later).toEqual([]);
  expect(every.times('a.example') + every.times('b.example')).toBe(2 * perSite);
  const due = await place({ settings: tenMinutely });
  const { later, tookMs } = await due.sweep(false);
  expect(later).toMatchObject([{ why: 'the budget', pages: 2 * perSite - 1 }]);
  expect(tookMs).toBeLessThan(60_000);
});

test('a check through a daemon does not wait for such pages, and the daemon looks at them when they may be', async () => {
  const { loop, clock, times } = await place({
    rulesOf: (site) => (site === 'b.example' ? { quietUntilMs } : undefined),
  });
  void loop.run(new AbortController().signal);
  const sweeps = new AskedSweeps();
  const asked = { name: 'one', all: true, sinceMs: clock.nowMs(), begins: true, adopt: [] };
  sweeps.progress(loop, asked);
  await clock.runUntil(startMs + 60_000);
  const { left, looks, later } = sweeps.progress(loop, asked);
  expect([left, looks]).toEqual([0, perSite]);
  expect(later).toEqual([{ why: 'quiet hours of b.example', untilMs: startMs + 23 * hourMs, pages: perSite }]);
  await clock.runUntil(startMs + 24 * hourMs);
  expect(times('b.example')).toBeGreaterThanOrEqual(perSite);
  loop.die();
});

test('nor for a small budget, unless every page is asked for', async () => {
  const progressOf = async (all: boolean) => {
    const { loop, clock } = await place({ settings: { looksPerSecond: 1 / 600 } });
    void loop.run(new AbortController().signal);
    const sweeps = new AskedSweeps();
    const asked = { name: 'one', all, sinceMs: clock.nowMs(), begins: true, adopt: [] };
    sweeps.progress(loop, asked);
    await clock.runUntil(startMs + 60_000);
    const { left, looks, later } = sweeps.progress(loop, asked);
    loop.die();
    return { left, looks, later };
  };
  expect(await progressOf(false)).toMatchObject({ left: 0, looks: 1, later: [{ why: 'the budget', pages: 5 }] });
  expect(await progressOf(true)).toEqual({ left: 5, looks: 1, later: [] });
});

test('pages that wait for the same are one line, until the first of them may go', () => {
  const waits = [
    { why: 'a', untilMs: 5, pages: 1 },
    { why: 'b', untilMs: 9, pages: 3 },
    { why: 'a', untilMs: 3, pages: 1 },
  ];
  expect(gatheredLater(waits)).toEqual([
    { why: 'b', untilMs: 9, pages: 3 },
    { why: 'a', untilMs: 3, pages: 2 },
  ]);
});
