import { expect, test } from 'vitest';
import type { Delivery, Outbox } from '../values/outbox.ts';
import type { Subscription } from '../values/subscription.ts';
import { StoreFailed } from '../values/fault.ts';
import { Courier } from './courier.ts';

const subscription: Subscription = {
  id: 's1',
  createdAtMs: 0,
  match: '',
  zone: 'UTC',
  paused: false,
  deliver: { kind: 'slack', url: 'https://x.example/' },
};

test('what falls due between asking and resting goes out at once, not at the next change', async () => {
  const dueMs = 101;
  let nowMs = 100;
  let open = true;
  const end = new AbortController();
  const sleeps: number[] = [];
  const delivery: Delivery = {
    id: 'd1',
    subscriptionId: 's1',
    status: 'due',
    sequences: [1],
    dueMs,
    attempts: 0,
    plannedAtMs: 0,
  };
  const outbox = {
    subscriptions: () => Promise.resolve([subscription]),
    due: (atMs: number) => Promise.resolve(open && atMs >= dueMs ? [delivery] : []),
    nextDueMs: () => Promise.resolve(open ? dueMs : undefined),
    hasten: () => Promise.resolve(),
    settle: () => {
      open = false;
      end.abort();
      return Promise.resolve();
    },
  } as unknown as Outbox;
  // Every look at the clock finds it a millisecond later, as on a busy machine.
  const clock = {
    nowMs: () => nowMs++,
    sleep: (ms: number) => {
      sleeps.push(ms);
      nowMs += ms;
      return new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
  const courier = new Courier({
    outbox,
    clock,
    send: () => Promise.resolve({ kind: 'taken' }),
    message: () => Promise.resolve({ id: 'd1' } as never),
    log: () => {},
  });
  await courier.run(end.signal, 0);
  expect(open).toBe(false);
  expect(sleeps[0]).toBeLessThan(10);
});

test('what waits behind another of its page does not hold up what has a time of its own', async () => {
  const end = new AbortController();
  const told: string[] = [];
  let sending = false;
  const waiting = new Map<string, number>([
    ['held', 50],
    ['burst', 6_000],
  ]);
  let nowMs = 100;
  const outbox = {
    subscriptions: () => Promise.resolve([subscription]),
    // "held" is due and never handed out, as when the message before it on its page rests.
    due: (atMs: number, _room: number, { deliveries }: { deliveries: ReadonlySet<string> }) =>
      Promise.resolve(
        [...waiting]
          .filter(([id, dueMs]) => id !== 'held' && dueMs <= atMs && !deliveries.has(id))
          .map(([id, dueMs]) => ({ id, subscriptionId: 's1', status: 'due', sequences: [1], dueMs, attempts: 0 })),
      ),
    nextDueMs: (afterMs = -1) =>
      Promise.resolve([...waiting.values()].sort((a, b) => a - b).find((ms) => ms > afterMs)),
    hasten: () => Promise.resolve(),
    settle: (id: string) => {
      waiting.delete(id);
      told.push(`${id} at ${nowMs}`);
      end.abort();
      return Promise.resolve();
    },
  } as unknown as Outbox;
  const clock = {
    nowMs: () => nowMs,
    sleep: (ms: number, signal?: AbortSignal) => {
      // The time limit of a message under way also sleeps here; only the courier's own rests move this clock.
      if (!signal?.aborted && !sending) nowMs += ms;
      return new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
  const courier = new Courier({
    outbox,
    clock,
    send: () => Promise.resolve({ kind: 'taken' }),
    message: () => {
      sending = true;
      return Promise.resolve({ id: 'burst' } as never);
    },
    log: () => {},
  });
  await courier.run(end.signal, 0);
  expect(told).toEqual(['burst at 6000']);
});

test('a store that cannot write is waited for: what was taken goes out once, and the trouble is said once', async () => {
  const delivery: Delivery = {
    id: 'd1',
    subscriptionId: 's1',
    status: 'due',
    sequences: [1],
    dueMs: 0,
    attempts: 0,
    plannedAtMs: 0,
  };
  const full = () => Promise.reject(new StoreFailed({ code: 'disk-full', sentence: 'The disk is full.' }));
  const end = new AbortController();
  const said: string[] = [];
  let [nowMs, sent, refused, settled] = [0, 0, 0, false];
  const outbox = {
    subscriptions: () => Promise.resolve([subscription]),
    due: () => (refused++ < 3 ? full() : Promise.resolve(settled || sent > 0 ? [] : [delivery])),
    nextDueMs: () => Promise.resolve(settled ? undefined : 0),
    hasten: () => Promise.resolve(),
    settle: () => {
      if (refused++ < 8) return full();
      settled = true;
      end.abort();
      return Promise.resolve();
    },
  } as unknown as Outbox;
  const sleep = (ms: number) => {
    nowMs += ms;
    return new Promise<void>((resolve) => setImmediate(resolve));
  };
  const courier = new Courier({
    outbox,
    clock: { nowMs: () => nowMs, sleep },
    send: () => (sent++, Promise.resolve({ kind: 'taken' })),
    message: () => Promise.resolve({ id: 'd1' } as never),
    log: (level, text) => void said.push(`${level} ${text}`),
  });
  await courier.run(end.signal, 0);
  expect({ sent, settled }).toEqual({ sent: 1, settled: true });
  // Once for what could not be asked for, once for what could not be noted down.
  expect(said).toEqual(Array(2).fill('error Nobody is told for now: The disk is full.'));
});

test.each(['before', 'while'])(
  'a single round on a store that cannot write ends with its signal, given %s it waits',
  async (given) => {
    const end = new AbortController();
    let asked = 0;
    const outbox = {
      subscriptions: () => Promise.resolve([subscription]),
      due: () => {
        asked++;
        return Promise.reject(new StoreFailed({ code: 'disk-full', sentence: 'The disk is full.' }));
      },
      nextDueMs: () => Promise.resolve(0),
    } as unknown as Outbox;
    const sleep = () => {
      if (asked === 3) end.abort();
      return new Promise<void>((resolve) => setImmediate(resolve));
    };
    const courier = new Courier({
      outbox,
      clock: { nowMs: () => 0, sleep },
      send: () => Promise.resolve({ kind: 'taken' }),
      message: () => Promise.resolve({ id: 'd1' } as never),
      log: () => {},
    });
    if (given === 'before') end.abort();
    await courier.once(end.signal);
    expect(asked).toBe(given === 'before' ? 1 : 3);
  },
);
