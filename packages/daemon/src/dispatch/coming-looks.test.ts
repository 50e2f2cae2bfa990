import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Circumstances, comingLooks, hourOfWeek } from './coming-looks.ts';

const hourMs = 3_600_000;
const monday = Date.UTC(2026, 0, 5);
const steady: Circumstances = {
  nowMs: monday,
  belief: { current: 0.9, ratePerDay: 2, rateInterval: [1, 3] },
  dueMs: monday + 4 * hourMs,
  lastLookMs: monday - 2 * hourMs,
  looks: 40,
  changes: 12,
  week: undefined,
  weight: 1,
  spacingSeconds: undefined,
  priceHours: 1.5,
  wait: undefined,
  waiting: 0,
  looksPerSecond: 0.1,
};

test('a steady page is looked at at even distances, each with the same chance', () => {
  const { state, looks, reasons } = comingLooks(steady, 4);
  expect(state).toBe('planned');
  expect(looks.map(({ atMs }) => (atMs - monday) / hourMs)).toEqual([4, 10, 16, 22]);
  for (const look of looks) expect(look.expected).toBeCloseTo(0.5, 9);
  expect(reasons.join(' ')).toContain('2 times a day');
  // Half a change that waited three hours on average: 1.5 hours, which is the price.
  expect(reasons.join(' ')).toContain('ends about 1.5 h of waiting');
});

test('where hours differ, looks gather in the fast ones', () => {
  const week = Array.from({ length: 168 }, (_, hour) => (hour % 24 >= 8 && hour % 24 < 16 ? 3 : 0));
  const { looks } = comingLooks({ ...steady, week, lastLookMs: monday, dueMs: monday + 10 * hourMs }, 12);
  for (const { atMs, pace } of looks) {
    expect(hourOfWeek(atMs) % 24).toBeGreaterThanOrEqual(8);
    // The end of the eighth fast hour is the beginning of a slow one.
    expect(pace === 3 || hourOfWeek(atMs) % 24 === 16).toBe(true);
  }
  expect(looks.slice(1).every(({ expected }) => Math.abs(expected - looks[0]!.expected) < 1e-6)).toBe(true);
});

test('a page in line is due now, and then as the price asks', () => {
  const { state, looks, reasons } = comingLooks({ ...steady, dueMs: Infinity, waiting: 7 }, 3);
  expect(state).toBe('in line');
  // sqrt(2 · 1.5 h · 12 h) = 6 h.
  expect(looks.map(({ atMs }) => (atMs - monday) / hourMs)).toEqual([0, 6, 12]);
  expect(reasons[0]).toContain('7 pages stand in line');
});

test('a page that keeps to a moment of the day is looked at behind it every day, and nobody is told to select less of it', () => {
  const dayMs = 24 * hourMs;
  const usualTime = { everySeconds: 86_400, at: (monday + 6 * hourMs) / 1000, withinSeconds: 90, share: 0.97 };
  const daily = {
    ...steady,
    belief: { ...steady.belief, usualTime },
    dueMs: monday + 6 * hourMs + 120_000,
    lastLookMs: monday - dayMs + 6 * hourMs + 120_000,
    currentThen: 0.05,
    looks: 60,
    changes: 58,
  };
  const { looks, reasons } = comingLooks(daily, 3);
  expect(looks.map(({ atMs }) => (atMs - daily.dueMs) / dayMs)).toEqual([0, 1, 2]);
  expect(looks.map(({ chance }) => Math.round(100 * chance))).toEqual([95, 97, 97]);
  expect(reasons.join(' ')).toContain(
    'usually changes once every day (97 % of the times), next about 2026-01-05 06:00 UTC',
  );
  expect(reasons.join(' ')).not.toContain('Nearly every look');
  // A look that comes before it, to see whether it is still kept, is followed by one behind it.
  const before = comingLooks({ ...daily, dueMs: monday + 5 * hourMs, currentThen: 0.97 }, 3);
  expect(before.looks.map(({ atMs }) => atMs - monday)).toEqual([
    5 * hourMs,
    6 * hourMs + 360_000,
    dayMs + 6 * hourMs + 360_000,
  ]);
  expect(before.looks.map(({ chance }) => Math.round(100 * chance))).toEqual([3, 97, 97]);
  // Who has few looks goes on in as many cycles as it waits now.
  const { looks: few } = comingLooks({ ...daily, lastLookMs: daily.dueMs - 3 * dayMs }, 2);
  expect(few[1]!.atMs - few[0]!.atMs).toBe(3 * dayMs);
});

