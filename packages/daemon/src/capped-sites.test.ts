import { expect, test } from 'vitest';
import { CappedSites } from './capped-sites.ts';
import type { Answer, Ask } from './observe/ask.ts';
import { createObserver } from './observe/observe.ts';
import { memoryStore } from './simulation/index.ts';
import { VirtualClock } from './simulation/virtual-clock.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);

test('a cap outlives the process also for a site that is only reached by redirect, and a clock that is set', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  const asked: number[] = [];
  const process = (offMs: number, setByMs: number) => {
    const now = { nowMs: () => clock.nowMs() + offMs, sleep: clock.sleep.bind(clock) };
    const fetchPage = async ({ url }: Ask): Promise<Answer> => {
      await clock.sleep(10);
      const times = { askedAtMs: now.nowMs(), answeredAtMs: now.nowMs() };
      const common = { kind: 'answered', url, body: Buffer.from(''), bytesReceived: 0, ...times } as const;
      if (url.hostname === 'elsewhere.example') asked.push(clock.nowMs());
      if (url.pathname === '/robots.txt') return { ...common, status: 404, headers: {} };
      if (url.hostname === 'elsewhere.example') return { ...common, status: 200, headers: {} };
      return { ...common, status: 302, headers: { location: 'https://elsewhere.example/page' } };
    };
    const cap = { count: 3, periodMs: hourMs };
    const observer = createObserver({
      clock: now,
      random: () => 0.5,
      userAgent: 'Revisit',
      allowNetworks: [],
      spacingMs: 1_000,
      siteRules: (site) => (site === 'elsewhere.example' ? { cap } : undefined),
      fetchPage,
    });
    const capped = new CappedSites({ clock: now, observer, store });
    capped.clockSetByMs = setByMs;
    return async (n: number) => {
      const probe = { url: 'https://a.example/', site: 'a.example', pageIds: [], validators: {} } as const;
      const looked = observer.observe({ ...probe, id: String(n), atMs: now.nowMs() });
      await clock.runUntil(Infinity, looked);
      return (await looked).outcome;
    };
  };
  const first = process(0, 0);
  await first(1);
  await first(2);
  // robots.txt and two pages.
  expect(asked).toHaveLength(3);
  for (const [offMs, seenMs] of [
    [0, 0],
    [-500 * hourMs, -500 * hourMs],
    [-500 * hourMs, 0],
    [7 * hourMs, 7 * hourMs],
  ] as const) {
    const refused = await process(offMs, seenMs)(3);
    expect(asked).toHaveLength(3);
    // Neither sooner nor, by much, later than an hour after the first of them.
    const againMs = refused.kind === 'refused' ? refused.untilMs! - offMs : 0;
    expect(againMs).toBeGreaterThanOrEqual(asked[0]! + hourMs);
    expect(againMs).toBeLessThan(asked[0]! + hourMs + 60_000);
  }
  await store.close();
});
