import { expect, test } from 'vitest';
import { Lately } from './lately.ts';

const minuteMs = 60_000;

test('counts what happened within sixty minutes and forgets the rest', () => {
  const hour = new Lately(60 * minuteMs);
  const start = Date.UTC(2026, 0, 5);
  for (let minute = 0; minute < 90; minute++) hour.add(2, start + minute * minuteMs);
  expect(hour.count(start + 89 * minuteMs)).toBe(120);
  expect(hour.count(start + 119 * minuteMs)).toBe(60);
  expect(hour.count(start + 30 * minuteMs)).toBe(60);
  expect(hour.count(start + 10_000 * minuteMs)).toBe(0);
});
