/** What goes along a chain of redirects: credentials, cookies, validators. */
import { expect, test } from 'vitest';
import { world } from '../trial/recorded-web.ts';
import type { Validators } from '../values/probe.ts';
import { validatorsOf } from './conditional.ts';

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

test('what a site is given does not go where its pages have moved, nor to whom they moved', async () => {
  const siteRules = (site: string) => ({ headers: { 'X-Site': `secret of ${site}` } });
  const web = world(() => undefined, { siteRules });
  const site = 'a.example';
  const movedFrom = 'https://a.example/1';
  for (const url of ['https://a.example:8443/2', 'http://a.example/2', 'https://b.example/2'])
    await web.see(url, { movedFrom, site, headers: { Authorization: 'of the page' } });
  expect(web.asked.filter(({ headers }) => headers['x-site'] ?? headers['authorization'])).toEqual([]);
  await web.see('https://a.example/2', { movedFrom, site });
  expect(web.asked.at(-1)!.headers).toMatchObject({ 'x-site': 'secret of a.example' });
});

test('a cookie of a chain comes back under its path, and no longer once it is taken back', async () => {
  const set: Record<string, readonly string[]> = {
    '/in/1': [
      'all=1; Path=/',
      'admin=1; Path=/admin',
      'near=1',
      'gone=; Max-Age=0; path=/',
      'past=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/',
      'short=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/',
    ],
    '/in/2': ['short=; Max-Age=-1; Path=/'],
  };
  const next: Record<string, string> = { '/in/1': '/in/2', '/in/2': '/administration', '/administration': '/admin/x' };
  const web = world(({ url: { pathname } }) => {
    const location = next[pathname];
    const cookies = set[pathname];
    return location === undefined
      ? undefined
      : { status: 302, headers: { location, ...(cookies ? { 'set-cookie': [...cookies] } : {}) } };
  });
  await web.see('https://example.org/in/1');
  const sent = web.asked.map(({ url, headers }) => [new URL(url).pathname, headers['cookie']]);
  expect(sent.slice(1)).toEqual([
    ['/in/1', undefined],
    ['/in/2', 'all=1; near=1; short=1'],
    ['/administration', 'all=1'],
    ['/admin/x', 'all=1; admin=1'],
  ]);
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
    { etag: `?${Date.parse(second('02'))}?"x"` },
  ],
  [
    'a tag made of the second of our look',
    {
      etag: `"${(Date.parse(second('02')) / 1000).toString(16)}-264"`,
      'last-modified': second('02'),
      date: second('02'),
    },
    { etag: `?${Date.parse(second('02'))}?"${(Date.parse(second('02')) / 1000).toString(16)}-264"` },
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
  ['a tag without its quotes', { etag: 'x-1' }, { etag: 'x-1' }],
  ['any tag', { etag: '*' }, {}],
  ['a list', { etag: 'x, y' }, {}],
  ['a tag that would break the header', { etag: '"a\r\nb"' }, {}],
  ['a tag of ten thousand characters', { etag: `"${'x'.repeat(10_000)}"` }, {}],
])('validators of %s', (_name, headers, validators) => {
  expect(validatorsOf(headers, undefined)).toEqual(validators);
});

const seconds = Date.parse(second('02')) / 1000;
test.each([
  ['seconds and size in base 36', `"${seconds.toString(36)}8z"`, true],
  ['a sum of the second', '"3873620190"', true],
  ['microseconds in hexadecimal', `"${(seconds * 1e6).toString(16)}"`, true],
  ['seconds and size run together', `"${seconds}264"`, true],
  ['seconds, without Last-Modified', `"${seconds}"`, false],
])('a page that is edited within the second of our look is seen all the same: %s', async (_name, etag, dated) => {
  let body = 'first';
  let now = '02';
  const web = world((ask) => {
    if (ask.url.pathname === '/robots.txt') return undefined;
    const headers = { etag, date: second(now), ...(dated ? { 'last-modified': second('02') } : {}) };
    return ask.headers['if-none-match'] === etag ? { status: 304, headers } : { body, headers };
  });
  const look = async (validators: Validators) => (await web.see('https://example.org/', { validators })).outcome;
  const first = await look({});
  body = 'other';
  now = '10';
  const next = await look(first.kind === 'fetched' ? first.validators : {});
  expect(next).toMatchObject({ kind: 'fetched', body: Buffer.from('other') });
  now = '20';
  expect(await look(next.kind === 'fetched' ? next.validators : {})).toMatchObject({ kind: 'not-modified' });
});

test('a tag that stays while Last-Modified is always now is believed from the second answer on, one of a sum from the first', () => {
  const at = (text: string) => ({ etag: '"sum"', 'last-modified': second(text), date: second(text) });
  const first = validatorsOf(at('02'), undefined);
  expect(first.etag).not.toBe('"sum"');
  expect(validatorsOf(at('03'), undefined, first).etag).not.toBe('"sum"');
  expect(validatorsOf(at('09'), undefined, first)).toEqual({ etag: '"sum"' });
  const sum = '"c0ffee1234567890c0ffee1234567890"';
  expect(validatorsOf({ etag: sum, date: second('02') }, undefined)).toEqual({ etag: sum });
});
