import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Desk } from '../desk.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { openSqlite } from '../store/sqlite.ts';
import { freshState } from '../store/rows.ts';
import type { WatchedPage } from '../values/look.ts';
import { usualSettings } from '../values/page.ts';
import { PageLists } from './page-list.ts';

const watchedOf = (i: number, lastLookMs: number): WatchedPage => ({
  page: {
    id: `p${i}`,
    url: `https://example.org/${i}`,
    site: 'example.org',
    ...usualSettings,
    addedAtMs: 0,
  },
  state: { ...freshState, lastLookMs },
});

test('any part of a list is that part of all pages sorted, equals as they came', async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
      fc.nat(70),
      fc.nat(70),
      async (looks, skip, limit) => {
        const pages = looks.map((look, i) => watchedOf(i, look));
        const desk = new Desk(opened.store, new VirtualClock(0), () => {});
        desk.everyPage = async function* () {
          yield pages;
        };
        const sorted = pages.toSorted((a, b) => b.state.lastLookMs! - a.state.lastLookMs!);
        const lists = new PageLists(desk);
        const part = await lists.part({}, 'looked', skip, limit);
        expect(part).toEqual({ total: pages.length, pages: sorted.slice(skip, skip + limit) });
        // The kept list serves other parts of itself.
        expect((await lists.part({}, 'looked', 0, 5)).pages).toEqual(sorted.slice(0, 5));
      },
    ),
    { seed: 9, numRuns: 300 },
  );
  await opened.store.close();
});
