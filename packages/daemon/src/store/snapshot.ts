/** The log of changes and looks of a database that another process works on. Nothing is written, and nobody waits. */
import Database from 'better-sqlite3';
import { History } from './history.ts';
import { migrations } from './migrations.ts';
import type { Store } from './port.ts';
import { faultOf } from './sqlite-faults.ts';

export interface OpenedSnapshot {
  readonly kind: 'opened';
  readonly store: Pick<Store, 'latestChanges' | 'looks' | 'counts'>;
  close(): Promise<void>;
}

export function openSnapshot(file: string): OpenedSnapshot | { readonly kind: 'failed'; readonly sentence: string } {
  try {
    const db = new Database(file, { readonly: true, fileMustExist: true });
    const schema = db.pragma('user_version', { simple: true }) as number;
    if (schema !== migrations.length) {
      db.close();
      return {
        kind: 'failed',
        sentence: `${file} is being used by another version of revisit (schema ${schema}, this one knows ${migrations.length}).`,
      };
    }
    const history = new History((text) => db.prepare(text));
    return {
      kind: 'opened',
      store: {
        latestChanges: (query) => Promise.resolve(history.latestChanges(query)),
        looks: (pageId, limit) => Promise.resolve(history.looks(pageId, limit)),
        counts: () => Promise.resolve(history.counts()),
      },
      close: () => {
        db.close();
        return Promise.resolve();
      },
    };
  } catch (error) {
    return { kind: 'failed', sentence: `${file}: ${faultOf(error).sentence}` };
  }
}
