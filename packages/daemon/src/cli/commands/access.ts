import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Keyring } from '@revisit/cluster';
import type { Command } from 'commander';
import type { Runner } from '../program.ts';
import { example, jsonOption } from '../options.ts';
import { type CommandOutcome, done, failed, note, print, printJson, wrong } from '../outcome.ts';
import { codeOf } from '../unwritable.ts';

interface AccessOptions {
  readonly folder: string;
  readonly listen?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly json?: boolean;
}

const reload = 'Let the servers read it: nats-server --signal reload, or send them SIGHUP.';

/** With the keys of the folder; where that does not let itself be read or written, one sentence says so. */
async function withRing(
  { folder }: AccessOptions,
  work: (ring: Keyring) => CommandOutcome,
  may: 'read' | 'written' = 'written',
): Promise<CommandOutcome> {
  const { Keyring } = await import('@revisit/cluster');
  try {
    return work(new Keyring(folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return failed(`--folder ${folder}: cannot be ${may} (${codeOf(error)})`);
  }
}

const refusal = ({
  kind,
  sentence,
}: {
  readonly kind: 'wrong' | 'failed';
  readonly sentence: string;
}): CommandOutcome => (kind === 'wrong' ? wrong(sentence) : failed(sentence));

async function add(role: string, name: string, options: AccessOptions): Promise<CommandOutcome> {
  const { roles } = await import('@revisit/cluster');
  const known = roles.find((candidate) => candidate === role);
  if (!known) return wrong(`role ${role}: ${roles.join(', ')} are known`);
  return withRing(options, (ring) => {
    const granted = ring.add(known, name);
    if (granted.kind !== 'done') return refusal(granted);
    print(granted.seedFile);
    note(`${granted.seedFile} is the key of ${role} ${name}: carry it there and keep it secret.`);
    note(`${granted.configFile} lets it in. ${reload}`);
    if (known === 'reader')
      note(`Its answers must go to ${granted.inbox}, which no other key hears: give that to the client as inbox prefix, as in
  nats --nkey ${granted.seedFile} --inbox-prefix ${granted.inbox} consumer add REVISIT_CHANGES ${name} --pull`);
    return done;
  });
}

/** One sentence where keys cannot be looked for. */
function noFolder({ folder }: AccessOptions): CommandOutcome | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory()) return undefined;
  return wrong(
    found
      ? `--folder ${folder}: it is no folder`
      : `--folder ${folder}: there is no such folder; "revisit access add" makes it with the first key`,
  );
}

async function remove(name: string, options: AccessOptions): Promise<CommandOutcome> {
  const missing = noFolder(options);
  if (missing) return missing;
  return withRing(options, (ring) => {
    const removed = ring.remove(name);
    if (removed.kind !== 'done') return refusal(removed);
    note(`${removed.configFile} no longer lets ${name} in. ${reload}`);
    return done;
  });
}

async function list(options: AccessOptions): Promise<CommandOutcome> {
  const missing = noFolder(options);
  if (missing) return missing;
  const listed = (ring: Keyring): CommandOutcome => {
    const known = ring.grants();
    if (known.kind !== 'done') return refusal(known);
    if (options.json) printJson(known.grants);
    else for (const { role, name, key } of known.grants) print(`${role} ${name} ${key}`);
    return done;
  };
  return withRing(options, listed, 'read');
}

/** As nats-server reads it; without a host it listens everywhere. */
function isListen(text: string): boolean {
  const port = /^(?:\[[\da-f:.]+\]|[\w.-]*):(\d{1,5})$/i.exec(text)?.[1];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}

/** What a server that is told of the two files would stumble over. */
async function unusable(tlsCert: string, tlsKey: string): Promise<string | undefined> {
  const { certificateFault } = await import('@revisit/cluster');
  const texts: string[] = [];
  for (const [option, file] of [
    ['--tls-cert', tlsCert],
    ['--tls-key', tlsKey],
  ] as const) {
    try {
      texts.push(readFileSync(file, 'utf8'));
    } catch (error) {
      return `${option} ${file}: cannot be read (${codeOf(error)})`;
    }
  }
  const [cert, key] = texts;
  switch (certificateFault(cert!, key!)) {
    case 'cert':
      return `--tls-cert ${tlsCert}: it holds no certificate; the server's, in PEM, is expected`;
    case 'key':
      return `--tls-key ${tlsKey}: it holds no key that can be read; that of the certificate, in PEM and without a passphrase, is expected`;
    case 'pair':
      return `--tls-key ${tlsKey}: it is not the key of the certificate in --tls-cert ${tlsCert}`;
    case undefined:
      return undefined;
  }
}

async function serving(options: AccessOptions): Promise<CommandOutcome> {
  const { listen, tlsCert, tlsKey } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    return wrong('--tls-cert and --tls-key: both or none of them are expected');
  if (listen !== undefined && !isListen(listen))
    return wrong(`--listen ${listen}: an address such as 0.0.0.0:4222 is expected`);
  const fault = tlsCert === undefined ? undefined : await unusable(tlsCert, tlsKey!);
  if (fault !== undefined) return wrong(fault);
  return withRing(options, (ring) => {
    const served = ring.serve({
      ...(listen === undefined ? {} : { listen }),
      ...(tlsCert === undefined ? {} : { tls: { cert: resolve(tlsCert), key: resolve(tlsKey!) } }),
    });
    if (served.kind !== 'done') return refusal(served);
    print(ring.configFile);
    return done;
  });
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
