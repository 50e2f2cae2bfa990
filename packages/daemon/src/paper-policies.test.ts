import { type Watched, policies } from '@revisit/core';
import { expect, test } from 'vitest';
import { readPageFields } from './config/page-input.ts';
import { poissonLaw, type SimulatedPage } from './simulation/simulated-web.ts';
import { createWorld, startLoop } from './simulation/world.ts';
import { openSqlite } from './store/sqlite.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);
const settings = { looksPerSecond: 60 / 3600, spacingMs: 1000, robots: 16, queueMax: 256 };

function memoryStore() {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  return opened.store;
}

/** Half of the pages change every four hours, half every four days. */
function pages(): SimulatedPage[] {
  return Array.from({ length: 24 }, (_, i) => {
    const site = `site${i % 4}.example`;
    return { url: `https://${site}/${i}`, site, law: poissonLaw((i < 12 ? 4 : 96) * hourMs) };
  });
}

test.each(['wic', 'brewington'])('the daemon runs %s: fast pages get more looks, and every page some', async (name) => {
  const world = await createWorld({ seed: 4, startMs, store: memoryStore(), pages: pages() });
  const loop = await startLoop(world, policies[name]!.create(1), settings);
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  await world.clock.runUntil(startMs + 72 * hourMs);
  stop.abort();
  await world.clock.runUntil(Infinity, running);
  const looks = new Map<string, number>();
  for (const { url } of world.web.sent) looks.set(url, (looks.get(url) ?? 0) + 1);
  const all = pages().map(({ url }) => looks.get(url) ?? 0);
  const fast = all.slice(0, 12).reduce((a, b) => a + b, 0);
  const slow = all.slice(12).reduce((a, b) => a + b, 0);
  expect(Math.min(...all)).toBeGreaterThan(1);
  expect(fast).toBeGreaterThan(1.2 * slow);
  expect(world.web.sent.length).toBeLessThanOrEqual(60 * 72 + 61);
  expect(world.web.sent.length).toBeGreaterThan(0.8 * 60 * 72);
});

test('what a page says of its urgency, life and loss reaches the policy', async () => {
  const store = memoryStore();
  const world = await createWorld({ seed: 4, startMs, store, pages: [] });
  const fields = readPageFields({
    urgency: { kind: 'decay', rate: 0.9 },
    life: { kind: 'changes', count: 3 },
    loss: 'staleness',
    weight: 2,
  });
  if (fields.kind === 'wrong') throw new Error(fields.sentence);
  const base = { select: { kind: 'text' }, tags: [], paused: false, options: {}, addedAtMs: startMs } as const;
  const url = 'https://a.example/';
  await store.addPages([{ url, site: 'a.example', weight: 1, ...base, ...fields.value }]);
  const seen: Watched[] = [];
  const policy = policies['wic']!.create(1);
  const watch = policy.watch.bind(policy);
  policy.watch = (page, now) => {
    seen.push(page);
    watch(page, now);
  };
  await startLoop(world, policy, settings);
  expect(seen).toMatchObject([
    { weight: 2, loss: 'staleness', urgency: { kind: 'decay', rate: 0.9 }, life: { kind: 'changes', count: 3 } },
  ]);
  expect(readPageFields({ urgency: { kind: 'decay', rate: 1.5 } }).kind).toBe('wrong');
  expect(readPageFields({ life: { kind: 'changes', count: 0 } }).kind).toBe('wrong');
});
