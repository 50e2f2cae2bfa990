/** Whichever answer about a page comes first: what the page said is kept in the order in which it was asked for. */
import { policies } from '@revisit/core';
import { afterEach, expect, test } from 'vitest';
import { detector } from '../daemon.ts';
import type { LoopParts } from '../loop-parts.ts';
import { madeAfter, madeMs, PageTurns } from './page-turns.ts';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop, type World } from '../simulation/world.ts';
import type { Kept, Store } from '../store/port.ts';
import type { Change } from '../values/change.ts';
import type { Observation, Observer } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';

const startMs = Date.UTC(2026, 0, 5);
const settings = { looksPerSecond: 10, spacingMs: 0, robots: 4, queueMax: 100 };
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function worldOf(sites: readonly string[]): Promise<World> {
  const store = memoryStore();
  closing.push(() => store.close());
  // The plan leaves them alone, so that the test alone asks for them.
  const alone = { spacingSeconds: 36_000 };
  const pages = sites.map((site) => ({ url: `https://${site}/`, site, law: poissonLaw(1e9), settings: alone }));
  return createWorld({ seed: 1, startMs, store, pages });
}

/** Whoever is asked keeps its answers until the test gives them. */
function held({ clock }: World) {
  const asked: Probe[] = [];
  const waiting = new Map<string, (observation: Observation) => void>();
  const observation = (probe: Probe, edition: number): Observation => {
    const body = new TextEncoder().encode(`<p>This is edition ${'abcdef'[edition]}.</p>`);
    const about = { mediaType: 'text/html', charset: 'utf-8', validators: {} };
    const took = { startedAtMs: clock.nowMs(), endedAtMs: clock.nowMs(), bytesReceived: 1, requests: 1 };
    return { probe, ...took, outcome: { kind: 'fetched', status: 200, body, ...about } };
  };
  const refused = (probe: Probe): Observation => ({
    ...observation(probe, 0),
    requests: 0,
    outcome: { kind: 'refused', fault: { code: 'robot-lost', sentence: 'Lost.' }, siteUntilMs: clock.nowMs() },
  });
  const observer: Observer = {
    outlives: true,
    observe: (probe) => {
      asked.push(probe);
      return new Promise((answer) => waiting.set(probe.id, answer));
    },
    close: () => Promise.resolve(),
  };
  const give = async (answer: Observation): Promise<void> => {
    waiting.get(answer.probe.id)!(answer);
    await clock.runUntil(clock.nowMs() + 100);
  };
  return { observer, asked, observation, refused, give };
}

const textsOf = async (store: Store, id: string): Promise<readonly (string | undefined)[]> =>
  Promise.all((await store.versions(id)).map(({ number }) => store.versionText(id, number)));
const edition = (letters: string): readonly string[] => Array.from(letters, (letter) => `This is edition ${letter}.`);

/** Two looks at one page, both asked for by a process that was killed, and the process that follows it. */
async function followed() {
  const world = await worldOf(['a.example']);
  const [watched] = await world.store.pages({ limit: 1 });
  const { id, url, site } = watched!.page;
  const probes = [1, 2].map((n): Probe => ({
    id: `p-${n}`,
    url,
    site,
    pageIds: [id],
    atMs: startMs - 10_000 + n,
    validators: {},
  }));
  await world.store.dispatched(probes);
  const web = held(world);
  const loop = await startLoop(world, policies['revisit']!.create(1), settings, undefined, web);
  closing.unshift(() => loop.die());
  void loop.run(new AbortController().signal);
  await world.clock.runUntil(startMs + 100);
  expect(web.asked).toEqual(probes);
  return { ...web, world, loop, id, probes: probes as unknown as readonly [Probe, Probe] };
}

test('of what a killed process had asked for, the older look is kept before the newer, whichever is handed on first', async () => {
  const { world, probes, observation, give, id, loop } = await followed();
  await give(observation(probes[1], 1));
  expect(await textsOf(world.store, id)).toEqual([]);
  expect(loop.underWay().asked.has(id)).toBe(true);
  await give(observation(probes[0], 0));
  expect(await textsOf(world.store, id)).toEqual(edition('ab'));
  const [first, second] = await world.store.versions(id);
  expect(second!.atMs).toBeGreaterThan(first!.atMs);
  expect(await world.store.unfinished()).toEqual([]);
});

test('a newer look waits no longer when the older one is given up; what that saw is not told after it', async () => {
  const { world, probes, observation, refused, give, id, loop } = await followed();
  await give(observation(probes[1], 1));
  await give(refused(probes[0]));
  expect(await textsOf(world.store, id)).toEqual(edition('b'));
  loop.late(observation(probes[0], 0));
  await world.clock.runUntil(world.clock.nowMs() + 100);
  expect(await textsOf(world.store, id)).toEqual(edition('b'));
});

