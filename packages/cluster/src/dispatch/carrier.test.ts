import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NatsConnection, connect, headers, nanos } from '@nats-io/transport-node';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type Clock, type Observation, type Observer, type Probe, systemClock } from 'revisit/ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { runObserver } from '../observer-command.ts';
import { packErrand } from '../observers/errand.ts';
import { Pulse } from '../pulse.ts';
import { Robot } from '../robot.ts';
import { runRobot } from '../robot-command.ts';
import { hurried, probe, site } from '../trial/dispatched.ts';
import { type NatsServer, startNats } from '../trial/nats-server.ts';
import { Carrier } from './carrier.ts';
import { sealWith } from './seal.ts';
import { consumers, ensureErrands, ensureStreams, shardOf, streams, subjects } from './streams.ts';
import { packObservation, packProbe } from './wire.ts';

const seal = sealWith(Buffer.from('key'));

class Looker implements Observer {
  /** Without their seals. */
  readonly looked: string[] = [];
  hold: Promise<void> = Promise.resolve();
  outcome: Observation['outcome'] = { kind: 'not-modified' };
  robotsOf?: NonNullable<Observer['robotsOf']>;

  async observe(asked: Probe): Promise<Observation> {
    this.looked.push(asked.id.split('.')[0]!);
    await this.hold;
    const { outcome } = this;
    return { probe: asked, startedAtMs: 5, endedAtMs: 9, outcome, bytesReceived: 1, requests: 1 };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe.skipIf(locate('nats-server') === undefined)('a probe', () => {
  let nats: NatsServer;
  let connection: NatsConnection;
  const stops: (() => void)[] = [];
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.end());
  beforeEach(async () => {
    connection = await connect({ servers: nats.url, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
    await ensureStreams(connection);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) stop();
    const manager = await jetstreamManager(connection);
    for (const name of Object.values(streams)) await manager.streams.delete(name);
    await connection.close();
  });

  async function carrier(clock: Clock = systemClock): Promise<Carrier> {
    const made = new Carrier(connection, clock, seal);
    stops.push(() => void made.close());
    made.listen(shardOf(site));
    made.admit(shardOf(site));
    return made;
  }

  function robot(clock: Pick<Clock, 'nowMs'> = systemClock, name = 'r', breadth = 4): Looker {
    const looker = new Looker();
    const stop = new AbortController();
    stops.push(() => stop.abort());
    const log = (): void => {};
    const pulse = new Pulse(clock);
    const about = { name, observer: looker, clock: { ...systemClock, ...clock }, pulse, breadth, log };
    void new Robot({ connection, ...about }).run(stop.signal);
    return looker;
  }

  test('is looked at and answered in our time', async () => {
    const looker = robot();
    const asked = probe();
    const answer = await (await carrier()).observe(asked);
    expect(answer).toMatchObject({ probe: asked, outcome: { kind: 'not-modified' } });
    expect(answer.endedAtMs).toBeGreaterThan(1e12);
    expect(looker.looked).toEqual([asked.id]);
  });

  test('whose address its robot may not visit is refused by that one only: another robot may', async () => {
    const looker = robot(systemClock, 'frankfurt-1');
    const why = { code: 'address-refused', sentence: 'a.example leads to 10.0.0.1 (private)' };
    looker.outcome = { kind: 'refused', fault: why };
    const { outcome } = await (await carrier()).observe(probe());
    const sentence = expect.stringMatching(/^Robot frankfurt-1 says: a.example leads to 10.0.0.1 .*--allow-network/);
    expect(outcome).toEqual({ kind: 'refused', fault: { code: 'address-refused', sentence }, onlyHere: true });
  });

  test('of a page from which others are found brings what robots.txt forbids, as its robot has read it', async () => {
    const no = { allow: false, path: '/private' };
    robot().robotsOf = () => ({
      crawlDelayMs: undefined,
      sitemaps: [],
      rules: [{ allow: true, path: '/private/b*/c$' }, no],
    });
    const carried = await carrier();
    await carried.observe(probe());
    const said = () =>
      ['a', 'private/a', 'private/b/c', 'private/b/c?d'].map((path) => carried.allows(`https://${site}/${path}`));
    expect(said()).toEqual([undefined, undefined, undefined, undefined]);
    await carried.observe({ ...probe(), discovers: true });
    expect(said()).toEqual([true, false, true, false]);
  });

  test('that another coordinator sent is answered here without a second look', async () => {
    const asked = probe();
    const first = await carrier();
    const given = first.observe(asked);
    let goOn = (): void => {};
    const looker = robot();
    looker.hold = new Promise((resolve) => (goOn = resolve));
    while (looker.looked.length === 0) await systemClock.sleep(5);
    // The first coordinator loses the shard: what it waited for ends there, unlooked.
    first.silence(shardOf(site));
    expect(await given).toMatchObject({ requests: 0, outcome: { kind: 'refused', fault: { code: 'robot-lost' } } });
    const taken = (await carrier()).observe(asked);
    goOn();
    expect(await taken).toMatchObject({ outcome: { kind: 'not-modified' } });
    expect(looker.looked).toEqual([asked.id]);
  });

  test('that waited for longer than the server remembers ids waits there once, whoever hands it out again', async () => {
    const manager = await jetstreamManager(connection);
    const { config } = await manager.streams.info(streams.probes);
    await manager.streams.update(streams.probes, { ...config, duplicate_window: nanos(100) });
    // Sent before the epoch, so old; beside others of its shard.
    const [asked, beside] = [probe(), probe()];
    const first = await carrier();
    const given = [beside, asked].map((each) => first.observe(each));
    const waiting = async (): Promise<number> => (await manager.streams.info(streams.probes)).state.messages;
    while ((await waiting()) < 2) await systemClock.sleep(5);
    await systemClock.sleep(500);
    first.silence(shardOf(site));
    await Promise.all(given);
    first.listen(shardOf(site));
    first.admit(shardOf(site));
    const taken = [asked, beside].map((each) => first.observe(each));
    const looker = robot();
    for (const answer of await Promise.all(taken)) expect(answer).toMatchObject({ outcome: { kind: 'not-modified' } });
    while ((await waiting()) > 0) await systemClock.sleep(5);
    expect([...looker.looked].sort()).toEqual([beside.id, asked.id].sort());
    // The same robot would know them again, another would not.
    const { delivered } = await manager.consumers.info(streams.probes, consumers.robots);
    expect(delivered.consumer_seq).toBe(2);
  });

  test('whose message is gone and whose answer never comes is handed back', async () => {
    const asked = probe();
    const open = (await carrier(hurried)).observe(asked);
    const manager = await jetstreamManager(connection);
    for (;;) {
      const { state } = await manager.streams.info(streams.probes);
      if (state.messages === 1) break;
      await systemClock.sleep(5);
    }
    await manager.streams.purge(streams.probes);
    expect(await open).toMatchObject({ requests: 0, outcome: { kind: 'refused', fault: { code: 'robot-lost' } } });
  });

  test('that was believed to be lost and is answered after all is a look', async () => {
    const asked = probe();
    const looker = robot();
    let goOn = (): void => {};
    looker.hold = new Promise((resolve) => (goOn = resolve));
    const sender = await carrier(hurried);
    const late: Observation[] = [];
    sender.onLate = (observation) => late.push(observation) > 0;
    const open = sender.observe(asked);
    while (looker.looked.length === 0) await systemClock.sleep(5);
    await (await jetstreamManager(connection)).streams.purge(streams.probes);
    expect(await open).toMatchObject({ requests: 0, outcome: { kind: 'refused', fault: { code: 'robot-lost' } } });
    goOn();
    while (late.length === 0) await systemClock.sleep(5);
    expect(late).toMatchObject([{ probe: asked, requests: 1, outcome: { kind: 'not-modified' } }]);
    const waiting = async () =>
      (await (await jetstreamManager(connection)).streams.info(streams.observations)).state.messages;
    await systemClock.sleep(500);
    expect(await waiting()).toBe(1);
    sender.ended([asked.id]);
    while ((await waiting()) > 0) await systemClock.sleep(5);
  });

  test('that is sent while the server is away goes out once when it is back', async () => {
    const sender = await carrier();
    const looker = robot();
    await sender.observe(probe());
    await nats.kill();
    const asked = probe();
    const open = sender.observe(asked);
    await systemClock.sleep(300);
    await nats.start();
    expect(await open).toMatchObject({ outcome: { kind: 'not-modified' } });
    expect(looker.looked.filter((id) => id === asked.id)).toHaveLength(1);
  });

  test('that comes twice, and whose answer comes twice, is one look and one answer', async () => {
    const asked = probe();
    const looker = robot();
    let goOn = (): void => {};
    looker.hold = new Promise((resolve) => (goOn = resolve));
    const sender = await carrier();
    const open = sender.observe(asked);
    // The same again, as another message.
    await jetstream(connection).publish(subjects.probe(shardOf(site)), packProbe({ ...asked, id: seal(asked.id) }));
    while (looker.looked.length === 0) await systemClock.sleep(5);
    await systemClock.sleep(100);
    goOn();
    expect(await open).toMatchObject({ outcome: { kind: 'not-modified' } });
    const late = packObservation(await looker.observe(asked));
    const about = headers();
    about.set('probe', seal(asked.id));
    await jetstream(connection).publish(subjects.observation(shardOf(site), 'r'), late[0], { headers: about });
    expect((await sender.observe(probe())).outcome.kind).toBe('not-modified');
    // Once for the probe, and once by this test itself.
    expect(looker.looked.filter((id) => id === asked.id)).toHaveLength(2);
  });

  /** The same again, as another message: what a cluster of servers does whose leader was lost. */
  async function handedOutAgain({ id, ...rest }: Probe): Promise<void> {
    await jetstream(connection).publish(subjects.probe(shardOf(site)), packProbe({ ...rest, id: seal(id) }));
  }

  async function queueIsEmpty(stream: string): Promise<void> {
    const manager = await jetstreamManager(connection);
    while ((await manager.streams.info(stream)).state.messages > 0) await systemClock.sleep(5);
  }

  test('that the servers hand out again is begun by nobody else, neither meanwhile nor when it is over', async () => {
    // One at a time, so that what comes while it is at it goes to the other.
    const first = robot(systemClock, 'r1', 1);
    let goOn = (): void => {};
    first.hold = new Promise((resolve) => (goOn = resolve));
    const asked = probe();
    const open = (await carrier()).observe(asked);
    while (first.looked.length === 0) await systemClock.sleep(5);
    const second = robot(systemClock, 'r2');
    await handedOutAgain(asked);
    const manager = await jetstreamManager(connection);
    const given = async () => (await manager.consumers.info(streams.probes, consumers.robots)).num_ack_pending;
    while ((await given()) < 2) await systemClock.sleep(5);
    // It is kept for as long as the first is at it.
    await systemClock.sleep(300);
    expect(await given()).toBe(2);
    goOn();
    expect(await open).toMatchObject({ requests: 1, outcome: { kind: 'not-modified' } });
    await handedOutAgain(asked);
    await queueIsEmpty(streams.probes);
    expect([first.looked, second.looked]).toEqual([[asked.id], []]);
  });

  test('that was given up is begun by nobody, however late it comes', async () => {
    const asked = probe();
    const sender = await carrier(hurried);
    const open = sender.observe(asked);
    const manager = await jetstreamManager(connection);
    while ((await manager.streams.info(streams.probes)).state.messages === 0) await systemClock.sleep(5);
    await manager.streams.purge(streams.probes);
    expect(await open).toMatchObject({ requests: 0, outcome: { fault: { code: 'robot-lost' } } });
    const looker = robot();
    await handedOutAgain(asked);
    await queueIsEmpty(streams.probes);
    expect(looker.looked).toEqual([]);
  });

  test('that another coordinator let out and nobody has answered is handed back, as somebody may have begun it', async () => {
    const sender = await carrier();
    sender.silence(shardOf(site));
    const asked = probe();
    await handedOutAgain(asked);
    const open = sender.observe(asked);
    sender.listen(shardOf(site));
    sender.admit(shardOf(site));
    const looker = robot();
    expect(await open).toMatchObject({ requests: 0, outcome: { fault: { code: 'robot-lost' } } });
    expect(looker.looked).toEqual([]);
  });

  test('is begun though one that has lost its shard without knowing is asked too', async () => {
    const deposed = await carrier();
    deposed.silence(shardOf(site));
    deposed.admit(shardOf(site), () => false);
    const looker = robot();
    const asked = probe();
    expect(await (await carrier()).observe(asked)).toMatchObject({ outcome: { kind: 'not-modified' } });
    expect(looker.looked).toEqual([asked.id]);
  });

  test('that an observer was to try, or to watch long ago, is not looked at when nobody waits for it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-tried-'));
    const looker = new Looker();
    const stop = new AbortController();
    await ensureErrands(connection, 'near');
    await carrier();
    const command = {
      nats: nats.url,
      name: 'near',
      usualName: 'near',
      breadth: 4,
      log: () => {},
      folder,
      spacingMs: 1,
    };
    const judge = () => Promise.reject(new Error('Nothing is fetched here.'));
    const left = runObserver({ ...command, observer: () => looker, judge }, stop.signal);
    const sinceMs = systemClock.nowMs();
    const send = (forMs: number, agoMs: number): Promise<unknown> => {
      const mandate = { everyMs: 1e6, forMs, sinceMs: sinceMs - agoMs };
      const errand = packErrand({
        probe: { ...probe(), url: `https://${site}/${agoMs}` },
        mandate,
        base: '',
        pages: [],
      });
      return jetstream(connection).publish(subjects.errand('near'), errand);
    };
    await send(0, 0);
    await send(600_000, 60_000);
    await queueIsEmpty(streams.errands);
    expect(looker.looked).toEqual([]);
    // Under a mandate that it has just got it need not ask.
    await send(600_000, 1);
    await queueIsEmpty(streams.errands);
    expect(looker.looked).toHaveLength(1);
    stop.abort();
    await left;
    rmSync(folder, { recursive: true, force: true });
  });

