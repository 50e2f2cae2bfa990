/** What sites ask of several processes that look after different sites of one collection, and of whoever takes a site over. */
import { expect, test } from 'vitest';
import { Collection } from '../collection/collection.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { SiteDoors } from './site-doors.ts';

const startMs = Date.UTC(2026, 0, 5);
const dayMs = 86_400_000;
const noPlan = { setCap: () => {}, standAt: () => {} };
const doorsOn = (clock: VirtualClock) => new SiteDoors({ clock }, new Collection(), noPlan, 2_000);

test('what one has noted of sites to be left alone stays when another notes its own, until it is over', async () => {
  const clock = new VirtualClock(startMs);
  const [one, other] = [doorsOn(clock), doorsOn(clock)];
  one.hold('a.example', startMs + 60_000);
  let kept = one.saveHolds(undefined);
  other.hold('b.example', startMs + 90_000);
  kept = other.saveHolds(kept);
  const next = doorsOn(clock);
  next.restoreHolds(kept);
  expect([next.heldUntil('a.example'), next.heldUntil('b.example')]).toEqual([startMs + 60_000, startMs + 90_000]);
  await clock.runUntil(startMs + 70_000);
  const later = doorsOn(clock);
  later.restoreHolds(other.saveHolds(kept));
  expect([later.heldUntil('a.example'), later.heldUntil('b.example')]).toEqual([0, startMs + 90_000]);
});

test('a Crawl-delay is known to whoever takes the site over, and forgotten where nobody has heard it for two days', async () => {
  const clock = new VirtualClock(startMs);
  const [one, other] = [doorsOn(clock), doorsOn(clock)];
  expect(one.heard('a.example', 6_000)).toBe(true);
  // Once a day is enough.
  expect(one.heard('a.example', 6_000)).toBe(false);
  expect(other.heard('b.example', 7_000)).toBe(true);
  const kept = other.saveDelays(one.saveDelays(undefined));
  const next = doorsOn(clock);
  next.restoreDelays(kept);
  next.space('a.example');
  next.recall('a.example', startMs - 4_000);
  expect(next.crawlDelayMs('b.example')).toBe(7_000);
  expect(next.bookTurn('a.example')).toBe(2_000);
  expect(one.heard('a.example', 9_000)).toBe(true);
  await clock.runUntil(startMs + dayMs + 1);
  expect(one.heard('a.example', 9_000)).toBe(true);
  const renewed = one.saveDelays(kept);
  await clock.runUntil(startMs + 2 * dayMs + 1);
  const late = doorsOn(clock);
  late.restoreDelays(renewed);
  expect([late.crawlDelayMs('a.example'), late.crawlDelayMs('b.example')]).toEqual([9_000, undefined]);
});

test('whoever is led to a site has the next turn, and counts as having asked it', async () => {
  const clock = new VirtualClock(startMs);
  const doors = doorsOn(clock);
  expect(doors.bookTurn('a.example')).toBe(0);
  const second = doors.bookTurn('a.example')!;
  expect(second).toBeGreaterThanOrEqual(2_000);
  // The one after that is too far away to be anybody's.
  expect(doors.bookTurn('a.example')).toBe(undefined);
  await clock.runUntil(startMs + second);
  const third = second + doors.bookTurn('a.example')!;
  expect(third).toBeGreaterThanOrEqual(second + 2_000);
  // Whoever takes the site over waits until the turns that were given are over.
  const next = doorsOn(clock);
  next.restoreLedTo(doors.saveLedTo(undefined));
  expect(next.gates.opensAt(0)).toBeGreaterThanOrEqual(startMs + third + 2_000);
  // Somebody is there now.
  await clock.runUntil(startMs + third + 3_000);
  const site = 0;
  doors.gates.begin(site);
  expect(doors.bookTurn('a.example')).toBe(undefined);
  doors.gates.done(site, clock.nowMs());
  expect(doors.bookTurn('a.example')).toBe(2_000);
  doors.hold('b.example', clock.nowMs() + 60_000);
  expect(doors.bookTurn('b.example')).toBe(undefined);
});
