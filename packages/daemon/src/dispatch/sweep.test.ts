import { AccessTimes, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { givenOrder, greedyOrder, plannedOrder, randomOrder, type SweepContext, SweepLine } from './sweep.ts';

const context: SweepContext = {
  access: new AccessTimes(),
  nowMs: Date.UTC(2026, 0, 5),
  robots: 4,
  looksPerSecond: 100,
  gate: () => ({ spacingMs: 1000, connections: 1 }),
};
const stops = (pages: number, sites: number) =>
  Array.from({ length: pages }, (_, page) => ({ page, site: `site${page % sites}` }));

test('every order has every page once, bundles of large sweeps included', () => {
  for (const [pages, sites] of [
    [0, 1],
    [1, 1],
    [50, 7],
    [45_001, 13],
  ] as const) {
    for (const order of [givenOrder, greedyOrder, plannedOrder, randomOrder(random(1))]) {
      const found = order(stops(pages, sites), context).map((stop) => stop.page);
      expect(found.length).toBe(pages);
      expect(new Set(found).size).toBe(pages);
    }
  }
});

test('the line gives the first stop whose site is free, and thinks again when the hour turns', () => {
  const line = new SweepLine();
  line.add(stops(6, 3), givenOrder, context);
  expect(line.take((site) => site === 'site1')).toMatchObject({ page: 1 });
  expect(line.take(() => true)).toMatchObject({ page: 0 });
  expect(line.take(() => false)).toBeUndefined();
  expect([...line.sitesAhead()].sort()).toEqual(['site0', 'site1', 'site2']);
  const backwards = (left: readonly { page: number; site: string }[]) => left.toReversed();
  line.refresh(backwards, () => context, context.nowMs + 1000);
  expect(line.take(() => true)).toMatchObject({ page: 2 });
  line.refresh(backwards, () => ({ ...context, nowMs: context.nowMs + 31_000 }), context.nowMs + 31_000);
  expect(line.take(() => true)).toMatchObject({ page: 5 });
  line.refresh(backwards, () => ({ ...context, nowMs: context.nowMs + 3_600_000 }), context.nowMs + 3_600_000);
  expect(line.take(() => true)).toMatchObject({ page: 3 });
  expect(line.size).toBe(1);
});
