import { afterAll, beforeAll, describe } from 'vitest';
import { dashboardSuite } from '../../daemon/src/trial/dashboard.oracle.ts';
import { freshDashboardSuite } from '../../daemon/src/trial/fresh-dashboard.oracle.ts';
import { locate } from '../../../house/provision.ts';
import { inCluster } from './trial/place.ts';
import { type PostgresServer, startPostgres } from './trial/postgres-server.ts';

describe.skipIf(locate('nats-server') === undefined)('what one sees of one process one sees of the cluster', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.end());

  dashboardSuite('a coordinator with a robot', () => inCluster(postgres));
  freshDashboardSuite('a coordinator with a robot', () => inCluster(postgres));
});
