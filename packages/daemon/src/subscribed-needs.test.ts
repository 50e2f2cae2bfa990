/** Urgency and life of pages follow the subscriptions while the daemon runs. */
import { policies, type Policy, type Watched } from '@revisit/core';
import { expect, test } from 'vitest';
import { memoryStore } from './simulation/index.ts';
import { poissonLaw } from './simulation/simulated-web.ts';
import { subscriptionNamed } from './simulation/telling-in-trouble.ts';
import { createWorld, startLoop } from './simulation/world.ts';
import { Telling } from './telling.ts';

const hourMs = 3_600_000;

/** A policy that keeps record of how each page was last given to it. */
function recording(): { policy: Policy; last: Map<number, Watched>; given: () => number } {
  const policy = policies['uniform']!.create(1);
  const last = new Map<number, Watched>();
  let given = 0;
  const watch = policy.watch.bind(policy);
  policy.watch = (page, now) => {
    given++;
    last.set(page.page, page);
    watch(page, now);
  };
  return { policy, last, given: () => given };
}

test('a new, edited or removed subscription changes them at once, and touches no other page', async () => {
  const startMs = Date.UTC(2026, 0, 5);
  const sites = ['a.example', 'b.example'];
  const pages = sites.map((site) => ({ url: `https://${site}/`, site, law: poissonLaw(hourMs) }));
  const world = await createWorld({ seed: 1, startMs, store: memoryStore(), pages });
  const telling = new Telling(
    world.store,
    world.clock,
    () => Promise.resolve({ kind: 'taken' }),
    () => {},
  );
  const { policy, last, given } = recording();
  const settings = { looksPerSecond: 0.01, spacingMs: 1_000, robots: 4, queueMax: 64 };
  const needs = (page: Parameters<typeof telling.subscribers.needs>[0]) => telling.subscribers.needs(page);
  const loop = await startLoop(world, policy, settings, telling, { needs });
  telling.subscribers.onChanged((asksOther) => loop.renew(asksOther));
  void loop.run(new AbortController().signal);
  await world.clock.runUntil(startMs + 5 * hourMs);
  const looks = () => [...loop.collection].map(({ state }) => state.looks);
  const of = (site: string) => {
    const { index } = [...loop.collection].find(({ page }) => page.site === site)!;
    const { urgency, life } = last.get(index)!;
    return { urgency: urgency?.kind, life: life?.kind };
  };
  expect(of('a.example')).toEqual({ urgency: undefined, life: undefined });
  const before = looks();
  const added = await telling.subscribers.add(subscriptionNamed('a', { match: 'site = a.example' }), startMs);
  expect(of('a.example')).toEqual({ urgency: 'decay', life: undefined });
  expect(of('b.example')).toEqual({ urgency: undefined, life: undefined });
  expect(given()).toBe(3);
  await telling.subscribers.update(added.id, { match: 'site = a.example and added ~ fee' });
  expect(of('a.example')).toEqual({ urgency: 'decay', life: 'overwrite' });
  await telling.subscribers.update(added.id, { name: 'the same otherwise' });
  expect(given()).toBe(4);
  // What was seen and learned of the page stays, and looking goes on.
  expect(looks()).toEqual(before);
  await world.clock.runUntil(startMs + 10 * hourMs);
  expect(looks().every((count, i) => count > before[i]!)).toBe(true);
  await telling.subscribers.remove(added.id);
  expect(of('a.example')).toEqual({ urgency: undefined, life: undefined });
  loop.die();
});
