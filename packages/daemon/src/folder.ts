/** The data folder: locked for this process, its database opened. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Locked, lockFolder } from './store/lock.ts';
import { makeFolder, ownFolderMode } from './store/make-folder.ts';
import type { SqliteCare } from './store/care.ts';
import type { Store } from './store/port.ts';
import { type OpenedSnapshot, openSnapshot } from './store/snapshot.ts';
import { openSqlite } from './store/sqlite.ts';
import { writerWorthIt } from './store/writer.ts';

export interface Opening {
  readonly kind: 'opened';
  readonly store: Store;
  /** `key`: what lets commands on this machine in. */
  readonly announce: (url: string, key?: string) => void;
  /** Where this machine keeps what is its own. */
  readonly folder?: string;
  /** Integrity, space and backups: what only a store of one's own needs. */
  readonly care?: SqliteCare;
  close(): Promise<void>;
}

export interface OpenedFolder extends Opening {
  readonly care: SqliteCare;
}

interface Held {
  readonly kind: 'held';
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly sentence: string;
}

interface Unusable {
  readonly kind: 'failed';
  readonly sentence: string;
}

export type OpenOutcome = OpenedFolder | Held | Unusable;

/** In the folder of a coordinator: its pages are in the store of its cluster, and nobody looks for them here. */
const sharedMark = 'shared-store';

function hold(folder: string): Locked | Held | Unusable {
  try {
    makeFolder(folder, ownFolderMode);
  } catch (error) {
    return { kind: 'failed', sentence: `The data folder ${folder} cannot be made: ${(error as Error).message}.` };
  }
  const lock = lockFolder(folder);
  if (lock.kind !== 'held') return lock;
  const who = lock.by ? ` (process ${lock.by.pid} at ${lock.by.url})` : '';
  return {
    kind: 'held',
    url: lock.by?.url,
    key: lock.by?.key,
    sentence: `Another revisit works on ${folder}${who}; one at a time, or name another folder with --data.`,
  };
}

/** The data folder, for this process alone. */
export function openFolder(folder: string): OpenOutcome {
  const lock = hold(folder);
  if (lock.kind !== 'locked') return lock;
  if (sharesStore(folder)) {
    lock.release();
    return {
      kind: 'failed',
      sentence: `The pages of ${folder} are in the store of a cluster, and the coordinator that was started with --data ${folder} does not run; start it, or delete ${join(folder, sharedMark)} to use the folder by itself.`,
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
    folder,
    announce: announcing(lock),
    close: async () => {
      await opened.store.close();
      lock.release();
    },
  };
}

/** What was seen so far, for reading only, beside the process that works on the folder; `held` says why where it cannot be. */
export function readBeside(folder: string, held: string): OpenedSnapshot | Unusable {
  // Nothing that a coordinator has seen is in its folder.
  return sharesStore(folder) ? { kind: 'failed', sentence: held } : openSnapshot(join(folder, 'revisit.db'));
}

/** The folder of a coordinator, whose state is elsewhere: commands on its machine find it here. */
/** Whether the folder is a coordinator's: what it watches is in the store of its cluster. */
export const sharesStore = (folder: string): boolean => existsSync(join(folder, sharedMark));

export function shareFolder(folder: string, shared: Opening): Opening | Held | Unusable {
  const lock = hold(folder);
  if (lock.kind !== 'locked') return lock;
  writeFileSync(join(folder, sharedMark), '');
  return {
    ...shared,
    folder,
    announce: announcing(lock),
    close: async () => {
      await shared.close();
      lock.release();
    },
  };
}

const announcing =
  (lock: Locked): Opening['announce'] =>
  (url, key) =>
    lock.announce({ pid: process.pid, url, ...(key === undefined ? {} : { key }) });
