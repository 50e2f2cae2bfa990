/** A cluster in which a suite of the single process finds itself at home: coordinators on PostgreSQL, a robot over NATS. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshFolder, serve } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import type { BusyPlace } from '../../../daemon/src/trial/busy-daemon.oracle.ts';
import { allShards } from '../dispatch/streams.ts';
import { type Connection, connect } from '../store/connection.ts';
import { PostgresStore } from '../store/postgres.ts';
import { startNats } from './nats-server.ts';
import type { PostgresServer } from './postgres-server.ts';

const bin = join(import.meta.dirname, '../../../daemon/bin/revisit.js');

const robotName = 'place-1';

let made = 0;

/** What every look writes: while the server says that its disk is full, none of it can be written. */
const written = ['states', 'in_flight', 'versions', 'changes'];
const fillDisk = `CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$;
  ${written.map((table) => `CREATE TRIGGER disk_is_full BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION disk_is_full();`).join(' ')}`;
const makeRoom = 'DROP FUNCTION disk_is_full() CASCADE';

/** A database of its own on the server, and everything else of its own too. */
export async function inCluster(postgres: PostgresServer): Promise<BusyPlace> {
  const store = await postgres.database(`place${made++}`);
  const nats = await startNats();
  const folder = freshFolder();
  let robot: ChildProcess | undefined;
  const connected = async <Value>(work: (connection: Connection) => Promise<Value>): Promise<Value> => {
    const made = await connect(store);
    if (made.kind === 'failed') throw new Error(made.sentence);
    try {
      return await work(made.connection);
    } finally {
      await made.connection.close();
    }
  };
  const withStore = <Value>(work: (store: PostgresStore) => Promise<Value>): Promise<Value> =>
    connected((connection) => work(new PostgresStore(connection)));
  return {
    folder,
    robot: robotName,
    serve: (words) => {
      const at = words.indexOf('--spacing');
      const robotWords = [
        '--name',
        robotName,
        '--nats',
        nats.url,
        ...words.slice(at, at + 2),
        '--allow-network',
        '127.0.0.0/8',
      ];
      // One that outlives the coordinators, as robots do.
      robot ??= leash(
        spawn(process.execPath, [bin, 'robot', ...robotWords, '--log-level', 'error'], {
          cwd: tmpdir(),
          stdio: 'ignore',
        }),
      );
      return serve(['--data', folder, '--store', store, '--nats', nats.url, ...words]);
    },
    add: (urls) =>
      withStore(async (pages) => {
        const about = {
          select: { kind: 'text' } as const,
          tags: [],
          weight: 1,
          paused: false,
          options: {},
          addedAtMs: 1,
        };
        const kept = await pages.addPages(urls.map((url) => ({ ...about, url, site: new URL(url).hostname })));
        return kept.kind === 'kept' ? kept.value.map(({ page }) => page.page.id) : [];
      }),
    statuses: () => withStore(async (pages) => (await pages.pages({ limit: 100 })).map(({ state }) => state.status)),
    read: () => withStore(async (kept) => ({ changes: await kept.changes({ after: 0, limit: 1_000_000 }), wrong: [] })),
    // Several connections write at any time.
    isBusy: () => true,
    full: (isFull) => connected(async (connection) => void (await connection.query(isFull ? fillDisk : makeRoom))),
    reading: withStore,
    underWay: () => withStore(async (kept) => (await kept.unfinishedOf(allShards)).length),
    end: async () => {
      robot?.kill('SIGKILL');
      await nats.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
