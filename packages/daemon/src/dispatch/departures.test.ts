import { AccessTimes, policies, random, RevisitPolicy } from '@revisit/core';
import { expect, test } from 'vitest';
import { CollectionMarket } from '../plan/collection-market.ts';
import { Collection } from '../collection/collection.ts';
import { Departures } from './departures.ts';
import { Lifetimes } from './lifetimes.ts';
import type { LoopSettings } from '../loop-parts.ts';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import type { WatchedPage } from '../values/look.ts';

test('a small budget takes few pages into line: the rest stays with the policy, which may think again', () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5));
  const policy = new RevisitPolicy();
  const collection = new Collection();
  const settings = { looksPerSecond: 1 / 60, spacingMs: 0, robots: 64, queueMax: 100 };
  policy.setBudget(settings.looksPerSecond, clock.nowMs() / 1000);
  for (let i = 0; i < 500; i++) {
    const url = `http://s${i}.test/`;
    const page = { id: `p${i}`, url, site: `s${i}.test`, select: { kind: 'whole' }, tags: [], options: {} } as const;
    const entry = collection.add({
      page: { ...page, weight: 1, paused: false, addedAtMs: 0 },
      state: { status: 'present', validators: {}, version: 1, toldVersion: 1, failures: 0, looks: 1, changes: 0 },
    });
    policy.watch({ page: entry.index, site: entry.site, folder: 0, groups: [], weight: 1, spacingSeconds: 0 }, 0);
  }
  const market = new CollectionMarket(policy, collection, settings.looksPerSecond);
  const known = { access: new AccessTimes(), lifetimes: new Lifetimes(random(1)), market };
  const departures = new Departures({ clock, random: random(1), policy }, collection, known, settings);
  departures.leave(64, true);
  expect(departures.waiting).toBe(8);
  departures.setBudget({ ...settings, looksPerSecond: 2 });
  departures.leave(64, true);
  expect(departures.waiting).toBe(120);
});

function watchedAt(id: string): WatchedPage {
  const page = {
    id,
    url: `http://s.test/${id}`,
    site: 's.test',
    select: { kind: 'whole' },
    tags: [],
    options: {},
  } as const;
  return {
    page: { ...page, weight: 1, paused: false, addedAtMs: 0 },
    state: { status: 'present', validators: {}, version: 1, toldVersion: 1, failures: 0, looks: 1, changes: 0 },
  };
}

/** Pages of one site, all asked for. */
function inLine(ids: readonly string[], more: Partial<LoopSettings> = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5));
  const policy = policies['uniform']!.create(1);
  const collection = new Collection();
  const settings = { looksPerSecond: 1, spacingMs: 1_000, robots: 4, queueMax: 100, ...more };
  const market = new CollectionMarket(policy, collection, settings.looksPerSecond);
  const known = { access: new AccessTimes(), lifetimes: new Lifetimes(random(1)), market };
  const departures = new Departures({ clock, random: random(1), policy }, collection, known, settings);
  for (const id of ids) {
    const entry = collection.add(watchedAt(id));
    policy.watch({ page: entry.index, site: entry.site, folder: 0, groups: [], weight: 1, spacingSeconds: 0 }, 0);
    departures.ask(entry);
  }
  return { clock, policy, departures, market, collection };
}

test('whoever is handed back at the gate is the next to pass it', () => {
  const { clock, departures } = inLine(['a', 'b', 'c']);
  clock.suspend(60_000);
  const first = departures.leave(1, true).probes[0]!;
  departures.recalled(first);
  departures.askAgain(first);
  clock.suspend(60_000);
  expect(departures.leave(1, true).probes[0]!.pageIds).toEqual(first.pageIds);
});

