import { expect, test } from 'vitest';
import { ClockBook } from './clock-book.ts';
import { memoryStore } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import type { Store } from '../store/port.ts';

const hourMs = 3_600_000;

test('what was seen of a clock that was set adds up over processes, and what nobody saw shows where it was set back', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(Date.UTC(2026, 0, 5));
  const open = async (seenMs: number) => {
    const book = new ClockBook(clock, store);
    const byMs = await book.open(seenMs);
    return [byMs, book.totalMs, book.setLately];
  };
  expect(await open(0)).toEqual([0, 0, false]);
  clock.suspend(5 * hourMs);
  expect(await open(5 * hourMs)).toEqual([5 * hourMs, 5 * hourMs, true]);
  clock.suspend(2 * hourMs);
  // A machine that was off.
  expect(await open(0)).toEqual([0, 5 * hourMs, false]);
  clock.suspend(-30 * hourMs);
  expect(await open(0)).toEqual([-30 * hourMs, -25 * hourMs, true]);
  expect(await open(0)).toEqual([0, -25 * hourMs, true]);
  // Clocks of machines that share a store differ by as much.
  clock.suspend(-2_000);
  expect(await open(0)).toEqual([0, -25 * hourMs, true]);
  await store.close();
});

test('where the store takes nothing, no time is known to have passed since it last did, whatever was seen', async () => {
  const inner = memoryStore();
  const clock = new VirtualClock(Date.UTC(2026, 0, 5));
  let full = false;
  const failed = { kind: 'failed', fault: { code: 'disk-full', sentence: 'full' } } as const;
  const store: Pick<Store, 'recall' | 'remember'> = {
    recall: (key) => inner.recall(key),
    remember: (key, value) => (full ? Promise.resolve(failed) : inner.remember(key, value)),
  };
  const open = async (seenMs: number) => {
    const book = new ClockBook(clock, store);
    return { book, byMs: await book.open(seenMs) };
  };
  const first = await open(0);
  expect(first.book.isKept).toBe(true);
  full = true;
  // An hour, of which nobody can know whether it was set by one who could not say so.
  clock.suspend(hourMs);
  expect((await open(0)).byMs).toBe(hourMs);
  clock.suspend(hourMs);
  const second = await open(hourMs);
  expect([second.byMs, second.book.totalMs, second.book.isKept]).toEqual([2 * hourMs, 2 * hourMs, false]);
  full = false;
  await second.book.alive();
  expect(second.book.isKept).toBe(true);
  const third = await open(0);
  expect([third.byMs, third.book.totalMs, third.book.setLately]).toEqual([0, 2 * hourMs, true]);
  // A moment is no reason for anything.
  full = true;
  clock.suspend(9_000);
  expect((await open(0)).byMs).toBe(0);
  await inner.close();
});
