/** Files that a command is to write are checked before its work. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

/** What speaks against writing there, seen without making or changing anything. */
export function unwritable(option: string, file: string): string | undefined {
  const folder = dirname(file);
  try {
    if (!existsSync(folder) || !statSync(folder).isDirectory())
      return `${option} ${file}: there is no folder ${folder}; a file in a folder that is there is expected`;
    const there = existsSync(file);
    if (there && statSync(file).isDirectory()) return `${option} ${file}: is a folder; a file is expected`;
    accessSync(there ? file : folder, constants.W_OK);
    return undefined;
  } catch (error) {
    return `${option} ${file}: cannot be written (${codeOf(error)}); a file that may be written is expected`;
  }
}
