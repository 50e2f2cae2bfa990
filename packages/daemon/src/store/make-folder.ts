/**
 * Makes a folder, and those above it that are missing. Node's own way to do so never ends where a file system says of a folder that is
 * made in it that there is no such place, as /proc does.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** `mode`: of the folder itself, where it is not there yet. */
export function makeFolder(folder: string, mode = 0o777): void {
  const path = resolve(folder);
  if (isFolder(path)) return;
  if (!isFolder(dirname(path))) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was faster.
    if (!isFolder(path)) throw error;
  }
}

/** For what holds headers, and what was read with them: its owner's alone. */
export const ownFolderMode = 0o700;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
