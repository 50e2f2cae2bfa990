import { join } from 'node:path';
import { freshFolder } from '../trial/command.ts';
import { storeContract } from './contract.oracle.ts';
import { openSqlite } from './sqlite.ts';

const opening = (file: () => string, options?: { readonly writerFrom: number }) => () => {
  const opened = openSqlite(file(), options);
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return Promise.resolve(opened.store);
};

storeContract(
  'SQLite',
  opening(() => ':memory:'),
);
storeContract(
  'SQLite with a thread that writes',
  opening(() => join(freshFolder(), 'revisit.db'), { writerFrom: 1 }),
);
