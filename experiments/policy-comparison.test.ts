import { exponential, random, splitTrace, traceOf } from '@revisit/core';
import { expect, test } from 'vitest';
import { runCell, workHours, workHoursUntil } from './policy-comparison.ts';

const day = 86_400;

test('knowing the rates beats learning them, and learning them beats even looks, with the same probes', () => {
  const next = random(5);
  const events: [string, number][] = [];
  for (let page = 0; page < 60; page++) {
    const mean = page < 12 ? 0.7 * day : 25 * day;
    for (let at = 0; at < 150 * day; at += exponential(next, mean)) events.push([`p${page}`, Math.floor(at)]);
  }
  const split = splitTrace(traceOf(events), 90 * day, 60 * day);
  const [even, learned, bound] = ['uniform', 'revisit', 'bound'].map((name) => runCell(split, name, 10));
  for (const row of [even!, learned!, bound!]) {
    expect(row.probes).toBeLessThanOrEqual(row.allowed);
    expect(row.probes).toBeGreaterThanOrEqual(0.99 * row.allowed);
  }
  expect(learned!.delayHours).toBeLessThan(0.85 * even!.delayHours);
  expect(bound!.delayHours).toBeLessThan(1.05 * learned!.delayHours);
});

test('working hours are ten of each of five days, counted three times', () => {
  const monday = 1_700_438_400;
  const hour = 3600;
  expect(workHoursUntil(monday + 7 * day) - workHoursUntil(monday)).toBe(7 * day + 2 * 50 * hour);
  for (let quarter = 0; quarter < 4 * 168; quarter++) {
    const at = monday + (quarter * hour) / 4;
    expect(workHoursUntil(at + hour / 4) - workHoursUntil(at)).toBeCloseTo((workHours(at) * hour) / 4, 3);
  }
});
