import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revisit } from '../../daemon/src/trial/command.ts';
import { daemonSuite } from '../../daemon/src/trial/daemon.oracle.ts';
import { locate } from '../../../house/provision.ts';
import { inCluster } from './trial/place.ts';
import { startPooled } from './trial/pooler.ts';
import type { PostgresServer } from './trial/postgres-server.ts';

describe.skipIf(locate('nats-server') === undefined)('what holds for one process holds for the cluster', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPooled();
  });
  afterAll(() => postgres.end());

  daemonSuite('a coordinator with a robot', () => inCluster(postgres));

  test('the folder of a coordinator that does not run is not taken for one that holds pages', async () => {
    const place = await inCluster(postgres);
    expect(await (await place.serve(['--log-level', 'error'])).end('SIGTERM')).toBe(0);
    const added = await revisit(['add', 'https://a.example/', '--data', place.folder]);
    expect(added).toMatchObject({ code: 1, out: '' });
    expect(added.err).toMatch(
      /are in the store of a cluster, and the coordinator .* does not run; start it, or delete/,
    );
    await place.end();
  });
});
