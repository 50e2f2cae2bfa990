import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { serve } from '../../daemon/src/trial/command.ts';
import { daemonSuite } from '../../daemon/src/trial/daemon.oracle.ts';
import { locate } from '../../../house/provision.ts';
import { connect } from './store/connection.ts';
import { PostgresStore } from './store/postgres.ts';
import { type NatsServer, startNats } from './trial/nats-server.ts';
import { type PostgresServer, startPostgres } from './trial/postgres-server.ts';

const bin = join(import.meta.dirname, '../../daemon/bin/revisit.js');

describe.skipIf(locate('nats-server') === undefined)('what holds for one process holds for the cluster', () => {
  let postgres: PostgresServer;
  const databases = { made: 0 };
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.end());

  daemonSuite('a coordinator with a robot', async () => {
    const store = await postgres.database(`place${databases.made++}`);
    const nats: NatsServer = await startNats();
    const robots: ChildProcess[] = [];
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
      serve: (words) => {
        const at = words.indexOf('--spacing');
        const robot = [
          'robot',
          '--nats',
          nats.url,
          ...words.slice(at, at + 2),
          '--allow-network',
          '127.0.0.0/8',
          '--log-level',
          'error',
        ];
        // One that outlives the coordinators, as robots do.
        if (robots.length === 0)
          robots.push(spawn(process.execPath, [bin, ...robot], { cwd: tmpdir(), stdio: 'ignore' }));
        return serve(['--store', store, '--nats', nats.url, ...words]);
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
      read: () =>
        withStore(async (kept) => ({ changes: await kept.changes({ after: 0, limit: 1_000_000 }), wrong: [] })),
      end: async () => {
        for (const robot of robots) robot.kill('SIGKILL');
        await nats.end();
      },
    };
  });
});
