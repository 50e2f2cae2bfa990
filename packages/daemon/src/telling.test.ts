/** Killed at random points with receivers that fail, hang and answer late: no change lost, none told under two ids. */
import { exponential, integer, policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import type { LoopSettings } from './loop-parts.ts';
import { poissonLaw, type SimulatedPage } from './simulation/simulated-web.ts';
import { createWorld, startLoop, type World } from './simulation/world.ts';
import { openSqlite } from './store/sqlite.ts';
import { giveUpMs, type Send, type Sent } from './tell/courier.ts';
import { Telling } from './telling.ts';
import type { SubscriptionSettings } from './values/subscription.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 5);
const settings: LoopSettings = { looksPerSecond: 0.02, spacingMs: 1_000, robots: 16, queueMax: 256 };

function memoryStore() {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return opened.store;
}

const pages = (count: number, meanMs: number): SimulatedPage[] =>
  Array.from({ length: count }, (_, i) => ({
    url: `https://site${i % 4}.example/page/${i}`,
    site: `site${i % 4}.example`,
    law: poissonLaw(meanMs),
  }));

const hook = (name: string, more: Partial<SubscriptionSettings> = {}): SubscriptionSettings => ({
  name,
  match: '',
  deliver: { kind: 'webhook', url: `https://${name}.example/` },
  zone: 'UTC',
  paused: false,
  ...more,
});

interface Receipt {
  readonly delivery: string;
  readonly changes: readonly { readonly id: string; readonly pageId: string; readonly cursor: number }[];
  readonly atMs: number;
}

type Behaviour = 'take' | 'fail' | 'hang' | 'take and answer late' | 'take and fail';
type Law = (name: string, atMs: number) => Behaviour;

/** Receivers in the simulated world: what reaches them is on record even when the sender never learns of it. */
class Receivers {
  readonly taken = new Map<string, Receipt[]>();
  readonly #world: World;
  readonly #law: Law;

  constructor(world: World, law: Law) {
    this.#world = world;
    this.#law = law;
  }

  send: Send = async (subscription, message): Promise<Sent> => {
    const { clock, random: luck } = this.#world;
    const name = subscription.name!;
    await clock.sleep(exponential(luck, 300));
    const what = this.#law(name, clock.nowMs());
    if (what === 'hang') await clock.sleep(Infinity);
    if (what !== 'fail') {
      const changes = message.changes.map((change) => ({
        id: String(change['id']),
        pageId: String(change['pageId']),
        cursor: Number(change['cursor']),
      }));
      const list = this.taken.get(name) ?? [];
      list.push({ delivery: message.id, changes, atMs: clock.nowMs() });
      this.taken.set(name, list);
    }
    if (what === 'take and answer late') await clock.sleep(90_000);
    await clock.sleep(exponential(luck, 300));
    return what === 'fail' || what === 'take and fail'
      ? { kind: 'refused', fault: { code: 'receiver-refused', sentence: 'It answered 500.' } }
      : { kind: 'taken' };
  };
}

async function start(world: World, receivers: Receivers, looksPerSecond = settings.looksPerSecond) {
  const telling = new Telling(world.store, world.clock, receivers.send, () => {});
  await telling.subscribers.load();
  const loop = await startLoop(world, policies['uniform']!.create(1), { ...settings, looksPerSecond }, telling);
  void loop.run(new AbortController().signal);
  void telling.courier.run(new AbortController().signal);
  return {
    kill: () => {
      loop.die();
      telling.courier.die();
    },
  };
}

/** Everything that was kept was told, under one id each, and first told in the order of the log on every page. */
async function expectAllTold(world: World, receivers: Receivers, names: readonly string[]): Promise<void> {
  const changes = await world.store.changes({ after: 0, limit: 1_000_000 });
  for (const name of names) {
    const receipts = receivers.taken.get(name) ?? [];
    const deliveryOf = new Map<string, string>();
    const seenOfPage = new Map<string, number>();
    for (const { delivery, changes: told } of receipts) {
      for (const { id, pageId, cursor } of told) {
        const before = deliveryOf.get(id);
        expect(before ?? delivery, `${name}: change ${id} under one id`).toBe(delivery);
        if (before !== undefined) continue;
        deliveryOf.set(id, delivery);
        expect(cursor, `${name}: page ${pageId} in order`).toBeGreaterThan(seenOfPage.get(pageId) ?? 0);
        seenOfPage.set(pageId, cursor);
      }
    }
    expect([...deliveryOf.keys()].sort(), `${name}: nothing lost`).toEqual(changes.map(({ id }) => id).sort());
  }
}

async function untilAllSent(world: World): Promise<void> {
  for (let round = 0; round < 400; round++) {
    const waiting = [
      ...(await world.store.outbox.deliveries({ status: 'due', limit: 1 })),
      ...(await world.store.outbox.deliveries({ status: 'open', limit: 1 })),
    ];
    if (waiting.length === 0) return;
    await world.clock.runUntil(world.clock.nowMs() + 30 * minuteMs);
  }
}

test.each([1, 2, 3, 4])('five hundred kills, seed %i', async (seed) => {
  const world = await createWorld({
    seed,
    startMs,
    store: memoryStore(),
    pages: pages(5, 4 * minuteMs),
    siteLaw: () => ({ latencyMeanMs: 800, errorChance: 0.05, timeOutChance: 0.02, timeOutMs: 20_000 }),
  });
  const names = ['at-once', 'bursts', 'hourly', 'quiet'];
  await world.store.outbox.addSubscription(hook('at-once'), startMs);
  await world.store.outbox.addSubscription(hook('bursts', { burstSeconds: 45 }), startMs);
  await world.store.outbox.addSubscription(hook('hourly', { digest: { kind: 'hourly' } }), startMs);
  await world.store.outbox.addSubscription(hook('quiet', { quiet: { from: '02:00', until: '05:30' } }), startMs);
  const luck = random(seed + 500);
  const receivers = new Receivers(world, () => {
    const roll = luck();
    return roll < 0.75
      ? 'take'
      : roll < 0.83
        ? 'fail'
        : roll < 0.88
          ? 'hang'
          : roll < 0.94
            ? 'take and answer late'
            : 'take and fail';
  });
  for (let kill = 0; kill < 500; kill++) {
    const running = await start(world, receivers, 0.2);
    await world.clock.runUntil(world.clock.nowMs() + 1 + integer(luck, luck() < 0.5 ? 2_000 : 60_000));
    running.kill();
  }
  const calm = new Receivers(world, () => 'take');
  for (const [name, list] of receivers.taken) calm.taken.set(name, list);
  const loopless = new Telling(world.store, world.clock, calm.send, () => {});
  void loopless.courier.run(new AbortController().signal);
  await untilAllSent(world);
  expect((await world.store.counts()).changes).toBeGreaterThan(100);
  expect(await world.store.outbox.deliveries({ status: 'dead', limit: 5 })).toEqual([]);
  await expectAllTold(world, calm, names);
});

test('a receiver that is down for two days gets all, in order, and is not hammered', async () => {
  const world = await createWorld({ seed: 9, startMs, store: memoryStore(), pages: pages(6, hourMs) });
  await world.store.outbox.addSubscription(hook('down'), startMs);
  let tries = 0;
  const receivers = new Receivers(world, (_name, atMs) => {
    tries++;
    return atMs < startMs + 2 * dayMs ? 'fail' : 'take';
  });
  const running = await start(world, receivers);
  await world.clock.runUntil(startMs + 2 * dayMs - 1);
  expect(tries).toBeLessThan(2_000);
  expect((await world.store.counts()).changes).toBeGreaterThan(150);
  await world.clock.runUntil(startMs + 2 * dayMs + hourMs);
  running.kill();
  const late = (await world.store.changes({ after: 0, limit: 1_000_000 })).filter(
    ({ atMs }) => atMs < startMs + 2 * dayMs,
  );
  const told = new Set(receivers.taken.get('down')!.flatMap(({ changes }) => changes.map(({ id }) => id)));
  expect(late.filter(({ id }) => !told.has(id))).toEqual([]);
  const order = new Map<string, number>();
  for (const { pageId, cursor } of receivers.taken.get('down')!.flatMap(({ changes }) => changes)) {
    expect(cursor).toBeGreaterThan(order.get(pageId) ?? 0);
    order.set(pageId, cursor);
  }
});

test('what nobody takes for five days is dead, listed, and can be sent again under its id', async () => {
  const world = await createWorld({ seed: 4, startMs, store: memoryStore(), pages: pages(2, 4 * hourMs) });
  await world.store.outbox.addSubscription(hook('never'), startMs);
  let open = false;
  const receivers = new Receivers(world, () => (open ? 'take' : 'fail'));
  const running = await start(world, receivers, 0.001);
  await world.clock.runUntil(startMs + giveUpMs + dayMs);
  running.kill();
  const dead = await world.store.outbox.deliveries({ status: 'dead', limit: 10_000 });
  expect(dead.length).toBeGreaterThan(2);
  expect(dead[0]!.fault).toMatchObject({ code: 'receiver-refused' });
  open = true;
  expect(await world.store.outbox.replay(dead[0]!.id, world.clock.nowMs())).toBe(true);
  expect(await world.store.outbox.replay('unknown', world.clock.nowMs())).toBe(false);
  const again = await start(world, receivers, 0.001);
  await world.clock.runUntil(world.clock.nowMs() + dayMs);
  again.kill();
  expect(receivers.taken.get('never')!.map(({ delivery }) => delivery)).toContain(dead[0]!.id);
});
