import { storeContract } from './contract.oracle.ts';
import { openSqlite } from './sqlite.ts';

storeContract('SQLite', () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return Promise.resolve(opened.store);
});
