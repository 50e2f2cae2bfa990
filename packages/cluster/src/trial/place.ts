/** A cluster in which a suite of the single process finds itself at home: coordinators on PostgreSQL, a robot over NATS. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshFolder, serve } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import type { Place } from '../../../daemon/src/trial/place.ts';
import { connect } from '../store/connection.ts';
import { PostgresStore } from '../store/postgres.ts';
import { startNats } from './nats-server.ts';
import type { PostgresServer } from './postgres-server.ts';

const bin = join(import.meta.dirname, '../../../daemon/bin/revisit.js');

let made = 0;

/** A database of its own on the server, and everything else of its own too. */
export async function inCluster(postgres: PostgresServer): Promise<Place> {
  const store = await postgres.database(`place${made++}`);
  const nats = await startNats();
  const folder = freshFolder();
  let robot: ChildProcess | undefined;
  const withStore = async <Value>(work: (store: PostgresStore) => Promise<Value>): Promise<Value> => {
    const connected = await connect(store);
    if (connected.kind === 'failed') throw new Error(connected.sentence);
    try {
      return await work(new PostgresStore(connected.connection));
    } finally {
      await connected.connection.close();
    }
  };
  return {
    folder,
    serve: (words) => {
      const at = words.indexOf('--spacing');
      const robotWords = ['--nats', nats.url, ...words.slice(at, at + 2), '--allow-network', '127.0.0.0/8'];
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
    end: async () => {
      robot?.kill('SIGKILL');
      await nats.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
