import { expect, test } from 'vitest';
import { ClockBook } from './clock-book.ts';
import { memoryStore } from './simulation/index.ts';
import { VirtualClock } from './simulation/virtual-clock.ts';

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
