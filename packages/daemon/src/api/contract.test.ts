import { openSqlite } from '../store/sqlite.ts';
import { contractSuite } from './contract.oracle.ts';

contractSuite('a folder', () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return Promise.resolve(opened.store);
});
