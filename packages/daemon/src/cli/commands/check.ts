import type { Command } from 'commander';
import type { Config, Flags } from '../../config/config.ts';
import type { Opening } from '../../folder.ts';
import type { Change as ChangeBody } from '../../api/client.ts';
import type { Client } from '../client.ts';
import { openedBy } from '../opening.ts';
import { note, printJson, print, type CommandOutcome, done } from '../outcome.ts';
import type { Runner } from '../program.ts';
import { example, jsonOption } from '../options.ts';
import type { Change } from '../../values/change.ts';
import { changeTable } from './changes.ts';
import { configOptions } from './serve.ts';

interface CheckOptions extends Flags {
  readonly all?: boolean;
  readonly json?: boolean;
}

interface Checked {
  readonly looks: number;
  readonly requests: number;
  readonly changes: readonly ChangeBody[];
  /** Pages that were not waited for, as their sites are shut for long. */
  readonly later: readonly { readonly pages: number; readonly why: string; readonly until: string | null }[];
  /** Pages whose last look failed, by what went wrong; known only where this process looked itself. */
  readonly troubles?: Readonly<Record<string, number>>;
}

/** Asks the daemon that runs on the folder; the looks are its own, within its budget. */
const checkThrough = (client: Client, all: boolean): Promise<Checked> =>
  client.call('POST /api/check', { body: { all } });

async function checkAlone(config: Config, folder: Opening, all: boolean): Promise<Checked> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  // Here and not above, so that help and a check through a daemon come without them.
  const [{ createLoop, createTelling, letGo }, { createLog }, { changeBody, laterBody }] = await Promise.all([
    import('../../daemon.ts'),
    import('../../log.ts'),
    import('../../api/bodies.ts'),
  ]);
  const log = createLog(config.logLevel);
  const telling = await createTelling(config, folder.store, log);
  const loop = createLoop(config, folder.store, log, {}, telling);
  await loop.load();
  const found: Change[] = [];
  loop.onKept((changes) => found.push(...changes));
  const later = await loop.sweep(stop.signal, all);
  await telling.courier.once(stop.signal);
  const { requests, kept } = loop.counts();
  const troubles: Record<string, number> = {};
  for (const { state } of loop.collection)
    if (state.fault) troubles[state.fault.code] = (troubles[state.fault.code] ?? 0) + 1;
  await loop.close();
  // Under cron nothing runs between two checks that could do it.
  await letGo(folder.store, config, log);
  await folder.close();
  return { looks: kept, requests, troubles, later: later.map(laterBody), changes: found.map(changeBody) };
}

async function check(file: string | undefined, options: CheckOptions): Promise<CommandOutcome> {
  const { all = false, json, ...flags } = options;
  const checked = await openedBy<Checked>(file, flags, {
    through: (client) => checkThrough(client, all),
    alone: (config, folder) => checkAlone(config, folder, all),
  });
  if ('code' in checked) return checked;
  if (json) printJson(checked);
  else if (checked.changes.length > 0) print(changeTable(checked.changes));
  note(`pages looked at: ${checked.looks}, requests: ${checked.requests}, changes: ${checked.changes.length}`);
  for (const { pages, why, until } of checked.later)
    note(`pages left for later: ${pages} (${why}${until === null ? '' : ` until ${until}`})`);
  const troubles = Object.entries(checked.troubles ?? {});
  // Cron mails what stands on stderr: whoever watches must learn that nothing could be seen.
  for (const [code, count] of troubles) note(`pages in trouble: ${count} (${code}); "revisit pages" tells which`);
  return done;
}

export function registerCheck(program: Command, run: Runner): void {
  const command = program
    .command('check [config]')
    .description('look at what is due within the budget, print what changed, exit (for cron)')
    .option('--all', 'look at every page once');
  example(jsonOption(configOptions(command)), 'revisit check --all');
  command.action(run(check));
}
