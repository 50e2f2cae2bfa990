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
