/**
 * Telling in trouble, from one seed: pages change every few minutes, four subscriptions of different kinds have receivers
 * that fail, hang and answer late, and the process is killed at random points, hundreds of times. Answers what was wrong.
 */
import { integer, policies, random } from '@revisit/core';
import type { Store } from '../store/port.ts';
import { Telling } from '../telling.ts';
import type { SubscriptionSettings } from '../values/subscription.ts';
import { Receivers, wrongIn, type Behaviour } from './receivers.ts';
import { poissonLaw } from './simulated-web.ts';
import { createWorld, startLoop, type World } from './world.ts';

export interface TellingReport {
  readonly wrong: readonly string[];
  readonly kills: number;
  readonly changes: number;
  readonly messages: number;
}

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 0, 5);
const settings = { looksPerSecond: 0.2, spacingMs: 1_000, robots: 16, queueMax: 256 };
/** Half of the processes live no longer than this: long enough to be killed between any two steps. */
const shortLifeMs = 2_000;
const lifeMs = 60_000;

const subscriptions: Readonly<Record<string, Partial<SubscriptionSettings>>> = {
  'at-once': {},
  bursts: { burstSeconds: 45 },
  hourly: { digest: { kind: 'hourly' } },
  quiet: { quiet: { from: '02:00', until: '05:30' } },
};

export function subscriptionNamed(name: string, more: Partial<SubscriptionSettings> = {}): SubscriptionSettings {
  return {
    name,
    match: '',
    deliver: { kind: 'webhook', url: `https://${name}.example/` },
    zone: 'UTC',
    paused: false,
    ...more,
  };
}

function badMood(roll: number): Behaviour {
  if (roll < 0.75) return 'take';
  if (roll < 0.83) return 'fail';
  if (roll < 0.88) return 'hang';
  return roll < 0.94 ? 'take and answer late' : 'take and fail';
}

/** A process over the world's store, with the receivers at the other end. */
export async function startTelling(world: World, receivers: Receivers, looksPerSecond: number) {
  const telling = new Telling(world.store, world.clock, receivers.send, () => {});
  await telling.subscribers.load();
  const loop = await startLoop(world, policies['uniform']!.create(1), { ...settings, looksPerSecond }, telling);
  void loop.run(new AbortController().signal);
  void telling.courier.run(new AbortController().signal);
  return {
    kill: (): void => {
      loop.die();
      telling.courier.die();
    },
  };
}

/** Nothing new is looked at; what waits goes out. */
async function sendTheRest(world: World, receivers: Receivers): Promise<void> {
  const telling = new Telling(world.store, world.clock, receivers.send, () => {});
  void telling.courier.run(new AbortController().signal);
  for (let round = 0; round < 400; round++) {
    const waiting = [
      ...(await world.store.outbox.deliveries({ status: 'due', limit: 1 })),
      ...(await world.store.outbox.deliveries({ status: 'open', limit: 1 })),
    ];
    if (waiting.length === 0) break;
    await world.clock.runUntil(world.clock.nowMs() + 30 * minuteMs);
  }
  telling.courier.die();
}

export async function tellInTrouble(options: {
  readonly seed: number;
  readonly kills: number;
  readonly store: Store;
}): Promise<TellingReport> {
  const { seed, kills, store } = options;
  const world = await createWorld({
    seed,
    startMs,
    store,
    pages: Array.from({ length: 5 }, (_, i) => ({
      url: `https://site${i % 4}.example/page/${i}`,
      site: `site${i % 4}.example`,
      law: poissonLaw(2 * minuteMs),
    })),
    siteLaw: () => ({ latencyMeanMs: 800, errorChance: 0.05, timeOutChance: 0.02, timeOutMs: 20_000 }),
  });
  for (const [name, more] of Object.entries(subscriptions))
    await store.outbox.addSubscription(subscriptionNamed(name, more), startMs);
  const luck = random(seed + 500);
  let calm = false;
  const receivers = new Receivers(world, () => (calm ? 'take' : badMood(luck())));
  for (let kill = 0; kill < kills; kill++) {
    const running = await startTelling(world, receivers, settings.looksPerSecond);
    await world.clock.runUntil(world.clock.nowMs() + 1 + integer(luck, luck() < 0.5 ? shortLifeMs : lifeMs));
    running.kill();
  }
  calm = true;
  await sendTheRest(world, receivers);
  const changes = await store.changes({ after: 0, limit: 1_000_000 });
  const dead = await store.outbox.deliveries({ status: 'dead', limit: 5 });
  const wrong = dead.map(({ id, fault }) => `delivery ${id} was given up: ${fault?.sentence}`);
  let messages = 0;
  for (const name of Object.keys(subscriptions)) {
    const receipts = receivers.taken.get(name) ?? [];
    messages += receipts.length;
    wrong.push(...wrongIn(receipts, changes).map((sentence) => `${name}: ${sentence}`));
  }
  return { wrong, kills, changes: changes.length, messages };
}