test('what a person asks for is the next look of its site, whether it stood in line or not, and each leaves once', () => {
  const { clock, departures, collection } = inLine(['a', 'b', 'c', 'd', 'e']);
  const pages: string[] = [];
  const afresh: string[] = [];
  for (const id of ['d', 'c', 'd']) departures.ask(collection.byId(id)!, true);
  for (let second = 0; second < 10; second++) {
    clock.suspend(1_000);
    for (const probe of departures.leave(4, false).probes) {
      pages.push(...probe.pageIds);
      if (probe.afresh) afresh.push(...probe.pageIds);
      departures.recalled(probe);
    }
  }
  expect(pages).toEqual(['d', 'c', 'a', 'b', 'e']);
  expect(afresh).toEqual(['d', 'c']);
});

test('what a person asks for of a sweep goes ahead of it, and is not asked for twice', () => {
  const { clock, departures, collection } = inLine([]);
  const entries = ['a', 'b', 'c', 'd'].map((id) => collection.add(watchedAt(id)));
  departures.askInOrder(entries);
  departures.ask(entries[2]!, true);
  const leaving: [number, string][] = [];
  const startMs = clock.nowMs();
  for (let second = 1; second <= 6; second++) {
    clock.suspend(1_000);
    for (const probe of departures.leave(4, false).probes) {
      leaving.push([(clock.nowMs() - startMs) / 1000, ...probe.pageIds] as [number, string]);
      departures.recalled(probe);
    }
  }
  expect(leaving[0]).toEqual([1, 'c']);
  expect(leaving.map(([at]) => at)).toEqual([1, 2, 3, 4]);
  expect(departures.waiting).toBe(0);
});

test('whoever presses “look now” sees the next look of the site, however many wait', async () => {
  const store = memoryStore();
  const startMs = Date.UTC(2026, 0, 5);
  const site = 'a.example';
  const pages = Array.from({ length: 30 }, (_, i) => ({
    url: `https://${site}/${i}`,
    site,
    law: poissonLaw(3_600_000),
  }));
  const world = await createWorld({ seed: 1, startMs, store, pages });
  const settings = { looksPerSecond: 1, spacingMs: 60_000, robots: 4, queueMax: 64 };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings);
  void loop.run(new AbortController().signal);
  await world.clock.runUntil(startMs + 3_600_000 - 30_000);
  for (const { page } of loop.collection) loop.probeSoon(page.id);
  const sent = world.web.sent.length;
  const last = [...loop.collection].at(-1)!;
  expect(loop.probeNow(last.page.id)).toBe(true);
  await world.clock.runUntil(startMs + 3_600_000 + 90_000);
  loop.die();
  expect(world.web.sent[sent]!.url).toBe(last.page.url);
  expect(world.web.sent[sent]!.atMs - world.web.sent[sent - 1]!.atMs).toBeGreaterThanOrEqual(60_000);
});

test('the policy hears since when the budget has kept somebody waiting, until nobody does', () => {
  const { clock, policy, departures } = inLine(['a', 'b', 'c']);
  const startMs = clock.nowMs();
  const heard: number[] = [];
  policy.next = (now, waitingSince = now) => void heard.push(now - waitingSince);
  for (const atMs of [0, 1_000, 2_000, 3_000, 3_500, 4_000]) {
    clock.suspend(startMs + atMs - clock.nowMs());
    for (const probe of departures.leave(4, true).probes) departures.recalled(probe);
  }
  expect(heard).toEqual([0, 1, 2, 3, 0, 0]);
});

test('that the plan waits while a sweep takes turns with it is not held against it', () => {
  const { clock, policy, departures, collection } = inLine(['a', 'b', 'c']);
  const heard: number[] = [];
  policy.next = (now, waitingSince = now) => void heard.push(now - waitingSince);
  const more = ['d', 'e', 'f'].map((id) => {
    const { page, state } = collection.byId('a')!;
    return collection.add({ page: { ...page, id, url: `http://s.test/${id}` }, state });
  });
  for (const { index, site } of more)
    policy.watch({ page: index, site, folder: 0, groups: [], weight: 1, spacingSeconds: 0 }, 0);
  departures.askInOrder(more);
  for (let second = 0; second < 4; second++) {
    for (const probe of departures.leave(4, true).probes) departures.recalled(probe);
    clock.suspend(1_000);
  }
  expect(heard).toEqual([0, 0, 0, 0]);
});

