import { openSqlite } from '../store/sqlite.ts';
import { changingSuite } from './changing.oracle.ts';

changingSuite('a folder', () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return Promise.resolve(opened.store);
});
