import { jetstreamManager } from '@nats-io/jetstream';
import { type NatsConnection, connect } from '@nats-io/transport-node';
import { type Clock, type Observation, type Probe, systemClock } from 'revisit/ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { eventually } from '../../../daemon/src/trial/command.ts';
import { Pulse } from '../pulse.ts';
import { Robot } from '../robot.ts';
import { probe, site } from '../trial/dispatched.ts';
import { type NatsServer, startNats } from '../trial/nats-server.ts';
import { Carrier } from './carrier.ts';
import { sealWith } from './seal.ts';
import { ensureStreams, shardOf, streams } from './streams.ts';

const shard = shardOf(site);

describe.skipIf(locate('nats-server') === undefined)('what a look saw', () => {
  let nats: NatsServer;
  const open: NatsConnection[] = [];
  const stops: (() => void)[] = [];
  let looks = 0;
  /** The robot, from when it begins to leave on. */
  let leave: () => Promise<void>;
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.end());
  beforeEach(async () => {
    const connection = await link();
    await ensureStreams(connection, 1, 1_000);
    looks = 0;
    const observer = {
      observe: (asked: Probe): Promise<Observation> => {
        const body = Buffer.from(`edition ${++looks}`);
        const outcome = {
          kind: 'fetched',
          status: 200,
          body,
          mediaType: undefined,
          charset: undefined,
          validators: {},
        };
        const about = { startedAtMs: 5, endedAtMs: 9, bytesReceived: 1, requests: 1 };
        return Promise.resolve({ probe: asked, outcome, ...about } as Observation);
      },
      close: () => Promise.resolve(),
    };
    const stop = new AbortController();
    const pulse = new Pulse(systemClock);
    const robot = new Robot({ connection, name: 'r', observer, clock: systemClock, pulse, breadth: 4, log: () => {} });
    const running = robot.run(stop.signal);
    leave = () => {
      stop.abort();
      return running;
    };
    stops.push(() => void leave());
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) stop();
    const manager = await jetstreamManager(open[0]!);
    for (const name of Object.values(streams)) await manager.streams.delete(name).catch(() => false);
    for (const connection of open.splice(0)) await connection.close();
  });

  async function link(): Promise<NatsConnection> {
    const connection = await connect({ servers: nats.url });
    open.push(connection);
    return connection;
  }

  function carrierOn(connection: NatsConnection, clock: Clock = systemClock, replicas = 1): Carrier {
    const carrier = new Carrier(connection, clock, sealWith(Buffer.from('key')), replicas, 1_000);
    stops.push(() => void carrier.close());
    return carrier;
  }

  const waiting = async () =>
    (await (await jetstreamManager(open[0]!)).streams.info(streams.observations)).state.messages;
  const saw = ({ outcome }: Observation) => outcome.kind === 'fetched' && Buffer.from(outcome.body).toString();

  test('stays in the queue until it is kept', async () => {
    const carrier = carrierOn(await link());
    carrier.listen(shard);
    carrier.admit(shard);
    const asked = probe();
    expect(saw(await carrier.observe(asked))).toBe('edition 1');
    expect(await waiting()).toBe(1);
    carrier.ended([asked.id]);
    await eventually(async () => (await waiting()) === 0);
  });

  test('is heard again by whoever takes over from a coordinator that was killed before it was kept', async () => {
    const killed = await link();
    const first = carrierOn(killed);
    first.listen(shard);
    first.admit(shard);
    const asked = probe();
    expect(saw(await first.observe(asked))).toBe('edition 1');
    await killed.close();
    const next = carrierOn(await link());
    // It hears the result before it has read from the store which probes are under way.
    next.listen(shard);
    await systemClock.sleep(1_500);
    const again = next.observe(asked);
    next.admit(shard);
    expect(saw(await again)).toBe('edition 1');
    expect(looks).toBe(1);
    next.ended([asked.id]);
    await eventually(async () => (await waiting()) === 0);
  });

  test('is left to the next holder with its shard', async () => {
    const first = carrierOn(await link());
    first.listen(shard);
    first.admit(shard);
    const asked = probe();
    await first.observe(asked);
    first.silence(shard);
    const next = carrierOn(await link());
    next.listen(shard);
    const again = next.observe(asked);
    next.admit(shard);
    expect(saw(await again)).toBe('edition 1');
    expect(looks).toBe(1);
  });

  async function takeQueuesAway(): Promise<void> {
    const manager = await jetstreamManager(open[0]!);
    for (const name of Object.values(streams)) await manager.streams.delete(name);
  }

  /** It cannot bring the queues back: no three servers are there. */
  const withoutQueues = (connection: NatsConnection): Carrier => carrierOn(connection, systemClock, 3);

  test('and went by hand stays with the robot until it is kept, also while that leaves', async () => {
    await takeQueuesAway();
    const carrier = withoutQueues(await link());
    carrier.admit(shard);
    const asked = probe(systemClock.nowMs());
    expect(saw(await carrier.observe(asked))).toBe('edition 1');
    let hasLeft = false;
    const left = leave().then(() => (hasLeft = true));
    await systemClock.sleep(4_000);
    expect(hasLeft).toBe(false);
    carrier.ended([asked.id]);
    await left;
  });

  test('and went by hand is brought to whoever takes over from a coordinator that was killed before it was kept', async () => {
    await takeQueuesAway();
    const killed = await link();
    const first = withoutQueues(killed);
    first.admit(shard);
    const asked = probe(systemClock.nowMs());
    expect(saw(await first.observe(asked))).toBe('edition 1');
    await killed.close();
    await systemClock.sleep(1_000);
    const next = withoutQueues(await link());
    const again = next.observe(asked);
    next.admit(shard);
    expect(saw(await again)).toBe('edition 1');
    expect(looks).toBe(1);
  });

  test('and went by hand is brought to whoever has the shard from one that has lost it', async () => {
    await takeQueuesAway();
    const first = withoutQueues(await link());
    first.admit(shard);
    const asked = probe(systemClock.nowMs());
    expect(saw(await first.observe(asked))).toBe('edition 1');
    first.silence(shard);
    const next = withoutQueues(await link());
    const again = next.observe(asked);
    next.admit(shard);
    expect(saw(await again)).toBe('edition 1');
    expect(looks).toBe(1);
  });

  test('and is for somebody’s eyes only is let go of at once', async () => {
    const carrier = carrierOn(await link());
    carrier.listen(shard);
    carrier.admit(shard);
    await carrier.observe({ ...probe(), pageIds: [] });
    await eventually(async () => (await waiting()) === 0);
  });

  test('and nobody waits for stays while the shard may be another one’s', async () => {
    const first = carrierOn(await link());
    first.listen(shard);
    first.admit(shard);
    await first.observe(probe());
    first.silence(shard);
    const stale = carrierOn(await link());
    let holds = false;
    stale.listen(shard);
    stale.admit(shard, () => holds);
    await systemClock.sleep(1_500);
    expect(await waiting()).toBe(1);
    holds = true;
    await eventually(async () => (await waiting()) === 0);
  });

  test('and nobody waits for is let go of', async () => {
    const first = carrierOn(await link());
    first.listen(shard);
    first.admit(shard);
    await first.observe(probe());
    first.silence(shard);
    const next = carrierOn(await link());
    next.listen(shard);
    next.admit(shard);
    await eventually(async () => (await waiting()) === 0);
  });
});
