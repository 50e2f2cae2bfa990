/** Sites that want long pauses, and a process that is killed again and again: the next one keeps the pause that was begun. */
import { policies, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { memoryStore } from '../simulation/index.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import type { Store } from '../store/port.ts';
import { usualSettings } from '../values/page.ts';

const startMs = Date.UTC(2026, 0, 5);
const usualMs = 2_000;

interface Sites {
  /** What the operator or its robots.txt asks for, by site. */
  readonly spacingMs?: Readonly<Record<string, number>>;
  readonly crawlDelaySeconds?: Readonly<Record<string, number>>;
  readonly looksPerSecond?: number;
  readonly kills: number;
  readonly lifeMsMost: number;
}

/** The pages of `away.example` are at `target.example`, which has a page of its own that is watched where it is asked for. */
async function killedAgainAndAgain(urls: readonly string[], sites: Sites) {
  const { spacingMs = {}, crawlDelaySeconds = {}, looksPerSecond = 2, kills, lifeMsMost } = sites;
  const store = memoryStore();
  const remember = store.remember.bind(store);
  let notes = 0;
  store.remember = (key, value) => {
    if (key === 'manners') notes++;
    return remember(key, value);
  };
  const clock = new VirtualClock(startMs);
  const luck = random(3);
  const asked: { readonly atMs: number; readonly host: string; readonly path: string; readonly life: number }[] = [];
  let life = 0;
  const fetchFor =
    (own: number) =>
    async ({ url }: Ask): Promise<Answer> => {
      if (own !== life) return new Promise<Answer>(() => {});
      const askedAtMs = clock.nowMs();
      const { hostname: host, pathname: path } = url;
      asked.push({ atMs: askedAtMs, host, path, life });
      await clock.sleep(20 + 80 * luck());
      const delay = crawlDelaySeconds[host];
      const robots = path === '/robots.txt';
      const away = host === 'away.example' && !robots;
      const status = away ? 302 : robots && delay === undefined ? 404 : 200;
      const headers = away ? { location: `https://target.example${path}` } : {};
      const body = Buffer.from(robots ? `User-agent: *\nCrawl-delay: ${delay}` : 'x');
      const times = { askedAtMs, answeredAtMs: clock.nowMs() };
      return { kind: 'answered', url, status, headers, body, bytesReceived: body.length, ...times };
    };
  /** Nobody who was killed writes or reads anything. */
  const untilKilled = (of: Store, own: number): Store =>
    new Proxy(of, {
      get: (target, name) => {
        const part: unknown = Reflect.get(target, name);
        if (typeof part !== 'function') return part;
        return (...given: unknown[]): unknown =>
          own === life ? Reflect.apply(part, target, given) : new Promise<never>(() => {});
      },
    });
  const siteRules = (site: string) => (spacingMs[site] === undefined ? undefined : { spacingMs: spacingMs[site] });
  await new Desk(store, clock, () => {}).add(
    urls.map((url) => ({ url, site: new URL(url).hostname, ...usualSettings })),
  );
  for (; life < kills;) {
    const common = { clock, random: luck, siteRules };
    const observer = createObserver({
      ...common,
      userAgent: 'Revisit',
      allowNetworks: [],
      spacingMs: usualMs,
      fetchPage: fetchFor(++life),
    });
    const own = untilKilled(store, life);
    const parts = { ...common, store: own, observer, policy: policies['uniform']!.create(1), detect: detector(own) };
    const settings = { looksPerSecond, spacingMs: usualMs, robots: 8, queueMax: 64 };
    const loop = new Loop({ ...parts, log: () => {} }, settings);
    await loop.load();
    void loop.run(new AbortController().signal);
    await clock.runUntil(clock.nowMs() + 1 + lifeMsMost * luck());
    loop.die();
  }
  await store.close();
  const pages = asked.filter(({ path }) => path !== '/robots.txt');
  /** How far apart the site was asked for pages, or for anything. */
  const gaps = (host: string, of: typeof asked = asked) => {
    const own = of.filter((one) => one.host === host);
    return own.slice(1).map(({ atMs, life: at }, i) => ({ ms: atMs - own[i]!.atMs, over: at - own[i]!.life }));
  };
  return { all: (host: string) => gaps(host), pages: (host: string) => gaps(host, pages), asked, notes };
}

test('a site that is only reached by redirect, and spaced by minutes', async () => {
  const urls = ['https://away.example/1', 'https://away.example/2'];
  const spacingMs = { 'target.example': 200_000 };
  const { all } = await killedAgainAndAgain(urls, { spacingMs, kills: 60, lifeMsMost: 500_000 });
  const gaps = all('target.example');
  expect(gaps.filter(({ over }) => over > 0).length).toBeGreaterThan(10);
  expect(gaps.filter(({ ms }) => ms < 200_000)).toEqual([]);
});

test.each([
  ['its own pages', ['https://target.example/1', 'https://target.example/2']],
  ['redirects', ['https://away.example/1', 'https://away.example/2']],
  ['its own pages and redirects', ['https://target.example/1', 'https://away.example/2']],
])('a site whose robots.txt asks for half a minute, reached by %s', async (_name, urls) => {
  for (const delay of [30, 100]) {
    const crawlDelaySeconds = { 'target.example': delay };
    const { pages, all } = await killedAgainAndAgain(urls, { crawlDelaySeconds, kills: 80, lifeMsMost: 2_000 * delay });
    const gaps = pages('target.example');
    expect(gaps.filter(({ over }) => over > 0).length).toBeGreaterThan(10);
    expect([...gaps, ...all('target.example')].filter(({ ms }) => ms < 1_000 * delay)).toEqual([]);
  }
});

test.each([20, 65, 200])(
  'a site spaced by %d s is asked when that is over, however soon processes are killed',
  async (seconds) => {
    const target = ['https://target.example/1', 'https://target.example/2'];
    const others = Array.from({ length: 5 }, (_, i) => `https://s${i}.example/`);
    const spacingMs = { 'target.example': 1_000 * seconds };
    const lives = { looksPerSecond: 0.5, kills: 20 * Math.ceil(seconds / 8), lifeMsMost: 16_000 };
    const { all, asked } = await killedAgainAndAgain([...target, ...others], { spacingMs, ...lives });
    const gaps = all('target.example');
    expect(gaps.length).toBeGreaterThan(12);
    expect(gaps.filter(({ ms }) => ms < 1_000 * seconds)).toEqual([]);
    // A process asks nobody in its first seconds who may have been asked a moment ago, and may not live for longer.
    const latenessMs = gaps.map(({ ms }) => ms - 1_000 * seconds).sort((a, b) => a - b);
    expect(latenessMs[Math.floor(latenessMs.length / 2)]).toBeLessThan(10_000);
    expect(latenessMs.at(-1)).toBeLessThan(60_000);
    // robots.txt was read once, although its process did not live to see the page.
    expect(asked.filter(({ host, path }) => host === 'target.example' && path === '/robots.txt')).toHaveLength(1);
  },
);

test('robots.txt is not read again by a process that follows a kill, and is not written down with every request', async () => {
  const urls = Array.from({ length: 40 }, (_, i) => `https://s${i}.example/`);
  const seldom = { looksPerSecond: 0.1, kills: 80, lifeMsMost: 120_000 };
  const { asked, notes } = await killedAgainAndAgain(urls, seldom);
  expect(asked.length).toBeGreaterThan(300);
  const readings = asked.filter(({ path }) => path === '/robots.txt').length;
  // A process that is killed before the first look is kept has told nobody what it read.
  expect(readings).toBeLessThanOrEqual(42);
  expect(notes).toBeLessThanOrEqual(42);
});