test('in quiet hours nothing leaves, and all that was asked for does when they end', () => {
  const { clock, departures } = inLine(['a', 'b'], { quiet: ['22:00-06:00 UTC'] });
  clock.suspend(3_600_000);
  expect(departures.leave(4, true)).toEqual({ probes: [], waitMs: 5 * 3_600_000 });
  // Nor where somebody checks: they are hours in which nothing is asked for.
  expect(departures.leave(4, false).probes).toHaveLength(0);
  clock.suspend(5 * 3_600_000);
  departures.setQuiet(['06:30-06:40 UTC']);
  expect(departures.quietUntil(clock.nowMs())).toBeUndefined();
});

test('what robots.txt asks for between requests is waited for before a look leaves, and the plan counts on no more', () => {
  const { clock, departures, market, collection } = inLine(['a', 'b']);
  departures.doors.space('s.test', 30_000);
  expect(market.market.capOf(collection.sites.index('s.test'))).toBeCloseTo(1 / 30, 9);
  clock.suspend(60_000);
  const [probe] = departures.leave(4, true).probes;
  const [startedAtMs, endedAtMs] = [clock.nowMs(), clock.nowMs() + 500];
  clock.suspend(500);
  const outcome = { kind: 'not-modified' } as const;
  departures.returned({ probe: probe!, startedAtMs, endedAtMs, outcome, bytesReceived: 0, requests: 1 });
  clock.suspend(29_000);
  expect(departures.leave(4, true).probes).toEqual([]);
  clock.suspend(1_000);
  expect(departures.leave(4, true).probes).toHaveLength(1);
});

test('one request serves every page that shares its URL', async () => {
  const store = memoryStore();
  const startMs = Date.UTC(2026, 0, 5);
  const site = 'a.example';
  const shared = { url: `https://${site}/`, site, law: poissonLaw(3_600_000) };
  const pages = [
    shared,
    { ...shared, settings: { select: { kind: 'css', expression: 'p' } } as const },
    { ...shared, url: `https://${site}/other` },
  ];
  const world = await createWorld({ seed: 1, startMs, store, pages });
  const settings = { looksPerSecond: 6 / 3600, spacingMs: 1_000, robots: 4, queueMax: 64 };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings);
  void loop.run(new AbortController().signal);
  await world.clock.runUntil(startMs + 24 * 3_600_000);
  loop.die();
  const sent = world.web.sent.filter(({ url }) => url === shared.url).length;
  const looks = (await store.pages({ limit: 9 })).filter(({ page }) => page.url === shared.url);
  expect(sent).toBeGreaterThan(10);
  expect(looks.map(({ state }) => state.looks)).toEqual([sent, sent]);
  await store.close();
});

test('whoever wants to see a page waits for its site while that is soon, and not while it is left alone', async () => {
  const { clock, departures } = inLine([]);
  const { signal } = new AbortController();
  departures.outside({ url: 'http://s.test/seen', site: 's.test' });
  const nowMs = clock.nowMs();
  departures.returned({
    probe: { id: 'p', url: 'http://s.test/seen', site: 's.test', pageIds: [], atMs: nowMs, validators: {} },
    startedAtMs: nowMs,
    endedAtMs: nowMs,
    bytesReceived: 0,
    requests: 1,
    outcome: { kind: 'not-modified' },
  });
  departures.doors.space('s.test');
  const soon = departures.doors.turnOf('s.test', signal);
  await clock.runUntil(nowMs + 2_000);
  expect(await soon).toBe(true);
  departures.doors.hold('s.test', clock.nowMs() + 3_600_000);
  const never = departures.doors.turnOf('s.test', signal);
  await clock.runUntil(clock.nowMs() + 60_000);
  expect(await never).toBe(false);
});
