import { expect, test } from 'vitest';
import { closedUntilMs, neverOpens, parseHours } from './hours.ts';

const hours = (text: string) => parseHours(text) ?? expect.unreachable(text);
const opening = (only: string[], never: string[] = []) => ({ only: only.map(hours), never: never.map(hours) });
const at = (text: string) => Date.parse(text);

test('business hours in a zone', () => {
  const office = opening(['mon-fri 08:00-18:00 Europe/Berlin']);
  expect(closedUntilMs(office, at('2026-01-05T07:30:00Z'))).toBeUndefined();
  expect(closedUntilMs(office, at('2026-01-05T06:59:30Z'))).toBe(at('2026-01-05T07:00:00Z'));
  expect(closedUntilMs(office, at('2026-01-09T17:00:00Z'))).toBe(at('2026-01-12T07:00:00Z'));
});

test('over a change of the clock', () => {
  // In Berlin the night to 2026-03-29 has no hour from two to three.
  const office = opening(['mon-fri 08:00-18:00 Europe/Berlin']);
  expect(closedUntilMs(office, at('2026-03-27T20:00:00Z'))).toBe(at('2026-03-30T06:00:00Z'));
});

test('quiet hours past midnight', () => {
  const quiet = opening([], ['22:00-06:00']);
  expect(closedUntilMs(quiet, at('2026-01-05T21:59:59Z'))).toBeUndefined();
  expect(closedUntilMs(quiet, at('2026-01-05T23:00:00Z'))).toBe(at('2026-01-06T06:00:00Z'));
  expect(closedUntilMs(quiet, at('2026-01-06T05:59:00Z'))).toBe(at('2026-01-06T06:00:00Z'));
});

test('both together, and several spans', () => {
  const both = opening(['mon 08:00-10:00', 'wed,fri 12:00-24:00'], ['wed 12:00-13:00']);
  expect(closedUntilMs(both, at('2026-01-05T10:00:00Z'))).toBe(at('2026-01-07T13:00:00Z'));
  expect(closedUntilMs(both, at('2026-01-07T23:59:00Z'))).toBeUndefined();
});

test('what is never open has an answer all the same', () => {
  const never = opening(['mon 08:00-10:00'], ['mon 00:00-24:00']);
  expect(closedUntilMs(never, at('2026-01-05T08:30:00Z'))).toBeGreaterThan(at('2026-03-01T00:00:00Z'));
});

test.each([
  '',
  '8-18',
  '08:00-08:00',
  '25:00-26:00',
  '08:61-09:00',
  'mon-xyz 08:00-09:00',
  '08:00-09:00 Mars/Olympus',
  'mon 08:00',
])('%j is refused', (text) => {
  expect(parseHours(text)).toBeUndefined();
});

test.each([
  [[], [], false],
  [[], ['00:00-24:00'], true],
  [[], ['00:00-23:59'], false],
  [[], ['mon-sat 00:00-24:00', 'sun 00:00-24:00'], true],
  [[], ['mon-sat 00:00-24:00'], false],
  [[], ['22:00-06:00', '06:00-22:00 Europe/Berlin'], false],
  [['mon 08:00-10:00'], ['mon 08:00-10:00'], true],
  [['mon 08:00-10:00'], ['08:00-09:59'], false],
  [['sun 23:00-01:00'], ['sun 22:00-24:00', 'mon 00:00-02:00'], true],
])('within %j and outside %j nothing is ever open: %j', (only, never, isShut) => {
  expect(neverOpens(opening(only, never))).toBe(isShut);
});
