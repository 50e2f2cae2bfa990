import type { NatsConnection } from '@nats-io/transport-node';
import type { Page, PageState } from 'revisit/ports';
import { VirtualClock } from '../../../daemon/src/simulation/virtual-clock.ts';
import { expect, test } from 'vitest';
import type { Carrier } from '../dispatch/carrier.ts';
import { shardOf } from '../dispatch/streams.ts';
import type { SpokenStore } from '../store/spoken-store.ts';
import { Observers } from './observers.ts';

const site = 'a.example';
const shard = shardOf(site);
const page = { id: 'x', url: 'https://a.example/', site, paused: false } as unknown as Page;
const counts = { atMs: 5, places: 1, looks: 0, reports: 0, wholeBytes: 0, sentBytes: 0, stirred: [] };

/** A coordinator that takes up what the store has, and what it asks for. */
async function coordinator(clock: VirtualClock, memory: Map<string, string>) {
  let hear: (error: undefined, message: { readonly subject: string; string(): string }) => void = () => {};
  const nats = {
    subscribe: (_: string, { callback }: { readonly callback: typeof hear }) => {
      hear = callback;
      return { unsubscribe: () => {} };
    },
    request: () => Promise.reject(new Error('away')),
  };
  const store = {
    recall: (key: string) => Promise.resolve(memory.has(key) ? Buffer.from(memory.get(key)!) : undefined),
    rememberOf: (_: number, key: string, bytes: Uint8Array) => {
      memory.set(key, Buffer.from(bytes).toString());
      return Promise.resolve({ kind: 'kept', value: true });
    },
  };
  const observers = new Observers({
    nats: nats as unknown as NatsConnection,
    carrier: {} as Carrier,
    store: store as unknown as SpokenStore,
    clock,
    mandateMs: 60_000,
    leaseMs: 4_000,
    spacingMs: 1_000,
    log: () => {},
  });
  const watched = { page, state: { lastLookMs: clock.nowMs() - 5_000 } as PageState };
  const asked: string[] = [];
  const loop = {
    collection: Object.assign([watched], { size: 1, byId: () => watched }),
    settings: { looksPerSecond: 1 },
    behind: () => false,
    lend: () => {},
    giveBack: () => {},
    probeSoon: (id: string) => asked.push(id) > 0,
  };
  void observers.run(loop, new AbortController().signal);
  await observers.takeUp(shard);
  const says = async (life: string): Promise<void> => {
    hear(undefined, { subject: 'revisit.word.near', string: () => JSON.stringify({ ...counts, life }) });
    await clock.runUntil(clock.nowMs() + 100);
  };
  return { says, asked };
}

test('whoever follows knows which life of an observer holds a site, and asks for its pages when another has begun', async () => {
  const clock = new VirtualClock(1e12);
  // As it was kept before lives were.
  const memory = new Map([[`observers:${shard}`, JSON.stringify({ [site]: 'near g1' })]]);
  const first = await coordinator(clock, memory);
  await first.says('0000000a.1');
  expect(first.asked).toEqual([]);
  const second = await coordinator(clock, memory);
  await second.says('0000000a.1');
  expect(second.asked).toEqual([]);
  // Killed together.
  const third = await coordinator(clock, memory);
  await third.says('0000000a.2');
  await third.says('0000000a.2');
  expect(third.asked).toEqual(['x']);
  const fourth = await coordinator(clock, memory);
  await fourth.says('0000000a.2');
  expect(fourth.asked).toEqual([]);
  expect(JSON.parse(memory.get(`observers:${shard}`)!)).toEqual({ [site]: 'near g1 0000000a.2' });
});
