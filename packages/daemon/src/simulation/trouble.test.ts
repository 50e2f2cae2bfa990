import { expect, test } from 'vitest';
import { openSqlite } from '../store/sqlite.ts';
import { liveInTrouble } from './trouble.ts';

test.each(Array.from({ length: 24 }, (_, seed) => seed))(
  'a day and more in trouble, seed %i: polite, complete, nobody starves',
  async (seed) => {
    const opened = openSqlite(':memory:');
    if (opened.kind === 'failed') throw new Error(opened.sentence);
    const report = await liveInTrouble({ seed, days: 1.5, store: opened.store });
    expect(report.wrong).toEqual([]);
    expect(report.requests).toBeGreaterThan(100);
    expect(report.changes).toBeGreaterThan(3);
    await opened.store.close();
  },
);
