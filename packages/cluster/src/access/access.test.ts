import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, nkeys } from '@nats-io/transport-node';
import { type Observation, type Probe, systemClock } from 'revisit/ports';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { locate } from '../../../../house/provision.ts';
import { Carrier } from '../dispatch/carrier.ts';
import { link } from '../dispatch/link.ts';
import { consumers, ensureErrands, ensureStreams, shardOf, streams, subjects } from '../dispatch/streams.ts';
import { Robot } from '../robot.ts';
import { freePort } from '../trial/postgres-server.ts';
import { Keyring } from './keyring.ts';

const openssl = spawnSync('openssl', ['version']).status === 0;
const folder = mkdtempSync(join(tmpdir(), 'revisit-access-'));
const ca = join(folder, 'server.pem');

/** A certificate for loopback that signs itself. */
function certify(): void {
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  spawnSync('openssl', [...words, '-keyout', join(folder, 'server.key'), '-out', ca, ...names]);
}

describe.skipIf(locate('nats-server') === undefined || !openssl)(
  'a NATS server with the generated configuration',
  () => {
    const keys = new Keyring(folder);
    const connections: NatsConnection[] = [];
    let child: ChildProcess;
    let url: string;

    async function as(name: string): Promise<NatsConnection> {
      const linked = await link({ nats: url, natsKey: join(folder, `${name}.nk`), natsCa: ca }, name);
      if (linked.kind === 'failed') throw new Error(linked.sentence);
      connections.push(linked.connection);
      return linked.connection;
    }

    beforeAll(async () => {
      certify();
      const port = await freePort();
      url = `tls://127.0.0.1:${port}`;
      keys.serve({
        listen: `127.0.0.1:${port}`,
        folder: join(folder, 'js'),
        tls: { cert: ca, key: join(folder, 'server.key') },
      });
      keys.add('coordinator', 'home');
      keys.add('robot', 'r1');
      keys.add('robot', 'r2');
      keys.add('observer', 'near');
      keys.add('reader', 'reader');
      child = leash(spawn(locate('nats-server')!, ['-c', keys.configFile], { stdio: 'ignore' }));
      for (;;) {
        const open = await new Promise<boolean>((done) => {
          const socket = dial(port, '127.0.0.1', () => done((socket.destroy(), true))).on('error', () => done(false));
        });
        if (open) break;
        await systemClock.sleep(20);
      }
      const home = await as('home');
      await ensureStreams(home);
      await ensureErrands(home, 'near');
    });
    afterAll(async () => {
      await Promise.all(connections.map((connection) => connection.close()));
      child.kill('SIGKILL');
    });

    /** What became of saying something: `taken` when the server says that a stream has it. */
    const say = (connection: NatsConnection, subject: string): Promise<string> =>
      jetstream(connection)
        .publish(subject, 'x', { timeout: 1_500 })
        .then(
          () => 'taken',
          () => 'refused',
        );
    const hear = (connection: NatsConnection, subject: string): Promise<string> =>
      new Promise((done) => {
        const ears = connection.subscribe(subject, { callback: (error) => done(error ? 'refused' : 'heard') });
        void connection
          .flush()
          .then(() => systemClock.sleep(100))
          .then(() => done((ears.unsubscribe(), 'allowed')));
      });

    test('a robot does its work over TLS with nothing but its key', async () => {
      const home = await as('home');
      const site = 'a.example';
      const carrier = new Carrier(home, systemClock);
      await carrier.listen(shardOf(site));
      const stop = new AbortController();
      const looked: string[] = [];
      const observer = {
        observe: (probe: Probe): Promise<Observation> => {
          looked.push(probe.id);
          const outcome = { kind: 'gone', status: 410 } as const;
          return Promise.resolve({ probe, startedAtMs: 1, endedAtMs: 2, outcome, bytesReceived: 1, requests: 1 });
        },
        close: () => Promise.resolve(),
      };
      const robot = new Robot({
        connection: await as('r1'),
        name: 'r1',
        observer,
        clock: systemClock,
        breadth: 2,
        log: () => {},
      });
      const working = robot.run(stop.signal);
      const probe = { id: 'p1', url: `https://${site}/`, site, pageIds: [], atMs: 0, validators: {} };
      expect(await carrier.observe(probe)).toMatchObject({ outcome: { kind: 'gone' } });
      stop.abort();
      await working;
      await carrier.close();
      expect(looked).toEqual(['p1']);
    });

    test('a robot can write its own results and nothing else, and read nothing but its own answers', async () => {
      const r1 = await as('r1');
      expect(await say(r1, subjects.observation(3, 'r1'))).toBe('taken');
      const others = [
        subjects.observation(3, 'r2'),
        subjects.observation(3, 'near'),
        subjects.probe(3),
        subjects.errand('near'),
        subjects.change(3),
      ];
      expect(await Promise.all(others.map((subject) => say(r1, subject)))).toEqual(others.map(() => 'refused'));
      for (const subject of ['revisit.>', subjects.observation('*', 'r2'), '_INBOX.>', '$JS.ACK.>'])
        expect(await hear(r1, subject)).toBe('refused');
      const asks = [`$JS.API.STREAM.INFO.${streams.changes}`, `$JS.API.STREAM.PURGE.${streams.probes}`];
      for (const subject of asks)
        expect(
          await r1.request(subject, '', { timeout: 500 }).then(
            () => 'answered',
            () => 'refused',
          ),
        ).toBe('refused');
    });

    test('an observer has its own queue and its own name', async () => {
      const near = await as('near');
      expect(await say(near, subjects.observation(1, 'near'))).toBe('taken');
      expect(await say(near, subjects.observation(1, 'r1'))).toBe('refused');
      expect(await hear(near, subjects.ask('near'))).toBe('allowed');
      expect(await hear(near, subjects.ask('far'))).toBe('refused');
    });

    test('a reader follows the changes and cannot write them', async () => {
      const reader = await as('reader');
      const home = await as('home');
      expect(await say(home, subjects.change(0))).toBe('taken');
      const consumer = await jetstream(reader).consumers.get(streams.changes);
      expect((await consumer.next({ expires: 2_000 }))?.string()).toBe('x');
      expect(await say(reader, subjects.change(0))).toBe('refused');
    });

    test('a key that was taken back opens nothing', async () => {
      const r2 = await as('r2');
      const gone = (async () => {
        for await (const status of r2.status())
          if (status.type === 'disconnect' || status.type === 'error') return 'gone';
        return 'gone';
      })();
      const kept = join(folder, 'kept.nk');
      copyFileSync(join(folder, 'r2.nk'), kept);
      expect(keys.remove('r2')).toMatchObject({ kind: 'done' });
      child.kill('SIGHUP');
      expect(await gone).toBe('gone');
      expect(await link({ nats: url, natsKey: join(folder, 'r1.nk'), natsCa: ca }, 'r1')).toMatchObject({
        kind: 'linked',
      });
      // Whoever has a copy of it does not come in again.
      expect(await link({ nats: url, natsKey: kept, natsCa: ca }, 'r2')).toMatchObject({ kind: 'failed' });
      await r2.close();
    });

    test('a key that was refused for a while and is good again opens as before', async () => {
      const home = await as('home');
      const accounts = join(folder, 'accounts.conf');
      const good = readFileSync(accounts, 'utf8');
      const known = nkeys.fromSeed(Buffer.from(readFileSync(join(folder, 'home.nk'), 'utf8').trim())).getPublicKey();
      expect(good).toContain(known);
      writeFileSync(accounts, good.replaceAll(known, nkeys.createUser().getPublicKey()));
      let refusals = 0;
      const watching = (async () => {
        for await (const status of home.status()) if (status.type === 'error') refusals++;
      })();
      child.kill('SIGHUP');
      // More than two, after which the client would give up by itself.
      await eventually(() => refusals > 3);
      writeFileSync(accounts, good);
      child.kill('SIGHUP');
      await eventually(() =>
        home.flush().then(
          () => true,
          () => false,
        ),
      );
      await home.close();
      await watching;
    });

    test('a server that cannot show the certificate is not spoken to', async () => {
      const key = join(folder, 'r1.nk');
      expect(await link({ nats: url, natsKey: key }, 'r1')).toMatchObject({ kind: 'failed' });
    });

    test('a robot cannot take the errands of an observer, nor an observer the probes of robots', async () => {
      const home = await as('home');
      const manager = await jetstreamManager(home);
      const delivered = async (): Promise<readonly number[]> =>
        Promise.all(
          [
            [streams.errands, 'near'],
            [streams.probes, consumers.robots],
          ].map(async ([stream, name]) => (await manager.consumers.info(stream!, name!)).delivered.consumer_seq),
        );
      await jetstream(home).publish(subjects.errand('near'), 'x');
      await jetstream(home).publish(subjects.probe(1), 'x');
      const before = await delivered();
      const asks = async (name: string, stream: string, consumer: string): Promise<unknown> =>
        (await as(name)).request(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, '1', { timeout: 1_000 });
      await expect(asks('r1', streams.errands, 'near')).rejects.toThrow(/[Pp]ermission/);
      await expect(asks('near', streams.probes, consumers.robots)).rejects.toThrow(/[Pp]ermission/);
      expect(await delivered()).toEqual(before);
    });

    test('without a key there is no way in', async () => {
      expect(await link({ nats: url, natsCa: ca }, 'nobody')).toMatchObject({ kind: 'failed' });
    });
  },
);
