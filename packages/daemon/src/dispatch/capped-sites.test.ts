import { expect, test } from 'vitest';
import { CappedSites } from './capped-sites.ts';
import type { Answer, Ask } from '../observe/ask.ts';
import { createObserver } from '../observe/observe.ts';
import { memoryStore } from '../simulation/index.ts';
import type { Store } from '../store/port.ts';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import type { Probe } from '../values/probe.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);

const notSet = { totalMs: 0, isKept: true };
const usual = { random: () => 0.5, userAgent: 'Revisit', allowNetworks: [], spacingMs: 1_000 };

const notThere = (url: URL, atMs: number): Answer => ({
  kind: 'answered',
  url,
  status: 404,
  headers: {},
  body: Buffer.from(''),
  bytesReceived: 0,
  askedAtMs: atMs,
  answeredAtMs: atMs,
});

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
      ...usual,
      clock: now,
      siteRules: (site) => (site === 'elsewhere.example' ? { cap } : undefined),
      fetchPage,
    });
    void new CappedSites({ clock: now, observer, store }, { totalMs: setByMs, isKept: true });
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

test('a request to a site with a cap that cannot be noted does not go out, however large the cap, and comes again', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  let full = false;
  const failed = { kind: 'failed', fault: { code: 'disk-full', sentence: 'full' } } as const;
  const asked: string[] = [];
  const fetchPage = async ({ url }: Ask): Promise<Answer> => {
    asked.push(url.hostname);
    return notThere(url, clock.nowMs());
  };
  const observer = createObserver({
    ...usual,
    clock,
    siteRules: (site) => (site === 'free.example' ? undefined : { cap: { count: 1_000, periodMs: hourMs } }),
    fetchPage,
  });
  const noting: Pick<Store, 'recall' | 'remember'> = {
    recall: (key) => store.recall(key),
    remember: (key, value) => (full ? Promise.resolve(failed) : store.remember(key, value)),
  };
  void new CappedSites({ clock, observer, store: noting }, notSet);
  const look = async (site: string) => {
    const probe = { id: site, url: `https://${site}/`, site, pageIds: [], atMs: clock.nowMs(), validators: {} };
    const looked = observer.observe(probe);
    await clock.runUntil(Infinity, looked);
    return (await looked).outcome;
  };
  for (let n = 0; n < 400; n++) await look('capped.example');
  const before = asked.length;
  full = true;
  for (let n = 0; n < 8; n++) await look('capped.example');
  // One more than a hundredth of what is known may be unknown to the next process, and no more.
  expect(asked.length - before).toBeLessThanOrEqual(4);
  expect(await look('capped.example')).toMatchObject({ kind: 'refused', siteUntilMs: expect.any(Number) as number });
  expect((await look('free.example')).kind).toBe('gone');
  full = false;
  await clock.runUntil(clock.nowMs() + 5_000);
  expect((await look('capped.example')).kind).toBe('gone');
  await store.close();
});

test('quiet hours that begin while a request is noted keep it back', async () => {
  const clock = new VirtualClock(startMs);
  const asked: number[] = [];
  const fetchPage = async ({ url }: Ask): Promise<Answer> => {
    asked.push(clock.nowMs());
    return notThere(url, clock.nowMs());
  };
  const quietFromMs = startMs + 200;
  const quietUntilMs = (atMs: number) =>
    atMs >= quietFromMs && atMs < startMs + hourMs ? startMs + hourMs : undefined;
  const observer = createObserver({
    ...usual,
    clock,
    siteRules: () => ({ cap: { count: 10, periodMs: hourMs }, quietUntilMs }),
    fetchPage,
  });
  const book = { recall: () => Promise.resolve([]), seen: () => {}, robotsRead: () => {} };
  observer.countIn!({ ...book, counted: () => clock.sleep(500).then(() => true) });
  const probe = { id: 'p', url: 'https://a.example/', site: 'a.example', pageIds: [], atMs: startMs, validators: {} };
  const looked = observer.observe(probe);
  await clock.runUntil(Infinity, looked);
  expect(asked).toEqual([]);
  expect((await looked).outcome).toMatchObject({ kind: 'refused', fault: { code: 'site-busy' } });
});

test('what was dispatched as noted is noted, whatever its site has asked for since', async () => {
  const clock = new VirtualClock(startMs);
  const observer = createObserver({ ...usual, clock, fetchPage: async ({ url }) => notThere(url, clock.nowMs()) });
  const noted: string[] = [];
  const counted = (site: string): true => (noted.push(site), true);
  observer.countIn!({ counted, recall: () => Promise.resolve([]), seen: () => {}, robotsRead: () => {} });
  const look = async (site: string, promised: Pick<Probe, 'noted'>): Promise<void> => {
    const looked = observer.observe({
      id: 'p',
      url: `https://${site}/`,
      site,
      pageIds: [],
      atMs: startMs,
      validators: {},
      ...promised,
    });
    await clock.runUntil(Infinity, looked);
  };
  await look('free.example', {});
  // Its robots.txt asked for a long pause when it was dispatched, and does not any more.
  await look('hasty.example', { noted: true });
  expect(noted).toEqual(['hasty.example', 'hasty.example']);
});

