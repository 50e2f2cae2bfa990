import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { type Probe, systemClock } from 'revisit/ports';
import { afterAll, expect, test } from 'vitest';
import { eventually, loopbackWeb } from '../../daemon/src/trial/command.ts';
import { leash } from '../../daemon/src/trial/leash.ts';
import { locate } from '../../../house/provision.ts';
import { Carrier } from './dispatch/carrier.ts';
import { sealWith } from './dispatch/seal.ts';
import { ensureStreams, shardOf } from './dispatch/streams.ts';
import { startNats } from './trial/nats-server.ts';
import { namespace } from './trial/namespace.ts';

const bin = join(import.meta.dirname, '../../daemon/bin/revisit.js');
const place = locate('nats-server') === undefined ? undefined : namespace(process.pid % 200);
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  place?.end();
});

/** Longer than the silence after which a robot is taken for dead. */
const pulledMs = 6_000;

test.skipIf(place === undefined)(
  place === undefined
    ? 'a pulled cable: not tried, this machine makes no network namespaces'
    : 'a robot whose cable is pulled loses its probe to another, answers late to nobody, and works again when it is back',
  async () => {
    const { home, inside } = place!;
    const [web, nats] = await Promise.all([loopbackWeb('0.0.0.0'), startNats('0.0.0.0')]);
    web.pages.set('/a', '<p>here</p>');
    const site = home;
    const url = `${web.url.replace('127.0.0.1', home)}/a`;
    const connection = await connect({ servers: nats.url });
    await ensureStreams(connection);
    const carrier = new Carrier(connection, systemClock, sealWith(Buffer.from('key')));
    carrier.listen(shardOf(site));
    carrier.admit(shardOf(site));
    let count = 0;
    const look = () =>
      carrier.observe({ id: `p${count++}`, url, site, pageIds: [], atMs: 0, validators: {} } satisfies Probe);
    const words = ['--spacing', '100ms', '--log-level', 'error', '--allow-network', '10.231.0.0/16'];
    const inThere = ['robot', '--nats', nats.url.replace('127.0.0.1', home), ...words, '--name', 'there'];
    children.push(
      leash(
        spawn('ip', [...inside, process.execPath, bin, ...inThere], {
          cwd: tmpdir(),
          stdio: ['ignore', 'ignore', 'inherit'],
        }),
      ),
    );
    expect(await look()).toMatchObject({ outcome: { kind: 'fetched', status: 200 } });
    // Probes that go out into a cable that is pulled: given to the robot in there, or to nobody.
    place!.pull();
    const pending = [look(), look()];
    await systemClock.sleep(pulledMs);
    const here = ['robot', '--nats', nats.url, ...words, '--name', 'here'];
    children.push(
      leash(spawn(process.execPath, [bin, ...here], { cwd: tmpdir(), stdio: ['ignore', 'ignore', 'inherit'] })),
    );
    // Each is looked at here, or handed back because the other may have looked.
    const kinds = (await Promise.all(pending)).map(({ outcome }) => outcome.kind);
    expect(kinds.every((kind) => kind === 'fetched' || kind === 'refused')).toBe(true);
    place!.plug();
    children.at(-1)!.kill('SIGKILL');
    await eventually(async () => (await look()).outcome.kind === 'fetched');
    await carrier.close();
    await connection.close();
    await Promise.all([web.close(), nats.end()]);
  },
);
