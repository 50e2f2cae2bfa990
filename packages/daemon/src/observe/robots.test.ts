/** robots.txt at the wire, in virtual time: when it is read, what it forbids, how long it holds. */
import { expect, test } from 'vitest';
import { gaps, pagesOf, startMs, world } from '../trial/recorded-web.ts';
import type { Ask } from './ask.ts';

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

test.each([
  [5, 'robots-disallowed'],
  [6, 'fetched'],
])('robots.txt behind %i redirects: the page is %s (RFC 9309 asks for five)', async (redirects, outcome) => {
  const web = world((ask) => {
    const hop = /^\/robots(\d*)\.txt$/.exec(ask.url.pathname);
    if (!hop) return undefined;
    const at = Number(hop[1]);
    return at < redirects
      ? { status: 302, headers: { location: `/robots${at + 1}.txt` } }
      : { body: 'User-agent: *\nDisallow: /' };
  });
  const seen = await web.see('https://example.org/a');
  expect('fault' in seen.outcome ? seen.outcome.fault.code : seen.outcome.kind).toBe(outcome);
});

test('of a robots.txt the rules within the first 500 KiB are read, and none behind', async () => {
  const comment = '# a line that says nothing\n';
  const filled = (text: string, bytes: number) =>
    text + comment.repeat(Math.floor((bytes - text.length) / comment.length));
  const early = filled('User-agent: *\nDisallow: /front\n', 120 * 1024);
  const late = filled(`${early}Disallow: /middle\n`, 500 * 1024 - 100);
  const body = filled(`${late}Disallow: /last\n`, 501 * 1024).concat('Disallow: /behind\n');
  const web = world((ask) => (ask.url.pathname === '/robots.txt' ? { body } : undefined));
  for (const path of ['front', 'middle', 'last'])
    expect((await web.see(`https://example.org/${path}`)).outcome).toMatchObject({
      fault: { code: 'robots-disallowed' },
    });
  expect((await web.see('https://example.org/behind')).outcome.kind).toBe('fetched');
});

test.each([
  ['max-age=60', 1],
  ['max-age=7200', 2],
  ['max-age=99999999', 24],
  [undefined, 24],
])('a robots.txt of Cache-Control %s is read again after %i hours', async (control, hours) => {
  const headers = control === undefined ? {} : { 'cache-control': control };
  const web = world((ask) =>
    ask.url.pathname === '/robots.txt' ? { body: 'User-agent: *\nAllow: /', headers } : undefined,
  );
  const readings = () => web.asked.filter(({ url }) => url.endsWith('/robots.txt')).length;
  await web.see('https://example.org/a');
  await web.clock.runUntil(startMs + hours * 3_600_000 - 60_000);
  await web.see('https://example.org/a');
  expect(readings()).toBe(1);
  await web.clock.runUntil(startMs + hours * 3_600_000 + 60_000);
  await web.see('https://example.org/a');
  expect(readings()).toBe(2);
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

test('Crawl-delay holds between robots.txt, which says it, and the first page', async () => {
  const web = world((ask) =>
    ask.url.pathname === '/robots.txt' ? { body: 'User-agent: *\nCrawl-delay: 7' } : undefined,
  );
  expect((await web.see('https://example.org/a')).outcome.kind).toBe('fetched');
  await web.see('https://example.org/b');
  expect(web.asked.map(({ url }) => new URL(url).pathname)).toEqual(['/robots.txt', '/a', '/b']);
  for (const gap of gaps(web.asked)) expect(gap).toBeGreaterThanOrEqual(7_000);
});

const readings = (web: ReturnType<typeof world>) =>
  web.asked.filter(({ url }) => url === 'https://example.org/robots.txt').length;

test.each([
  ['address-refused', 'robots-unreachable'],
  ['proxy-failed', 'proxy-failed'],
  ['connection-refused', 'connection-refused'],
])('a robots.txt that leads to where %s is met is asked for once for all pages, and named', async (fails, code) => {
  const web = world((ask) => {
    if (ask.url.hostname === '10.1.1.1') return { fails };
    return ask.url.pathname === '/robots.txt'
      ? { status: 302, headers: { location: 'http://10.1.1.1/robots.txt' } }
      : undefined;
  });
  for (const page of ['a', 'b', 'c']) {
    const { outcome } = await web.see(`https://example.org/${page}`);
    expect(outcome).toMatchObject({ fault: { code }, untilMs: expect.any(Number) });
    const { sentence } = (outcome as Extract<typeof outcome, { kind: 'refused' }>).fault;
    expect(sentence).toMatch(/^robots\.txt of example\.org redirects to 10\.1\.1\.1 and cannot be read/);
    expect(sentence).not.toContain('--allow-network');
  }
  expect(readings(web)).toBe(1);
  await web.clock.runUntil(startMs + 3_600_000);
  await web.see('https://example.org/a');
  expect(readings(web)).toBe(2);
});

test('a robots.txt that leads to a site that is left alone is asked for again when that one may be', async () => {
  const web = world((ask) => {
    if (ask.url.hostname === 'other.example') return { status: 429, headers: { 'retry-after': '7200' } };
    return ask.url.pathname === '/robots.txt'
      ? { status: 302, headers: { location: 'https://other.example/robots.txt' } }
      : undefined;
  });
  for (const page of ['a', 'b', 'c'])
    expect((await web.see(`https://example.org/${page}`)).outcome).toMatchObject({
      fault: { code: 'turned-away' },
      elsewhere: { site: 'other.example' },
    });
  expect(readings(web)).toBe(1);
  await web.clock.runUntil(startMs + 4 * 3_600_000);
  await web.see('https://example.org/a');
  expect(readings(web)).toBe(2);
});
