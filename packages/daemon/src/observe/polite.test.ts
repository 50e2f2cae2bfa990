/**
 * Politeness at the wire, in virtual time: a web of our own stands where the sockets would be, records what it is asked
 * and when, and the rules are checked on that record.
 */
import { integer, random } from '@revisit/core';
import { expect, test } from 'vitest';
import { VirtualClock } from '../simulation/virtual-clock.ts';
import type { Observation } from '../values/observation.ts';
import type { Answer, Ask } from './ask.ts';
import { validatorsOf } from './conditional.ts';
import type { SiteRules } from './gate.ts';
import type { ObserverOptions } from './observe.ts';
import { createObserver } from './observe.ts';
import { probeOf } from './test/loopback.ts';

const startMs = Date.UTC(2026, 0, 5);

interface Said {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly latencyMs?: number;
  readonly fails?: string;
}

interface Asked {
  readonly atMs: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** robots.txt is not there unless the web says so. */
function world(say: (ask: Ask, atMs: number) => Said | undefined, options: Partial<ObserverOptions> = {}) {
  const clock = new VirtualClock(startMs);
  const asked: Asked[] = [];
  let underWay = 0;
  let underWayMost = 0;
  const fetchPage = async (ask: Ask): Promise<Answer> => {
    const askedAtMs = clock.nowMs();
    asked.push({ atMs: askedAtMs, url: ask.url.href, headers: ask.headers });
    underWayMost = Math.max(underWayMost, ++underWay);
    const said = say(ask, askedAtMs) ?? (ask.url.pathname === '/robots.txt' ? { status: 404 } : {});
    await clock.sleep(said.latencyMs ?? 50);
    underWay--;
    if (said.fails) return { kind: 'failed', fault: { code: said.fails, sentence: said.fails }, bytesReceived: 0 };
    const { status = 200, headers = {}, body = 'page' } = said;
    return {
      kind: 'answered',
      url: ask.url,
      status,
      headers,
      body: Buffer.from(body),
      bytesReceived: body.length,
      askedAtMs,
      answeredAtMs: clock.nowMs(),
    };
  };
  const luck = random(1);
  const observer = createObserver({
    clock,
    random: luck,
    userAgent: 'Revisit/1 (test)',
    allowNetworks: [],
    spacingMs: 2_000,
    fetchPage,
    ...options,
  });
  const run = async (work: Promise<unknown>) => {
    await clock.runUntil(Infinity, work);
    return work;
  };
  const see = async (url: string, more?: Parameters<typeof probeOf>[1]): Promise<Observation> => {
    const looking = observer.observe(probeOf(url, more));
    await run(looking);
    return looking;
  };
  return { clock, asked, observer, run, see, most: () => underWayMost };
}

const gaps = (asked: readonly Asked[]) => asked.slice(1).map(({ atMs }, index) => atMs - asked[index]!.atMs);
const pagesOf = (asked: readonly Asked[]) => asked.filter(({ url }) => !url.endsWith('/robots.txt'));

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

test('sites do not wait for each other', async () => {
  const web = world(() => undefined);
  await web.run(Promise.all(['a', 'b', 'c'].map((name) => web.observer.observe(probeOf(`https://${name}.example/`)))));
  expect(web.clock.nowMs() - startMs).toBeLessThan(2_200);
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

test('sites that fail at the same moment come back at different ones', async () => {
  const web = world(() => ({ status: 503 }));
  await web.run(
    Promise.all(Array.from({ length: 50 }, (_, site) => web.observer.observe(probeOf(`https://s${site}.example/`)))),
  );
  const times = Array.from({ length: 50 }, (_, site) => web.observer.standing(`s${site}.example`)!.closedUntilMs);
  expect(new Set(times).size).toBe(50);
  expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(5_000);
});

test('robots.txt: rules, Crawl-delay, one reading a day, and a group of our own', async () => {
  const rules = 'User-agent: *\nDisallow: /\n\nUser-agent: revisit\nCrawl-delay: 7\nDisallow: /private';
  const web = world((ask) => (ask.url.pathname === '/robots.txt' ? { body: rules } : undefined));
  const first = await web.see('https://example.org/a');
  expect(first).toMatchObject({ outcome: { kind: 'fetched' }, crawlDelayMs: 7_000 });
  await web.see('https://example.org/b');
  await web.see('https://example.org/c');
  for (const gap of gaps(pagesOf(web.asked))) expect(gap).toBeGreaterThanOrEqual(7_050);
  const refused = await web.see('https://example.org/private/x');
  expect(refused.outcome).toMatchObject({ kind: 'refused', fault: { code: 'robots-disallowed' } });
  expect(refused.outcome).not.toHaveProperty('siteUntilMs');
  expect(refused.requests).toBe(0);
  expect(web.asked.filter(({ url }) => url.endsWith('/robots.txt'))).toHaveLength(1);
  await web.clock.runUntil(startMs + 25 * 3_600_000);
  await web.see('https://example.org/a');
  expect(web.asked.filter(({ url }) => url.endsWith('/robots.txt'))).toHaveLength(2);
});

test.each([
  [{ status: 404 }, 'fetched'],
  [{ status: 403 }, 'fetched'],
  [{ status: 500 }, 'robots-unreachable'],
  [{ status: 503 }, 'turned-away'],
  [{ status: 429 }, 'turned-away'],
  [{ fails: 'connection-refused' }, 'connection-refused'],
  [{ status: 301, headers: { location: '/robots.txt' } }, 'fetched'],
  [{ status: 301, headers: { location: 'https://other.example/robots.txt' } }, 'robots-disallowed'],
])('robots.txt answered with %j: the page is %s', async (said, outcome) => {
  const web = world((ask) => {
    if (ask.url.pathname !== '/robots.txt') return undefined;
    return ask.url.hostname === 'other.example' ? { body: 'User-agent: *\nDisallow: /' } : said;
  });
  const seen = await web.see('https://example.org/a');
  expect('fault' in seen.outcome ? seen.outcome.fault.code : seen.outcome.kind).toBe(outcome);
});

test('a robots.txt that was read holds on while the server fails, and one never read forbids for at most a month', async () => {
  let broken = false;
  const web = world((ask) =>
    ask.url.pathname === '/robots.txt'
      ? broken
        ? { status: 500 }
        : { body: 'User-agent: *\nDisallow: /no' }
      : undefined,
  );
  await web.see('https://example.org/a');
  broken = true;
  await web.clock.runUntil(startMs + 2 * 86_400_000);
  expect((await web.see('https://example.org/a')).outcome.kind).toBe('fetched');
  expect((await web.see('https://example.org/no')).outcome).toMatchObject({ fault: { code: 'robots-disallowed' } });

  const never = world((ask) => (ask.url.pathname === '/robots.txt' ? { status: 500 } : undefined));
  for (let day = 0; day < 32; day++) {
    await never.clock.runUntil(startMs + day * 2 * 86_400_000);
    const { outcome } = await never.see('https://example.org/a');
    expect(outcome.kind, `day ${2 * day}`).toBe(day * 2 > 30 ? 'fetched' : 'refused');
  }
});

test('credentials stay with their origin, and cookies of a chain come back', async () => {
  const web = world((ask) => {
    const { hostname, pathname } = ask.url;
    if (pathname === '/robots.txt') return undefined;
    if (hostname === 'a.example' && pathname === '/')
      return { status: 307, headers: { location: '/in', 'set-cookie': 'id=1; Path=/' } };
    if (hostname === 'a.example' && pathname === '/in')
      return { status: 302, headers: { location: 'https://u:p@b.example/' } };
    if (hostname === 'b.example') return { status: 302, headers: { location: 'https://a.example/end' } };
    return undefined;
  });
  const headers = { Authorization: 'Bearer s3cret', 'X-Api-Key': 'k' };
  const seen = await web.see('https://a.example/', { headers });
  expect(seen).toMatchObject({ finalUrl: 'https://a.example/end', requests: 6 });
  expect(seen.movedTo).toBeUndefined();
  const sent = Object.fromEntries(web.asked.map(({ url, headers }) => [url, headers]));
  expect(sent['https://a.example/']).toMatchObject({ authorization: 'Bearer s3cret', 'x-api-key': 'k' });
  expect(sent['https://a.example/in']).toMatchObject({ authorization: 'Bearer s3cret', cookie: 'id=1' });
  expect(sent['https://b.example/']).toEqual({});
  expect(sent['https://a.example/robots.txt']).not.toHaveProperty('authorization');
  expect(sent['https://a.example/end']).toMatchObject({ authorization: 'Bearer s3cret' });
});

test('permanent redirects all the way say where the page has moved', async () => {
  const web = world((ask) => {
    const next: Record<string, [number, string]> = {
      '/1': [301, '/2'],
      '/2': [308, '/3'],
      '/x': [301, '/y'],
      '/y': [302, '/3'],
    };
    const hop = next[ask.url.pathname];
    return hop && { status: hop[0], headers: { location: hop[1] } };
  });
  expect((await web.see('https://example.org/1')).movedTo).toBe('https://example.org/3');
  expect((await web.see('https://example.org/x')).movedTo).toBeUndefined();
});

test('validators go to the URL that issued them and to no other', async () => {
  const web = world((ask) => {
    if (ask.url.pathname === '/latest')
      return { status: 302, headers: { location: web.asked.length < 6 ? '/v1' : '/v2' } };
    if (ask.url.pathname.startsWith('/v'))
      return { status: ask.headers['if-none-match'] === '"1"' ? 304 : 200, headers: { etag: '"1"' } };
    return undefined;
  });
  const first = await web.see('https://example.org/latest');
  const validators = first.outcome.kind === 'fetched' ? first.outcome.validators : {};
  expect(validators).toEqual({ etag: '"1"', url: 'https://example.org/v1' });
  expect((await web.see('https://example.org/latest', { validators })).outcome.kind).toBe('not-modified');
  expect(web.asked.filter(({ url, headers }) => url.endsWith('/latest') && headers['if-none-match'])).toEqual([]);
  expect((await web.see('https://example.org/latest', { validators })).outcome.kind).toBe('fetched');
});

const second = (text: string) => `Mon, 05 Jan 2026 00:00:${text} GMT`;
test.each([
  ['a second that is over', { 'last-modified': second('01'), date: second('02') }, { lastModified: second('01') }],
  ['the second of our look', { 'last-modified': second('02'), date: second('02') }, {}],
  ['no date of the server', { 'last-modified': second('02') }, {}],
  [
    'a tag beside the second of our look',
    { etag: '"x"', 'last-modified': second('02'), date: second('02') },
    { etag: '"x"' },
  ],
  [
    'a tag made of the second of our look',
    {
      etag: `"${(Date.parse(second('02')) / 1000).toString(16)}-264"`,
      'last-modified': second('02'),
      date: second('02'),
    },
    {},
  ],
  [
    'a tag made of a second that is over',
    {
      etag: `"${(Date.parse(second('01')) / 1000).toString(16)}-264"`,
      'last-modified': second('01'),
      date: second('02'),
    },
    { etag: `"${(Date.parse(second('01')) / 1000).toString(16)}-264"`, lastModified: second('01') },
  ],
  ['what is no tag', { etag: 'x' }, {}],
  ['a tag that would break the header', { etag: '"a\r\nb"' }, {}],
  ['a tag of ten thousand characters', { etag: `"${'x'.repeat(10_000)}"` }, {}],
])('validators of %s', (_name, headers, validators) => {
  expect(validatorsOf(headers, undefined)).toEqual(validators);
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

test('robots.txt is not read again after a restart while it holds, and trouble with it is not forgotten', async () => {
  const say = (ask: Ask) => {
    if (ask.url.pathname !== '/robots.txt') return undefined;
    return ask.url.hostname === 'down.example'
      ? { status: 500 }
      : { body: 'User-agent: *\nCrawl-delay: 7\nDisallow: /private' };
  };
  const before = world(say);
  await before.see('https://www.example.org/');
  await before.see('https://down.example/');
  const saved = before.observer.save!()!;
  expect(before.observer.save!()).toBeUndefined();
  const after = world(say);
  expect([...after.observer.restore!(saved, 0)]).toEqual([['example.org', 7_000]]);
  await after.run(after.clock.sleep(before.clock.nowMs() - startMs + 1000));
  await after.see('https://www.example.org/');
  expect((await after.see('https://www.example.org/private')).outcome).toMatchObject({
    fault: { code: 'robots-disallowed' },
  });
  expect((await after.see('https://down.example/')).outcome).toMatchObject({ fault: { code: 'robots-unreachable' } });
  expect(after.asked.map(({ url }) => url)).toEqual(['https://www.example.org/']);
  await after.run(after.clock.sleep(25 * 3_600_000));
  await after.see('https://www.example.org/');
  expect(after.asked.map(({ url }) => url)).toContain('https://www.example.org/robots.txt');
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
