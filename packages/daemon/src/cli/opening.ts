/**
 * How `check` and `plan` begin: through the daemon that runs on the data folder, or alone on the folder where none does, with
 * the pages that the configuration names as a daemon would have them.
 */
import { existsSync } from 'node:fs';
import type { Config, Flags } from '../config/config.ts';
import type { Opening } from '../folder.ts';
import { systemClock } from '../values/clock.ts';
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
  const config = await readConfig(file, { logLevel: 'warn', ...flags });
  if (config.kind === 'wrong') return wrong(config.sentence);
  // Here and not above, so that help comes without them.
  const [{ collectionsOf }, { configuredPages }, { Desk }, { openFolder }, { takeBack }] = await Promise.all([
    import('../config/collections.ts'),
    import('../daemon.ts'),
    import('../desk.ts'),
    import('../folder.ts'),
    import('../unfinished-import.ts'),
  ]);
  const collections = collectionsOf(config.value);
  if (collections.kind === 'wrong') return wrong(collections.sentence);
  const pages = await configuredPages(config.value);
  if (pages.kind === 'wrong') return wrong(pages.sentence);
  if (pages.value.length === 0 && !existsSync(config.value.data)) return wrong(noFolder(config.value.data));
  const folder = openFolder(config.value.data);
  if (folder.kind === 'failed') return failed(folder.sentence);
  if (folder.kind === 'opened') {
    const desk = new Desk(folder.store, systemClock, () => {});
    await takeBack(desk);
    const kept = await desk.add(pages.value);
    if (kept.kind === 'failed') return failed(kept.fault.sentence);
    return ways.alone(config.value, folder);
  }
  return folder.url === undefined
    ? failed(folder.sentence)
    : endedByRefusal(() => ways.through(remote(folder.url!, folder.key)));
}