  test('keeps no robot and no observer that is told to leave while the server is away', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-leaver-'));
    const stop = new AbortController();
    const [near, far] = [new Looker(), new Looker()];
    const command = { nats: nats.url, name: 'leaver', usualName: 'leaver', breadth: 4, log: () => {} };
    const judge = () => Promise.reject(new Error('Nothing is fetched here.'));
    await ensureErrands(connection, 'leaver');
    const left = [
      runRobot({ ...command, observer: () => far }, stop.signal),
      runObserver({ ...command, observer: () => near, folder, spacingMs: 1, judge }, stop.signal),
    ];
    await (await carrier()).observe(probe());
    const mandate = { everyMs: 1e6, forMs: 1e6, sinceMs: systemClock.nowMs() };
    const errand = packErrand({ probe: probe(), mandate, base: '', pages: [] });
    await jetstream(connection).publish(subjects.errand('leaver'), errand);
    // Answered, so that neither has anything to say when it leaves.
    const manager = await jetstreamManager(connection);
    while (near.looked.length === 0 || (await manager.streams.info(streams.errands)).state.messages > 0)
      await systemClock.sleep(5);
    await nats.kill();
    stop.abort();
    expect(await Promise.all(left)).toEqual([{ kind: 'left' }, { kind: 'left' }]);
    rmSync(folder, { recursive: true, force: true });
    await nats.start();
    // Our own connection needs a moment to find the server again.
    const isBack = (): Promise<boolean> =>
      ensureStreams(connection).then(
        () => true,
        () => false,
      );
    while (!(await isBack())) await systemClock.sleep(50);
  });

  test('that a robot only says it is at is taken back after minutes', async () => {
    let aheadMs = 0;
    const sender = await carrier({ ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs });
    const looker = robot();
    looker.hold = new Promise(() => {});
    const open = sender.observe(probe());
    while (looker.looked.length === 0) await systemClock.sleep(5);
    aheadMs = 11 * 60_000;
    expect(await open).toMatchObject({ requests: 0, outcome: { kind: 'refused', fault: { code: 'robot-lost' } } });
    const manager = await jetstreamManager(connection);
    expect((await manager.streams.info(streams.probes)).state.messages).toBe(0);
  });

  test('that a robot has slept over is handed back, and so is what comes while it wakes', async () => {
    let nowMs = 1e12;
    const looker = robot({ nowMs: () => nowMs });
    const sender = await carrier();
    let goOn = (): void => {};
    looker.hold = new Promise((resolve) => (goOn = resolve));
    const [slept, asked, after] = [probe(), probe(), probe()];
    const open = sender.observe(slept);
    while (looker.looked.length === 0) await systemClock.sleep(5);
    nowMs += 3_000;
    goOn();
    const handedBack = { requests: 0, outcome: { kind: 'refused', fault: { code: 'robot-lost' } } };
    expect(await open).toMatchObject(handedBack);
    expect(await sender.observe(asked)).toMatchObject(handedBack);
    // A second at a time: it is awake.
    for (let second = 0; second < 6; second++) {
      nowMs += 1_000;
      await systemClock.sleep(250);
    }
    expect(await sender.observe(after)).toMatchObject({ outcome: { kind: 'not-modified' } });
    expect(looker.looked).toEqual([slept.id, after.id]);
  });
});
