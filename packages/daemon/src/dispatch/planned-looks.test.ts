import { exponential, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { createPolicy } from '../config/collections.ts';
import type { SiteLimits } from '../loop-parts.ts';
import { type SimulatedPage, poissonLaw } from '../simulation/simulated-web.ts';
import { createWorld, startLoop } from '../simulation/world.ts';
import { openSqlite } from '../store/sqlite.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.UTC(2026, 0, 5);
const looksPerDay = 288;
const capPerDay = 48;

/** Changes a day: pages of each site from slow to fast, two of each kind. */
const rates = [0.25, 0.5, 1, 2, 4];
/** Most pages count by how long their changes wait; these lose otherwise. */
const asks: Readonly<Record<number, Partial<SimulatedPage['settings']>>> = {
  13: { loss: 'staleness' },
  16: { urgency: { kind: 'decay', rate: 0.8 } },
  20: { life: { kind: 'overwrite' } },
  25: { loss: 'staleness' },
};
const pages = Array.from({ length: 30 }, (_, i) => ({
  url: `https://site${i % 3}.example/page/${i}`,
  site: `site${i % 3}.example`,
  perDay: rates[Math.floor(i / 6)]!,
  weight: i % 6 < 3 ? 1 : 3,
  ...asks[i],
}));

test('over a week every page is looked at as often as the market plans, under a budget and the limit of a site', async () => {
  const opened = openSqlite(':memory:');
  if (opened.kind === 'failed') throw new Error(opened.sentence);
  const world = await createWorld({
    seed: 4,
    startMs,
    store: opened.store,
    pages: pages.map(({ url, site, perDay, ...settings }) => ({
      url,
      site,
      law: poissonLaw(dayMs / perDay),
      settings,
    })),
  });
  const policy = createPolicy('revisit')!;
  const settings = { looksPerSecond: looksPerDay / 86_400, spacingMs: 1_000, robots: 4, queueMax: 64 };
  const siteRules = (site: string): SiteLimits | undefined =>
    site === 'site0.example' ? { cap: { count: capPerDay / 24, periodMs: hourMs } } : undefined;
  const loop = await startLoop(world, policy, settings, undefined, { siteRules });
  // Sixty days of history, so that the week is about planning and not about learning.
  const luck = random(7);
  for (const entry of loop.collection) {
    const { perDay } = pages.find(({ url }) => url === entry.page.url)!;
    const changes: number[] = [];
    for (let at = -60 * 86_400; ; changes.push(at)) {
      at += exponential(luck, 86_400 / perDay);
      if (at > 0) break;
    }
    const now = startMs / 1000;
    policy.taught!(
      entry.index,
      Float64Array.from(changes, (at) => now + at),
      now - 60 * 86_400,
      now,
    );
  }
  loop.market.survey(startMs / 1000);
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  const planned = new Map<string, number>();
  for (let day = 0; day < 8; day++) {
    await world.clock.runUntil(startMs + (day + 1) * dayMs - 1);
    // The first day is for first looks.
    if (day === 0) continue;
    for (const { index, page } of loop.collection)
      planned.set(
        page.url,
        (planned.get(page.url) ?? 0) + 86_400 / loop.market.market.every(index, loop.market.prices!),
      );
  }
  stop.abort();
  await world.clock.runUntil(Infinity, running);
  const made = new Map<string, number>();
  for (const { url, atMs } of world.web.sent) if (atMs > startMs + dayMs) made.set(url, (made.get(url) ?? 0) + 1);
  const total = (looks: ReadonlyMap<string, number>, site: string): number =>
    pages.filter((page) => page.site === site).reduce((sum, { url }) => sum + (looks.get(url) ?? 0), 0);
  // The capped site has what it allows, the others what is left, as planned.
  expect(total(planned, 'site0.example') / (7 * capPerDay)).toBeCloseTo(1, 2);
  for (const site of ['site0.example', 'site1.example', 'site2.example'])
    expect(Math.abs(total(made, site) / total(planned, site) - 1), site).toBeLessThan(0.05);
  let apart = 0;
  for (const { url } of pages) {
    const off = Math.abs(Math.log(made.get(url)! / planned.get(url)!));
    // Requests leave one every five minutes, and who is due waits for a few others: a page planned every hour feels that.
    // A page of two looks a day that is seen to change gets a few more at once.
    expect(off, url).toBeLessThan(Math.log(1.5));
    apart += off / pages.length;
  }
  expect(apart).toBeLessThan(0.1);
});
