/** Sites that answer 429 or 503: nothing leaves for them meanwhile, also after a kill in the moment of their answer. */
import { policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { faultyStore } from '../simulation/faulty-store.ts';
import { memoryStore } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import type { Observer } from '../values/observation.ts';
import { usualSettings } from '../values/page.ts';

const startMs = Date.UTC(2026, 0, 5);
const minuteMs = 60_000;

/** From a minute on, `busy.example` turns everybody away for ten; pages of `away.example` lead to it. */
async function turnedAway(retryAfter: (atMs: number) => string, sites: readonly string[], fullForMs = 0) {
  const inner = memoryStore();
  const clock = new VirtualClock(startMs);
  // The disk is full from the moment in which it says so.
  const isFull = (atMs: number) => atMs >= saidMs && atMs < saidMs + fullForMs;
  const { store } = faultyStore(inner, { clock, random: () => 0.5, process: { alive: true }, isFull });
  const luck = random(5);
  /** When it was asked, and when probes of pages left for it. */
  const asked: number[] = [];
  const left: number[] = [];
  let life = 0;
  let saidMs = Infinity;
  const fetchFor =
    (own: number) =>
    async ({ url }: Ask): Promise<Answer> => {
      if (own !== life) return new Promise<Answer>(() => {});
      const askedAtMs = clock.nowMs();
      const away = url.hostname === 'away.example' && url.pathname !== '/robots.txt';
      if (url.hostname === 'busy.example') asked.push(askedAtMs);
      await clock.sleep(50);
      const answeredAtMs = clock.nowMs();
      const busy = url.hostname === 'busy.example' && askedAtMs > startMs + minuteMs;
      if (busy) saidMs = Math.min(saidMs, answeredAtMs);
      const status = busy ? 503 : away ? 302 : url.pathname === '/robots.txt' ? 404 : 200;
      const location = away ? { location: `https://busy.example${url.pathname}` } : {};
      const headers = { ...location, ...(busy ? { 'retry-after': retryAfter(answeredAtMs) } : {}) };
      const times = { askedAtMs, answeredAtMs };
      return { kind: 'answered', url, status, headers, body: Buffer.from('x'), bytesReceived: 1, ...times };
    };
  const pages = sites.flatMap((site) =>
    [1, 2, 3].map((n) => ({ url: `https://${site}/${n}`, site, ...usualSettings })),
  );
  await new Desk(store, clock, () => {}).add(pages);
  const start = async (): Promise<Loop> => {
    const common = { clock, random: luck };
    const options = { userAgent: 'Revisit', allowNetworks: [], spacingMs: 2_000 };
    const web = createObserver({ ...common, ...options, fetchPage: fetchFor(++life) });
    const observer: Observer = {
      ...web,
      observe: (probe) => {
        if (probe.site === 'busy.example') left.push(clock.nowMs());
        return web.observe(probe);
      },
    };
    const parts = { ...common, store, observer, policy: policies['uniform']!.create(1), detect: detector(store) };
    const loop = new Loop(
      { ...parts, log: () => {} },
      { looksPerSecond: 2, spacingMs: 2_000, robots: 8, queueMax: 64 },
    );
    await loop.load();
    void loop.run(new AbortController().signal);
    return loop;
  };
  const first = await start();
  while (saidMs === Infinity) await clock.runUntil(clock.nowMs() + 1);
  return { clock, asked, left, first, start, saidMs, close: () => inner.close() };
}

const forms: readonly (readonly [string, (atMs: number) => string])[] = [
  ['seconds', () => '600'],
  ['a date', (atMs) => new Date(Math.ceil(atMs / 1000) * 1000 + 600_000).toUTCString()],
];

test.each(forms)('told in %s to come back in ten minutes, nothing leaves for the site before', async (_form, say) => {
  const t = await turnedAway(say, ['busy.example', 'other.example']);
  await t.clock.runUntil(t.saidMs + 12 * minuteMs);
  t.first.die();
  const sinceMs = (times: readonly number[]) => times.filter((atMs) => atMs > t.saidMs).map((atMs) => atMs - t.saidMs);
  expect(Math.min(...sinceMs(t.left))).toBeGreaterThanOrEqual(600_000);
  expect(Math.min(...sinceMs(t.asked))).toBeGreaterThanOrEqual(600_000);
  // And then it is asked again, soon.
  expect(Math.min(...sinceMs(t.asked))).toBeLessThan(660_000);
  await t.close();
});

test.each([
  ['its own pages', ['busy.example']],
  ['pages that lead to it, and its own', ['away.example', 'busy.example']],
])('a process that is killed as the answer comes leaves that to the next: %s', async (_name, sites) => {
  for (const afterMs of [1, 2, 5, 20, 100, 1_000]) {
    const t = await turnedAway(() => '600', sites);
    await t.clock.runUntil(t.saidMs + afterMs);
    t.first.die();
    const second = await t.start();
    await t.clock.runUntil(t.saidMs + 12 * minuteMs);
    second.die();
    const gaps = t.asked.filter((atMs) => atMs > t.saidMs).map((atMs) => atMs - t.saidMs);
    expect(Math.min(...gaps), `killed after ${afterMs} ms`).toBeGreaterThanOrEqual(600_000);
    expect(gaps.length).toBeGreaterThan(0);
    await t.close();
  }
});

test.each([
  ['its own pages', ['busy.example']],
  ['pages that lead to it, and its own', ['away.example', 'busy.example']],
])('what a full disk did not take as the answer came is kept as soon as there is space: %s', async (_name, sites) => {
  const t = await turnedAway(() => '600', sites, minuteMs);
  // Whoever waits for the store looks every five seconds.
  await t.clock.runUntil(t.saidMs + minuteMs + 6_000);
  t.first.die();
  const second = await t.start();
  await t.clock.runUntil(t.saidMs + 12 * minuteMs);
  second.die();
  const gaps = t.asked.filter((atMs) => atMs > t.saidMs).map((atMs) => atMs - t.saidMs);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(600_000);
  await t.close();
});
