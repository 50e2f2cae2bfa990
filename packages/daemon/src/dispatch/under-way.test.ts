/** What happens to looks that are under way when their page is removed, added again or edited, or when nothing can be kept. */
import { policies } from '@revisit/core';
import { afterEach, expect, test } from 'vitest';
import { detector } from '../daemon.ts';
import { detect as read, recognised } from '../detect/detect.ts';
import { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import type { LoopParts } from '../loop-parts.ts';
import { memoryStore } from '../simulation/index.ts';
import { poissonLaw, SimulatedWeb, type SimulatedPage } from '../simulation/simulated-web.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { createWorld, startLoop, type World } from '../simulation/world.ts';
import type { Kept, Store } from '../store/port.ts';
import { usualSettings } from '../values/page.ts';

const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;
const a = 'https://a.example/';
const b = 'https://a.example/b';
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Slow {
  commitMs: number;
  dispatchedMs: number;
  detectMs: number;
  full: boolean;
}

interface Trial {
  readonly world: World;
  readonly loop: Loop;
  readonly desk: Desk;
  readonly slow: Slow;
  /** What went out, and when. */
  readonly sent: SimulatedWeb['sent'];
}

/** A store that takes its time before it writes, as a thread does that writes for it. */
function slowStore(inner: Store, slow: Slow, clock: () => VirtualClock): Store {
  const failed: Kept<never> = { kind: 'failed', fault: { code: 'disk-full', sentence: 'full' } };
  const late = (ms: () => number, write: (given: never) => Promise<Kept<unknown>>) => async (given: never) => {
    if (ms() > 0) await clock().sleep(ms());
    return slow.full ? failed : write(given);
  };
  const slowed: Record<string | symbol, unknown> = {
    commit: late(() => slow.commitMs, inner.commit.bind(inner)),
    dispatched: late(() => slow.dispatchedMs, inner.dispatched.bind(inner)),
    remember: (key: string, value: Uint8Array) => (slow.full ? Promise.resolve(failed) : inner.remember(key, value)),
  };
  return new Proxy(inner, {
    get: (target, name) => {
      const value: unknown = slowed[name] ?? Reflect.get(target, name, target);
      return typeof value === 'function' && !(name in slowed) ? value.bind(target) : value;
    },
  });
}

async function trial(
  pages: readonly SimulatedPage[],
  latencyMs: number,
  looksPerSecond = 1 / 60,
  tagged = true,
): Promise<Trial> {
  const slow: Slow = { commitMs: 0, dispatchedMs: 0, detectMs: 0, full: false };
  const inner = memoryStore();
  closing.push(() => inner.close());
  const siteLaw = () => ({ latencyMeanMs: latencyMs, errorChance: 0, timeOutChance: 0, timeOutMs: 0 });
  const world = await createWorld({ seed: 4, startMs, store: inner, pages, siteLaw });
  const store = slowStore(inner, slow, () => world.clock);
  // A body that is what it was is known at once, as the daemon's own detection does.
  const plain = detector(store, (input) => {
    const { select, options, body, previous } = input;
    return (previous && recognised(select, options, body, previous.state)) ?? read(input);
  });
  const detect: LoopParts['detect'] = (...given) =>
    slow.detectMs > 0 ? world.clock.sleep(slow.detectMs).then(() => plain(...given)) : plain(...given);
  // Servers that say nothing of their copies: every answer brings the whole page.
  const observer = Object.assign(Object.create(world.web), {
    observe: async (...given: Parameters<SimulatedWeb['observe']>) => {
      const observation = await world.web.observe(...given);
      const { outcome } = observation;
      return tagged || outcome.kind !== 'fetched'
        ? observation
        : { ...observation, outcome: { ...outcome, validators: {} } };
    },
  }) as SimulatedWeb;
  const settings = { looksPerSecond, spacingMs: 0, robots: 8, queueMax: 256 };
  const loop = await startLoop(world, policies['uniform']!.create(1), settings, undefined, { store, detect, observer });
  closing.unshift(() => Promise.resolve(loop.die()));
  void loop.run(new AbortController().signal);
  return { world, loop, desk: new Desk(store, world.clock, () => {}, loop), slow, sent: world.web.sent };
}

const pageAt = (url: string, meanMs: number): SimulatedPage => ({ url, site: 'a.example', law: poissonLaw(meanMs) });
const never = Number.MAX_SAFE_INTEGER;

/** Lets time pass, a millisecond at a time, until it is so. */
async function until(world: World, so: () => boolean): Promise<void> {
  for (let step = 0; step < 10 * minuteMs && !so(); step++) await world.clock.runUntil(world.clock.nowMs() + 1);
  expect(so()).toBe(true);
}

async function removeAndAdd({ desk, world }: Trial, url: string, id: string): Promise<void> {
  const both = desk.remove([id]).then(() => desk.add([{ url, site: 'a.example', ...usualSettings }]));
  await world.clock.runUntil(world.clock.nowMs() + minuteMs, both);
}

test('a page removed and added again while its look is written starts as a new one', async () => {
  const t = await trial([pageAt(a, 10 * minuteMs)], 50);
  await t.world.clock.runUntil(startMs + 60 * minuteMs);
  const [watched] = await t.world.store.pages({ limit: 1 });
  expect(watched!.state.looks).toBeGreaterThan(10);
  const { looks } = t.loop.collection.byId(watched!.page.id)!.state;
  t.slow.commitMs = 500;
  // The look is over here, and on its way to the disk.
  await until(t.world, () => t.loop.collection.byId(watched!.page.id)!.state.looks > looks);
  await removeAndAdd(t, a, watched!.page.id);
  await t.world.clock.runUntil(t.world.clock.nowMs() + 600);
  // Its own first look may have been kept by now, and nothing of the many before.
  expect((await t.world.store.page(watched!.page.id))!.state.looks).toBeLessThanOrEqual(1);
  await t.world.clock.runUntil(t.world.clock.nowMs() + 30 * minuteMs);
  const after = (await t.world.store.page(watched!.page.id))!.state;
  expect(after.looks).toBeGreaterThan(5);
  expect(after.looks).toBeLessThan(looks);
  expect((await t.world.store.versions(watched!.page.id)).map(({ number }) => number)).toEqual(
    Array.from({ length: after.version }, (_, index) => index + 1),
  );
});

test('an answer to the page that was removed is none to the one that was added in its place', async () => {
  const t = await trial([pageAt(a, never)], 20_000);
  await t.world.clock.runUntil(startMs + 60 * minuteMs);
  const [watched] = await t.world.store.pages({ limit: 1 });
  const asked = t.sent.length;
  await until(t.world, () => t.sent.length > asked && t.loop.counts().inFlight === 1);
  await removeAndAdd(t, a, watched!.page.id);
  // The answer says that nothing has changed since a copy that nobody has any more.
  await t.world.clock.runUntil(t.world.clock.nowMs() + 60 * minuteMs);
  const { state } = (await t.world.store.page(watched!.page.id))!;
  expect(state).toMatchObject({ status: 'present', version: 1 });
  const kinds = (await t.world.store.looks(watched!.page.id, 1000)).map(({ kind }) => kind).toReversed();
  expect(kinds[0]).toBe('first');
});

test('a page that is edited while its look is read keeps no version twice', async () => {
  const t = await trial([pageAt(a, 15_000)], 50, 1 / 20);
  await t.world.clock.runUntil(startMs + 30 * minuteMs);
  const [watched] = await t.world.store.pages({ limit: 1 });
  t.slow.detectMs = 5_000;
  for (let edit = 0; edit < 10; edit++) {
    const asked = t.sent.length;
    await until(t.world, () => t.sent.length > asked);
    await t.world.clock.runUntil(t.world.clock.nowMs() + 3_000);
    await t.desk.update(watched!.page.id, { tags: [String(edit)] });
  }
  await t.world.clock.runUntil(t.world.clock.nowMs() + 30 * minuteMs);
  const versions = await t.world.store.versions(watched!.page.id);
  const texts = await Promise.all(versions.map(({ number }) => t.world.store.versionText(watched!.page.id, number)));
  expect(versions.length).toBeGreaterThan(8);
  expect(new Set(texts).size).toBe(texts.length);
  const changes = await t.world.store.changes({ after: 0, limit: 1000 });
  expect(changes.map(({ toVersion }) => toVersion)).toEqual(versions.slice(1).map(({ number }) => number));
});

test('a page that is given another URL keeps nothing of the old one: no answer under way, no validators', async () => {
  const t = await trial([pageAt(a, never), pageAt(b, never)], 20_000);
  await t.world.clock.runUntil(startMs + 60 * minuteMs);
  const pages = await t.world.store.pages({ limit: 2 });
  const [first, second] = [pages[0]!, pages[1]!];
  await t.desk.remove([second.page.id]);
  const asked = t.sent.length;
  await until(t.world, () => t.sent.length > asked && t.loop.counts().inFlight === 1);
  await t.desk.update(first.page.id, { url: b });
  expect((await t.world.store.page(first.page.id))!.state.validators).toEqual({});
  const { looks } = (await t.world.store.page(first.page.id))!.state;
  await t.world.clock.runUntil(t.world.clock.nowMs() + 60 * minuteMs);
  expect(t.sent.at(-1)!.url).toBe(b);
  const next = (await t.world.store.looks(first.page.id, 1000)).toReversed()[looks]!;
  // The whole of it: not the answer for the old URL, nor "not modified" for a tag that both have.
  expect(next.bytesReceived).toBe(t.world.web.bodyOf(b).length);
});

test('looks that come while the one before is written are held against what that one found', async () => {
  // Changed at every other look or so, and several looks at each come while one is written.
  const pages = Array.from({ length: 4 }, (_, n) => pageAt(`${b}/${n}`, 400));
  const t = await trial(pages, 20, 40, false);
  t.slow.commitMs = 700;
  await t.world.clock.runUntil(startMs + minuteMs);
  t.slow.commitMs = 0;
  await t.world.clock.runUntil(startMs + minuteMs + 5_000);
  const changes = await t.world.store.changes({ after: 0, limit: 10_000 });
  for (const { page } of await t.world.store.pages({ limit: 10 })) {
    const kinds = (await t.world.store.looks(page.id, 10_000)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'first')).toEqual(['first']);
    const versions = await t.world.store.versions(page.id);
    expect(versions.length).toBeGreaterThan(20);
    const told = changes.filter(({ pageId }) => pageId === page.id);
    expect(told.map(({ fromVersion, toVersion }) => [fromVersion, toVersion])).toEqual(
      versions.slice(1).map(({ number }) => [number - 1, number]),
    );
  }
});

