/** The same calls on the same collection as `bench/api.ts`, where its state is in PostgreSQL. */
import { connect } from '../packages/cluster/src/store/connection.ts';
import { PostgresStore } from '../packages/cluster/src/store/postgres.ts';
import { startPostgres } from '../packages/cluster/src/trial/postgres-server.ts';
import type { Bench } from '../house/bench.ts';
import { callRows } from './api/calls.ts';
import { fill } from './api/collection.ts';

export const bench: Bench = async (say) => {
  const server = await startPostgres();
  try {
    const connected = await connect(await server.database('api'));
    if (connected.kind === 'failed') throw new Error(connected.sentence);
    const store = new PostgresStore(connected.connection);
    const ids = await fill(store, say);
    // As the server does by itself a while after so much was written.
    await connected.connection.query('ANALYZE');
    const rows = await callRows(store, ids[100]!);
    await store.close();
    return rows;
  } finally {
    await server.end();
  }
};
