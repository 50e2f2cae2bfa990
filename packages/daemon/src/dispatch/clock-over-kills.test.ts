/** A clock that is set, a disk that is full, and a process that is killed meanwhile: the next one keeps to caps all the same. */
import { policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { faultyStore } from '../simulation/faulty-store.ts';
import { memoryStore } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { StoreFailed } from '../values/fault.ts';
import { usualSettings } from '../values/page.ts';

const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const cap = { count: 4, periodMs: 2 * hourMs };
const spacingMs = 2_000;

/** Processes on one store, each with its own idea of the time. */
async function machine() {
  const clock = new VirtualClock(startMs);
  const inner = memoryStore();
  const disk = { fullUntilMs: 0 };
  const asked: { readonly atMs: number; readonly path: string }[] = [];
  /** When messages were told not to wait for a moment that comes once more. */
  const hastened: number[] = [];
  const hastenAll = inner.outbox.hastenAll.bind(inner.outbox);
  inner.outbox.hastenAll = async (nowMs) => {
    if (clock.nowMs() < disk.fullUntilMs) throw new StoreFailed({ code: 'disk-full', sentence: 'the disk is full' });
    hastened.push(clock.nowMs());
    return hastenAll(nowMs);
  };
  const urls = ['https://a.example/1', 'https://a.example/2'];
  await new Desk(inner, clock, () => {}).add(urls.map((url) => ({ url, site: 'a.example', ...usualSettings })));

  /** Lives for so long; its clock is off by so much, and was set by so much since the one before, where that was seen. */
  const live = async (lifeMs: number, offMs: number, seenMs: number, answerMs = 20): Promise<Loop> => {
    const process = { alive: true };
    const now = { nowMs: () => clock.nowMs() + offMs, sleep: clock.sleep.bind(clock) };
    const fetchPage = async ({ url }: Ask): Promise<Answer> => {
      if (!process.alive) return new Promise<Answer>(() => {});
      asked.push({ atMs: clock.nowMs(), path: url.pathname });
      const askedAtMs = now.nowMs();
      await clock.sleep(answerMs);
      const body = Buffer.from('x');
      const status = url.pathname === '/robots.txt' ? 404 : 200;
      const times = { askedAtMs, answeredAtMs: now.nowMs() };
      return { kind: 'answered', url, status, headers: {}, body, bytesReceived: body.length, ...times };
    };
    const random = () => 0.5;
    const { store } = faultyStore(inner, { clock, random, process, isFull: (atMs) => atMs < disk.fullUntilMs });
    const siteRules = () => ({ spacingMs, connections: 1, cap });
    const common = { clock: now, random, siteRules };
    const observer = createObserver({ ...common, userAgent: 'Revisit', allowNetworks: [], spacingMs, fetchPage });
    const parts = { ...common, store, observer, policy: policies['uniform']!.create(1), detect: detector(store) };
    const settings = { looksPerSecond: 0.01, spacingMs, robots: 2, queueMax: 64 };
    const loop = new Loop({ ...parts, log: () => {} }, settings);
    const loaded = loop.load(seenMs).then(() => void loop.run(new AbortController().signal));
    await clock.runUntil(clock.nowMs() + lifeMs);
    await loaded;
    process.alive = false;
    loop.die();
    return loop;
  };
  const most = () => Math.max(...asked.map(({ atMs: from }) => within(asked, from).length));
  return { clock, store: inner, disk, asked, hastened, live, most };
}

const within = (asked: readonly { readonly atMs: number }[], fromMs: number) =>
  asked.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + cap.periodMs);

test.each([6, -6])('set by %i days while the disk is full, and killed before there is space', async (days) => {
  const { clock, store, disk, asked, hastened, live, most } = await machine();
  await live(30 * minuteMs, -days * dayMs, 0);
  expect(asked).toHaveLength(cap.count);
  disk.fullUntilMs = clock.nowMs() + 20_000;
  const atOnce = await live(6_000, 0, days * dayMs);
  // Those who come after it have not seen it. The second of them lives to meet a disk that has space.
  await live(6_000, 0, 0);
  await live(20_000, 0, 0);
  await live(12 * hourMs, 0, 0);
  expect(most()).toBe(cap.count);
  expect(asked.length).toBeGreaterThan(4 * cap.count);
  expect(atOnce.healthy).toBe(false);
  expect(hastened.filter((atMs) => atMs >= disk.fullUntilMs)).toHaveLength(days < 0 ? 1 : 0);
  await store.close();
});

test('set while the disk is full, and killed with the first request under way that could be noted', async () => {
  const { clock, store, disk, asked, live, most } = await machine();
  await live(2 * minuteMs, -6 * dayMs, 0);
  const before = asked.length;
  // robots.txt and a page.
  expect(before).toBe(2);
  disk.fullUntilMs = clock.nowMs() + 5_000;
  await live(3 * minuteMs, 0, 6 * dayMs, hourMs);
  expect(asked).toHaveLength(before + 1);
  await live(12 * hourMs, 0, 0);
  expect(most()).toBe(cap.count);
  await store.close();
});

test('what was under way is forgotten once the disk has space, not only by the process after', async () => {
  const { clock, store, disk, asked, live } = await machine();
  await live(2 * minuteMs, 0, 0, hourMs);
  const left = await store.unfinished();
  expect(left.length).toBeGreaterThan(0);
  const before = asked.length;
  disk.fullUntilMs = clock.nowMs() + 5_000;
  await live(4_000, 0, 0);
  expect(await store.unfinished()).toEqual(left);
  await live(10 * minuteMs, 0, 0);
  expect(asked.length).toBeGreaterThan(before);
  expect(await store.unfinished()).toEqual([]);
  await store.close();
});