test('a page that is edited after its answer was known for what it was, and before that is kept, is looked at again', async () => {
  // So many that the plan comes to each every seven minutes.
  const others = Array.from({ length: 19 }, (_, n) => pageAt(`${b}/${n}`, never));
  const t = await trial([pageAt(a, never), ...others], 50, 1 / 20, false);
  await t.world.clock.runUntil(startMs + 120 * minuteMs);
  const pages = await t.world.store.pages({ limit: 20 });
  const { id } = pages.find(({ page }) => page.url === a)!.page;
  // The plan has just come to it, so that the next look at it is ours.
  const came = t.sent.length;
  await until(t.world, () => t.sent.slice(came).some(({ url }) => url === a) && t.loop.counts().inFlight === 0);
  // Answers wait in the queue while a look before them is written.
  t.slow.commitMs = 2 * minuteMs;
  await until(t.world, () => t.loop.counts().queued > 0);
  const asked = t.sent.length;
  t.loop.probeNow(id);
  await until(t.world, () => t.sent.slice(asked).some(({ url }) => url === a) && t.loop.counts().inFlight === 0);
  const { atMs } = t.sent.findLast(({ url }) => url === a)!;
  await t.desk.update(id, { select: { kind: 'css', expression: 'body' } });
  t.slow.commitMs = 0;
  await t.world.clock.runUntil(t.world.clock.nowMs() + 3 * minuteMs);
  // What was known of the answer was of another selection: no look came of it, and the page was asked for again soon.
  const looks = (await t.world.store.looks(id, 1000)).map((look) => look.atMs);
  expect(looks).not.toContain(atMs);
  expect(Math.min(...looks.filter((at) => at > atMs)) - atMs).toBeLessThan(3 * minuteMs);
  expect((await t.world.store.page(id))!.state).toMatchObject({ status: 'present', failures: 0 });
});

