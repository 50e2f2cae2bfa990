/** The period that a budget is written for: what a quiet week leaves of it is used when something happens. */
import { random } from '@revisit/core';
import { expect, test } from 'vitest';
import { createPolicy } from '../config/collections.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import { openSqlite } from '../store/sqlite.ts';

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 0, 5);
const days = 90;
const count = 60;

/** A folder whose pages change together, nine in ten each time, every five days or so: by how many hours they are seen too late. */
async function lateHours(budgetSeconds: number): Promise<{ hours: number; looks: number }> {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const luck = random(7);
  const moments: number[] = [];
  for (let at = startMs; at < startMs + days * dayMs;) moments.push((at += -Math.log(1 - luck()) * 5 * dayMs));
  const changes = Array.from({ length: count }, () => moments.filter(() => luck() < 0.9));
  const pages = changes.map((times, i) => ({
    url: `https://site.example/docs/${i}`,
    site: 'site.example',
    law: (_seed: () => number, at: number) => (times.find((time) => time > at) ?? Infinity) - at,
  }));
  const world = await createWorld({ seed: 1, startMs, store: opened.store, pages });
  const settings = { looksPerSecond: 24 / 86_400, budgetSeconds, spacingMs: 2_000, robots: 16, queueMax: 256 };
  const loop = await startLoop(world, createPolicy('revisit', budgetSeconds)!, settings);
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  await world.clock.runUntil(startMs + days * dayMs);
  stop.abort();
  await world.clock.runUntil(Infinity, running);
  const learnedMs = startMs + 30 * dayMs;
  let sum = 0;
  let of = 0;
  for (const [i, times] of changes.entries()) {
    const sent = world.web.sent.filter(({ url }) => url === pages[i]!.url).map(({ atMs }) => atMs);
    for (const time of times) {
      if (time < learnedMs || time > startMs + days * dayMs) continue;
      sum += (sent.find((at) => at >= time) ?? startMs + days * dayMs) - time;
      of++;
    }
  }
  await opened.store.close();
  return { hours: sum / of / 3_600_000, looks: world.web.sent.length };
}

test('a weekly budget follows pages that change together as soon as one is seen to have changed', async () => {
  const hourly = await lateHours(3600);
  const weekly = await lateHours(7 * 86_400);
  expect(weekly.looks).toBeLessThanOrEqual(24 * days + 7 * 24);
  expect(weekly.hours).toBeLessThan(0.85 * hourly.hours);
});
