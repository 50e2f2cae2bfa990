import { expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { AccessTimes } from './access.ts';

const hour = 3600;
const day = 24 * hour;
/** A Monday, 00:00. */
const monday = 4 * day;

/** Slow from 9 to 17 on working days. */
const slowAtWork = (at: number) => {
  const [weekday, hourOfDay] = [Math.floor((at - monday) / day) % 7, Math.floor(at / hour) % 24];
  return weekday < 5 && hourOfDay >= 9 && hourOfDay < 17 ? 4 : 0.4;
};

function learned(weeks: number): AccessTimes {
  const next = random(1);
  const times = new AccessTimes();
  for (let at = monday; at < monday + weeks * 7 * day; at += 600) {
    times.learn('a.example', at, exponential(next, slowAtWork(at)));
  }
  return times;
}

test('hours of the week are told apart', () => {
  const times = learned(4);
  const later = monday + 70 * day;
  expect(times.expected('a.example', later + 11 * hour)).toBeGreaterThan(2.5);
  expect(times.expected('a.example', later + 3 * hour)).toBeLessThan(0.8);
  // Saturday at eleven is not Monday at eleven.
  expect(times.expected('a.example', later + 5 * day + 11 * hour)).toBeLessThan(1.4);
});

test('a week is enough for the hours of the day, an unknown hour leans on the site', () => {
  const next = random(2);
  const times = new AccessTimes();
  for (let at = monday; at < monday + 2 * day; at += 300) times.learn('a', at, exponential(next, slowAtWork(at)));
  expect(times.expected('a', monday + 3 * day + 12 * hour)).toBeGreaterThan(2);
  expect(times.expected('a', monday + 3 * day + 2 * hour)).toBeLessThan(0.9);
});

test('an unknown site is like all sites, and nothing known is half a second', () => {
  expect(new AccessTimes().expected('x', 0)).toBe(0.5);
  const times = new AccessTimes();
  for (let i = 0; i < 50; i++) times.learn('a', i * hour, 2);
  expect(times.expected('x', 0)).toBeCloseTo(2, 6);
});

test('a site that became faster is believed after some looks', () => {
  const times = new AccessTimes();
  for (let week = 0; week < 20; week++) for (let i = 0; i < 5; i++) times.learn('a', monday + week * 7 * day, 9);
  for (let week = 20; week < 60; week++) for (let i = 0; i < 5; i++) times.learn('a', monday + week * 7 * day, 1);
  expect(times.expected('a', monday)).toBeLessThan(1.5);
});

test('one hanging answer does not spoil an hour for ever', () => {
  const times = new AccessTimes();
  times.learn('a', monday, 1e9);
  expect(times.expected('a', monday)).toBeLessThanOrEqual(120);
});

test('what is saved comes back, and what is cut off is left alone', () => {
  const times = learned(2);
  times.learn('münchen.example', monday, 3);
  const saved = times.save();
  const again = new AccessTimes();
  again.restore(saved);
  for (let at = monday; at < monday + 7 * day; at += 5 * hour) {
    for (const site of ['a.example', 'münchen.example', 'unknown']) {
      expect(again.expected(site, at)).toBeCloseTo(times.expected(site, at), 5);
    }
  }
  expect(saved.length).toBeLessThan(2 * 1100);
  new AccessTimes().restore(saved.subarray(0, saved.length - 7));
  new AccessTimes().restore(new Uint8Array(3));
});
