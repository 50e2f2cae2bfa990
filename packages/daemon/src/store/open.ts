/** Opens a database file, as every thread that works on it does. */
import Database from 'better-sqlite3';
import { migrations } from './migrations.ts';
import { faultOf } from './sqlite-faults.ts';

export type OpenedDatabase =
  | { readonly kind: 'opened'; readonly db: Database.Database }
  | { readonly kind: 'failed'; readonly sentence: string };

/** Opens or creates the database at `file` (":memory:" keeps nothing). */
export function openDatabase(file: string): OpenedDatabase {
  try {
    const db = new Database(file);
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = NORMAL');
    db.pragma('foreign_keys = ON');
    db.pragma('busy_timeout = 5000');
    // The states and words that looks touch fit into this; with SQLite's two megabytes most of them were read again each time.
    db.pragma('cache_size = -32768');
    // 32 MB: pages written again and again go back to the database once, and the disk is waited for an eighth as often.
    db.pragma('wal_autocheckpoint = 8000');
    const taken = db.pragma('user_version', { simple: true }) as number;
    if (taken > migrations.length) {
      db.close();
      return {
        kind: 'failed',
        sentence: `${file} was written by a newer version of revisit (schema ${taken}, this one knows ${migrations.length}).`,
      };
    }
    for (let step = taken; step < migrations.length; step++) {
      db.transaction(() => {
        db.exec(migrations[step]!);
        db.pragma(`user_version = ${step + 1}`);
      })();
    }
    return { kind: 'opened', db };
  } catch (error) {
    return { kind: 'failed', sentence: `${file}: ${faultOf(error).sentence}` };
  }
}
