/**
 * Servers that are broken, slow or mean, on real sockets of loopback. For each: the outcome a page should have, within the
 * time and memory the limits name, while a healthy site beside it is observed as if nothing were wrong.
 */
import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { decodeText } from '../values/text.ts';
import type { WebObserver, ObserverOptions } from './observe.ts';
import { codeOf, lookBeside } from './test/beside.ts';
import * as certificates from './test/certificates.ts';
import { hostileServers, repeat, Servers, shortLimits } from './test/hostile.ts';
import type { Loopback } from './test/loopback.ts';
import { observerOn, probeOf, serve } from './test/loopback.ts';

const open: { close(): Promise<void> }[] = [];
const servers = new Servers();
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
  await servers.close();
});

let healthy: Loopback;
beforeAll(async () => {
  healthy = await serve((_request, response) => response.end('well'), undefined, '127.0.0.2');
});
afterAll(() => healthy.close());

function observer(options: Partial<ObserverOptions> = {}): WebObserver {
  const made = observerOn({ limits: shortLimits, ...options });
  open.push(made);
  return made;
}

const look = (url: string, using: WebObserver = observer()) => lookBeside(`${healthy.origin}/`, url, using);

test.each(hostileServers)('$name', async ({ begin, code }) => {
  const host = await servers.raw(begin());
  expect(codeOf(await look(`http://${host}/`))).toBe(code);
});

test('encodings on top of each other, unknown, broken, or claimed without being there', async () => {
  const cases: Record<string, [encoding: string, body: Buffer]> = {
    '/thrice': ['gzip, gzip, gzip', gzipSync(gzipSync(gzipSync('x')))],
    '/unknown': ['compress', Buffer.from('x')],
    '/broken': ['br', Buffer.from('this is no brotli at all')],
    '/broken-zstd': ['zstd', Buffer.from('this is no zstd at all')],
    '/plain': ['gzip', Buffer.from('plain text')],
    '/cut': ['gzip', gzipSync('a long enough text to be cut in the middle'.repeat(9)).subarray(0, 40)],
    '/cut-br': ['br', brotliCompressSync('a long enough text to be cut in the middle'.repeat(9)).subarray(0, 20)],
    '/cut-zstd': ['zstd', zstdCompressSync('a long enough text to be cut in the middle'.repeat(9)).subarray(0, 20)],
    '/good': ['zstd', zstdCompressSync('good')],
  };
  const server = await serve((request, response) => {
    const [encoding, body] = cases[request.url!]!;
    response.writeHead(200, { 'content-encoding': encoding }).end(body);
  });
  open.push(server);
  const using = observer();
  const seen = (path: string) => look(`${server.origin}${path}`, using);
  expect(codeOf(await seen('/thrice'))).toBe('encoding-refused');
  expect(codeOf(await seen('/unknown'))).toBe('encoding-refused');
  expect(codeOf(await seen('/broken'))).toBe('encoding-broken');
  expect(codeOf(await seen('/broken-zstd'))).toBe('encoding-broken');
  expect(codeOf(await seen('/plain'))).toBe('fetched');
  expect(codeOf(await seen('/good'))).toBe('fetched');
  for (const path of ['/cut', '/cut-br', '/cut-zstd']) expect(codeOf(await seen(path))).toBe('body-truncated');
});