test('of a page that changes at every look it is said what it takes and what to do', () => {
  const clock = {
    ...steady,
    nowMs: monday,
    lastLookMs: monday - 15_000,
    dueMs: monday + 10_000,
    looks: 60,
    changes: 58,
  };
  const { reasons } = comingLooks(clock, 1);
  expect(reasons.at(-1)).toBe(
    'Nearly every look found a change (58 of 60): something in it may change at every request. So it takes about 40 % of all requests. Select the part that matters, or give it less weight.',
  );
  expect(comingLooks({ ...clock, changes: 50 }, 1).reasons.join(' ')).not.toContain('Nearly every look');
  expect(comingLooks({ ...clock, looks: 10, changes: 9 }, 1).reasons.join(' ')).not.toContain('Nearly every look');
});

test('quiet hours, spacing and a page never read are said', () => {
  expect(comingLooks({ ...steady, wait: { why: 'quiet hours', untilMs: monday + 8 * hourMs } }, 1)).toMatchObject({
    looks: [{ atMs: monday + 8 * hourMs }],
    reasons: ['It waits: quiet hours until then.', expect.anything(), expect.anything()],
  });
  expect(comingLooks({ ...steady, spacingSeconds: 6 * 3600 }, 1).reasons.join(' ')).toContain('every 6 h');
  expect(comingLooks({ ...steady, lastLookMs: undefined }, 3).reasons).toEqual([
    'It has not been read yet: the first look makes the copy.',
  ]);
});

test('whatever is believed, looks come in order, no more than asked for, with numbers that can be shown', () => {
  const circumstances = fc.record({
    rate: fc.oneof(fc.constantFrom(0, Infinity, NaN, 1e-9, 1e6), fc.double({ min: 0, max: 50, noNaN: true })),
    due: fc.constantFrom(0, 1, 3_600_000, 1e12, Infinity),
    seen: fc.option(fc.integer({ min: 0, max: 1e9 }), { nil: undefined }),
    week: fc.option(fc.array(fc.double({ min: 0, max: 5, noNaN: true }), { minLength: 168, maxLength: 168 }), {
      nil: undefined,
    }),
    price: fc.constantFrom(undefined, 0, 1e-9, 5, 1e9),
    limit: fc.integer({ min: 1, max: 20 }),
  });
  fc.assert(
    fc.property(circumstances, ({ rate, due, seen, week, price, limit }) => {
      const { looks, reasons } = comingLooks(
        {
          ...steady,
          belief: { current: 1, ratePerDay: rate, rateInterval: [0, 0] },
          dueMs: monday + due,
          lastLookMs: seen === undefined ? undefined : monday - seen,
          week,
          priceHours: price,
        },
        limit,
      );
      expect(looks.length).toBeGreaterThan(0);
      expect(looks.length).toBeLessThanOrEqual(limit);
      for (let i = 1; i < looks.length; i++) expect(looks[i]!.atMs).toBeGreaterThan(looks[i - 1]!.atMs);
      for (const { expected, chance } of looks)
        expect(Number.isFinite(expected) && chance >= 0 && chance <= 1).toBe(true);
      expect(reasons.every((reason) => !reason.includes('NaN'))).toBe(true);
    }),
    { seed: 9, numRuns: 300 },
  );
});
