import Database from 'better-sqlite3';
import { type Fault, StoreFailed } from '../values/fault.ts';

/** What the system says of a file beside the database, in SQLite's words. */
const sameAs: Readonly<Record<string, string>> = {
  ENOSPC: 'SQLITE_FULL',
  EDQUOT: 'SQLITE_FULL',
  EACCES: 'SQLITE_READONLY',
  EPERM: 'SQLITE_READONLY',
  EROFS: 'SQLITE_READONLY',
  EIO: 'SQLITE_IOERR',
  EMFILE: 'SQLITE_CANTOPEN',
  ENOENT: 'SQLITE_CANTOPEN',
};

/** What SQLite's result codes, and the system's, mean to the person who owns the disk. */
export function faultOf(error: unknown): Fault {
  if (error instanceof StoreFailed) return error.fault;
  const code =
    error instanceof Database.SqliteError ? error.code : (sameAs[(error as NodeJS.ErrnoException).code ?? ''] ?? '');
  const message = error instanceof Error ? error.message : String(error);
  if (code === 'SQLITE_FULL')
    return {
      code: 'disk-full',
      sentence: 'The disk is full; nothing was changed, and work goes on when there is space again.',
    };
  if (code.startsWith('SQLITE_READONLY') || code === 'SQLITE_CANTOPEN')
    return { code: 'disk-read-only', sentence: `The data folder cannot be written (${message}).` };
  if (code.startsWith('SQLITE_IOERR'))
    return { code: 'disk-error', sentence: `The disk reports an error (${message}); nothing was changed.` };
  if (code.startsWith('SQLITE_BUSY'))
    return { code: 'store-busy', sentence: 'Another process is writing to the data folder.' };
  if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB')
    return { code: 'store-corrupt', sentence: `The database is damaged (${message}); run "revisit doctor".` };
  throw error;
}
