import { policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { memoryStore } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import { standingPlan } from '../plan/standing-plan.ts';
import type { Observer } from '../values/observation.ts';
import { usualSettings } from '../values/page.ts';

const startMs = Date.UTC(2026, 0, 5);
const hosts = ['a.example', 'b.example', 'c.example'];
const minutes = 60_000;

interface Server {
  readonly address: string;
  readonly spacingMs: number;
  readonly cap?: { readonly count: number; readonly periodMs: number };
  readonly quietUntilMs?: (atMs: number) => number | undefined;
  /** A page of this path is elsewhere, at a name that nobody watches. */
  readonly moved?: string;
  readonly policy?: string;
}

/** Three names on one server, more budget than that lets out, and one process after the other. */
async function sharedServer({ address, spacingMs, cap, quietUntilMs, moved, policy = 'uniform' }: Server) {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  const luck = random(1);
  /** When what was asked for. */
  const asked: { readonly atMs: number; readonly host: string; readonly life: number }[] = [];
  /** How long the wire kept probes that left. */
  const held: { readonly atMs: number; readonly forMs: number; readonly life: number }[] = [];
  let life = 0;
  const fetchFor =
    (own: number) =>
    async ({ url }: Ask): Promise<Answer> => {
      if (own !== life) return new Promise<Answer>(() => {});
      const askedAtMs = clock.nowMs();
      asked.push({ atMs: askedAtMs, host: url.hostname, life });
      await clock.sleep(20 + 80 * luck());
      const away = url.pathname === moved && url.hostname !== 'd.example';
      const status = url.pathname === '/robots.txt' ? 404 : away ? 302 : 200;
      const times = { askedAtMs, answeredAtMs: clock.nowMs() };
      const headers = away ? { location: `https://d.example${moved}` } : {};
      return { kind: 'answered', url, status, headers, body: Buffer.from('x'), bytesReceived: 1, ...times };
    };
  const rules = { ...(cap ? { cap } : {}), ...(quietUntilMs ? { quietUntilMs } : {}) };
  const siteRules = (site: string) => (site === address ? rules : undefined);
  await new Desk(store, clock, () => {}).add(
    hosts.flatMap((site) => [1, 2, 3].map((n) => ({ url: `https://${site}/${n}`, site, ...usualSettings }))),
  );
  /** A process that lives until then, and is killed. */
  const live = async (untilMs: number): Promise<Loop> => {
    const own = ++life;
    const web = createObserver({
      clock,
      random: luck,
      userAgent: 'Revisit',
      allowNetworks: ['10.0.0.0/8'],
      spacingMs,
      siteRules,
      resolve: () => Promise.resolve([{ address, family: 4 }]),
      fetchPage: fetchFor(own),
    });
    const observer: Observer = {
      ...web,
      observe: async (probe) => {
        const atMs = clock.nowMs();
        const observation = await web.observe(probe);
        held.push({ atMs, forMs: observation.startedAtMs - atMs, life: own });
        return observation;
      },
    };
    const parts = {
      clock,
      random: luck,
      store,
      observer,
      policy: policies[policy]!.create(1),
      siteRules,
      detect: detector(store),
      log: () => {},
    };
    const loop = new Loop(parts, { looksPerSecond: 20, spacingMs, robots: 16, queueMax: 64 });
    await loop.load();
    void loop.run(new AbortController().signal);
    await clock.runUntil(untilMs);
    loop.die();
    return loop;
  };
  return { clock, luck, asked, held, live, close: () => store.close() };
}

const gapsOf = (times: readonly { readonly atMs: number }[]): number[] =>
  times.slice(1).map(({ atMs }, i) => atMs - times[i]!.atMs);

test.each([
  ['10.0.0.5', 2_000],
  ['93.184.216.34', 200],
])(
  'names that share the server at %s leave as it is spaced, and the wire has nothing to keep back',
  async (address, spacingMs) => {
    const { asked, held, live, close } = await sharedServer({ address, spacingMs });
    await live(startMs + 10 * minutes);
    expect(Math.min(...gapsOf(asked))).toBeGreaterThanOrEqual(spacingMs);
    // It is asked about as often as it may be: nobody waits for longer than the spacing wants.
    expect(asked.length).toBeGreaterThan((10 * minutes) / (spacingMs + 200));
    const known = held.filter(({ atMs }) => atMs > startMs + minutes);
    expect(known.length).toBeGreaterThan(100);
    expect(known.filter(({ forMs }) => forMs > 0)).toEqual([]);
    await close();
  },
);

test('a process that is killed leaves the shared server spaced for the next, whichever name it asked for last', async () => {
  const spacingMs = 2_000;
  const { clock, luck, asked, live, close } = await sharedServer({ address: '10.0.0.5', spacingMs, moved: '/2' });
  for (let kills = 0; kills < 60; kills++) await live(clock.nowMs() + 1 + 10_000 * luck());
  expect(new Set(asked.map(({ host }) => host))).toEqual(new Set([...hosts, 'd.example']));
  expect(new Set(asked.map(({ life }) => life)).size).toBeGreaterThan(30);
  expect(gapsOf(asked).filter((gap) => gap < spacingMs)).toEqual([]);
  await close();
});

test('where names stand is known after a restart: their first looks leave as the shared server is spaced', async () => {
  const { clock, held, live, close } = await sharedServer({ address: '10.0.0.5', spacingMs: 2_000 });
  await live(startMs + 3 * minutes);
  await live(clock.nowMs() + minutes);
  const second = held.filter(({ life }) => life === 2);
  expect(second.length).toBeGreaterThan(20);
  // The first waits for what the process before it may have asked.
  expect(second.slice(1).filter(({ forMs }) => forMs > 0)).toEqual([]);
  await close();
});

test('the plan keeps to what the shared server takes: its names are dear, and together they want no more than its cap', async () => {
  const cap = { count: 90, periodMs: 3_600_000 };
  const { clock, asked, live, close } = await sharedServer({
    address: '10.0.0.5',
    spacingMs: 1_000,
    cap,
    policy: 'revisit',
  });
  const loop = await live(startMs + 6 * 60 * minutes);
  // All that it takes is used, though the policy's first guess of rates was by a budget 800 times as large.
  const hour = (of: number) => asked.filter(({ atMs }) => Math.floor((atMs - startMs) / cap.periodMs) === of).length;
  const hours = [3, 4, 5].map(hour);
  expect(Math.max(...hours)).toBe(cap.count);
  expect(hours.reduce((sum, looks) => sum + looks)).toBeGreaterThan(0.98 * hours.length * cap.count);
  const plan = standingPlan(loop, clock.nowMs(), 10);
  expect(gapsOf(plan.probes).filter((gap) => gap < 1_000)).toEqual([]);
  expect(plan.dearSites.map(({ site }) => site).sort()).toEqual(hosts);
  const standing = loop.market.standing(loop.market.looksPerSecond);
  const wanted = standing.dearSites.reduce((sum, { looksPerSecond }) => sum + looksPerSecond, 0);
  expect(wanted * 3_600).toBeCloseTo(cap.count, 6);
  await close();
});

test.each(['10.0.0.5', '93.184.216.34'])(
  'hours in which the shared server at %s is left alone are in the plan, and kept',
  async (address) => {
    const cap = { count: 60, periodMs: 60 * minutes };
    // Open for six hours a day.
    const dayMs = 24 * 60 * minutes;
    const quietUntilMs = (atMs: number) => (atMs % dayMs < dayMs / 4 ? undefined : atMs - (atMs % dayMs) + dayMs);
    const { asked, live, close } = await sharedServer({
      address,
      spacingMs: 1_000,
      cap,
      quietUntilMs,
      policy: 'revisit',
    });
    const loop = await live(startMs + 30 * 60 * minutes);
    expect(asked.filter(({ atMs }) => quietUntilMs(atMs) !== undefined)).toEqual([]);
    expect(asked.filter(({ atMs }) => atMs >= startMs + dayMs).length).toBeGreaterThan(100);
    const { dearSites } = loop.market.standing(loop.market.looksPerSecond);
    const wanted = dearSites.reduce((sum, { looksPerSecond }) => sum + looksPerSecond, 0);
    expect(wanted * 3_600).toBeCloseTo(cap.count / 4, 6);
    await close();
  },
);
