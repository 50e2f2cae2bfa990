import { expect, test } from 'vitest';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { BrowserSlots } from './browser-slots.ts';

test('one place is kept for pages that were shown before', async () => {
  const slots = new BrowserSlots(2, new VirtualClock(0));
  slots.showed('well');
  const first = await slots.enter('new 1', 60_000);
  const entered: string[] = [];
  const second = slots.enter('new 2', 60_000).then((place) => (entered.push('new 2'), place));
  expect(await slots.enter('new 3', 1)).toBeUndefined();
  const well = await slots.enter('well', 60_000);
  expect([well !== undefined, entered]).toEqual([true, []]);
  first!.leave();
  const place = await second;
  place!.leave();
  well!.leave();
  expect(slots.isIdle).toBe(true);
});

test('a page that ran out of time has lost its place, and comes later each time until it is shown', () => {
  const slots = new BrowserSlots(2, new VirtualClock(0));
  const minutes = () => slots.ranLate('page') / 60_000;
  expect([minutes(), minutes(), minutes()]).toEqual([5, 10, 20]);
  for (let i = 0; i < 10; i++) minutes();
  expect(minutes()).toBe(360);
  slots.showed('page');
  expect(minutes()).toBe(5);
});

test('who is alone in line with the only place has it, whatever is known of it', async () => {
  const slots = new BrowserSlots(1, new VirtualClock(0));
  const place = await slots.enter('new', 1);
  expect(place).toBeDefined();
  place!.leave();
});
