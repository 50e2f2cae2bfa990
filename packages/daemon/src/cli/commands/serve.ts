import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Config, Flags, Read } from '../../config/config.ts';
import type { World } from '../../daemon.ts';
import type { Runner } from '../program.ts';
import { example, noContact } from '../options.ts';
import { type CommandOutcome, done, failed, note, wrong } from '../outcome.ts';

/** Without a name, `revisit.yaml` in the working folder is read where there is one. */
export async function readConfig(file: string | undefined, flags: Flags): Promise<Read<Config>> {
  const { readConfigFile, settle } = await import('../../config/config.ts');
  const path = file ?? (existsSync('revisit.yaml') ? 'revisit.yaml' : undefined);
  const read = path === undefined ? ({ kind: 'read', value: {} } as const) : readConfigFile(path);
  return read.kind === 'wrong' ? read : settle(read.value, flags);
}

export function configOptions(command: Command): Command {
  return command
    .option('--data <folder>', 'the folder that holds all state (default: ./revisit-data)')
    .option('--budget <rate>', 'requests over all pages, such as 600/hour (the default)')
    .option('--spacing <duration>', 'least time between two requests to one site (default: 2s)')
    .option('--policy <name>', 'how looks are planned (default: revisit)')
    .option('--allow-network <cidr...>', 'private networks that may be visited, such as 127.0.0.0/8')
    .option('--contact <text>', 'how site owners reach you; part of the user agent')
    .option('--log-level <level>', 'debug, info, warn, error or silent (default: info)');
}

/** One process on this machine, or one coordinator of a cluster. */
async function worldOf(config: Config): Promise<Read<World> | { readonly kind: 'failed'; readonly sentence: string }> {
  if (config.store === undefined && config.nats === undefined) return { kind: 'read', value: {} };
  if (config.store === undefined)
    return {
      kind: 'wrong',
      sentence: `nats: ${config.nats} needs a store, such as postgres://user:password@host/database`,
    };
  const [{ clusterWorld }, { createLog }] = await Promise.all([import('@revisit/cluster'), import('../../log.ts')]);
  const world = await clusterWorld({ ...config, store: config.store, log: createLog(config.logLevel) });
  if (world.kind !== 'read' || !config.dataNamed) return world;
  const { shareFolder } = await import('../../folder.ts');
  const opening = shareFolder(config.data, world.value.opening);
  if (opening.kind === 'opened') return { kind: 'read', value: { ...world.value, opening } };
  await world.value.opening.close();
  return { kind: 'wrong', sentence: opening.sentence };
}

async function serve(file: string | undefined, flags: Flags): Promise<CommandOutcome> {
  const config = await readConfig(file, flags);
  if (config.kind === 'wrong') return wrong(config.sentence);
  const stop = new AbortController();
  const world = await worldOf(config.value);
  if (world.kind === 'wrong') return wrong(world.sentence);
  if (world.kind === 'failed') return failed(world.sentence);
  const { live } = await import('../../lives.ts');
  const living = await live(config.value, stop.signal, world.value);
  if (living.kind === 'wrong') return wrong(living.sentence);
  // Whoever reads the line may end it at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  note(`Revisit watches. Dashboard and API: ${living.url}  (Ctrl-C ends it)`);
  if (config.value.contact === undefined && config.value.nats === undefined) note(noContact);
  const ended = await living.ended;
  return ended.kind === 'wrong' ? failed(ended.sentence) : done;
}

export function registerServe(program: Command, run: Runner): void {
  const command = program
    .command('serve [config]')
    .description('watch, learn, plan and tell; API and dashboard on --port')
    .option('--port <number>', 'where the API and dashboard listen (default: 7373; 0 takes any free one)')
    .option(
      '--store <address>',
      'PostgreSQL instead of the data folder, such as postgres://user:password@host/database',
    )
    .option('--nats <servers>', 'NATS servers of a cluster; robots fetch instead of this process')
    .option('--nats-key <file>', 'the key of this coordinator, as "revisit access" makes it')
    .option('--nats-ca <file>', 'certificates of the NATS servers, where the system does not know them')
    .option('--mandate <duration>', 'how long an observer may go on alone (default: 10m)')
    .option('--lease <duration>', 'how long a coordinator or robot may be silent before others take over (default: 4s)')
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1)');
  example(configOptions(command), 'revisit serve --budget 600/hour --spacing 2s');
  command.action(run(serve));
}
