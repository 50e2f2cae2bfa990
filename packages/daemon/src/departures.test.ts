import { AccessTimes, policies, random, RevisitPolicy } from '@revisit/core';
import { expect, test } from 'vitest';
import { Collection } from './collection.ts';
import { Departures } from './departures.ts';
import { Lifetimes } from './lifetimes.ts';
import { memoryStore } from './simulation/index.ts';
import { poissonLaw } from './simulation/simulated-web.ts';
import { VirtualClock } from './simulation/virtual-clock.ts';
import { createWorld, startLoop } from './simulation/world.ts';

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
  const known = { access: new AccessTimes(), lifetimes: new Lifetimes(random(1)) };
  const departures = new Departures({ clock, random: random(1), policy }, collection, known, settings);
  departures.leave(64, true);
  expect(departures.waiting).toBe(8);
  departures.setBudget({ ...settings, looksPerSecond: 2 });
  departures.leave(64, true);
  expect(departures.waiting).toBe(120);
});

test('whoever is handed back at the gate is the next to pass it', () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 5));
  const policy = policies['uniform']!.create(1);
  const collection = new Collection();
  const settings = { looksPerSecond: 1, spacingMs: 1_000, robots: 4, queueMax: 100 };
  const known = { access: new AccessTimes(), lifetimes: new Lifetimes(random(1)) };
  const departures = new Departures({ clock, random: random(1), policy }, collection, known, settings);
  for (const id of ['a', 'b', 'c']) {
    const page = {
      id,
      url: `http://s.test/${id}`,
      site: 's.test',
      select: { kind: 'whole' },
      tags: [],
      options: {},
    } as const;
    const entry = collection.add({
      page: { ...page, weight: 1, paused: false, addedAtMs: 0 },
      state: { status: 'present', validators: {}, version: 1, toldVersion: 1, failures: 0, looks: 1, changes: 0 },
    });
    policy.watch({ page: entry.index, site: entry.site, folder: 0, groups: [], weight: 1, spacingSeconds: 0 }, 0);
    departures.ask(entry);
  }
  clock.suspend(60_000);
  const first = departures.leave(1, true).probes[0]!;
  departures.recalled(first);
  departures.askAgain(first);
  clock.suspend(60_000);
  expect(departures.leave(1, true).probes[0]!.pageIds).toEqual(first.pageIds);
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
