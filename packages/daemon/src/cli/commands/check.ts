import type { Command } from 'commander';
import type { Flags } from '../../config/config.ts';
import { createLoop, createPolicy, openFolder } from '../../daemon.ts';
import { createLog } from '../../log.ts';
import { changeBody } from '../../api/bodies.ts';
import { note, printJson, print, type CommandOutcome, done, failed, wrong } from '../outcome.ts';
import type { Runner } from '../main.ts';
import { example, jsonOption } from '../options.ts';
import type { Change } from '../../values/change.ts';
import { type ChangeBody, changeTable } from './changes.ts';
import { configOptions, readConfig } from './serve.ts';

interface CheckOptions extends Flags {
  readonly all?: boolean;
  readonly json?: boolean;
}

async function check(file: string | undefined, options: CheckOptions): Promise<CommandOutcome> {
  const { all, json, ...flags } = options;
  const config = readConfig(file, { logLevel: 'warn', ...flags });
  if (config.kind === 'wrong') return wrong(config.sentence);
  if (!createPolicy(config.value.policy)) return wrong(`--policy ${config.value.policy}: no such policy`);
  const folder = openFolder(config.value.data);
  if (folder.kind === 'held')
    return wrong(`${folder.sentence} A running daemon looks by itself; "revisit changes" shows what it found.`);
  if (folder.kind === 'failed') return failed(folder.sentence);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const loop = createLoop(config.value, folder.store, createLog(config.value.logLevel));
  await loop.load();
  const found: Change[] = [];
  loop.onKept((changes) => found.push(...changes));
  await loop.sweep(stop.signal, all ?? false);
  const { sent, kept } = loop.counts();
  await folder.close();
  const bodies = found.map(changeBody) as unknown as ChangeBody[];
  if (json) printJson({ looks: kept, requests: sent, changes: bodies });
  else if (bodies.length > 0) print(changeTable(bodies));
  note(`${kept} of ${loop.collection.size} pages looked at with ${sent} requests, ${bodies.length} changes`);
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
