import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, headers, nkeys } from '@nats-io/transport-node';
import { type Observation, type Probe, systemClock } from 'revisit/ports';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, revisit } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { locate } from '../../../../house/provision.ts';
import { Carrier } from '../dispatch/carrier.ts';
import { link } from '../dispatch/link.ts';
import { serveReaders } from '../dispatch/reader-consumers.ts';
import { sealWith } from '../dispatch/seal.ts';
import { consumers, ensureErrands, ensureStreams, shardOf, streams, subjects } from '../dispatch/streams.ts';
import { packObservation } from '../dispatch/wire.ts';
import { runRobot } from '../robot-command.ts';
import { runObserver } from '../observer-command.ts';
import { packErrand } from '../observers/errand.ts';
import { Pulse } from '../pulse.ts';
import { Robot } from '../robot.ts';
import { freePort } from '../trial/postgres-server.ts';
import { readKey } from './key-file.ts';
import { Keyring } from './keyring.ts';

const openssl = spawnSync('openssl', ['version']).status === 0;
const folder = mkdtempSync(join(tmpdir(), 'revisit-access-'));
const ca = join(folder, 'server.pem');
const seal = sealWith(Buffer.from('key'));

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
      keys.add('robot', 'r3');
      keys.add('observer', 'near');
      keys.add('observer', 'east');
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
      serveReaders(home);
    });
    afterAll(async () => {
      await Promise.all(connections.map((connection) => connection.close()));
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    test('whose certificate the system does not know says which flag names it', async () => {
      const linked = await link({ nats: url, natsKey: join(folder, 'r1.nk') }, 'r1');
      expect(linked).toMatchObject({ kind: 'failed', sentence: expect.stringMatching(/certificate.*--nats-ca names/) });
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

    const gone = (probe: Probe, status: number): Observation => {
      const outcome = { kind: 'gone', status } as const;
      return { probe, startedAtMs: 1, endedAtMs: 2, outcome, bytesReceived: 1, requests: 1 };
    };

    /** A robot that finds everything gone, until it is told to stop; answers what it has looked at, without seals. */
    async function work(name: string): Promise<() => Promise<readonly string[]>> {
      const stop = new AbortController();
      const looked: string[] = [];
      const observer = {
        observe: (probe: Probe): Promise<Observation> => {
          looked.push(probe.id.split('.')[0]!);
          return Promise.resolve(gone(probe, 410));
        },
        close: () => Promise.resolve(),
      };
      const about = { name, observer, clock: systemClock, pulse: new Pulse(systemClock), breadth: 2, log: () => {} };
      const working = new Robot({ connection: await as(name), ...about }).run(stop.signal);
      return async () => {
        stop.abort();
        await working;
        return looked;
      };
    }

    test('a robot does its work over TLS with nothing but its key', async () => {
      const home = await as('home');
      const site = 'a.example';
      const carrier = new Carrier(home, systemClock, seal);
      carrier.listen(shardOf(site));
      carrier.admit(shardOf(site));
      const stop = await work('r1');
      const probe = { id: 'p1', url: `https://${site}/`, site, pageIds: [], atMs: 0, validators: {} };
      expect(await carrier.observe(probe)).toMatchObject({ outcome: { kind: 'gone' } });
      expect(await stop()).toEqual(['p1']);
      await carrier.close();
    });

    test('a robot cannot answer what it was not given, nor keep another from answering', async () => {
      const site = 'a.example';
      const carrier = new Carrier(await as('home'), systemClock, seal);
      carrier.listen(shardOf(site));
      carrier.admit(shardOf(site));
      const probe = { id: 'p-7', url: `https://${site}/`, site, pageIds: [], atMs: 0, validators: {} };
      const open = carrier.observe(probe);
      const hostile = jetstream(await as('r2'));
      const forged = (id: string) => packObservation(gone({ ...probe, id }, 404))[0]!;
      for (const id of ['p-7', sealWith(Buffer.from('guess'))('p-7'), 'p-7.'])
        for (const msgID of [`${id}/0`, `${id}/r1/0`]) {
          const about = headers();
          about.set('probe', id);
          await hostile.publish(subjects.observation(shardOf(site), 'r2'), forged(id), { headers: about, msgID });
        }
      const stop = await work('r1');
      expect(await open).toMatchObject({ probe, outcome: { kind: 'gone', status: 410 } });
      expect(await stop()).toEqual(['p-7']);
      await carrier.close();
    });

    test('a robot can write its own results and nothing else, and read nothing but its own answers', async () => {
      const r1 = await as('r1');
      expect(await say(r1, subjects.observation(3, 'r1'))).toBe('taken');
      const others = [
        subjects.begin(3, 'r2'),
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

    test('a robot that asks has no answer written where it may not write', async () => {
      const home = await as('home');
      const carrier = new Carrier(home, systemClock, seal);
      carrier.admit(4);
      const r1 = await as('r1');
      const manager = await jetstreamManager(home);
      const written = async () => (await manager.streams.info(streams.changes)).state.messages;
      const before = await written();
      const about = headers();
      about.set('probe', 'p');
      r1.publish(subjects.begin(4, 'r1'), 'x p', { reply: subjects.change(4) });
      r1.publish(subjects.begin(4, 'r1'), 'x', { reply: subjects.change(4), headers: about });
      expect((await r1.request(subjects.begin(4, 'r1'), 'x p')).string()).toBe('no');
      expect(await written()).toBe(before);
      await carrier.close();
    });

    test('a robot takes probes by hand and an observer errands, each in its own name', async () => {
      const heard: string[] = [];
      const home = await as('home');
      home.subscribe(subjects.hand('*', '*'), { callback: (_, { subject }) => void heard.push(subject) });
      await home.flush();
      for (const who of ['r1', 'near']) {
        const asking = await as(who);
        for (const kind of ['probes', 'errands'] as const)
          for (const name of ['r1', 'near', 'r2']) asking.publish(subjects.hand(kind, name), 'x 1');
        await asking.flush();
      }
      await home.flush();
      expect(heard).toEqual([subjects.hand('probes', 'r1'), subjects.hand('errands', 'near')]);
    });

    test('an observer has its own queue and its own name', async () => {
      const near = await as('near');
      expect(await say(near, subjects.observation(1, 'near'))).toBe('taken');
      expect(await say(near, subjects.observation(1, 'r1'))).toBe('refused');
      expect(await hear(near, subjects.ask('near'))).toBe('allowed');
      expect(await hear(near, subjects.ask('far'))).toBe('refused');
    });

    /** Every subject to which the key may write, as the servers read it, with something for each wildcard; of acknowledgements those of nothing. */
    function writable(name: string): readonly string[] {
      const { publicKey } = readKey(readFileSync(join(folder, `${name}.nk`), 'utf8'))!;
      const accounts = readFileSync(join(folder, 'accounts.conf'), 'utf8');
      const allowed = new RegExp(`nkey: ${publicKey}, permissions: \\{ publish: (\\[.*?\\])`).exec(accounts)![1]!;
      return (JSON.parse(allowed) as string[]).map(filled);
    }

    const filled = (subject: string): string =>
      subject.replace('.reader.>', '.reader.create').replace('.>', '.1.999.999.1.0').replaceAll('*', '0');

    /** Every subject that is imported somewhere, under the name that it has there. */
    const imported = (): readonly string[] =>
      [...readFileSync(join(folder, 'accounts.conf'), 'utf8').matchAll(/ to: "(.*?)"/g)].map(([, to]) => filled(to!));

    test.each(['r1', 'near', 'reader'])(
      'whatever %s asks, the servers do nothing for its answers that it may not do itself',
      async (name) => {
        const home = await as('home');
        const manager = await jetstreamManager(home);
        const attacker = await as(name);
        const carrier = new Carrier(home, systemClock, seal);
        for (const shard of [0, 1]) carrier.admit(shard);
        for (const subject of [subjects.change(0), subjects.probe(2), subjects.errand('near')])
          await say(home, subject);
        await jetstream(home).publish(subjects.observation(5, 'r2'), 'x');
        const kept = async (): Promise<readonly number[]> => {
          const all = [streams.changes, streams.probes, streams.errands].map((stream) => manager.streams.info(stream));
          return (await Promise.all(all)).map(({ state }) => state.messages);
        };
        const results = async (): Promise<number> =>
          (await manager.streams.info(streams.observations, { subjects_filter: subjects.observation('*', 'r2') })).state
            .subjects?.[subjects.observation(5, 'r2')] ?? 0;
        const given = await jetstream(home).consumers.get(streams.observations, consumers.shard(5));
        // One that nobody has acknowledged, though a coordinator has it.
        const { reply } = (await given.next({ expires: 2_000 }))! as unknown as { readonly reply: string };
        const before = [await kept(), await results()];
        const heard: string[] = [];
        for (const place of [subjects.notice, subjects.part, 'revisit.change.*'])
          home.subscribe(place, { callback: (_, { subject }) => void heard.push(subject) });
        await home.flush();
        const stolen = [
          ...Object.values(streams).flatMap((stream) => [
            `$JS.API.STREAM.PURGE.${stream}`,
            `$JS.API.STREAM.DELETE.${stream}`,
          ]),
          `$JS.API.CONSUMER.DELETE.${streams.probes}.${consumers.robots}`,
          subjects.change(0),
          subjects.notice,
          subjects.part,
          reply,
          ...imported(),
        ];
        for (const subject of writable(name))
          for (const reply of stolen)
            for (const words of ['', '{}', 'x 1', '{"batch":1,"no_wait":true}'])
              attacker.publish(subject, words, { reply });
        await attacker.flush();
        await systemClock.sleep(500);
        await manager.consumers.info(streams.probes, consumers.robots);
        expect([await kept(), await results()]).toEqual(before);
        expect(heard).toEqual([]);
        await carrier.close();
        // With what was asked of them and never ends.
        for (const stream of [streams.probes, streams.errands, streams.observations])
          await manager.streams.delete(stream);
        await ensureStreams(home);
        await ensureErrands(home, 'near');
        await home.close();
      },
    );

    test.each([
      ['r1.nk', ['--name', 'r9'], /--name r9: the key is that of robot r1 \(--nats-key \S*r1.nk\)/],
      [
        'plain.nk',
        ['--name', 'r9'],
        /--name r9: the servers refuse results under this name with the key in .*plain.nk/,
      ],
      ['near.nk', [], /--nats-key \S*near.nk: the key is that of observer near; .* add robot near/],
      ['nosuch', [], /--nats-key \S*nosuch: cannot be read \(ENOENT\)/],
      ['server.pem', [], /--nats-key \S*server.pem: it holds no key/],
      ['stranger.nk', [], /--nats-key \S*stranger.nk: the servers at \S+ refuse this key/],
    ] as const)('a robot with %s and %j is told at once', async (key, words, sentence) => {
      // As keys were made before they said whose they are.
      writeFileSync(join(folder, 'plain.nk'), readFileSync(join(folder, 'r1.nk'), 'utf8').split('\n')[0]!);
      writeFileSync(join(folder, 'stranger.nk'), nkeys.createUser().getSeed());
      const reach = ['--nats', url, '--nats-ca', ca, '--nats-key', join(folder, key)];
      const ended = await revisit(['robot', ...reach, ...words]);
      expect(ended).toMatchObject({ code: 2, out: '' });
      expect(ended.err).toMatch(sentence);
    });

    test('a robot whose key is taken back says so and ends, and what it had goes to others', async () => {
      const site = 'b.example';
      const carrier = new Carrier(await as('home'), systemClock, seal);
      carrier.listen(shardOf(site));
      carrier.admit(shardOf(site));
      const reach = { nats: url, natsKey: join(folder, 'r3.nk'), natsCa: ca };
      const said: string[] = [];
      let has = false;
      let end = (): void => {};
      const observer = {
        observe: (probe: Probe): Promise<Observation> =>
          new Promise((done) => {
            has = true;
            const outcome = { kind: 'failed', fault: { code: 'stopped', sentence: 'The look was ended.' } } as const;
            const ended = { probe, startedAtMs: 1, endedAtMs: 2, outcome, bytesReceived: 1, requests: 1 };
            end = () => done(ended);
          }),
        close: () => Promise.resolve(end()),
      };
      const command = { name: undefined, usualName: 'robot-1', breadth: 2, observer: () => observer };
      const log = (level: string, message: string) => void (level === 'warn' && said.push(message));
      const parting = runRobot({ ...reach, ...command, log }, new AbortController().signal);
      const open = carrier.observe({ id: 'b', url: `https://${site}/`, site, pageIds: [], atMs: 0, validators: {} });
      await eventually(() => has);
      const stop = new AbortController();
      const about = { ...command, name: 'r1', observer, clock: systemClock, pulse: new Pulse(systemClock), log };
      const next = new Robot({ ...about, connection: await as('r1') });
      keys.remove('r3');
      child.kill('SIGHUP');
      const working = next.run(stop.signal);
      expect(await open).toMatchObject({ outcome: { fault: { code: 'robot-lost' } } });
      expect(await parting).toMatchObject({
        kind: 'failed',
        sentence: expect.stringMatching(/r3.nk: .* refuse this key/),
      });
      expect(said).toContainEqual(expect.stringMatching(/r3.nk: .* refuse this key/));
      stop.abort();
      await working;
      await carrier.close();
    });

    test('an observer whose key is taken back stops looking at once, keeps what it has found, and says so', async () => {
      const home = await as('home');
      await ensureErrands(home, 'east');
      const site = 'c.example';
      let looks = 0;
      const observer = {
        observe: (probe: Probe): Promise<Observation> => {
          const body = Buffer.from(`<p>edition ${looks++}</p>`);
          const about = { mediaType: 'text/html', charset: 'utf-8', validators: {} };
          const outcome = { kind: 'fetched', status: 200, body, ...about } as const;
          return Promise.resolve({ probe, startedAtMs: 1, endedAtMs: 2, outcome, bytesReceived: 1, requests: 1 });
        },
        close: () => Promise.resolve(),
      };
      const judge = () => Promise.resolve({ changed: true, remembered: { state: '', atMs: 0, text: '' } });
      const reach = { nats: url, natsKey: join(folder, 'east.nk'), natsCa: ca };
      const command = { name: undefined, usualName: 'x', breadth: 2, folder, spacingMs: 1, judge, log: () => {} };
      const running = new AbortController().signal;
      const parting = runObserver({ ...reach, ...command, observer: () => observer }, running);
      const probe = { id: 'c', url: `https://${site}/`, site, pageIds: ['x'], atMs: 0, validators: {} };
      // A mandate that would last for ever.
      const mandate = { everyMs: 100, forMs: 1e12, sinceMs: systemClock.nowMs() };
      const pages = [{ id: 'x', select: { kind: 'text' as const }, options: {} }];
      await jetstream(home).publish(
        subjects.errand('east'),
        packErrand({ probe, mandate, base: '', pages, given: 'once' }),
      );
      await eventually(() => looks > 3);
      keys.remove('east');
      child.kill('SIGHUP');
      expect(await parting).toMatchObject({
        kind: 'failed',
        sentence: expect.stringMatching(/east.nk: .* refuse this key/),
      });
      const stopped = looks;
      await systemClock.sleep(500);
      expect(looks).toBe(stopped);
      expect(readFileSync(join(folder, 'east.findings'), 'utf8').split('\n').length).toBeGreaterThan(3);
    });

    test('a key that is made while the servers run opens what it is for as soon as they have read of it', async () => {
      const carrier = new Carrier(await as('home'), systemClock, seal);
      carrier.admit(4);
      keys.add('robot', 'late');
      child.kill('SIGHUP');
      const open = async (): Promise<NatsConnection | undefined> => as('late').catch(() => undefined);
      const late = await eventually(open);
      expect(await say(late, subjects.observation(4, 'late'))).toBe('taken');
      expect((await late.request(subjects.begin(4, 'late'), 'x p')).string()).toBe('no');
      await carrier.close();
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
      const known = readKey(readFileSync(join(folder, 'home.nk'), 'utf8'))!.publicKey;
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

    test('several servers that all refuse a key refuse it in one sentence', async () => {
      const both = `${url},${url.replace('127.0.0.1', 'localhost')}`;
      const stranger = join(folder, 'stranger.nk');
      expect(await link({ nats: both, natsKey: stranger, natsCa: ca }, 'r9')).toEqual({
        kind: 'failed',
        sentence: expect.stringMatching(/stranger.nk: the servers at \S+ refuse this key/),
      });
      const good = await link({ nats: both, natsKey: join(folder, 'r1.nk'), natsCa: ca }, 'r1');
      if (good.kind === 'failed') throw new Error(good.sentence);
      await good.connection.close();
    });

    test('without a key there is no way in', async () => {
      expect(await link({ nats: url, natsCa: ca }, 'nobody')).toMatchObject({ kind: 'failed' });
    });
  },
);
