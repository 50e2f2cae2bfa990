/**
 * `npm run cluster -- [--folder DIR] [--coordinators 2] [--robots 2] [--observers 1] [--port 7373] [-- SERVE OPTIONS]`: the whole
 * cluster as processes on this machine, for trying and testing: PostgreSQL (from npm), three NATS servers with keys for
 * everybody, coordinators, robots and observers. Whoever ends by itself or is killed is started again. Ctrl-C ends it all, a second
 * one kills it all, and however this process ends nothing of it stays behind but the state in the folder.
 */
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { locate } from '../house/provision.ts';
import { Keyring } from '../packages/cluster/src/access/keyring.ts';
import { freePort } from '../packages/cluster/src/trial/postgres-server.ts';
import { makeFolder } from '../packages/daemon/src/store/make-folder.ts';
import { type LocalPostgres, startPostgres } from './local-postgres.ts';
import { type Supervised, spawned, supervise } from './supervised.ts';

const usage =
  'npm run cluster -- [--folder DIR] [--coordinators 2] [--robots 2] [--observers 1] [--port 7373] [-- SERVE OPTIONS]';
/** More are more than a machine runs at once. */
const eachMax = 64;
/** Three servers, for their clients and for each other. */
const natsPorts = 6;
/** npm passes on the Ctrl-C that a terminal has sent to both of us: it comes twice, milliseconds apart. */
const echoMsMax = 1_000;
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

function wrong(sentence: string): never {
  say(`${sentence}\n${usage}`);
  process.exit(2);
}

function asked() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        folder: { type: 'string', default: './revisit-cluster' },
        coordinators: { type: 'string', default: '2' },
        robots: { type: 'string', default: '2' },
        observers: { type: 'string', default: '1' },
        port: { type: 'string', default: '7373' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    return wrong((error as Error).message.split('. ')[0]!);
  }
}

