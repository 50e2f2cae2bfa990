import { type NatsConnection, connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { type Observation, type Observer, type Probe, systemClock } from 'revisit/ports';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../daemon/src/trial/command.ts';
import { locate } from '../../../../house/provision.ts';
import { Pulse } from '../pulse.ts';
import { Robot } from '../robot.ts';
import { hurried, probe, site } from '../trial/dispatched.ts';
import { type NatsServer, startNats } from '../trial/nats-server.ts';
import { type TroubledLink, troubledLink } from '../trial/troubled-link.ts';
import { Carrier } from './carrier.ts';
import { leaveMs } from './leave.ts';
import { sealWith } from './seal.ts';
import { ensureStreams, shardOf, streams } from './streams.ts';

const shard = shardOf(site);
const leaseMs = 800;

/** A look of as many requests as the test wants, one by one. */
class StepByStep implements Observer {
  #asked = 0;
  #next = Promise.withResolvers<((went: boolean) => void) | 'end'>();

  /** Whether the next request goes out. */
  request(): Promise<boolean> {
    return new Promise((went) => this.#next.resolve(went));
  }

  end(): void {
    this.#next.resolve('end');
  }

  async observe(asked: Probe, _signal?: AbortSignal, mayAsk: () => Promise<boolean> = () => Promise.resolve(true)) {
    let outcome: Observation['outcome'] = { kind: 'not-modified' };
    for (;;) {
      const wanted = await this.#next.promise;
      if (wanted === 'end') break;
      this.#next = Promise.withResolvers();
      const may = await mayAsk();
      if (may) this.#asked++;
      else outcome = { kind: 'refused', fault: { code: 'stopped', sentence: '' } };
      wanted(may);
      if (!may) break;
    }
    return { probe: asked, startedAtMs: 5, endedAtMs: 9, outcome, bytesReceived: 1, requests: this.#asked };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe.skipIf(locate('nats-server') === undefined)('a look of several requests', () => {
  let nats: NatsServer;
  let way: TroubledLink;
  let home: NatsConnection;
  let away: NatsConnection;
  const stops: (() => unknown)[] = [];
  beforeAll(async () => {
    nats = await startNats();
  });
  afterAll(() => nats.end());
  beforeEach(async () => {
    way = await troubledLink({ host: '127.0.0.1', port: Number(new URL(nats.url).port) });
    const patient = { maxReconnectAttempts: -1, reconnectTimeWait: 50 };
    home = await connect({ servers: nats.url, ...patient });
    away = await connect({ servers: `nats://127.0.0.1:${way.port}`, ...patient });
    await ensureStreams(home, 1, leaseMs);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    const manager = await jetstreamManager(home);
    for (const name of Object.values(streams)) await manager.streams.delete(name);
    await Promise.all([home.close(), away.close()]);
    await way.end();
  });

  async function carrier(): Promise<Carrier> {
    const made = new Carrier(home, systemClock, sealWith(Buffer.from('key')));
    stops.push(() => made.close());
    made.listen(shard);
    made.admit(shard);
    return made;
  }

  function robot(connection: NatsConnection, name: string, clock = systemClock): StepByStep {
    const observer = new StepByStep();
    const stop = new AbortController();
    const about = { name, observer, clock, pulse: new Pulse(systemClock), breadth: 1, log: () => {} };
    void new Robot({ connection, ...about }).run(stop.signal);
    stops.push(() => stop.abort());
    return observer;
  }

  test('asks for nothing more once its robot has been cut off for as long as a leave holds, and its site is left alone until then', async () => {
    const sender = await carrier();
    const cutOff = robot(away, 'r1', hurried);
    const begunMs = systemClock.nowMs();
    const open = sender.observe(probe());
    expect(await cutOff.request()).toBe(true);
    way.cut();
    // Given back by the one that has it next.
    robot(home, 'r2');
    const given = await open;
    expect(given).toMatchObject({ requests: 0, outcome: { kind: 'refused', fault: { code: 'robot-lost' } } });
    const { outcome } = given;
    const untilMs = outcome.kind === 'refused' ? outcome.siteUntilMs! : 0;
    expect(untilMs).toBeGreaterThanOrEqual(begunMs + leaveMs);
    await eventually(() => systemClock.nowMs() > untilMs);
    // Its robot has come to the second request only now.
    expect(await cutOff.request()).toBe(false);
  });

  test('goes on for as long as its robot can ask, whoever looks after its site by then', async () => {
    const sender = await carrier();
    const slow = robot(away, 'r1', hurried);
    const asked = probe();
    const lost = sender.observe(asked);
    expect(await slow.request()).toBe(true);
    await systemClock.sleep(leaveMs / 10);
    expect(await slow.request()).toBe(true);
    sender.silence(shard);
    await lost;
    const taking = new Carrier(home, systemClock, sealWith(Buffer.from('key')));
    stops.push(() => taking.close());
    taking.listen(shard);
    const open = taking.observe(asked);
    taking.admit(shard);
    await systemClock.sleep(leaveMs / 10);
    expect(await slow.request()).toBe(true);
    // For a moment without a link, it waits for it.
    way.cut();
    await systemClock.sleep(leaveMs / 10);
    const next = slow.request();
    await systemClock.sleep(100);
    way.mend();
    expect(await next).toBe(true);
    slow.end();
    expect(await open).toMatchObject({ requests: 4, outcome: { kind: 'not-modified' } });
  });
});