test('redirects in a circle, and into places that are not visited', async () => {
  const places: Record<string, string> = {
    '/loop': '/loop',
    '/round': '/there',
    '/there': '/round',
    '/metadata': 'http://169.254.169.254/latest/meta-data/',
    '/private': 'http://10.0.0.1/',
    '/decimal': 'http://167772161/',
    '/mapped': 'http://[::ffff:10.0.0.1]/',
    '/name': 'http://inside.test/',
    '/file': 'file:///etc/passwd',
    '/ftp': 'ftp://127.0.0.1/',
    '/nonsense': 'http://',
    '/chain': '/private',
  };
  const onAndOn = (url: string) => `/on?${Number(url.split('?')[1]) + 1}`;
  const server = await serve((request, response) =>
    response.writeHead(302, { location: places[request.url!] ?? onAndOn(request.url!) }).end(),
  );
  open.push(server);
  const using = observer({ resolve: () => Promise.resolve([{ address: '192.168.1.1', family: 4 }]) });
  const seen = async (path: string) => codeOf(await look(`${server.origin}${path}`, using));
  for (const path of ['/loop', '/round', '/on?0']) expect(await seen(path)).toBe('redirect-loop');
  for (const path of ['/metadata', '/private', '/decimal', '/mapped', '/name', '/chain']) {
    expect(await seen(path)).toBe('address-refused');
  }
  for (const path of ['/file', '/ftp', '/nonsense']) expect(await seen(path)).toBe('redirect-refused');
  const asked = (of: RegExp) => server.asked.filter(({ path }) => of.test(path)).length;
  expect([asked(/loop/), asked(/round|there/), asked(/on\?/)]).toEqual([1, 2, 11]);
});

test('bodies that are shorter than they say', async () => {
  const answers: Record<string, string> = {
    '/length': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort',
    '/chunked': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nshort',
    '/no-end': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n',
    '/two-lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nshort',
    '/bad-length': 'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nshort',
    '/bad-chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nshort\r\n',
    '/no-status': 'HTTP/1.1 000 Nothing\r\nContent-Length: 5\r\n\r\nshort',
  };
  const host = await servers.raw((socket, request) => socket.end(answers[/^GET (\S+)/.exec(request)![1]!]));
  const kinds: Record<string, string> = {};
  for (const path of Object.keys(answers)) kinds[path] = codeOf(await look(`http://${host}${path}`));
  expect(kinds).toEqual({
    '/length': 'body-truncated',
    '/chunked': 'body-truncated',
    '/no-end': 'body-truncated',
    '/two-lengths': 'body-truncated',
    '/bad-length': 'answer-malformed',
    '/bad-chunk': 'answer-malformed',
    '/no-status': 'answer-malformed',
  });
});

