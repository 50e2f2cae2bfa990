import { expect, test } from 'vitest';
import { axisTimes, foundPages, many, usually } from './format.ts';

test('so many of a thing, in the right number', () => {
  expect([0, 1, 2, 12_345].map((count) => many(count, 'probe'))).toEqual([
    '0 probes',
    '1 probe',
    '2 probes',
    '12,345 probes',
  ]);
});

test('when a page usually changes', () => {
  const next = new Date(2026, 0, 5, 6, 3).toISOString();
  expect(usually({ every: 86_400, next, share: 0.97 })).toBe('every day, about 06:03');
  expect(usually({ every: 86_400, next, share: 0.71 })).toBe('every day, about 06:03 (71 % of them)');
  expect(usually({ every: 604_800, next, share: 0.97 })).toBe('every week, about Mon 06:03');
  expect(usually({ every: 900, next, share: 0.97 })).toBe('every 15 min, next about 06:03:00');
});

test('what a page has found, and that more is left out', () => {
  expect(foundPages({ pages: 2, limit: 1000, leftOut: false })).toBe('This page has found 2 others, of 1,000 at most.');
  expect(foundPages({ pages: 3, limit: 3, leftOut: true })).toContain('It lists more, which are left out');
  const misread = 'https://example.org/sitemap.xml';
  expect(foundPages({ pages: 3, limit: 9, leftOut: false, misread })).toContain(`Not all of ${misread} can be read`);
});

test('no two times of an axis are written alike', () => {
  const at = Date.UTC(2026, 0, 5, 11, 59, 30);
  for (const apart of [5_000, 20_000, 30_000, 60_000, 90_000, 600_000]) {
    const labels = axisTimes(Array.from({ length: 5 }, (_, n) => at + n * apart));
    expect(new Set(labels).size).toBe(5);
    expect(labels.every((label) => label.length === (apart < 60_000 ? 8 : 5))).toBe(true);
  }
});
