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
  [undefined, undefined, undefined],
])('Retry-After %s at the server’s %s', (after, date, expected) => {
  const headers = { ...(after === undefined ? {} : { 'retry-after': after }), ...(date === undefined ? {} : { date }) };
  expect(retryAfterMs(headers, nowMs)).toBe(expected);
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
