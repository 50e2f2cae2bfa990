import { openSqlite } from '../../store/sqlite.ts';
import { accessSuite } from './access.oracle.ts';

accessSuite('a folder', () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return Promise.resolve(opened.store);
});
