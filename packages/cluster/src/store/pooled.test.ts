import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storeContract } from '../../../daemon/src/store/contract.oracle.ts';
import { searchContract } from '../../../daemon/src/store/search.oracle.ts';
import { locateOldest, oldestPostgres } from '../../../../house/oldest.ts';
import { locate } from '../../../../house/provision.ts';
import { startPooled } from '../trial/pooler.ts';
import type { PostgresServer } from '../trial/postgres-server.ts';
import { connect } from './connection.ts';
import { PostgresStore } from './postgres.ts';

/** The hardest place at once: where it fails, `REVISIT_POSTGRES=oldest` and the other suites say which of the two it is. */
const old = locateOldest(oldestPostgres) !== undefined;
const through = locate('pgbouncer') !== undefined;
const where = `PostgreSQL${old ? ` ${oldestPostgres.version}` : ''}${through ? ' behind a pooler' : ''}`;

describe.skipIf(!old && !through)(where, () => {
  let server: PostgresServer;
  let databases = 0;
  beforeAll(async () => {
    server = await startPooled(old ? 'oldest' : 'newest');
  });
  afterAll(() => server.end());

  async function open(): Promise<PostgresStore> {
    const connected = await connect(await server.database(`d${databases++}`));
    if (connected.kind === 'failed') throw new Error(connected.sentence);
    return new PostgresStore(connected.connection);
  }

  test('is what it says', async () => {
    const client = new pg.Client(await server.database('seen'));
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    if (old) expect(rows[0]!.server_version).toMatch(new RegExp(`^${oldestPostgres.version}`));
    await client.end();
    // A pooler that kept settings of a session for its client would let through what another does not.
    const session = new pg.Client({ connectionString: await server.database('session'), statement_timeout: 1_000 });
    const outcome = await session.connect().then(
      () => session.end().then(() => 'taken'),
      () => 'refused',
    );
    expect(outcome).toBe(through ? 'refused' : 'taken');
  });

  storeContract(where, open);
  searchContract(where, open);
});
