import { describe, expect, test } from 'vitest';
import { integral, profile, valueAt } from './profile.ts';
import { type Zone, offsetAt, secondOfWeek, utc, weekAtOffset, weekOn, weekSeconds, weekShape } from './week.ts';

const hour = 3_600;
const monday = Date.UTC(2026, 2, 23) / 1000;
/** Central Europe in spring 2026: summer time begins on Sunday 29 March at 01:00 UTC. */
const berlin: Zone = {
  offsetSeconds: hour,
  transitions: [{ at: Date.UTC(2026, 2, 29, 1) / 1000, offsetSeconds: 2 * hour }],
};
const nine = profile([0, 9 * hour, 10 * hour, 24 * hour, weekSeconds], [0, 1, 0, 0], weekSeconds);

describe('week', () => {
  test('a week begins on Monday, local time', () => {
    expect(secondOfWeek(utc, monday)).toBe(0);
    expect(secondOfWeek(berlin, monday - hour)).toBe(0);
    expect(offsetAt(berlin, monday)).toBe(hour);
    expect(offsetAt(berlin, monday + weekSeconds)).toBe(2 * hour);
  });

  test('nine o’clock stays nine o’clock across daylight saving', () => {
    const two = weekOn(nine, berlin, monday, monday + 2 * weekSeconds);
    expect(valueAt(two, monday + 8 * hour)).toBe(1);
    expect(valueAt(two, monday + 8 * hour - 1)).toBe(0);
    expect(valueAt(two, monday + weekSeconds + 7 * hour)).toBe(1);
    expect(valueAt(two, monday + weekSeconds + 8 * hour)).toBe(0);
    expect(integral(two, monday, monday + 2 * weekSeconds)).toBe(2 * hour);
  });

  test('the hour that is skipped is skipped, the one lived twice comes twice', () => {
    const sundayTwo = 6 * 24 * hour + 2 * hour;
    const at = profile([0, sundayTwo, sundayTwo + hour, weekSeconds], [0, 1, 0], weekSeconds);
    const spring = weekOn(at, berlin, monday, monday + weekSeconds);
    expect(integral(spring, monday, monday + weekSeconds)).toBe(0);
    const back: Zone = {
      offsetSeconds: 2 * hour,
      transitions: [{ at: berlin.transitions[0].at, offsetSeconds: hour }],
    };
    const autumn = weekOn(at, back, monday, monday + weekSeconds);
    expect(integral(autumn, monday, monday + weekSeconds)).toBe(2 * hour);
  });

  test('a fixed offset gives a profile that repeats; a shape has mean 1', () => {
    const fixed = weekAtOffset(nine, hour);
    expect(valueAt(fixed, monday + 8 * hour)).toBe(1);
    expect(valueAt(fixed, monday + 50 * weekSeconds + 8 * hour)).toBe(1);
    expect(integral(weekShape(nine), 0, weekSeconds)).toBeCloseTo(weekSeconds, 6);
    expect(valueAt(weekShape(profile([0, weekSeconds], [0], weekSeconds)), 5)).toBe(1);
  });
});
