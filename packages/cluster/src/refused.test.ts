import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nkeys } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locate } from '../../../house/provision.ts';
import { type Serving, freshFolder, revisit, serve } from '../../daemon/src/trial/command.ts';
import { keyText } from './access/key-file.ts';
import { type NatsServer, startNats } from './trial/nats-server.ts';
import { type PostgresServer, startPostgres } from './trial/postgres-server.ts';

describe.skipIf(locate('nats-server') === undefined)('a coordinator that cannot begin', () => {
  const folder = freshFolder();
  let postgres: PostgresServer;
  let nats: NatsServer;
  let first: Serving;
  let where: readonly string[];
  beforeAll(async () => {
    [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
    where = ['--store', await postgres.database('refused'), '--nats', nats.url, '--log-level', 'error'];
    first = await serve([...where, '--data', folder]);
  });
  afterAll(async () => {
    await first.end('SIGTERM');
    await Promise.all([postgres.end(), nats.end()]);
    rmSync(folder, { recursive: true, force: true });
  });

  test.each(['its folder', 'its port'])('says in one sentence that %s is taken, and nothing holds it', async (what) => {
    const taken = what === 'its folder' ? ['--data', folder, '--port', '0'] : ['--port', new URL(first.url).port];
    const ended = await revisit(['serve', ...where, ...taken]);
    expect(ended).toMatchObject({ code: 2, out: '' });
    expect(ended.err.trim().split('\n')).toHaveLength(1);
    expect(ended.err).toMatch(
      what === 'its folder' ? /Another revisit works on/ : /--port \d+: something else listens/,
    );
  });

  test('says whose key it was given', async () => {
    const key = join(folder, 'r1.nk');
    writeFileSync(key, keyText(nkeys.createUser().getSeed(), 'robot', 'r1'));
    const ended = await revisit(['serve', ...where, '--port', '0', '--nats-key', key]);
    expect(ended).toMatchObject({ code: 2, out: '' });
    expect(ended.err).toBe(
      `revisit: --nats-key ${key}: the key is that of robot r1; make one with "revisit access add coordinator home"\n`,
    );
  });
});
