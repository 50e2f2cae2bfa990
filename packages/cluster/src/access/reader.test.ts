import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AckPolicy, type ConsumerInfo, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, connect, nkeyAuthenticator } from '@nats-io/transport-node';
import { systemClock } from 'revisit/ports';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, revisit } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { locate } from '../../../../house/provision.ts';
import { link } from '../dispatch/link.ts';
import { serveReaders } from '../dispatch/reader-consumers.ts';
import { ensureStreams, streams, subjects } from '../dispatch/streams.ts';
import { answers, freePort } from '../trial/postgres-server.ts';

const root = join(import.meta.dirname, '../../../..');
const documented = /```js\n(import [^`]*REVISIT_CHANGES[^`]*)```/.exec(
  readFileSync(join(root, 'docs/scale.md'), 'utf8'),
)![1]!;

describe.skipIf(locate('nats-server') === undefined)('a reader', () => {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-reader-'));
  const children: ChildProcess[] = [];
  const connections: NatsConnection[] = [];
  let url: string;
  let said: string;

  beforeAll(async () => {
    const port = await freePort();
    url = `nats://127.0.0.1:${port}`;
    await revisit(['access', 'server', '--listen', `127.0.0.1:${port}`, '--folder', folder]);
    await revisit(['access', 'add', 'coordinator', 'home', '--folder', folder]);
    const words = ['-c', join(folder, 'nats.conf')];
    const server = leash(spawn(locate('nats-server')!, words, { stdio: 'ignore' }));
    children.push(server);
    await eventually(() => answers(port));
    // While the server runs, which had no readers before.
    await revisit(['access', 'add', 'reader', 'other', '--folder', folder]);
    said = (await revisit(['access', 'add', 'reader', 'me', '--folder', folder])).err;
    server.kill('SIGHUP');
    await eventually(() => as('me').catch(() => undefined));
    const home = await as('home');
    await ensureStreams(home);
    serveReaders(home);
    await jetstream(home).publish(subjects.change(3), JSON.stringify({ summary: 'it is news' }));
  });
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  async function as(name: string): Promise<NatsConnection> {
    const linked = await link({ nats: url, natsKey: join(folder, `${name}.nk`) }, name);
    if (linked.kind === 'failed') throw new Error(linked.sentence);
    connections.push(linked.connection);
    return linked.connection;
  }

  const inbox = (): string => /_INBOX_U\w+/.exec(said)![0];

  test('follows the changes by the program in docs/scale.md, with the inbox that "access add" says', async () => {
    const program = documented
      .replace('nats://127.0.0.1:4222', url)
      .replace('revisit-access/', `${folder}/`)
      .replace('_INBOX_UXXX', inbox());
    const child = leash(
      spawn(process.execPath, ['--input-type=module', '-e', program], { cwd: join(root, 'packages/cluster') }),
    );
    children.push(child);
    let heard = '';
    child.stdout!.on('data', (text: Buffer) => (heard += text.toString()));
    child.stderr!.on('data', (text: Buffer) => (heard += text.toString()));
    await eventually(() => heard !== '');
    expect(heard).toContain("{ summary: 'it is news' }");
    child.kill('SIGKILL');
    await (await readers(await as('me'))).delete(streams.changes, 'me');
  });

  test('hears nothing that goes to another: neither by its name nor where clients listen that were told nothing', async () => {
    const connection = await connect({
      servers: url,
      authenticator: nkeyAuthenticator(readFileSync(join(folder, 'other.nk')).subarray(0, 58)),
    });
    for (const place of [`${inbox()}.>`, '_INBOX.>']) {
      const refusal = await new Promise<string>((done) => {
        connection.subscribe(place, { callback: (error) => done(error?.message ?? 'heard') });
      });
      expect(refusal).toMatch(/Permissions Violation/);
    }
    await connection.close();
  });

  const explicit = { ack_policy: AckPolicy.Explicit };
  const readers = async (connection: NatsConnection) =>
    (await jetstreamManager(connection, { checkAPI: false })).consumers;
  const consumerOf = async (name: string): Promise<ConsumerInfo | undefined> =>
    (await jetstreamManager(await as('home'))).consumers.info(streams.changes, name).catch(() => undefined);
  /** The sentence with which it is refused. What names another reader is renamed on its way, and the server says its refusal to nobody in particular. */
  const refusalOf = (asked: Promise<unknown>): Promise<string> =>
    asked.then(
      () => 'not refused',
      (error: Error) => error.message,
    );

  test.each([
    ['with a filter', { durable_name: 'me', filter_subject: subjects.change('>') }],
    ['without', { durable_name: 'me' }],
    ['by its plain name', { name: 'me' }],
  ])('has one consumer, called as its key: made %s, pulled from, and removed', async (_, wish) => {
    const me = await as('me');
    const mine = await readers(me);
    expect(await mine.add(streams.changes, { ...explicit, ...wish })).toMatchObject({ name: 'me' });
    const changes = await jetstream(me).consumers.get(streams.changes, 'me');
    const message = await changes.next({ expires: 2_000 });
    expect(message?.json()).toEqual({ summary: 'it is news' });
    expect(await message!.ackAck()).toBe(true);
    expect((await changes.info()).num_ack_pending).toBe(0);
    expect(await mine.delete(streams.changes, 'me')).toBe(true);
    expect(await consumerOf('me')).toBeUndefined();
  });

  test('is served as clients before NATS 2.9 ask', async () => {
    const me = await as('me');
    const words = { stream_name: streams.changes, config: { durable_name: 'me', ...explicit } };
    const answer = await me.request(`$JS.API.CONSUMER.DURABLE.CREATE.${streams.changes}.me`, JSON.stringify(words));
    expect(answer.json()).toMatchObject({ name: 'me', config: { durable_name: 'me', ack_policy: 'explicit' } });
  });

  test('writes no changes, and has them sent nowhere', async () => {
    const me = await as('me');
    const home = await as('home');
    const heard: string[] = [];
    home.subscribe('revisit.>', { callback: (_, { subject }) => void heard.push(subject) });
    await home.flush();
    expect(await refusalOf(me.request(subjects.change(0), 'x', { timeout: 500 }))).toMatch(/Permission/);
    const mine = await readers(me);
    await mine.delete(streams.changes, 'me').catch(() => {});
    for (const deliver_subject of [subjects.notice, `$JS.API.STREAM.PURGE.${streams.changes}`, `${inbox()}.x`]) {
      const sent = { ack_policy: AckPolicy.None, deliver_subject, filter_subject: subjects.change('>') };
      for (const name of [{ name: 'me' }, { durable_name: 'me' }])
        expect(await refusalOf(mine.add(streams.changes, { ...sent, ...name }))).toMatch(/readers pull/);
      // A server takes a key in capitals for the same.
      const config = { durable_name: 'me', ...explicit, DELIVER_SUBJECT: deliver_subject };
      const words = JSON.stringify({ stream_name: streams.changes, config });
      await me.request(`$JS.API.CONSUMER.CREATE.${streams.changes}.me`, words);
      expect((await consumerOf('me'))?.config.deliver_subject).toBeUndefined();
    }
    await systemClock.sleep(300);
    expect(heard.filter((subject) => !subject.startsWith('revisit.reader.'))).toEqual([]);
  });

  test('has nothing to do with the consumer of another', async () => {
    const other = await as('other');
    await (await readers(other)).add(streams.changes, { durable_name: 'other', ...explicit });
    const me = await as('me');
    const asks = [
      ['CONSUMER.INFO', ''],
      ['CONSUMER.DELETE', ''],
      ['CONSUMER.MSG.NEXT', '{"batch":1}'],
      ['CONSUMER.CREATE', JSON.stringify({ config: { durable_name: 'other', ack_policy: 'none' } })],
      ['CONSUMER.DURABLE.CREATE', JSON.stringify({ config: { durable_name: 'other', ack_policy: 'none' } })],
    ] as const;
    const refusals = asks.map(([what, words]) =>
      refusalOf(me.request(`$JS.API.${what}.${streams.changes}.other`, words, { timeout: 1_000 })),
    );
    for (const refusal of await Promise.all(refusals)) expect(refusal).toMatch(/Permission|timeout/);
    const unknown = { durable_name: 'mine', ...explicit };
    expect(await refusalOf((await readers(me)).add(streams.changes, unknown))).toMatch(/Permission/);
    expect(await refusalOf(jetstream(me).consumers.get(streams.changes))).toMatch(/Permission/);
    const mine = JSON.stringify({ config: { durable_name: 'other', ...explicit } });
    const named = (await me.request(`$JS.API.CONSUMER.CREATE.${streams.changes}.me`, mine)).json();
    expect(named).toMatchObject({ error: { description: 'the consumer of this reader is called me, as its key is' } });
    expect(await consumerOf('other')).toMatchObject({ num_pending: 1, delivered: { consumer_seq: 0 } });
  });

  test('has nothing done to the consumer of another by answers that it has sent there', async () => {
    const me = await as('me');
    await (await readers(me)).add(streams.changes, { durable_name: 'me', ...explicit });
    const before = await consumerOf('other');
    const asks = [
      `$JS.API.STREAM.INFO.${streams.changes}`,
      `$JS.API.CONSUMER.INFO.${streams.changes}.me`,
      `$JS.API.CONSUMER.MSG.NEXT.${streams.changes}.me`,
      subjects.reader('me', 'create'),
    ];
    const places = [
      ...['create', 'info', 'delete'].map((what) => subjects.reader('other', what)),
      'revisit.changes',
      `$JS.API.CONSUMER.DELETE.${streams.changes}.other`,
      `$JS.API.CONSUMER.CREATE.${streams.changes}.other`,
      `$JS.API.CONSUMER.MSG.NEXT.${streams.changes}.other`,
    ];
    for (const reply of places)
      for (const subject of asks)
        for (const words of ['', '{"batch":1,"no_wait":true}', '{"batch":1,"expires":100000000}']) {
          me.publish(subject, words, { reply });
          await me.flush();
        }
    await systemClock.sleep(500);
    expect(await consumerOf('other')).toEqual(before);
  });
});
