import { afterAll, beforeAll, describe } from 'vitest';
import { busySuite } from '../../daemon/src/trial/busy-daemon.oracle.ts';
import { locate } from '../../../house/provision.ts';
import { inCluster } from './trial/place.ts';
import { type PostgresServer, startPostgres } from './trial/postgres-server.ts';

describe.skipIf(locate('nats-server') === undefined)('under load a cluster is as one process', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.end());

  busySuite('a coordinator with a robot', () => inCluster(postgres));
});
