/** Killed at random points with receivers that fail, hang and answer late: no change lost, none told under two ids. */
import { expect, test } from 'vitest';
import { memoryStore } from './simulation/index.ts';
import { Receivers, wrongIn } from './simulation/receivers.ts';
import { poissonLaw, type SimulatedPage } from './simulation/simulated-web.ts';
import { startTelling, subscriptionNamed, tellInTrouble } from './simulation/telling-in-trouble.ts';
import { createWorld } from './simulation/world.ts';
import { freshState } from './store/rows.ts';
import { giveUpMs } from './tell/courier.ts';
import { Telling } from './telling.ts';
import type { Look } from './values/look.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 5);

const pages = (count: number, meanMs: number): SimulatedPage[] =>
  Array.from({ length: count }, (_, i) => ({
    url: `https://site${i % 4}.example/page/${i}`,
    site: `site${i % 4}.example`,
    law: poissonLaw(meanMs),
  }));

test.each([1, 2, 3, 4])('five hundred kills, seed %i', async (seed) => {
  const report = await tellInTrouble({ seed, kills: 500, store: memoryStore() });
  expect(report.wrong).toEqual([]);
  expect(report.changes).toBeGreaterThan(100);
});

test('what is wrong would be found', () => {
  const change = (sequence: number) => ({ sequence, id: `c${sequence}`, pageId: 'p' }) as never;
  const told = (delivery: string, ...cursors: number[]) => ({
    delivery,
    changes: cursors.map((cursor) => ({ id: `c${cursor}`, pageId: 'p', cursor })),
  });
  expect(wrongIn([told('a', 1, 2)], [change(1), change(2)])).toEqual([]);
  expect(wrongIn([told('a', 1), told('a', 1)], [change(1)])).toEqual([]);
  expect(wrongIn([told('a', 1)], [change(1), change(2)])).toEqual(['1 changes were never told, the first is 2']);
  expect(wrongIn([told('a', 1), told('b', 1)], [change(1)])).toHaveLength(1);
  expect(wrongIn([told('b', 2), told('a', 1)], [change(1), change(2)])).toHaveLength(1);
  expect(wrongIn([told('a', 1, 2)], [change(1)])).toHaveLength(1);
});

test('a receiver that is down for two days gets all, in order, and is not hammered', async () => {
  const world = await createWorld({ seed: 9, startMs, store: memoryStore(), pages: pages(6, hourMs) });
  await world.store.outbox.addSubscription(subscriptionNamed('down'), startMs);
  let tries = 0;
  const receivers = new Receivers(world, (_name, atMs) => {
    tries++;
    return atMs < startMs + 2 * dayMs ? 'fail' : 'take';
  });
  const running = await startTelling(world, receivers, 0.02);
  await world.clock.runUntil(startMs + 2 * dayMs - 1);
  expect(tries).toBeLessThan(2_000);
  expect((await world.store.counts()).changes).toBeGreaterThan(150);
  await world.clock.runUntil(startMs + 2 * dayMs + hourMs);
  running.kill();
  const taken = receivers.taken.get('down')!;
  const told = new Set(taken.flatMap(({ changes }) => changes.map(({ id }) => id)));
  const changes = await world.store.changes({ after: 0, limit: 1_000_000 });
  // What came in the last hour may be under way.
  expect(
    wrongIn(
      taken,
      changes.filter(({ id, atMs }) => atMs < startMs + 2 * dayMs || told.has(id)),
    ),
  ).toEqual([]);
});

test('what nobody takes for five days is dead, listed, and can be sent again under its id', async () => {
  const world = await createWorld({ seed: 4, startMs, store: memoryStore(), pages: pages(2, 4 * hourMs) });
  await world.store.outbox.addSubscription(subscriptionNamed('never'), startMs);
  let open = false;
  const receivers = new Receivers(world, () => (open ? 'take' : 'fail'));
  const running = await startTelling(world, receivers, 0.001);
  await world.clock.runUntil(startMs + giveUpMs + dayMs);
  running.kill();
  const dead = await world.store.outbox.deliveries({ status: 'dead', limit: 10_000 });
  expect(dead.length).toBeGreaterThan(2);
  expect(dead[0]!.fault).toMatchObject({ code: 'receiver-refused' });
  open = true;
  expect(await world.store.outbox.replay(dead[0]!.id, world.clock.nowMs())).toBe(true);
  expect(await world.store.outbox.replay('unknown', world.clock.nowMs())).toBe(false);
  const again = await startTelling(world, receivers, 0.001);
  await world.clock.runUntil(world.clock.nowMs() + dayMs);
  again.kill();
  expect(receivers.taken.get('never')!.map(({ delivery }) => delivery)).toContain(dead[0]!.id);
});

test('what waits for somebody who is paused does not stand in the way of others', async () => {
  const world = await createWorld({ seed: 1, startMs, store: memoryStore(), pages: pages(40, hourMs) });
  const { store, clock } = world;
  const [asleep, awake] = [
    await store.outbox.addSubscription(subscriptionNamed('asleep'), startMs),
    await store.outbox.addSubscription(subscriptionNamed('awake'), startMs + 1),
  ];
  const looks = (await store.pages({ limit: 40 })).map(({ page }, i): Look => ({
    pageId: page.id,
    probeId: `probe-${i}`,
    atMs: startMs,
    endedAtMs: startMs,
    kind: 'gone',
    bytesReceived: 0,
    state: { ...freshState, status: 'gone' },
    change: {
      pageId: page.id,
      url: page.url,
      site: page.site,
      tags: [],
      kind: 'gone',
      atMs: startMs,
      count: 1,
      summary: '',
    },
    deliveries: [asleep, awake].map(({ id }) => ({ subscriptionId: id, dueMs: startMs })),
  }));
  await store.commit(looks);
  await store.outbox.updateSubscription(asleep.id, { paused: true });
  const receivers = new Receivers(world, () => 'take');
  const telling = new Telling(store, clock, receivers.send, () => {});
  void telling.courier.run(new AbortController().signal);
  await clock.runUntil(startMs + hourMs);
  telling.courier.die();
  expect(receivers.taken.get('awake')).toHaveLength(40);
  expect(receivers.taken.get('asleep')).toBeUndefined();
});