test('what was decided before the store went down waits until it is back', async () => {
  const pages = Array.from({ length: 40 }, (_, i) => ({
    url: `https://s${i}.example/`,
    site: `s${i}.example`,
    law: poissonLaw(minuteMs),
  }));
  const t = await trial(pages, 100, 500);
  t.slow.dispatchedMs = 200;
  await t.world.clock.runUntil(startMs + minuteMs);
  for (let round = 0; round < 20; round++) {
    // At another moment each time: at some, more are remembered than there are robots.
    await t.world.clock.runUntil(t.world.clock.nowMs() + 2_000 + 37 * round);
    t.slow.full = true;
    await until(t.world, () => !t.loop.healthy);
    const sent = t.sent.length;
    await t.world.clock.runUntil(t.world.clock.nowMs() + 3_000);
    expect(t.sent.length).toBe(sent);
    t.slow.full = false;
    await until(t.world, () => t.loop.healthy);
    await t.world.clock.runUntil(t.world.clock.nowMs() + 1_000);
    expect(t.sent.length).toBeGreaterThan(sent + 10);
  }
});

test('what was under way when the process was killed is looked at again in the order in which it had left', async () => {
  const store = memoryStore();
  closing.push(() => store.close());
  const pages = Array.from({ length: 60 }, (_, n): SimulatedPage => {
    const site = `s${(n * 37) % 60}.example`;
    return { url: `https://${site}/`, site, law: poissonLaw(minuteMs * 600) };
  });
  const siteLaw = () => ({ latencyMeanMs: 3_600_000, errorChance: 0, timeOutChance: 0, timeOutMs: 0 });
  const world = await createWorld({ seed: 4, startMs, store, pages, siteLaw });
  // Three quarters of the robots are for sites that have not answered yet.
  const settings = { looksPerSecond: 1, spacingMs: 2_000, robots: 80, queueMax: 64 };
  const first = await startLoop(world, policies['uniform']!.create(1), settings);
  void first.run(new AbortController().signal);
  await world.clock.runUntil(startMs + minuteMs);
  first.die();
  const left = (await store.unfinished()).map(({ url }) => url);
  const before = world.web.sent.map(({ url }) => url);
  expect(left.length).toBeGreaterThan(40);
  expect(before.slice(-left.length)).toEqual(left);
  const second = await startLoop(world, policies['uniform']!.create(1), settings);
  void second.run(new AbortController().signal);
  await world.clock.runUntil(startMs + 3 * minuteMs);
  second.die();
  const again = world.web.sent.slice(before.length).map(({ url }) => url);
  // One that has answered may be looked at once more.
  const returned = [...new Set(again)].filter((url) => left.includes(url));
  expect(returned.length).toBeGreaterThan(25);
  expect(returned).toEqual(left.slice(0, returned.length));
});
