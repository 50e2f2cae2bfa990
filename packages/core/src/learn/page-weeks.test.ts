import fc from 'fast-check';
import { expect, test } from 'vitest';
import { random } from '../simulate/random.ts';
import { PageWeeks } from './page-weeks.ts';

const hour = 3600;
const day = 86_400;
const monday = 4 * day;
const speed = 4;

/** Looks at a site that changes about once a working day in the eight hours from `opening` on, each after `gapHours`. */
function watch(
  weeks: PageWeeks,
  site: number,
  opening: number,
  days: number,
  seed: number,
  gapHours = 1,
  told = false,
) {
  const next = random(seed);
  for (let h = 0; h + gapHours <= 24 * days; h += gapHours) {
    const times: number[] = [];
    for (let i = h; i < h + gapHours; i++) {
      const works = Math.floor(i / 24) % 7 < 5 && (i + 24 - opening) % 24 < 8;
      if (works && next() < 1 / 8) times.push(monday + (i + next()) * hour);
    }
    const [from, to] = [monday + h * hour, monday + (h + gapHours) * hour];
    const found = told ? times.length : Math.min(1, times.length);
    weeks.learn(
      site,
      speed,
      from,
      to,
      (5 / 168) * gapHours,
      found,
      told && found ? Float64Array.from(times) : undefined,
    );
  }
}

function twoSites(): PageWeeks {
  const weeks = new PageWeeks();
  weeks.open(0, 10);
  weeks.open(1, 11);
  return weeks;
}

const at = (weeks: PageWeeks, site: number, hourOfDay: number): number => {
  const week = weeks.of(site);
  return 1 + week.say(speed) * (week.at(monday + 2 * day + (hourOfDay + 0.5) * hour) - 1);
};

test.each([
  ['hourly looks', 1, false],
  ['looks six hours apart', 6, false],
  ['looks a day apart that are told the times', 24, true],
])('two sites on two sides of the world have each its own hours, by %s', (_, gapHours, told) => {
  const weeks = twoSites();
  // Turn by turn, as a collection sees them.
  for (let turn = 0; turn < 12; turn++) {
    watch(weeks, 0, 9, 14, 2 * turn, gapHours, told);
    watch(weeks, 1, 21, 14, 2 * turn + 1, gapHours, told);
  }
  expect(weeks.of(0)).not.toBe(weeks.all);
  expect(new Set(weeks.apart())).toEqual(new Set([0, 1]));
  for (const [site, busy, quiet] of [
    [0, 13, 1],
    [1, 1, 13],
  ] as const) {
    expect(at(weeks, site, busy)).toBeGreaterThan(2.2);
    expect(at(weeks, site, quiet)).toBeLessThan(0.45);
  }
});

test('a site in which little was found goes by the collection’s week, and so does a collection of one site', () => {
  const weeks = twoSites();
  watch(weeks, 0, 9, 120, 1);
  watch(weeks, 1, 21, 3, 2);
  expect(weeks.of(1)).toBe(weeks.all);
  const one = new PageWeeks();
  one.open(0, 10);
  watch(one, 0, 9, 400, 1);
  expect(one.of(0)).toBe(one.all);
  expect(one.save({ keyOf: (group) => group, groupOf: (key) => key })).toEqual([]);
});

test('a site that keeps the collection’s hours hardly differs from it, whatever chance does', () => {
  const apart: number[] = [];
  for (let seed = 0; seed < 12; seed++) {
    const weeks = twoSites();
    watch(weeks, 0, 9, 200, 2 * seed);
    watch(weeks, 1, 9, 60, 2 * seed + 1);
    const [own, all] = [weeks.of(1), weeks.all];
    apart.push(own.values.reduce((sum, value, i) => sum + Math.abs(value - all.values[i]!), 0) / 168);
  }
  expect(apart.filter((difference) => difference === 0).length).toBeGreaterThan(6);
  expect(Math.max(...apart)).toBeLessThan(0.3);
});

test('weeks of sites come back after a restart, to sites that have other numbers by then', () => {
  const weeks = twoSites();
  watch(weeks, 0, 9, 120, 1);
  watch(weeks, 1, 21, 120, 2);
  const saved = JSON.parse(JSON.stringify(weeks.save({ keyOf: (group) => 100 + group, groupOf: () => undefined })));
  expect(JSON.stringify(saved).length).toBeLessThan(2 * 1500);
  const after = new PageWeeks();
  for (const [site, group] of [
    [5, 1],
    [3, 0],
    [4, 7],
    [6, 7],
  ] as const)
    after.open(site, group);
  after.all.restore(JSON.parse(JSON.stringify(weeks.all.save())));
  const keys = { keyOf: () => 0, groupOf: (key: number) => (key >= 110 ? key - 110 : undefined) };
  after.restore([...saved, [99, saved[0][1]], [117, saved[0][1]], [110, [[1]]], [111, 'nothing']], keys);
  for (const [was, is] of [
    [0, 3],
    [1, 5],
  ] as const)
    for (let h = 0; h < 24; h++) expect(at(after, is, h)).toBeCloseTo(at(weeks, was, h), 2);
  // Two sites in one group as their widest are not told apart by it.
  expect(after.of(4)).toBe(after.all);
  expect(after.of(6)).toBe(after.all);
  // It goes on learning: the site moves to the other side of the world.
  watch(after, 3, 21, 200, 5);
  expect(at(after, 3, 1)).toBeGreaterThan(1.5);
});

test('there are weeks for a thousand sites, and those in which something was found last have them', () => {
  const weeks = new PageWeeks();
  for (let site = 0; site < 1100; site++) weeks.open(site, site);
  // Teaches the collection that all is even but for the first site.
  for (let round = 0; round < 10; round++) watch(weeks, 0, 9, 10, round);
  const kept = weeks.of(0);
  for (let site = 1; site < 1100; site++)
    for (let look = 0; look < 8; look++) weeks.learn(site, speed, monday, monday + hour, 0.1, 1);
  const saved = weeks.save({ keyOf: (group) => group, groupOf: () => undefined });
  expect(saved.length).toBe(1024);
  expect(saved.map(([key]) => key)).not.toContain(0);
  expect(saved.map(([key]) => key)).toContain(1099);
  expect('retired' in kept && kept.retired).toBe(true);
  expect(weeks.of(0)).toBe(weeks.all);
});

test('whatever is found, a week stays one: positive, finite, 1 on average', () => {
  const look = fc.record({
    site: fc.integer({ min: 0, max: 2 }),
    gap: fc.oneof(fc.constant(0), fc.double({ min: 1, max: 5 * day, noNaN: true })),
    even: fc.oneof(fc.constant(0), fc.constant(1e-12), fc.double({ min: 1e-6, max: 200, noNaN: true })),
    found: fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 100, noNaN: true })),
    told: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(look, { minLength: 60, maxLength: 200 }), (looks) => {
      const weeks = twoSites();
      weeks.open(2, 12);
      let now = monday;
      for (const { site, gap, even, found, told } of looks) {
        const times = told && found > 0 ? Float64Array.of(now + gap / 3, now + gap / 2) : undefined;
        weeks.learn(site, speed, now, now + gap, even, found, times);
        now += gap;
        const week = weeks.of(site);
        expect(week.say(speed)).toBeGreaterThanOrEqual(0);
        expect(week.say(speed)).toBeLessThanOrEqual(1);
        expect(week.values.every((value) => value > 0 && Number.isFinite(value))).toBe(true);
        expect(week.between(now, now + 7 * day) / (7 * day)).toBeCloseTo(1, 6);
      }
    }),
    { numRuns: 40 },
  );
});
