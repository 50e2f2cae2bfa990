import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, connect } from '@nats-io/transport-node';
import { type Clock, type Observation, type Observer, systemClock } from 'revisit/ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { Pulse } from '../pulse.ts';
import { Robot } from '../robot.ts';
import { probe, site } from '../trial/dispatched.ts';
import { type NatsServer, startNats } from '../trial/nats-server.ts';
import { Carrier } from './carrier.ts';
import { sealWith } from './seal.ts';
import { consumers, ensureStreams, shardOf, streams, subjects } from './streams.ts';

const shard = shardOf(site);
const seal = sealWith(Buffer.from('key'));
const seen = { outcome: { kind: 'not-modified' } };
const lost = { requests: 0, outcome: { kind: 'refused', fault: { code: 'robot-lost' } } };

describe.skipIf(locate('nats-server') === undefined)('while the queues do not move', () => {
  let nats: NatsServer;
  let connection: NatsConnection;
  const stops: (() => void)[] = [];
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.end());
  beforeEach(async () => {
    connection = await connect({ servers: nats.url });
    await ensureStreams(connection);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) stop();
    await takeAway(...Object.values(streams));
    await connection.close();
  });

  async function takeAway(...names: readonly string[]): Promise<void> {
    const manager = await jetstreamManager(connection);
    for (const name of names) await manager.streams.delete(name).catch(() => false);
  }

  /** One that hears nothing from the queue, and cannot bring back what is taken away: no three servers are there. */
  function carrier(clock: Clock = systemClock): Carrier {
    const made = new Carrier(connection, clock, seal, 3);
    stops.push(() => void made.close());
    made.admit(shard);
    return made;
  }

  function robot(name: string): string[] {
    const looked: string[] = [];
    const observer: Observer = {
      observe: (asked): Promise<Observation> => {
        looked.push(asked.id.split('.')[0]!);
        const outcome = { kind: 'not-modified' } as const;
        return Promise.resolve({ probe: asked, startedAtMs: 5, endedAtMs: 9, outcome, bytesReceived: 1, requests: 1 });
      },
      close: () => Promise.resolve(),
    };
    const stop = new AbortController();
    stops.push(() => stop.abort());
    const about = { connection, name, observer, clock: systemClock, pulse: new Pulse(systemClock), breadth: 4 };
    void new Robot({ ...about, log: () => {} }).run(stop.signal);
    return looked;
  }

  test('probes go out and results come back from hand to hand, each once', async () => {
    const sender = carrier();
    const looked = [robot('r1'), robot('r2')];
    await takeAway(...Object.values(streams));
    const asked = [probe(systemClock.nowMs()), probe(systemClock.nowMs()), probe(systemClock.nowMs())];
    const answers = await Promise.all(asked.map((one) => sender.observe(one)));
    for (const answer of answers) expect(answer).toMatchObject(seen);
    expect(looked.flat().sort()).toEqual(asked.map(({ id }) => id).sort());
    expect(sender.linked).toBe(true);
  });

  test('whoever takes over a shard then hands out at once, and hears the queue when it moves again', async () => {
    await takeAway(...Object.values(streams));
    const sender = carrier();
    sender.listen(shard);
    const looked = robot('r1');
    const asked = probe(systemClock.nowMs());
    expect(await sender.observe(asked)).toMatchObject(seen);
    await ensureStreams(connection);
    const manager = await jetstreamManager(connection);
    const consumer = () => manager.consumers.info(streams.observations, consumers.shard(shard));
    while ((await consumer()).num_waiting === 0) await systemClock.sleep(20);
    expect(looked).toEqual([asked.id]);
  });

  test('what the queue has and hands to nobody is looked at, and no second time when it does', async () => {
    const manager = await jetstreamManager(connection);
    await manager.consumers.delete(streams.probes, consumers.robots);
    const sender = carrier();
    const looked = robot('r1');
    const asked = probe(systemClock.nowMs());
    expect(await sender.observe(asked)).toMatchObject(seen);
    expect((await manager.streams.info(streams.probes)).state.messages).toBe(1);
    await ensureStreams(connection);
    while ((await manager.streams.info(streams.probes)).state.messages > 0) await systemClock.sleep(20);
    expect(looked).toEqual([asked.id]);
  });

  test('a result that the queue has taken and hands to nobody is read there', async () => {
    const looked = robot('r1');
    const asked = probe(systemClock.nowMs());
    expect(await carrier().observe(asked)).toMatchObject(seen);
    expect(looked).toEqual([asked.id]);
  });

  test('a result that went down with its server is told again, without a look', async () => {
    const sender = carrier();
    const looked = robot('r1');
    const asked = probe(systemClock.nowMs());
    const open = sender.observe(asked);
    const manager = await jetstreamManager(connection);
    while ((await manager.streams.info(streams.observations)).state.messages === 0) await systemClock.sleep(5);
    await takeAway(streams.observations);
    expect(await open).toMatchObject(seen);
    expect(looked).toEqual([asked.id]);
  });

  test('what the holder before let out, and nobody says anything about, is handed back unlooked once whoever had leave for it has lost it', async () => {
    await takeAway(...Object.values(streams));
    let aheadMs = 0;
    const sender = carrier({ ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs });
    sender.silence(shard);
    const asked = probe(systemClock.nowMs());
    const open = sender.observe(asked);
    sender.admit(shard);
    const looked = robot('r1');
    expect(await Promise.race([open, systemClock.sleep(1_200)])).toBeUndefined();
    aheadMs = 3_000;
    expect(await open).toMatchObject(lost);
    expect(await sender.observe(probe(systemClock.nowMs()))).toMatchObject(seen);
    expect(looked).not.toContain(asked.id);
  });

  /** Takes the message from the queue, and says no more of it. */
  async function given(): Promise<void> {
    const consumer = await jetstream(connection).consumers.get(streams.probes, consumers.robots);
    (await consumer.next())!.nak();
  }

  test('a probe that one was given and never began is looked at by the next', async () => {
    const asked = probe(systemClock.nowMs());
    const open = carrier().observe(asked);
    await given();
    const looked = robot('r1');
    expect(await open).toMatchObject(seen);
    expect(looked).toEqual([asked.id]);
  });

  test('a probe that one began and fell silent over is handed back unlooked by the next, and no sooner', async () => {
    let aheadMs = 0;
    const sender = carrier({ ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs });
    const asked = probe(systemClock.nowMs());
    const open = sender.observe(asked);
    const leave = await connection.request(subjects.begin(shard, 'gone'), `gone-1 ${seal(asked.id)}`);
    expect(leave.string()).toBe('yes');
    await given();
    const looked = robot('r1');
    expect(await Promise.race([open, systemClock.sleep(1_000)])).toBeUndefined();
    aheadMs = 5_000;
    expect(await open).toMatchObject(lost);
    expect(looked).toEqual([]);
  });
});
