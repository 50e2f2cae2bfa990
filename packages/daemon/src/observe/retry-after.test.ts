import { expect, test } from 'vitest';
import { Gate } from './gate.ts';
import { retryAfterMs, retryAfterMsMax } from './retry-after.ts';

const nowMs = Date.UTC(2026, 0, 5, 12);
const dateAt = (atMs: number): string => new Date(atMs).toUTCString();

test.each([
  ['120', undefined, 120_000],
  [' 0 ', undefined, 0],
  [dateAt(nowMs + 60_000), undefined, 60_000],
  // A server whose clock is three hours behind means a minute by it.
  [dateAt(nowMs - 3 * 3_600_000 + 60_000), dateAt(nowMs - 3 * 3_600_000), 60_000],
  [dateAt(nowMs - 60_000), dateAt(nowMs), 0],
  ['99999999999', undefined, retryAfterMsMax],
  [dateAt(nowMs + 100 * 365 * 86_400_000), undefined, retryAfterMsMax],
  ['soon', undefined, undefined],
  ['1.5', undefined, undefined],
  ['-5', undefined, undefined],
  ['+5', undefined, undefined],
  ['10 s', undefined, undefined],
  ['2026', dateAt(nowMs - 60_000), 2_026_000],
  ['2026-01-05', undefined, undefined],
  ['Mon, 05 Jan 2026 12:01:00 GMT', undefined, 60_000],
  ['Monday, 05-Jan-26 12:01:00 GMT', undefined, 60_000],
  ['Mon Jan  5 12:01:00 2026', undefined, 60_000],
  ['Mon, 05 Jan 2026 12:01:00 GMT', '-5', 60_000],
  ['Mon, 99 Jan 2026 12:01:00 GMT', undefined, undefined],
  [undefined, undefined, undefined],
])('Retry-After %s at the server’s %s', (after, date, expected) => {
  const headers = { ...(after === undefined ? {} : { 'retry-after': after }), ...(date === undefined ? {} : { date }) };
  expect(retryAfterMs(headers, nowMs)).toBe(expected);
});

test.each([0, 5_000])('a site that says %i ms again and again is left alone for longer each time', (saidMs) => {
  const gate = new Gate();
  const waits: number[] = [];
  for (let asked = 0, atMs = nowMs; asked < 13; asked++, atMs = gate.closedUntilMs) {
    gate.turnedAway(atMs, saidMs, 0.5);
    waits.push(gate.closedUntilMs - atMs);
  }
  expect(waits[0]).toBeLessThan(saidMs + 1_000);
  expect(waits.slice(1, 4)).toEqual([20_000, 40_000, 80_000]);
  expect(waits.at(-1)).toBe(6 * 3_600_000);
  gate.succeeded();
  const lastMs = gate.closedUntilMs;
  gate.turnedAway(lastMs, saidMs, 0);
  expect(gate.closedUntilMs - lastMs).toBe(saidMs);
});

test('a site that says how long each time is asked again after that, however often it does', () => {
  const gate = new Gate();
  for (let asked = 0, atMs = nowMs; asked < 8; asked++, atMs = gate.closedUntilMs) {
    gate.turnedAway(atMs, 120_000, 0);
    expect(gate.closedUntilMs - atMs).toBe(120_000);
  }
});

test('sites that were told the same come back apart, and none before it was told to', () => {
  const backAt = (random: number): number => {
    const gate = new Gate();
    gate.turnedAway(nowMs, 120_000, random);
    return gate.closedUntilMs;
  };
  const times = [0, 0.3, 0.9].map(backAt);
  expect(times[0]).toBeGreaterThanOrEqual(nowMs + 120_000);
  expect(times[1]! - times[0]!).toBeGreaterThan(1_000);
  expect(times[2]! - times[1]!).toBeGreaterThan(1_000);
});

test('pages that are turned away are each given a time of their own, no step like the one before', () => {
  const gate = new Gate();
  const luck = [0.1, 0.7, 0.3, 0.9];
  const times = luck.map((random) => gate.promise(nowMs, 2_000, 3_600_000, random));
  const steps = times.map((atMs, index) => atMs - (times[index - 1] ?? nowMs));
  expect(Math.min(...steps)).toBeGreaterThanOrEqual(2_000);
  expect(new Set(steps).size).toBe(steps.length);
});

test('of several Retry-After the longest is kept to', () => {
  expect(retryAfterMs({ 'retry-after': ['5', 'soon', '120', '60'] }, nowMs)).toBe(120_000);
  expect(retryAfterMs({ 'retry-after': ['soon'] }, nowMs)).toBeUndefined();
});