test('a body longer than it says is what it says, and what follows is nobody’s answer', async () => {
  const host = await servers.raw((socket, request) => {
    const path = /^GET (\S+)/.exec(request)![1]!;
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n${path.slice(1).padEnd(5)}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`,
    );
  });
  const using = observer();
  for (const path of ['first', 'secon', 'third']) {
    const outcome = await look(`http://${host}/${path}`, using);
    const text = outcome.kind === 'fetched' ? Buffer.from(outcome.body).toString() : outcome.kind;
    expect(text).not.toBe('evil');
    expect([path, 'failed']).toContain(text);
  }
});

test('text that is no UTF-8 although the server says so', async () => {
  const server = await serve((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(Buffer.from([0x61, 0xff, 0xfe, 0x62, 0xc3]));
  });
  open.push(server);
  const outcome = await look(`${server.origin}/`);
  expect(outcome.kind).toBe('fetched');
  if (outcome.kind === 'fetched') {
    expect(decodeText(outcome.body, outcome.mediaType, outcome.charset).text).toBe('a\ufffd\ufffdb\ufffd');
  }
});

test.each([
  ['half a megabyte of nonsense', Buffer.alloc(600 * 1024, '\0\xff: :*$\r\n', 'latin1'), 'fetched'],
  ['one line of half a megabyte', Buffer.from(`User-agent: *\nDisallow: /${'a*'.repeat(260_000)}b$`), 'fetched'],
  [
    'wildcards built to backtrack',
    Buffer.from(`User-agent: *\n${`Disallow: /${'a*'.repeat(60)}b$\n`.repeat(4000)}`),
    'fetched',
  ],
  [
    'a rule in front and a megabyte behind',
    Buffer.from(`User-agent: *\nDisallow: /a\n${'# x\n'.repeat(300_000)}`),
    'robots-disallowed',
  ],
  [
    'a rule as its last of 500 KiB and a megabyte behind',
    Buffer.from(`User-agent: *\n${'# x\n'.repeat(127_990)}Disallow: /a\n${'# x\n'.repeat(300_000)}`),
    'robots-disallowed',
  ],
])('a robots.txt with %s', async (_name, body, outcome) => {
  const server = await serve(
    (_request, response) => response.end('page'),
    (_request, response) => response.end(body),
  );
  open.push(server);
  expect(codeOf(await look(`${server.origin}/${'a'.repeat(1500)}`))).toBe(outcome);
});

test('what status and headers say holds where the body cannot be read', async () => {
  const broken = 'Content-Encoding: br\r\nContent-Length: 12\r\n\r\nno brotli...';
  const cut = 'Content-Length: 100\r\n\r\nshort';
  const huge = 'Content-Length: 99999999999\r\n\r\nshort';
  const answers: Record<string, string> = {
    '/gone': `HTTP/1.1 410 Gone\r\n${cut}`,
    '/lost': `HTTP/1.1 404 Not Found\r\n${broken}`,
    '/moved': `HTTP/1.1 302 Found\r\nLocation: /there\r\n${cut}`,
    '/there': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere',
    '/broken': `HTTP/1.1 500 Oh\r\n${huge}`,
  };
  for (const [n, body] of [cut, broken, huge, 'Content-Encoding: lzma\r\nContent-Length: 1\r\n\r\nx'].entries()) {
    answers[`/later${n}`] = `HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3600\r\n${body}`;
    answers[`/soon${n}`] = `HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\n${body}`;
  }
  const host = await servers.raw((socket, request) => socket.end(answers[/^GET (\S+)/.exec(request)![1]!]));
  const kinds: Record<string, string> = {};
  for (const path of Object.keys(answers)) kinds[path] = codeOf(await look(`http://${host}${path}`));
  const away = Object.fromEntries(
    [0, 1, 2, 3].flatMap((n) => [`/later${n}`, `/soon${n}`]).map((path) => [path, 'turned-away']),
  );
  expect(kinds).toEqual({
    ...away,
    '/gone': 'gone',
    '/lost': 'gone',
    '/moved': 'fetched',
    '/there': 'fetched',
    '/broken': 'server-error',
  });
});

test('a chain of slow redirects is not followed for ever', async () => {
  let hops = 0;
  const host = await servers.raw((socket) => {
    const answer = `HTTP/1.1 302 Found\r\nLocation: /${++hops}\r\nContent-Length: 0\r\n\r\n`;
    setTimeout(() => socket.write(answer), 100);
  });
  const using = observer({ limits: { ...shortLimits, chainMs: 250 } });
  expect(codeOf(await look(`http://${host}/`, using))).toBe('total-timeout');
  expect(hops).toBe(3);
});

test('a robots.txt whose answer is broken is named, and of one that is packed and long the beginning counts', async () => {
  const rules = 'User-agent: *\nDisallow: /private\n';
  const long = gzipSync(rules + '# nothing\n'.repeat(400_000));
  const cases: [head: string, body: Buffer, code: string][] = [
    ['gzip', gzipSync(rules).subarray(0, 20), 'body-truncated'],
    ['br', Buffer.from('no brotli at all'), 'encoding-broken'],
    ['gzip', long, 'fetched'],
  ];
  for (const [encoding, body, code] of cases) {
    const server = await serve(
      (_request, response) => response.end('page'),
      (_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body),
    );
    open.push(server);
    const using = observer();
    const outcome = await look(`${server.origin}/`, using);
    expect(codeOf(outcome)).toBe(code);
    if ('fault' in outcome) expect(outcome.fault.sentence).toMatch(/^robots\.txt of 127\.0\.0\.1:\d+ cannot be read: /);
    else expect(codeOf(await look(`${server.origin}/private`, using))).toBe('robots-disallowed');
  }
});

test('a robots.txt whose connection is cut is named', async () => {
  const server = await serve(
    (_request, response) => response.end('page'),
    (request) => request.socket.destroy(),
  );
  open.push(server);
  expect(await look(`${server.origin}/`, observer())).toMatchObject({
    fault: {
      code: 'connection-lost',
      sentence: expect.stringMatching(/^robots\.txt of 127\.0\.0\.1:\d+ cannot be read: /),
    },
  });
});

test('a robots.txt without end, and one that drips', async () => {
  for (const everyMs of [1, 200]) {
    const host = await servers.listen(
      createTcpServer((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
          repeat(socket, everyMs, () => socket.write('10000\r\n'.padEnd(65_536 + 7, '#\n') + '\r\n'));
        });
      }),
    );
    // Endless: its first part is read, and the page is asked for and treated alike. Dripping: it cannot be read.
    expect(codeOf(await look(`http://${host}/`))).toBe(everyMs === 1 ? 'body-too-large' : 'total-timeout');
  }
});

