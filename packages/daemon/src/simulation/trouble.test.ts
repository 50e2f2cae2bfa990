import { expect, test } from 'vitest';
import { openSqlite } from '../store/sqlite.ts';
import { liveInTrouble } from './trouble.ts';

test.each(Array.from({ length: 32 }, (_, seed) => seed))(
  'days in trouble, seed %i: polite, complete, nobody starves',
  async (seed) => {
    const opened = openSqlite(':memory:');
    if (opened.kind === 'failed') throw new Error(opened.sentence);
    const report = await liveInTrouble({ seed, days: 3, store: opened.store });
    expect(report.wrong).toEqual([]);
    expect(report.requests).toBeGreaterThan(20);
    await opened.store.close();
  },
);
