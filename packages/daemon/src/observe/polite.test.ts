/** Politeness at the wire, in virtual time: the rules are checked on the record of what was asked and when. */
import { integer, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { gaps, pagesOf, startMs, world } from '../trial/recorded-web.ts';
import type { SiteRules } from './gate.ts';
import { probeOf } from './test/loopback.ts';

test('a site is asked one thing at a time, spaced from answer to request, robots.txt and redirects included', async () => {
  const web = world((ask) =>
    ask.url.pathname === '/moved' ? { status: 302, headers: { location: '/there' } } : undefined,
  );
  const names = ['www', 'docs', 'www', 'shop'];
  const looks = names.map((name, index) =>
    web.observer.observe(probeOf(`https://${name}.example.org/${index === 0 ? 'moved' : index}`)),
  );
  await web.run(Promise.all(looks));
  expect(web.asked).toHaveLength(3 + 4 + 1);
  expect(web.most()).toBe(1);
  for (const gap of gaps(web.asked)) expect(gap).toBeGreaterThanOrEqual(2_050);
  expect((await Promise.all(looks)).map(({ outcome }) => outcome.kind)).toEqual([
    'fetched',
    'fetched',
    'fetched',
    'fetched',
  ]);
  expect((await looks[0]!).requests + (await looks[1]!).requests + (await looks[3]!).requests).toBe(3 + 1 + 2 + 1);
});

test('each request of a look is let go out when its turn has come, or the look ends there, and nothing is held against the site', async () => {
  const web = world((ask) =>
    ask.url.pathname === '/moved' ? { status: 302, headers: { location: '/there' } } : undefined,
  );
  for (let most = 0; most < 4; most++) {
    const before = web.asked.length;
    const heardMs: number[] = [];
    const mayAsk = async () => heardMs.push(web.clock.nowMs()) <= most;
    const look = web.observer.observe(probeOf(`https://site-${most}.example/moved`), undefined, mayAsk);
    const { outcome, requests } = await web.run(look).then(() => look);
    expect(requests).toBe(Math.min(3, most));
    expect(web.asked.slice(before).map(({ atMs }) => atMs)).toEqual(heardMs.slice(0, most));
    expect(outcome).toMatchObject(
      most < 3 ? { kind: 'refused', fault: { code: 'stopped' }, siteUntilMs: heardMs.at(-1) } : { kind: 'fetched' },
    );
    const again = web.observer.observe(probeOf(`https://site-${most}.example/moved`));
    await web.run(again);
    expect((await again).outcome.kind).toBe('fetched');
  }
});

test('sites do not wait for each other', async () => {
  const web = world(() => undefined);
  await web.run(Promise.all(['a', 'b', 'c'].map((name) => web.observer.observe(probeOf(`https://${name}.example/`)))));
  expect(web.clock.nowMs() - startMs).toBeLessThan(2_200);
});

test.each([
  ['literal addresses', ['http://10.0.0.1/a', 'http://[::ffff:10.0.0.1]/b', 'http://[64:ff9b::10.0.0.1]:81/c']],
  ['names', ['http://a.example/', 'http://b.example/', 'http://c.example/']],
])('%s of one IPv4 server, in whatever spelling, wait for each other', async (_name, urls) => {
  const addresses = ['10.0.0.1', '::ffff:10.0.0.1', '64:ff9b::a00:1'];
  const resolve = (host: string) =>
    Promise.resolve([{ address: addresses['abc'.indexOf(host[0]!)]!, family: 4 as const }]);
  const web = world(() => undefined, { resolve });
  await web.run(Promise.all(urls.map((url) => web.observer.observe(probeOf(url)))));
  expect(web.asked).toHaveLength(6);
  for (const gap of gaps(web.asked)) expect(gap).toBeGreaterThanOrEqual(2_000);
});

test('a cap holds in every stretch of its period, and more is handed back with a time', async () => {
  const cap = { count: 5, periodMs: 3_600_000 };
  const web = world(() => undefined, { siteRules: () => ({ cap }), spacingMs: 100 });
  const luck = random(3);
  const looks = async () => {
    for (let look = 0; look < 60; look++) {
      const seen = await web.observer.observe(probeOf('https://example.org/'));
      if (seen.outcome.kind === 'refused') {
        expect(seen.requests).toBe(0);
        expect(seen.outcome.siteUntilMs).toBeGreaterThan(web.clock.nowMs());
      }
      await web.clock.sleep(integer(luck, 600_000));
    }
  };
  await web.run(looks());
  const times = web.asked.map(({ atMs }) => atMs);
  for (let index = cap.count; index < times.length; index++) {
    expect(times[index]! - times[index - cap.count]!).toBeGreaterThanOrEqual(cap.periodMs);
  }
  expect(times.length).toBeGreaterThan(15);
});

test.each([1, 4])(
  'a cap counts from when requests were seen, however long connecting took (%i at once)',
  async (connections) => {
    const cap = { count: 6, periodMs: 60_000 };
    const luck = random(5);
    const seenAt: number[] = [];
    const web = world(
      (_ask, atMs) => {
        // The server sees a request at the end of a slow connect.
        const latencyMs = integer(luck, 15_000);
        seenAt.push(atMs + latencyMs);
        return { latencyMs };
      },
      { siteRules: () => ({ cap, connections }), spacingMs: 100 },
    );
    const looks = async () => {
      for (let look = 0; look < 60; look++) {
        await web.observer.observe(probeOf('https://example.org/'));
        await web.clock.sleep(integer(luck, 5_000));
      }
    };
    await web.run(Promise.all(Array.from({ length: connections }, looks)));
    seenAt.sort((a, b) => a - b);
    expect(seenAt.length).toBeGreaterThan(20);
    for (let index = cap.count; index < seenAt.length; index++)
      expect(seenAt[index]! - seenAt[index - cap.count]!).toBeGreaterThanOrEqual(cap.periodMs);
  },
);

test('quiet hours: nothing goes out, and the time handed back is after them', async () => {
  const quiet = (nowMs: number) => {
    const hour = (nowMs / 3_600_000) % 24;
    return hour < 8 ? nowMs - (nowMs % 86_400_000) + 8 * 3_600_000 : undefined;
  };
  const web = world(() => undefined, { siteRules: () => ({ quietUntilMs: quiet }) });
  const { outcome } = await web.see('https://example.org/');
  expect(outcome).toMatchObject({
    kind: 'refused',
    fault: { code: 'site-busy' },
    siteUntilMs: startMs + 8 * 3_600_000,
  });
  expect(web.asked).toEqual([]);
  await web.clock.runUntil(startMs + 8 * 3_600_000);
  expect((await web.see('https://example.org/')).outcome.kind).toBe('fetched');
});

test.each([
  ['120', 120_000],
  [new Date(startMs + 300_000).toUTCString(), 290_000],
])('Retry-After %s closes the whole site for that long, and its pages come back apart', async (retryAfter, waitMs) => {
  let closed = true;
  const date = new Date(startMs + 10_000).toUTCString();
  const web = world((ask) =>
    ask.url.pathname === '/a' && closed ? { status: 429, headers: { 'retry-after': retryAfter, date } } : undefined,
  );
  const first = await web.see('https://example.org/a');
  const turnedAwayMs = web.clock.nowMs();
  expect(first.outcome).toMatchObject({ kind: 'refused', fault: { code: 'turned-away' } });
  expect(first.requests).toBe(2);
  const untils: number[] = [];
  for (let page = 0; page < 20; page++) {
    const { outcome, requests } = await web.see(`https://www.example.org/${page}`);
    expect(requests).toBe(0);
    if (outcome.kind === 'refused') untils.push(outcome.untilMs!);
  }
  expect(untils).toHaveLength(20);
  expect(Math.min(...untils)).toBeGreaterThanOrEqual(turnedAwayMs + waitMs);
  const sorted = [...untils].sort((a, b) => a - b);
  for (let index = 1; index < sorted.length; index++)
    expect(sorted[index]! - sorted[index - 1]!).toBeGreaterThanOrEqual(2_000);
  closed = false;
  await web.clock.runUntil(Math.max(...untils));
  expect((await web.see('https://example.org/a')).outcome.kind).toBe('fetched');
  const after = web.asked.filter(({ atMs }) => atMs > turnedAwayMs);
  expect(after[0]!.atMs).toBeGreaterThanOrEqual(turnedAwayMs + waitMs);
});

test('a site that fails is asked ever less, tried once at a time, and open again after one success', async () => {
  let down = true;
  const web = world((ask) =>
    ask.url.pathname !== '/robots.txt' && down ? { fails: 'connection-timeout' } : undefined,
  );
  for (let look = 0; look < 12; look++) {
    const { outcome } = await web.see(`https://example.org/${look}`);
    if (outcome.kind === 'refused') await web.clock.runUntil(outcome.siteUntilMs!);
  }
  const waits = gaps(pagesOf(web.asked)).slice(1);
  expect(waits.length).toBeGreaterThan(3);
  for (let index = 0; index < waits.length; index++)
    expect(waits[index]).toBeGreaterThanOrEqual(0.5 * 10_000 * 2 ** index);
  down = false;
  await web.clock.runUntil(web.observer.standing('example.org')!.closedUntilMs);
  expect((await web.see('https://example.org/x')).outcome.kind).toBe('fetched');
  expect((await web.see('https://example.org/y')).outcome.kind).toBe('fetched');
  expect(web.observer.standing('example.org')!.failures).toBe(0);
});

test('a site that allows several requests at once is tried with one after it has failed, and has them all again after a success', async () => {
  let down = true;
  const web = world(
    (ask) => (down && ask.url.pathname !== '/robots.txt' ? { fails: 'connection-timeout' } : undefined),
    {
      siteRules: () => ({ connections: 3, spacingMs: 0 }),
    },
  );
  for (let look = 0; look < 3; look++) {
    const { outcome } = await web.see(`https://example.org/${look}`);
    if (outcome.kind === 'refused') await web.clock.runUntil(outcome.siteUntilMs!);
  }
  const atOnce = async () => {
    await web.clock.runUntil(web.observer.standing('example.org')!.closedUntilMs);
    const asked = web.asked.length;
    const looks = [1, 2, 3].map((page) => web.observer.observe(probeOf(`https://example.org/${page}`)));
    await web.clock.runUntil(web.clock.nowMs() + 10);
    const out = web.asked.length - asked;
    await web.run(Promise.all(looks));
    return out;
  };
  expect(await atOnce()).toBe(1);
  down = false;
  expect(await atOnce()).toBe(1);
  expect(await atOnce()).toBe(3);
});

test('sites that fail at the same moment come back at different ones', async () => {
  const web = world(() => ({ status: 503 }));
  await web.run(
    Promise.all(Array.from({ length: 50 }, (_, site) => web.observer.observe(probeOf(`https://s${site}.example/`)))),
  );
  const times = Array.from({ length: 50 }, (_, site) => web.observer.standing(`s${site}.example`)!.closedUntilMs);
  expect(new Set(times).size).toBe(50);
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(5_000);
});

test('404 and 410 are a state of the page and no reason to doubt the site', async () => {
  const web = world((ask) =>
    ask.url.pathname === '/robots.txt' ? undefined : { status: ask.url.pathname === '/a' ? 404 : 410 },
  );
  for (let look = 0; look < 5; look++) {
    expect((await web.see('https://example.org/a')).outcome).toEqual({ kind: 'gone', status: 404 });
    expect((await web.see('https://example.org/b')).outcome).toEqual({ kind: 'gone', status: 410 });
  }
  expect(web.observer.standing('example.org')).toMatchObject({ failures: 0, closedUntilMs: 0 });
});

test('what is known of a site comes over a restart', async () => {
  const before = world(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
  await before.see('https://example.org/');
  const standings = [before.observer.standing('example.org')!];
  const after = world(() => undefined, { standings });
  expect((await after.see('https://example.org/')).outcome).toMatchObject({
    kind: 'refused',
    fault: { code: 'site-closed' },
  });
  expect(after.asked).toEqual([]);
});

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'any mixture of sites, failures and waits is polite, seed %i',
  async (seed) => {
    const luck = random(seed);
    const rules: Record<string, Partial<SiteRules>> = {
      's1.example': { cap: { count: 10, periodMs: 600_000 } },
      's2.example': { spacingMs: 10_000 },
    };
    const closedUntil = new Map<string, number>();
    const web = world(
      (ask, atMs) => {
        const site = ask.url.hostname;
        expect(atMs, 'asked while it wanted to be left alone').toBeGreaterThanOrEqual(closedUntil.get(site) ?? 0);
        const chance = luck();
        const latencyMs = 1 + integer(luck, 5_000);
        if (ask.url.pathname === '/robots.txt')
          return site === 's3.example'
            ? { body: 'User-agent: *\nCrawl-delay: 5', latencyMs }
            : { status: 404, latencyMs };
        if (chance < 0.05) return { fails: 'connection-lost', latencyMs };
        if (chance < 0.08) {
          const seconds = 1 + integer(luck, 600);
          closedUntil.set(site, atMs + latencyMs + seconds * 1000);
          return { status: 503, headers: { 'retry-after': String(seconds) }, latencyMs };
        }
        if (chance < 0.15)
          return { status: 302, headers: { location: `https://s${integer(luck, 5)}.example/r` }, latencyMs };
        return { latencyMs };
      },
      { siteRules: (site) => rules[site], random: luck },
    );
    const visitor = async () => {
      for (let look = 0; look < 40; look++) {
        await web.observer.observe(probeOf(`https://s${integer(luck, 5)}.example/${look}`));
        await web.clock.sleep(integer(luck, 20_000));
      }
    };
    await web.run(Promise.all(Array.from({ length: 10 }, visitor)));
    for (const site of ['s0', 's1', 's2', 's3', 's4']) {
      const asked = web.asked.filter(({ url }) => url.startsWith(`https://${site}.example/`));
      const spacingMs = site === 's2' ? 10_000 : 2_000;
      for (const gap of gaps(asked)) expect(gap).toBeGreaterThanOrEqual(spacingMs);
      if (site === 's3') for (const gap of gaps(pagesOf(asked))) expect(gap).toBeGreaterThanOrEqual(5_000);
      if (site === 's1')
        for (let index = 10; index < asked.length; index++)
          expect(asked[index]!.atMs - asked[index - 10]!.atMs).toBeGreaterThanOrEqual(600_000);
    }
    expect(web.asked.length).toBeGreaterThan(60);
  },
);