test('a connection reset on connecting', async () => {
  const host = await servers.listen(createTcpServer((socket) => socket.resetAndDestroy()));
  expect(codeOf(await look(`http://${host}/`))).toBe('connection-lost');
});

test('a connection reset in the handshake, and plain text where TLS is expected', async () => {
  const reset = await servers.listen(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
  expect(codeOf(await look(`https://${reset}/`))).toBe('connection-lost');
  const plain = await servers.listen(
    createTcpServer((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad\r\n\r\n'))),
  );
  expect(codeOf(await look(`https://${plain}/`))).toBe('tls-failed');
  const silent = await servers.listen(createTcpServer(() => {}));
  expect(['connection-timeout', 'first-byte-timeout']).toContain(codeOf(await look(`https://${silent}/`)));
});

test('nothing listens there', async () => {
  const server = createTcpServer();
  const host = await servers.listen(server);
  await servers.close();
  expect(codeOf(await look(`http://${host}/`))).toBe('connection-refused');
});

test.each([
  ['expired', certificates.expired, 'has expired'],
  ['for another name', certificates.wrongName, 'for another name'],
  ['signed by itself', certificates.selfSigned, 'signed by itself'],
])('a certificate that is %s', async (_name, cert, words) => {
  const server = createTlsServer({ cert, key: certificates.key }, (socket) => socket.on('error', () => {}).end());
  server.on('tlsClientError', () => {});
  const host = await servers.listen(server);
  const outcome = await look(`https://${host}/`, observer({ authorities: [certificates.authority] }));
  expect(codeOf(outcome)).toBe('certificate-invalid');
  expect('fault' in outcome && outcome.fault.sentence).toContain(words);
});

test('a certificate of an authority nobody knows', async () => {
  const server = createTlsServer({ cert: certificates.good, key: certificates.key }, (socket) =>
    socket.on('error', () => {}).end(),
  );
  server.on('tlsClientError', () => {});
  const host = await servers.listen(server);
  expect(codeOf(await look(`https://${host}/`))).toBe('certificate-invalid');
});

test('DNS that changes its answer after it was judged (addresses.test.ts has it for redirects and forms)', async () => {
  const server = await serve((_request, response) => response.setHeader('connection', 'close').end('inside'));
  open.push(server);
  let asked = 0;
  // Allowed the first time, the inside of the network from then on.
  const resolve = () => Promise.resolve([{ address: asked++ === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 } as const]);
  let nowMs = 0;
  // Every look at the clock is more than an hour later: no answer is remembered.
  const sleep = () => new Promise<void>((resolve) => setImmediate(resolve));
  const clock = { nowMs: () => (nowMs += 3_601_000), sleep };
  const using = observer({ resolve, clock, allowNetworks: ['127.0.0.2/32'] });
  for (let attempt = 0; attempt < 3; attempt++) {
    const { outcome } = await using.observe(probeOf(`http://rebind.test:${server.port}/`));
    expect(['address-refused', 'connection-refused', 'site-closed']).toContain(codeOf(outcome));
  }
  expect(asked).toBeGreaterThan(1);
  expect(server.asked).toEqual([]);
});