test('what comes late is told before a newer look that waits to be kept, and not after it', async () => {
  const world = await worldOf(['a.example', 'b.example']);
  let commitMs = 0;
  const store = new Proxy(world.store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== 'commit') return value;
      return async (looks: never): Promise<Kept<readonly Change[]>> => {
        if (commitMs > 0) await world.clock.sleep(commitMs);
        return target.commit(looks);
      };
    },
  });
  const { observer, asked, observation, give } = held(world);
  const loop = await startLoop(world, policies['revisit']!.create(1), settings, undefined, { observer, store });
  closing.unshift(() => loop.die());
  void loop.run(new AbortController().signal);
  const [a, b] = (await world.store.pages({ limit: 2 })).map(({ page }) => page.id);
  const ask = async (id: string): Promise<Probe> => {
    loop.probeNow(id);
    await world.clock.runUntil(world.clock.nowMs() + 100);
    return asked.findLast(({ pageIds }) => pageIds.includes(id))!;
  };
  await world.clock.runUntil(startMs + 1_000);
  expect(asked).toHaveLength(2);
  for (const first of asked.slice()) await give(observation(first, 0));
  commitMs = 60_000;
  await give(observation(await ask(a!), 1));
  const newer = await ask(b!);
  await give(observation(newer, 2));
  expect(loop.underWay().unkept).toEqual(new Set([a, b]));
  loop.late(observation({ ...newer, id: 'given-up', atMs: newer.atMs - 1 }, 1));
  commitMs = 0;
  await world.clock.runUntil(world.clock.nowMs() + 120_000);
  expect(await textsOf(world.store, b!)).toEqual(edition('acbc'));
  const changes = await world.store.latestChanges({ pageId: b!, limit: 10 });
  const told = changes.toSorted((x, y) => x.atMs - y.atMs).map(({ kind, summary }) => [kind, summary]);
  expect(told).toEqual([
    ['changed', 'a → b'],
    ['changed', 'a → c'],
  ]);
  // What was kept already, or comes once more, is told to nobody.
  for (const [n, late] of [1, 2, 0].entries())
    loop.late(observation({ ...newer, id: `given-up-${n}`, atMs: newer.atMs - 1 }, late));
  await world.clock.runUntil(world.clock.nowMs() + 120_000);
  expect(await textsOf(world.store, b!)).toEqual(edition('acbc'));
  expect(await world.store.latestChanges({ pageId: b!, limit: 10 })).toHaveLength(2);
  expect(await world.store.unfinished()).toEqual([]);
});

test('a page that is read again while a look at it is under way is not asked for twice; another in its place is asked for', async () => {
  const world = await worldOf(['a.example', 'b.example', 'c.example']);
  const { observer, asked, observation, give } = held(world);
  const loop = await startLoop(world, policies['revisit']!.create(1), settings, undefined, { observer });
  closing.unshift(() => loop.die());
  void loop.run(new AbortController().signal);
  const run = () => world.clock.runUntil(world.clock.nowMs() + 5_000);
  const urls = (from: number) => asked.slice(from).map(({ url }) => url);
  const [a, b, c] = await world.store.pages({ limit: 3 });
  await run();
  expect(urls(0)).toEqual([a!.page.url, b!.page.url, c!.page.url]);
  const moved = { page: { ...b!.page, url: 'https://b.example/other' }, state: b!.state };
  await loop.release(c!.page.id);
  for (const page of [a!, moved, moved, c!, c!]) loop.watch(page);
  for (const first of asked.slice()) await give(observation(first, 0));
  await run();
  expect(urls(3).sort()).toEqual([moved.page.url, c!.page.url]);
  expect(await textsOf(world.store, a!.page.id)).toEqual(edition('a'));
  for (const { page } of [b!, c!]) expect(await textsOf(world.store, page.id)).toEqual([]);
  // Likewise a page that has been seen before.
  loop.probeNow(a!.page.id);
  await run();
  loop.watch((await world.store.page(a!.page.id))!);
  await give(observation(asked.at(-1)!, 1));
  await run();
  expect(await textsOf(world.store, a!.page.id)).toEqual(edition('ab'));
  expect(urls(5)).toEqual([a!.page.url]);
});

test('what came back is not lost when its page is read again while that is read', async () => {
  const world = await worldOf(['a.example']);
  const { observer, asked, observation, give } = held(world);
  const plain = detector(world.store);
  const detect: LoopParts['detect'] = (...given) => world.clock.sleep(1_000).then(() => plain(...given));
  const loop = await startLoop(world, policies['revisit']!.create(1), settings, undefined, { observer, detect });
  closing.unshift(() => loop.die());
  void loop.run(new AbortController().signal);
  const [watched] = await world.store.pages({ limit: 1 });
  await world.clock.runUntil(startMs + 1_000);
  await give(observation(asked[0]!, 0));
  loop.watch(watched!);
  await world.clock.runUntil(startMs + 60_000);
  expect(await textsOf(world.store, watched!.page.id)).toEqual(edition('a'));
  expect(asked).toHaveLength(1);
});

test('a probe of several pages waits for the older ones of each of them, and for no others', async () => {
  const turns = new PageTurns<Pick<Probe, 'pageIds'>>();
  const [x, y, both, other] = [['x'], ['y'], ['x', 'y'], ['z']].map((pageIds) => ({ pageIds }));
  for (const probe of [x!, y!, both!, other!]) turns.join(probe);
  expect([x!, y!, other!].map((probe) => turns.turn(probe))).toEqual([undefined, undefined, undefined]);
  let isNext = false;
  void turns.turn(both!)!.then(() => (isNext = true));
  turns.leave(x!);
  await Promise.resolve();
  expect(isNext).toBe(false);
  turns.leave(y!);
  await Promise.resolve();
  expect(isNext).toBe(true);
  const after = { pageIds: ['y'] };
  turns.join(after);
  turns.leave(both!);
  expect(turns.turn(after)).toBeUndefined();
});

test('a look that waited for an older one is dated after it; one of which it is told how long ago it was made keeps its time', async () => {
  const { observation } = held(await worldOf(['a.example']));
  const probe: Probe = { id: 'p', url: 'https://a.example/', site: 'a.example', pageIds: [], atMs: 0, validators: {} };
  const look = { ...observation(probe, 0), startedAtMs: 10_000, endedAtMs: 10_500 };
  expect(madeAfter(look, -Infinity)).toBe(look);
  expect(madeAfter(look, 12_000)).toMatchObject({ startedAtMs: 12_001, endedAtMs: 12_501 });
  const told = { ...look, toldAfterMs: 4_000 };
  expect(madeMs(told)).toBe(6_000);
  expect(madeAfter(told, 12_000)).toBe(told);
});
