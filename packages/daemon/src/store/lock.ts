/**
 * One daemon a data folder. The lock is an exclusive transaction on a small database of its own, held for as long as the
 * process lives: the operating system releases it when the process dies, however it dies, so no stale lock remains. Whoever
 * needs a folder for a moment only waits for those before it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { makeFolder, ownFolderMode } from './make-folder.ts';

export interface Locked {
  readonly kind: 'locked';
  /** Tells others on this machine where the holder answers. */
  announce(address: DaemonAddress): void;
  release(): void;
}

export interface DaemonAddress {
  readonly pid: number;
  readonly url: string;
  /** Opens the API to commands on this machine that can read the folder, where the daemon listens beyond loopback. */
  readonly key?: string;
}

export type LockOutcome =
  | Locked
  | { readonly kind: 'held'; readonly by: DaemonAddress | undefined }
  | { readonly kind: 'failed'; readonly sentence: string };

const addressFile = (folder: string) => join(folder, 'daemon.json');

function readAddress(folder: string): DaemonAddress | undefined {
  try {
    return JSON.parse(readFileSync(addressFile(folder), 'utf8')) as DaemonAddress;
  } catch {
    return undefined;
  }
}

/** Waits up to `patienceMs` for whoever holds it, and the whole thread with it. */
export function lockFolder(folder: string, patienceMs = 0): LockOutcome {
  let db: Database.Database;
  try {
    makeFolder(folder, ownFolderMode);
    db = new Database(join(folder, 'lock.db'), { timeout: patienceMs });
  } catch (error) {
    return { kind: 'failed', sentence: `The data folder ${folder} cannot be used: ${(error as Error).message}.` };
  }
  try {
    db.pragma('journal_mode = DELETE');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    const code = error instanceof Database.SqliteError ? error.code : '';
    if (code.startsWith('SQLITE_BUSY')) return { kind: 'held', by: readAddress(folder) };
    return { kind: 'failed', sentence: `The data folder ${folder} cannot be written: ${(error as Error).message}.` };
  }
  return {
    kind: 'locked',
    announce: (address) => {
      // Made anew, so that the mode holds: nobody else may read the key.
      rmSync(addressFile(folder), { force: true });
      writeFileSync(addressFile(folder), `${JSON.stringify(address)}\n`, { mode: 0o600 });
    },
    release: () => {
      rmSync(addressFile(folder), { force: true });
      db.close();
    },
  };
}
