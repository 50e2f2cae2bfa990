import { afterAll, beforeAll, describe } from 'vitest';
import { accessSuite } from '../../daemon/src/api/access/access.oracle.ts';
import { changingSuite } from '../../daemon/src/api/changing.oracle.ts';
import { contractSuite } from '../../daemon/src/api/contract.oracle.ts';
import { type Connection, connect } from './store/connection.ts';
import { PostgresStore } from './store/postgres.ts';
import { type PostgresServer, startPostgres } from './trial/postgres-server.ts';

describe('the API answers for state in PostgreSQL as it does for a folder', () => {
  let postgres: PostgresServer;
  const connections: Connection[] = [];
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(async () => {
    for (const connection of connections) await connection.close();
    await postgres.end();
  });

  const openStore = async (): Promise<PostgresStore> => {
    const connected = await connect(await postgres.database(`api${connections.length}`));
    if (connected.kind === 'failed') throw new Error(connected.sentence);
    connections.push(connected.connection);
    return new PostgresStore(connected.connection);
  };
  contractSuite('its description', openStore);
  changingSuite('changing things', openStore);
  accessSuite('who may do what', openStore);
});
