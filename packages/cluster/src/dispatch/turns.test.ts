/** Redirects lead robots to sites that others ask as well: whoever holds such a site spaces them all. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { systemClock } from 'revisit/ports';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { type NatsServer, startNats } from '../trial/nats-server.ts';
import { Carrier } from './carrier.ts';
import { turnsElsewhere } from './leave.ts';
import { sealWith } from './seal.ts';
import { ensureStreams, shardOf } from './streams.ts';

/** Sleeps take no time, and the time that they were for passes. */
function hastyClock() {
  let nowMs = 0;
  const sleep = (ms: number): Promise<void> => {
    nowMs += ms;
    return Promise.resolve();
  };
  return { nowMs: () => nowMs, sleep };
}

describe.skipIf(locate('nats-server') === undefined)('a site that somebody is led to', () => {
  let nats: NatsServer;
  let home: NatsConnection;
  let away: NatsConnection;
  let carrier: Carrier;
  beforeAll(async () => {
    nats = await startNats();
    home = await connect({ servers: nats.url });
    away = await connect({ servers: nats.url });
    await ensureStreams(home, 1, 800);
    carrier = new Carrier(home, systemClock, sealWith(Buffer.from('key')));
    carrier.admit(shardOf('other.example'));
    await home.flush();
  });
  afterAll(async () => {
    await carrier.close();
    await Promise.all([home.close(), away.close()]);
    await nats.end();
  });

  const self = () => ({ connection: away, clock: hastyClock(), name: 'r1' });

  test('is asked when its turn has come, and its own at once', async () => {
    const asked: string[] = [];
    carrier.turn = (site) => Promise.resolve((asked.push(site), 3_000));
    const beginner = self();
    const mayAsk = turnsElsewhere(beginner, 'own.example');
    expect(await mayAsk('own.example')).toBe(true);
    expect(await mayAsk()).toBe(true);
    expect(asked).toEqual([]);
    expect(await mayAsk('other.example')).toBe('later');
    await beginner.clock.sleep(2_999);
    expect(await mayAsk('other.example')).toBe('later');
    await beginner.clock.sleep(1);
    expect(await mayAsk('other.example')).toBe(true);
    expect(asked).toEqual(['other.example']);
    // Each request has a turn of its own, and one that comes too late for it another.
    expect(await mayAsk('other.example')).toBe('later');
    await beginner.clock.sleep(9_000);
    expect(await mayAsk('other.example')).toBe('later');
    expect(asked.length).toBe(3);
  });

  test('is left alone for now where nobody gives a turn, or nobody holds it', async () => {
    carrier.turn = () => Promise.resolve(undefined);
    expect(await turnsElsewhere(self(), 'own.example')('other.example')).toBe('later');
    const nobodys = ['a.example', 'b.example', 'c.example'].find((site) => shardOf(site) !== shardOf('other.example'))!;
    expect(await turnsElsewhere(self(), 'own.example')(nobodys)).toBe('later');
  });
});
