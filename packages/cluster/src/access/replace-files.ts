/**
 * Replaces several files of a folder that nobody else writes to. Each is written whole to a name beside its own, and when all of
 * them are on the disk they take their names in the order given: a full disk leaves everything as it was, and of a process
 * that is killed the first so many are new and the others old, none of them half written.
 */
import { type Stats, chmodSync, chownSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

export interface Replacement {
  readonly file: string;
  readonly text: string;
  /** Where only its owner may read it, whoever could read the one before. */
  readonly secret?: boolean;
}

const draftOf = (file: string): string => `${file}.new`;

export function replaceFiles(replacements: readonly Replacement[]): void {
  try {
    for (const replacement of replacements) writeDraft(replacement);
    for (const { file } of replacements) renameSync(draftOf(file), file);
  } catch (error) {
    for (const { file } of replacements) rmSync(draftOf(file), { force: true });
    throw error;
  }
}

function writeDraft({ file, text, secret }: Replacement): void {
  const draft = draftOf(file);
  // One that was killed may have left its own.
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { flag: 'wx', flush: true, mode: secret ? 0o600 : 0o666 });
  const before = secret ? undefined : statSync(file, { throwIfNoEntry: false });
  if (before) readableAs(before, draft);
}

/** An operator may have let the servers' user, and nobody else, read it. */
function readableAs({ mode, uid, gid }: Stats, draft: string): void {
  try {
    chownSync(draft, uid, gid);
  } catch {
    // It was somebody else's, and is ours from now on.
  }
  chmodSync(draft, mode & 0o777);
}