const { values, positionals } = asked();
if (values.help) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
function numberOf(option: 'coordinators' | 'robots' | 'observers' | 'port', least: number, most: number): number {
  const number = /^\d{1,5}$/.test(values[option]) ? Number(values[option]) : NaN;
  if (number >= least && number <= most) return number;
  return wrong(`--${option} ${values[option]}: a number from ${least} to ${most} is expected`);
}
const names = (role: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${role}-${i + 1}`);
const roles = {
  coordinator: names('coordinator', numberOf('coordinators', 1, eachMax)),
  robot: names('robot', numberOf('robots', 0, eachMax)),
  observer: names('observer', numberOf('observers', 0, eachMax)),
};
const firstPort = numberOf('port', 0, 65_535 - eachMax - natsPorts);
const folder = resolve(values.folder);
const bin = join(import.meta.dirname, '../packages/daemon/bin/revisit.js');
const program = locate('nats-server');
if (!program) {
  say(
    'nats-server is missing: install it (Debian: apt-get install nats-server) or set REVISIT_NATS_SERVER to its path',
  );
  process.exit(1);
}

let postgres: LocalPostgres | undefined;
const servers: Supervised[] = [];
const observers: Supervised[] = [];
const users: Supervised[] = [];
let ending: Promise<never> | undefined;
const end = (code: number): Promise<never> => (ending ??= endAll(code));
async function endAll(code: number): Promise<never> {
  postgres?.endsSoon();
  // Observers first: coordinators that hear them leave keep it, and the next need not wait for their mandates.
  for (const each of [observers, users, servers]) await Promise.all(each.map((child) => child.end()));
  await postgres?.end();
  process.exit(code);
}
let signalledMs: number | undefined;
function onSignal(): void {
  signalledMs ??= performance.now();
  // Whoever is left ends with us.
  if (performance.now() - signalledMs > echoMsMax) process.exit(1);
  void end(0);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);

function run(name: string, command: string, words: readonly string[]): Supervised {
  return supervise({ name, start: () => spawned(name, command, words, say), say, wrong: () => void end(2) });
}

/** Everybody's key, made once. */
function makeKeys(): void {
  const keys = new Keyring(join(folder, 'access'));
  const done = <Outcome extends { readonly kind: string }>(outcome: Outcome): Extract<Outcome, { kind: 'done' }> => {
    if (outcome.kind === 'done') return outcome as Extract<Outcome, { kind: 'done' }>;
    throw new Error((outcome as { readonly sentence?: string }).sentence);
  };
  // What each may do is written anew: an earlier version may have known of less.
  done(keys.serve({}));
  const known = new Set(done(keys.grants()).grants.map((grant) => grant.name));
  for (const role of ['coordinator', 'robot', 'observer'] as const)
    for (const name of roles[role]) if (!known.has(name)) done(keys.add(role, name));
}

async function startNats(): Promise<string> {
  // Behind those of the coordinators.
  const ports = await Promise.all(Array.from({ length: natsPorts }, (_, i) => portOf(eachMax + i)));
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

/** The same as at the last start where that is free, so that addresses can be kept. */
async function portOf(place: number): Promise<number> {
  if (firstPort === 0) return freePort();
  const free = await new Promise<boolean>((done) => {
    const server = createServer()
      .on('error', () => done(false))
      .listen(firstPort + place, '127.0.0.1', () => server.close(() => done(true)));
  });
  return free ? firstPort + place : freePort();
}

async function startCoordinators(store: string, keyOf: (name: string) => string[]): Promise<string[]> {
  const config = join(folder, 'revisit.yaml');
  writeFileSync(config, 'natsReplicas: 3\n');
  return Promise.all(
    roles.coordinator.map(async (name, place) => {
      const port = await portOf(place);
      const words = ['serve', config, '--data', join(folder, name), '--port', String(port), '--store', store];
      users.push(run(name, process.execPath, [bin, ...words, ...keyOf(name), ...positionals]));
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
}

const told: readonly string[] = ['--allow-network', '--contact', '--spacing', '--log-level'];

/** What robots and observers must know too, of what coordinators were told. */
function forFetchers(words: readonly string[]): string[] {
  let passed = false;
  return words.filter((word) => {
    // What follows an option is its own.
    if (word.startsWith('--')) passed = told.includes(word.split('=', 1)[0]!);
    return passed;
  });
}

async function start(): Promise<void> {
  try {
    makeFolder(folder);
  } catch (error) {
    throw new Error(`--folder ${folder}: cannot be made (${(error as Error).message})`);
  }
  // PostgreSQL has a user of its own where this one is root.
  chmodSync(folder, 0o755);
  // First, as nobody else can be at this folder once it runs.
  postgres = await startPostgres(join(folder, 'postgres'), say);
  makeKeys();
  const nats = await startNats();
  const keyOf = (name: string): string[] => ['--nats', nats, '--nats-key', join(folder, 'access', `${name}.nk`)];
  const serving = await startCoordinators(postgres.url, keyOf);
  const fetching = forFetchers(positionals);
  const work = (name: string, ...words: string[]): Supervised =>
    run(name, process.execPath, [bin, ...words, '--name', name, ...keyOf(name), ...fetching]);
  for (const name of roles.robot) users.push(work(name, 'robot'));
  for (const name of roles.observer) observers.push(work(name, 'observer', '--data', join(folder, 'observers')));
  process.stdout.write(`${serving.join('\n')}\n`);
  say(`The cluster runs: ${serving.join(' and ')}  (Ctrl-C ends it)`);
  say(`Robots and readers elsewhere: --nats ${nats}, with keys in ${join(folder, 'access')}`);
  say(`Commands find it by a folder: npx revisit add URL --data ${join(folder, roles.coordinator[0]!)}`);
}

await start().catch((error: unknown) => {
  if (!ending) say(error instanceof Error ? error.message : String(error));
  return end(1);
});
