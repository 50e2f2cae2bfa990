import type { Command } from 'commander';
import type { Runner } from '../program.ts';
import { example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, note, print, printJson, wrong } from '../outcome.ts';

interface AccessOptions {
  readonly folder: string;
  readonly listen?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly json?: boolean;
}

const reload = 'Let the servers read it: nats-server --signal reload, or send them SIGHUP.';

async function add(role: string, name: string, options: AccessOptions): Promise<CommandOutcome> {
  const { Keyring, roles } = await import('@revisit/cluster');
  const known = roles.find((candidate) => candidate === role);
  if (!known) return wrong(`role ${role}: ${roles.join(', ')} are known`);
  const granted = new Keyring(options.folder).add(known, name);
  if (granted.kind === 'wrong') return wrong(granted.sentence);
  print(granted.seedFile);
  note(`${granted.seedFile} is the key of ${role} ${name}: carry it there and keep it secret.`);
  note(`${granted.configFile} lets it in. ${reload}`);
  if (known === 'reader')
    note(`Its answers must go to ${granted.inbox}, which no other key hears: give that to the client as inbox prefix, as in
  nats --nkey ${granted.seedFile} --inbox-prefix ${granted.inbox} consumer add REVISIT_CHANGES ${name} --pull --filter 'revisit.change.>'`);
  return done;
}

async function remove(name: string, options: AccessOptions): Promise<CommandOutcome> {
  const { Keyring } = await import('@revisit/cluster');
  const removed = new Keyring(options.folder).remove(name);
  if (removed.kind === 'wrong') return wrong(removed.sentence);
  note(`${removed.configFile} no longer lets ${name} in. ${reload}`);
  return done;
}

async function list(options: AccessOptions): Promise<CommandOutcome> {
  const { Keyring } = await import('@revisit/cluster');
  const grants = new Keyring(options.folder).grants();
  if (options.json) printJson(grants);
  else for (const { role, name, key } of grants) print(`${role} ${name} ${key}`);
  return done;
}

/** As nats-server reads it; without a host it listens everywhere. */
function isListen(text: string): boolean {
  const port = /^(?:\[[\da-f:.]+\]|[\w.-]*):(\d{1,5})$/i.exec(text)?.[1];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}

async function serving(options: AccessOptions): Promise<CommandOutcome> {
  const { Keyring } = await import('@revisit/cluster');
  const { listen, tlsCert, tlsKey } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    return wrong('--tls-cert and --tls-key: both or none of them are expected');
  if (listen !== undefined && !isListen(listen))
    return wrong(`--listen ${listen}: an address such as 0.0.0.0:4222 is expected`);
  const ring = new Keyring(options.folder);
  ring.serve({
    ...(listen === undefined ? {} : { listen }),
    ...(tlsCert === undefined ? {} : { tls: { cert: tlsCert, key: tlsKey! } }),
  });
  print(ring.configFile);
  return done;
}

export function registerAccess(program: Command, run: Runner): void {
  const access = program
    .command('access')
    .description('keys of a cluster: who may take work, report or read over NATS');
  const folder = (command: Command): Command =>
    command.option('--folder <folder>', 'where grants, keys and nats.conf are kept', './revisit-access');
  const adding = access
    .command('add <role> <name>')
    .description('make a key for a coordinator, robot, observer or reader');
  example(folder(adding), 'revisit access add robot frankfurt-1');
  adding.action(run(add));
  const removing = access.command('remove <name>').description('take a key back');
  example(folder(removing), 'revisit access remove frankfurt-1');
  removing.action(run(remove));
  const listing = access.command('list').description('who has a key');
  example(jsonOption(folder(listing)), 'revisit access list');
  listing.action(run(list));
  const server = access
    .command('server')
    .description('write nats.conf: where the server listens, and its certificate')
    .option('--listen <address>', 'such as 0.0.0.0:4222')
    .option('--tls-cert <file>', 'the certificate of the server')
    .option('--tls-key <file>', 'the key of the certificate');
  example(folder(server), 'revisit access server --listen 0.0.0.0:4222 --tls-cert nats.pem --tls-key nats.key');
  server.action(run(serving));
}
