import { random } from '@revisit/core';
import { expect, test } from 'vitest';
import { Collection, type Entry } from '../collection/collection.ts';
import { Lifetimes } from './lifetimes.ts';
import { freshState } from '../store/rows.ts';

const minuteMs = 60_000;

function pageOf(site: string): Entry {
  return new Collection().add({
    page: {
      id: 'a',
      url: `https://${site}/`,
      site,
      select: { kind: 'text' },
      tags: [],
      weight: 1,
      paused: false,
      options: {},
      addedAtMs: 0,
    },
    state: freshState,
  });
}

/** Looks every ten minutes at a page that states an hour; every so many looks it has changed. */
function tested(looks: number, changesEvery: number) {
  const lifetimes = new Lifetimes(random(1));
  const entry = pageOf('a.example');
  for (let look = 0; look < looks; look++) {
    const atMs = look * 10 * minuteMs;
    lifetimes.looked(entry, atMs, look % changesEvery === changesEvery - 1);
    lifetimes.stated(entry, atMs, 3600);
  }
  const lastMs = (looks - 1) * 10 * minuteMs;
  const waits = Array.from({ length: 200 }, () => lifetimes.until(entry, lastMs + minuteMs) - lastMs);
  return { lifetimes, entry, lastMs, waits };
}

test('a lifetime that has proven true lengthens waits to its end, but for looks that test it', () => {
  const { waits } = tested(40, Infinity);
  const long = waits.filter((wait) => wait === 60 * minuteMs).length;
  expect(long).toBeGreaterThan(150);
  expect(long).toBeLessThan(200);
  expect(new Set(waits)).toEqual(new Set([minuteMs, 60 * minuteMs]));
});

test('one that is untested, or was wrong now and then, lengthens nothing', () => {
  expect(new Set(tested(10, Infinity).waits)).toEqual(new Set([minuteMs]));
  expect(new Set(tested(100, 12).waits)).toEqual(new Set([minuteMs]));
});

test('what was learned of a site comes over a restart; running lifetimes do not', () => {
  const { lifetimes, entry, lastMs } = tested(40, Infinity);
  const later = new Lifetimes(random(2));
  later.restore(lifetimes.save());
  expect(later.until(entry, lastMs + minuteMs)).toBe(lastMs + minuteMs);
  later.stated(entry, lastMs, 3600);
  const waits = new Set(Array.from({ length: 50 }, () => later.until(entry, lastMs + minuteMs)));
  expect(waits).toContain(lastMs + 60 * minuteMs);
});

test('no lifetime, a short one and the end of one lengthen nothing; a long one counts as a day', () => {
  const { lifetimes, entry, lastMs } = tested(40, Infinity);
  const longest = (atMs: number) => Math.max(...Array.from({ length: 50 }, () => lifetimes.until(entry, atMs)));
  lifetimes.stated(entry, lastMs, 10);
  expect(longest(lastMs + 1)).toBe(lastMs + 1);
  lifetimes.stated(entry, lastMs, 1e9);
  expect(longest(lastMs + 1)).toBe(lastMs + 86_400_000);
  expect(longest(lastMs + 86_400_001)).toBe(lastMs + 86_400_001);
  lifetimes.stated(entry, lastMs, undefined);
  expect(longest(lastMs + 1)).toBe(lastMs + 1);
});
