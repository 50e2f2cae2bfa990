/**
 * Debian's pgbouncer before a PostgreSQL server of a test, as strict as it comes: a connection to the server is one client's
 * for a transaction only, and there are fewer of them than clients, so whatever outlives a transaction meets a stranger.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locate } from '../../../../house/provision.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { type PostgresAge, type PostgresServer, answers, freePort, startPostgres } from './postgres-server.ts';

const connectionsMax = 4;

/** A server whose databases are reached through a pooler, where this machine has one. */
export async function startPooled(age?: PostgresAge): Promise<PostgresServer> {
  const server = await startPostgres(age);
  const program = locate('pgbouncer');
  return program === undefined ? server : pooled(server, program);
}

async function pooled(server: PostgresServer, program: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-pooler-'));
  const port = await freePort();
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port} user=postgres password=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'max_client_conn = 200',
      `default_pool_size = ${connectionsMax}`,
    ].join('\n'),
  );
  // It refuses to run as root, and must be able to read its settings.
  chmodSync(folder, 0o755);
  const asUser = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const child: ChildProcess = leash(spawn(program, [...asUser, '-q', settings], { stdio: 'ignore' }));
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer on port ${port} ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    ...server,
    port,
    database: async (name) => (await server.database(name)).replace(`:${server.port}/`, `:${port}/`),
    end: async () => {
      await new Promise<void>((resolve) => {
        child.once('close', () => resolve());
        child.kill('SIGKILL');
      });
      rmSync(folder, { recursive: true, force: true });
      await server.end();
    },
  };
}
