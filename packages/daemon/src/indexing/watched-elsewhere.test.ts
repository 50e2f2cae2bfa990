import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import type { Observation, Observer } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

const startMs = Date.UTC(2026, 0, 5);
const settings = { looksPerSecond: 1 / 60, spacingMs: 0, robots: 4, queueMax: 100 };
const lines = Array.from({ length: 20 }, (_, i) => `<p>Line ${'abcdefghijklmnopqrst'[i]} stays.</p>`).join('');

/** A page whose number is another whenever it is told of, by somebody who looked so often in between and saw it stand still. */
async function watched(unchangedLooks: number) {
  const store = memoryStore();
  const pages = [{ url: 'https://a.example/', site: 'a.example', law: poissonLaw(1e9) }];
  const world = await createWorld({ seed: 1, startMs, store, pages });
  const probes: Probe[] = [];
  const observer: Observer = {
    observe: (probe): Promise<Observation> => {
      probes.push(probe);
      const body = new TextEncoder().encode(`<body>${lines}<p>The price is ${probes.length * 17} today.</p></body>`);
      const about = { mediaType: 'text/html', charset: 'utf-8', validators: {} };
      const outcome = { kind: 'fetched' as const, status: 200, body, ...about };
      const atMs = world.clock.nowMs();
      const took = { startedAtMs: atMs, endedAtMs: atMs, bytesReceived: 1, requests: 1 };
      return Promise.resolve({ probe, ...took, outcome, unchangedLooks });
    },
    close: () => Promise.resolve(),
  };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings, undefined, { observer });
  void loop.run(new AbortController().signal);
  return { world, loop, probes, store, observer };
}

test('a number that stood still at the looks between is news each time; one that differs at every look is a counter', async () => {
  for (const [unchangedLooks, told] of [
    [3, true],
    [0, false],
  ] as const) {
    const { world, loop, probes, store } = await watched(unchangedLooks);
    await world.clock.runUntil(startMs + 20 * 60_000);
    const changes = await store.changes({ after: 0, limit: 100 });
    expect(changes.length === probes.length - 1).toBe(told);
    loop.die();
  }
});

test('a page that is asked for out of turn says how long after its last look the plan wants it', async () => {
  const { world, loop, probes } = await watched(0);
  await world.clock.runUntil(startMs + 5 * 60_000);
  const [entry] = [...loop.collection];
  const before = probes.length;
  await world.clock.runUntil(startMs + 5 * 60_000 + 20_000);
  loop.probeNow(entry!.page.id);
  await world.clock.runUntil(startMs + 6 * 60_000 + 20_000);
  expect(probes.slice(before).map(({ plannedMs }) => plannedMs)).toContain(60_000);
  loop.die();
});

test('an answer that comes late is a look, but not where the page has been looked at since it was asked for', async () => {
  const { world, loop, probes, store } = await watched(0);
  await world.clock.runUntil(startMs + 5 * 60_000);
  const versions = async (): Promise<number> => (await store.page(probes[0]!.pageIds[0]!))!.state.version;
  const [before, last] = [await versions(), probes.at(-1)!];
  const answer = (probe: Probe, price: number): Observation => {
    const body = new TextEncoder().encode(`<body>${lines}<p>${'nine ten eleven'.split(' ')[price]} apples.</p></body>`);
    const outcome = {
      kind: 'fetched',
      status: 200,
      body,
      mediaType: 'text/html',
      charset: 'utf-8',
      validators: {},
    } as const;
    const atMs = world.clock.nowMs();
    return { probe, startedAtMs: atMs, endedAtMs: atMs, bytesReceived: 1, requests: 1, outcome };
  };
  loop.late(answer({ ...last, id: 'given-up', atMs: last.atMs - 1 }, 0));
  await world.clock.runUntil(world.clock.nowMs() + 5_000);
  expect(await versions()).toBe(before);
  loop.late(answer({ ...last, id: 'given-up-too', atMs: world.clock.nowMs() }, 1));
  await world.clock.runUntil(world.clock.nowMs() + 5_000);
  expect(await versions()).toBe(before + 1);
  loop.die();
});

test('a page that nobody may ask for says who is waited for, whether or not its look has left', async () => {
  const { world, loop, observer } = await watched(0);
  await world.clock.runUntil(startMs + 60_000);
  const [entry] = [...loop.collection];
  expect(loop.wait(entry!, Infinity)).toBeUndefined();
  const awaited = { why: 'somebody is away', untilMs: world.clock.nowMs() + 60_000 };
  Object.assign(observer, { awaited: () => awaited });
  for (const atMs of [Infinity, world.clock.nowMs()]) expect(loop.wait(entry!, atMs)).toEqual(awaited);
  loop.die();
});

/** A page spaced by five seconds whose looks are all refused as lost, after so many requests, with the site to be left alone for so long. */
async function alwaysLost(requests: number, aloneMs: number) {
  const store = memoryStore();
  const pages = [{ url: 'https://a.example/', site: 'a.example', law: poissonLaw(1e9) }];
  const world = await createWorld({ seed: 1, startMs, store, pages });
  const askedMs: number[] = [];
  const observer: Observer = {
    outlives: true,
    observe: async (probe): Promise<Observation> => {
      const atMs = world.clock.nowMs();
      askedMs.push(atMs);
      const took = { startedAtMs: atMs, endedAtMs: atMs, bytesReceived: 0, requests };
      const fault = { code: 'robot-lost', sentence: 'lost' };
      return { probe, ...took, outcome: { kind: 'refused', fault, siteUntilMs: atMs + aloneMs } };
    },
    close: () => Promise.resolve(),
  };
  const spaced = { ...settings, looksPerSecond: 1, spacingMs: 5_000 };
  const loop = await startLoop(world, policies['uniform']!.create(1), spaced, undefined, { observer });
  void loop.run(new AbortController().signal);
  return { store, world, askedMs, loop };
}

test('a site whose robot was lost is asked when its spacing has passed since that one may have asked it last', async () => {
  const { world, askedMs, loop } = await alwaysLost(0, 2_000);
  await world.clock.runUntil(startMs + 60_000);
  expect(askedMs.length).toBeGreaterThan(5);
  // Nor has the site asked for that, or failed.
  for (let n = 0; n < 10; n++) {
    await world.clock.runUntil(world.clock.nowMs() + 1_000);
    expect(loop.wait([...loop.collection][0]!, world.clock.nowMs())).toBeUndefined();
  }
  for (const [n, atMs] of askedMs.slice(1).entries()) expect(atMs - askedMs[n]!).toBeGreaterThanOrEqual(7_000);
  loop.die();
});

test('a page whose look is not believed waits in line again without a fault, and its probe is known until the site may be asked', async () => {
  const { store, world, askedMs, loop } = await alwaysLost(1, 0);
  await world.clock.runUntil(startMs + 29_000);
  expect(askedMs.map((atMs) => atMs - askedMs[0]!)).toEqual([0, 5_000, 10_000, 15_000, 20_000, 25_000]);
  const [entry] = [...loop.collection];
  expect(entry!.state).toMatchObject({ looks: 0, failures: 0 });
  expect(entry!.state.fault).toBeUndefined();
  const open = async (): Promise<number[]> => (await store.unfinished()).map(({ atMs }) => atMs);
  expect(await open()).toEqual(askedMs.slice(-1));
  loop.die();
});