test('a disk on which every note takes seconds delays requests to capped sites, and does not stop them', async () => {
  const clock = new VirtualClock(startMs);
  const slow: Pick<Store, 'recall' | 'remember'> = {
    recall: () => Promise.resolve(undefined),
    remember: () => clock.sleep(3_000).then(() => ({ kind: 'kept', value: undefined })),
  };
  const observer = createObserver({
    ...usual,
    clock,
    siteRules: () => ({ cap: { count: 10, periodMs: hourMs } }),
    fetchPage: async ({ url }) => notThere(url, clock.nowMs()),
  });
  observer.countIn!(new CappedSites({ clock, observer, store: slow }, notSet));
  const probe = { id: 'p', url: 'https://a.example/', site: 'a.example', pageIds: [], atMs: startMs, validators: {} };
  let outcome: string | undefined;
  const looked = observer.observe(probe).then((seen) => (outcome = seen.outcome.kind));
  await clock.runUntil(startMs + hourMs, looked);
  expect(outcome).toBe('gone');
});

test('requests before one that a slow disk had noted far ahead are where they were, for a process that is killed then', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  let writeMs = 0;
  const slow: Pick<Store, 'recall' | 'remember'> = {
    recall: (key) => store.recall(key),
    remember: async (key, value) => {
      await clock.sleep(writeMs);
      return store.remember(key, value);
    },
  };
  const sites = () => {
    const observer = createObserver({ ...usual, clock, fetchPage: async ({ url }) => notThere(url, clock.nowMs()) });
    return new CappedSites({ clock, observer, store: slow }, notSet);
  };
  const counted = async (starts: readonly number[]) => {
    const noting = Promise.resolve(sites().counted('a.example', [...starts, clock.nowMs()]));
    await clock.runUntil(Infinity, noting);
    expect(await noting).toBe(true);
  };
  await counted([]);
  await clock.runUntil(startMs + hourMs / 2);
  const seen: unknown[] = [];
  for (const takesMs of [0, 3_000, 20_000]) {
    writeMs = takesMs;
    await counted([startMs]);
    const [first, last] = await sites().recall('a.example');
    seen.push({ takesMs, first: first! - startMs, last: last! - clock.nowMs() });
  }
  // The last went out by now.
  expect(seen).toEqual([0, 3_000, 20_000].map((takesMs) => ({ takesMs, first: 0, last: 0 })));
  await store.close();
});

test.each([{ cap: { count: 2, periodMs: hourMs } }, { spacingMs: hourMs }])(
  'a request whose connection took its time when its process was killed counts from when its server may have seen it: %j',
  async (rules) => {
    const store = memoryStore();
    const clock = new VirtualClock(startMs);
    const seen: number[] = [];
    let life = 0;
    const start = (connectMs: number) => {
      const own = ++life;
      const fetchPage = async ({ url }: Ask): Promise<Answer> => {
        await clock.sleep(connectMs);
        seen.push(clock.nowMs());
        await clock.sleep(1_000);
        if (own !== life) await new Promise<void>(() => {});
        return notThere(url, clock.nowMs());
      };
      const observer = createObserver({ ...usual, clock, siteRules: () => rules, fetchPage });
      void new CappedSites({ clock, observer, store }, notSet);
      const probe = { url: 'https://a.example/robots.txt', site: 'a.example', pageIds: [], validators: {} } as const;
      return (id: string) => observer.observe({ ...probe, id, atMs: clock.nowMs() });
    };
    // Until it is killed: one that has reached its server, and is not answered yet.
    void start(25_000)('killed');
    await clock.runUntil(startMs + 25_500);
    expect(seen).toHaveLength(1);
    const look = start(0);
    while (seen.length < 3 && clock.nowMs() < startMs + 4 * hourMs) {
      await clock.runUntil(clock.nowMs() + 100, look(String(clock.nowMs())));
      await clock.runUntil(clock.nowMs() + 5_000);
    }
    expect(seen).toHaveLength(3);
    const apart = 'cap' in rules ? seen[2]! - seen[0]! : seen[1]! - seen[0]!;
    expect(apart).toBeGreaterThanOrEqual(hourMs);
    expect(apart).toBeLessThan(hourMs + 90_000);
    await store.close();
  },
);

test('of a request that was answered the next process knows when it was seen, and of one that was not, each next one the same', async () => {
  const store = memoryStore();
  const clock = new VirtualClock(startMs);
  const observer = createObserver({ ...usual, clock, fetchPage: async ({ url }) => notThere(url, clock.nowMs()) });
  const process = () => new CappedSites({ clock, observer, store }, notSet);
  const first = process();
  expect(await first.counted('a.example', [startMs])).toBe(true);
  await clock.runUntil(startMs + 300);
  first.seen('a.example', [startMs + 200]);
  expect(await process().recall('a.example')).toEqual([startMs + 200]);
  expect(await first.counted('a.example', [clock.nowMs()])).toBe(true);
  await clock.runUntil(startMs + 8_000);
  expect(await process().recall('a.example')).toEqual([startMs + 8_000]);
  await clock.runUntil(startMs + 16_000);
  expect(await process().recall('a.example')).toEqual([startMs + 8_000]);
  await store.close();
});
