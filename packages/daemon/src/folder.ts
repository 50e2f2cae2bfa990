/** The data folder: locked for this process, its database opened. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockFolder } from './store/lock.ts';
import type { SqliteCare } from './store/care.ts';
import type { Store } from './store/port.ts';
import { openSqlite } from './store/sqlite.ts';
import { writerWorthIt } from './store/writer.ts';

export interface Opening {
  readonly kind: 'opened';
  readonly store: Store;
  /** `key`: what lets commands on this machine in. */
  readonly announce: (url: string, key?: string) => void;
  /** Integrity, space and backups: what only a store of one's own needs. */
  readonly care?: SqliteCare;
  close(): Promise<void>;
}

export interface OpenedFolder extends Opening {
  readonly care: SqliteCare;
}

export type OpenOutcome =
  | OpenedFolder
  | {
      readonly kind: 'held';
      readonly url: string | undefined;
      readonly key: string | undefined;
      readonly sentence: string;
    }
  | { readonly kind: 'failed'; readonly sentence: string };

/** The data folder, for this process alone. */
export function openFolder(folder: string): OpenOutcome {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    return { kind: 'failed', sentence: `The data folder ${folder} cannot be made: ${(error as Error).message}.` };
  }
  const lock = lockFolder(folder);
  if (lock.kind === 'failed') return lock;
  if (lock.kind === 'held') {
    const who = lock.by ? ` (process ${lock.by.pid} at ${lock.by.url})` : '';
    return {
      kind: 'held',
      url: lock.by?.url,
      key: lock.by?.key,
      sentence: `Another revisit works on ${folder}${who}; one at a time, or name another folder with --data.`,
    };
  }
  const opened = openSqlite(join(folder, 'revisit.db'), { writerFrom: writerWorthIt });
  if (opened.kind === 'failed') {
    lock.release();
    return opened;
  }
  return {
    kind: 'opened',
    store: opened.store,
    care: opened.store.care,
    announce: (url, key) => lock.announce({ pid: process.pid, url, ...(key === undefined ? {} : { key }) }),
    close: async () => {
      await opened.store.close();
      lock.release();
    },
  };
}
