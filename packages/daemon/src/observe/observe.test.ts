import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { Loopback } from './test/loopback.ts';
import { observerOn, probeOf, serve } from './test/loopback.ts';
import type { WebObserver } from './observe.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});
const kept = <T extends Loopback | WebObserver>(thing: T): T => {
  open.push(thing);
  return thing;
};

test('a page is fetched with its type, charset and validators, and the user agent names the operator', async () => {
  const server = kept(
    await serve((_request, response) => {
      response.setHeader('content-type', 'Text/HTML; charset="UTF-8"');
      response.setHeader('etag', '"a"').setHeader('last-modified', 'Sat, 01 Jan 2022 00:00:00 GMT');
      response.setHeader('cache-control', 'public, max-age=60').end('hello');
    }),
  );
  const observer = kept(observerOn());
  const seen = await observer.observe(probeOf(`${server.origin}/a?b=1`));
  expect(seen.outcome).toMatchObject({
    kind: 'fetched',
    status: 200,
    mediaType: 'text/html',
    charset: 'utf-8',
    validators: { etag: '"a"', lastModified: 'Sat, 01 Jan 2022 00:00:00 GMT' },
    maxAgeSeconds: 60,
  });
  expect(seen.outcome.kind === 'fetched' && Buffer.from(seen.outcome.body).toString()).toBe('hello');
  expect(server.asked.map(({ path }) => path)).toEqual(['/robots.txt', '/a?b=1']);
  expect(server.asked[1]!.headers['user-agent']).toContain('example.org');
});

test('a user agent given for a page or its site is followed by our own, and robots.txt is read as ours', async () => {
  const answer = (_request: IncomingMessage, response: ServerResponse) => void response.end('x');
  const server = kept(
    await serve(answer, (_request, response) => {
      response.end('User-agent: Mozilla\nAllow: /\n\nUser-agent: revisit\nDisallow: /private');
    }),
  );
  const own = 'Revisit/0.1 (+https://example.org/revisit; test@example.org)';
  const observer = kept(observerOn({ siteRules: () => ({ headers: { 'User-Agent': 'Site/1' } }) }));
  const look = (path: string, headers?: Record<string, string>) =>
    observer.observe({ ...probeOf(`${server.origin}${path}`), ...(headers ? { headers } : {}) });
  await look('/a', { 'User-Agent': ' Mozilla/5.0 ' });
  await look('/b', { 'user-agent': '' });
  await look('/c');
  expect(server.asked.map(({ headers }) => headers['user-agent'])).toEqual([
    own,
    `Mozilla/5.0 ${own}`,
    own,
    `Site/1 ${own}`,
  ]);
  const refused = await look('/private', { 'User-Agent': 'Mozilla/5.0' });
  expect(refused.outcome).toMatchObject({ fault: { code: 'robots-disallowed' } });
});

test('validators go back unchanged and 304 means not modified', async () => {
  const server = kept(
    await serve((request, response) => {
      response.writeHead(request.headers['if-none-match'] === 'W/"x"' ? 304 : 200).end('body');
    }),
  );
  const observer = kept(observerOn());
  const validators = { etag: 'W/"x"', lastModified: 'Sat, 01 Jan 2022 00:00:00 GMT' };
  const seen = await observer.observe(probeOf(server.origin, { validators }));
  expect(seen.outcome).toEqual({ kind: 'not-modified' });
  expect(server.asked[1]!.headers['if-modified-since']).toBe('Sat, 01 Jan 2022 00:00:00 GMT');
  const without = await observer.observe(probeOf(server.origin));
  expect(without.outcome.kind).toBe('fetched');
  expect(server.asked[2]!.headers['if-modified-since']).toBeUndefined();
});

test('whatever is looked at, only GET goes out, for whole bodies: neither HEAD nor a range was ever found to help', async () => {
  const server = kept(
    await serve((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: '/large' }).end();
      else if (request.url === '/gone') response.writeHead(410).end();
      else if (request.headers['if-none-match'] === '"a"') response.writeHead(304).end();
      else response.setHeader('accept-ranges', 'bytes').setHeader('etag', '"a"').end('x'.repeat(300_000));
    }),
  );
  const observer = kept(observerOn());
  for (const path of ['/', '/away', '/gone', '/large'])
    for (const validators of [{}, { etag: '"a"' }])
      await observer.observe(probeOf(server.origin + path, { validators }));
  expect(server.asked.length).toBeGreaterThan(8);
  expect(new Set(server.asked.map(({ method }) => method))).toEqual(new Set(['GET']));
  expect(
    server.asked.filter(({ headers }) => headers.range !== undefined || headers['if-range'] !== undefined),
  ).toEqual([]);
});

test('304 where no validator was sent is no news of the page', async () => {
  const server = kept(
    await serve((request, response) => {
      if (request.url === '/latest') response.writeHead(302, { location: '/v2' }).end();
      else response.writeHead(304).end();
    }),
  );
  const observer = kept(observerOn());
  const plain = await observer.observe(probeOf(`${server.origin}/plain`));
  expect(plain.outcome).toMatchObject({ kind: 'failed', fault: { code: 'status-unexpected' } });
  // Those of the page's last place stay there: where it redirects to now they were not sent.
  const validators = { etag: '"1"', url: `${server.origin}/v1` };
  const moved = await observer.observe(probeOf(`${server.origin}/latest`, { validators }));
  expect(moved.outcome).toMatchObject({ kind: 'failed', fault: { code: 'status-unexpected' } });
  expect(server.asked.filter(({ headers }) => headers['if-none-match'] !== undefined)).toEqual([]);
});
