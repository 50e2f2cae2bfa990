/** How `check` and `plan` begin: through the daemon that runs on the data folder, or alone on the folder where none does. */
import { existsSync } from 'node:fs';
import type { Config, Flags } from '../config/config.ts';
import { collectionsOf } from '../config/collections.ts';
import { type Opening, openFolder } from '../folder.ts';
import { type Client, endedByRefusal, noFolder, remote } from './client.ts';
import { readConfig } from './commands/serve.ts';
import { type CommandOutcome, failed, wrong } from './outcome.ts';

export interface Ways<T> {
  readonly through: (client: Client) => Promise<T>;
  readonly alone: (config: Config, folder: Opening) => Promise<T>;
}

/** The answer of the way that is open, or how the command ends where none is. */
export async function openedBy<T extends object>(
  file: string | undefined,
  flags: Flags,
  ways: Ways<T>,
): Promise<T | CommandOutcome> {
  const config = readConfig(file, { logLevel: 'warn', ...flags });
  if (config.kind === 'wrong') return wrong(config.sentence);
  const collections = collectionsOf(config.value);
  if (collections.kind === 'wrong') return wrong(collections.sentence);
  if (!existsSync(config.value.data)) return wrong(noFolder(config.value.data));
  const folder = openFolder(config.value.data);
  if (folder.kind === 'failed') return failed(folder.sentence);
  if (folder.kind === 'opened') return ways.alone(config.value, folder);
  return folder.url === undefined
    ? failed(folder.sentence)
    : endedByRefusal(() => ways.through(remote(folder.url!, folder.key)));
}
