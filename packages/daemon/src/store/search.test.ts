import { expect, test } from 'vitest';
import { readQuery, snippet } from './search-query.ts';
import { searchContract } from './search.oracle.ts';
import { openSqlite } from './sqlite.ts';

searchContract('SQLite', () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return Promise.resolve(opened.store);
});

test('a snippet shows the place and marks what was searched for', () => {
  const text = `${'filler words '.repeat(200)}the Fähre and the captain ${'more filler '.repeat(200)}`;
  const parts = snippet(text, readQuery('fahre capt*').marks);
  expect(parts.filter((part) => part.hit).map((part) => part.text)).toEqual(['Fähre', 'capt']);
  expect(parts.map((part) => part.text).join('').length).toBeLessThan(260);
});
