/** Connections as they are really made: HTTP/2, proxies, keep-alive, spacing as a real server sees it. */
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { constants, createSecureServer } from 'node:http2';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { ObserverOptions, WebObserver } from './observe.ts';
import * as certificates from './test/certificates.ts';
import { observerOn, probeOf, serve } from './test/loopback.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close();
});

function observer(options: Partial<ObserverOptions>): WebObserver {
  const made = observerOn(options);
  open.push(made);
  return made;
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  open.unshift({
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const bodyOf = (seen: Awaited<ReturnType<WebObserver['observe']>>) =>
  seen.outcome.kind === 'fetched' ? Buffer.from(seen.outcome.body).toString() : JSON.stringify(seen.outcome);

test('HTTP/2 is spoken where it is offered, over one connection', async () => {
  const versions: string[] = [];
  let connections = 0;
  const server = createSecureServer(
    { cert: certificates.good, key: certificates.key, allowHTTP1: true },
    (request, response) => {
      versions.push(request.httpVersion);
      response.writeHead(request.url === '/robots.txt' ? 404 : 200).end('over two');
    },
  );
  server.on('secureConnection', () => connections++);
  const port = await listen(server);
  const using = observer({ authorities: [certificates.authority] });
  for (let look = 0; look < 3; look++)
    expect(bodyOf(await using.observe(probeOf(`https://127.0.0.1:${port}/`)))).toBe('over two');
  expect(versions).toEqual(['2.0', '2.0', '2.0', '2.0']);
  expect(connections).toBe(1);
});

test.each([10, 400_000])(
  'an HTTP/2 answer of %i bytes that is whole stays so when its stream is reset without error',
  async (bytes) => {
    // RFC 9113, 8.1: so a server says that it need not read the rest of what was sent to it.
    const server = createSecureServer({ cert: certificates.good, key: certificates.key });
    let resets = 0;
    server.on('stream', (stream, { ':path': path }) => {
      stream.respond({ ':status': path === '/robots.txt' ? 404 : 200 });
      stream.end('x'.repeat(bytes));
      const reset = () => (resets++, stream.close(constants.NGHTTP2_NO_ERROR));
      if (path === '/soon') stream.on('finish', reset);
      else reset();
    });
    const origin = `https://127.0.0.1:${await listen(server)}`;
    const using = observer({ authorities: [certificates.authority] });
    for (const path of ['/at-once', '/soon', '/at-once'])
      expect(bodyOf(await using.observe(probeOf(`${origin}${path}`)))).toHaveLength(bytes);
    expect(await using.submit!(`${origin}/hub`, { unread: 'y'.repeat(300_000) })).toBe(200);
    expect(resets).toBe(5);
  },
);

test('a connection is kept for the next look', async () => {
  const sockets = new Set<Socket>();
  const using = observer({});
  const seen = await serve((request, response) => {
    sockets.add(request.socket);
    response.end('x');
  });
  open.push(seen);
  for (let look = 0; look < 5; look++) {
    // Not back to back: a connection that is closed at once would serve those, too.
    await new Promise((resolve) => setTimeout(resolve, 40));
    await using.observe(probeOf(`${seen.origin}/${look}`));
  }
  expect(sockets.size).toBe(1);
  // Not for as long as the server would keep it, a minute: most close theirs after five seconds, and may while we ask.
  const [socket] = sockets;
  if (!socket!.closed) await new Promise((resolve) => socket!.once('close', resolve));
}, 50_000);

test('a real server sees the spacing, whatever is asked at once', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/0') response.writeHead(302, { location: '/there' }).end();
    else response.end('x');
  });
  open.push(server);
  const using = observer({ spacingMs: 120 });
  await Promise.all([0, 1, 2, 3, 4].map((look) => using.observe(probeOf(`${server.origin}/${look}`))));
  expect(server.asked).toHaveLength(7);
  for (let index = 1; index < server.asked.length; index++) {
    expect(server.asked[index]!.atMs - server.asked[index - 1]!.atMs).toBeGreaterThanOrEqual(119);
  }
});

test('names that share a private address share its spacing', async () => {
  const server = await serve((_request, response) => response.end('x'));
  open.push(server);
  const using = observer({ spacingMs: 100, resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) });
  await Promise.all(
    ['a.test', 'b.test', 'c.test'].map((name) => using.observe(probeOf(`http://${name}:${server.port}/`))),
  );
  expect(server.asked).toHaveLength(6);
  for (let index = 1; index < server.asked.length; index++) {
    expect(server.asked[index]!.atMs - server.asked[index - 1]!.atMs).toBeGreaterThanOrEqual(99);
  }
});

test('an HTTP proxy carries plain requests and tunnels secure ones, with its own credentials', async () => {
  const seen: string[] = [];
  const versions = new Set<string>();
  const proxy = createHttpServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization']}`);
    request.pipe(
      httpRequest(request.url!, { headers: { host: request.headers.host } }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  const target = await serve((_request, response) => response.end('plain'));
  open.push(target);
  const secure = createSecureServer(
    { cert: certificates.good, key: certificates.key, allowHTTP1: true },
    (request, response) => {
      versions.add(request.httpVersion);
      response.writeHead(200).end('User-agent: x');
    },
  );
  const securePort = await listen(secure);
  proxy.on('connect', (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url} ${request.headers['proxy-authorization']}`);
    const there = connect(securePort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
    socket.on('error', () => there.destroy());
  });
  const port = await listen(proxy);
  const using = observer({ proxy: `http://user:pass@127.0.0.1:${port}`, authorities: [certificates.authority] });
  expect(bodyOf(await using.observe(probeOf(`${target.origin}/a`)))).toBe('plain');
  const authorization = `Basic ${Buffer.from('user:pass').toString('base64')}`;
  expect(seen).toEqual([`GET ${target.origin}/robots.txt ${authorization}`, `GET ${target.origin}/a ${authorization}`]);
  expect(target.asked[1]!.headers['proxy-authorization']).toBeUndefined();
  expect(bodyOf(await using.observe(probeOf(`https://127.0.0.1:${securePort}/b`)))).toBe('User-agent: x');
  expect([...versions]).toEqual(['2.0']);
  expect(seen[2]).toBe(`CONNECT 127.0.0.1:${securePort} ${authorization}`);
  const resolve = () => Promise.resolve([{ address: '10.0.0.1', family: 4 } as const]);
  const named = observer({ proxy: `http://user:pass@127.0.0.1:${port}`, resolve });
  for (const [by, url] of [
    [using, 'http://10.0.0.1/'],
    [named, 'http://inside.test/'],
  ] as const)
    expect((await by.observe(probeOf(url))).outcome).toMatchObject({
      kind: 'refused',
      fault: { code: 'address-refused' },
    });
  expect(seen.filter((line) => /10\.0\.0\.1|inside/.test(line))).toEqual([]);
});

/** As much of RFC 1928 as a test needs; records what is asked. */
function socksServer(seen: string[], password: string | undefined, reply = 0): Server {
  return createTcpServer((socket) => {
    let stage = 0;
    socket.on('data', (data) => {
      if (stage === 0) {
        socket.write(Buffer.from([5, password === undefined ? 0 : 2]));
        stage = password === undefined ? 2 : 1;
      } else if (stage === 1) {
        const user = data.subarray(2, 2 + data[1]!).toString();
        const word = data.subarray(3 + data[1]!).toString();
        socket.write(Buffer.from([1, word === password ? 0 : 1]));
        seen.push(user);
        stage = 2;
      } else if (stage === 2) {
        stage = 3;
        const name = data[3] === 3;
        const host = name ? data.subarray(5, 5 + data[4]!).toString() : data.subarray(4, 8).join('.');
        const port = data.readUInt16BE(data.length - 2);
        seen.push(`${host}:${port}`);
        if (reply !== 0) {
          socket.end(Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]));
          return;
        }
        const there = connect(port, '127.0.0.1', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          socket.pipe(there).pipe(socket);
        });
        there.on('error', () => socket.destroy());
      }
    });
  });
}

test('a SOCKS 5 proxy, with addresses looked up here or there', async () => {
  const target = await serve((_request, response) => response.end('through'));
  open.push(target);
  const seen: string[] = [];
  const port = await listen(socksServer(seen, 'secret'));
  const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 } as const]);
  const here = observer({ proxy: `socks5://me:secret@127.0.0.1:${port}`, resolve });
  expect(bodyOf(await here.observe(probeOf(`http://name.test:${target.port}/`)))).toBe('through');
  expect(seen).toEqual(['me', `127.0.0.1:${target.port}`]);
  seen.length = 0;
  const there = observer({ proxy: `socks5h://me:secret@127.0.0.1:${port}`, resolve });
  expect(bodyOf(await there.observe(probeOf(`http://name.test:${target.port}/`)))).toBe('through');
  expect(seen).toEqual(['me', `name.test:${target.port}`]);
  const wrong = observer({ proxy: `socks5://me:wrong@127.0.0.1:${port}`, resolve });
  expect((await wrong.observe(probeOf(`http://name.test:${target.port}/`))).outcome).toMatchObject({
    kind: 'failed',
    fault: { code: 'proxy-failed', sentence: expect.stringContaining('user name and password') as string },
  });
});

test('a name that is inside once it is looked up for a SOCKS proxy is not handed to it', async () => {
  const seen: string[] = [];
  const port = await listen(socksServer(seen, undefined));
  let asked = 0;
  const resolve = () =>
    Promise.resolve([{ address: asked++ % 2 === 0 ? '127.0.0.1' : '10.0.0.1', family: 4 } as const]);
  let nowMs = 0;
  // Every look at the clock is more than an hour later: no answer is remembered.
  const sleep = () => new Promise<void>((resolve) => setImmediate(resolve));
  const clock = { nowMs: () => (nowMs += 3_601_000), sleep };
  const using = observer({ proxy: `socks5://127.0.0.1:${port}`, resolve, clock });
  const { outcome } = await using.observe(probeOf('http://rebind.test:9/'));
  expect(outcome).toMatchObject({ kind: 'refused', fault: { code: 'address-refused' } });
  expect(asked).toBe(2);
  expect(seen).toEqual([]);
});

test('what is wrong with a proxy is said of the proxy, and never its password', async () => {
  const gone = await listen(createTcpServer());
  for (const close of open.splice(0)) await close.close();
  const picky = createHttpServer((_request, response) => response.writeHead(407).end());
  picky.on('connect', (_request, socket: Socket) => socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'));
  const asking = await listen(picky);
  const sentences: string[] = [];
  for (const proxy of ['http', 'socks5', 'socks5h'].map((scheme) => `${scheme}://me:secret@127.0.0.1:${gone}`))
    for (const url of ['http://127.0.0.1:9/', 'https://127.0.0.1:9/']) {
      const { outcome } = await observer({ proxy }).observe(probeOf(url));
      expect(outcome).toMatchObject({ kind: 'failed', fault: { code: 'proxy-failed' } });
      sentences.push(JSON.stringify(outcome));
    }
  for (const url of ['http://127.0.0.1:9/', 'https://127.0.0.1:9/']) {
    const using = observer({ proxy: `http://me:secret@127.0.0.1:${asking}` });
    for (let look = 0; look < 3; look++) {
      const { outcome } = await using.observe(probeOf(url));
      expect(outcome).toMatchObject({ kind: 'failed', fault: { code: 'proxy-failed' } });
      expect(JSON.stringify(outcome)).toContain('wants a user name and password');
      sentences.push(JSON.stringify(outcome));
    }
    // The site has done nothing wrong.
    expect(using.standing('127.0.0.1')?.failures ?? 0).toBe(0);
  }
  expect(sentences.join('\n')).not.toMatch(/secret|me:|bWU6/);
});

test('TLS through SOCKS, and a proxy that says no', async () => {
  const secure = createSecureServer(
    { cert: certificates.good, key: certificates.key, allowHTTP1: true },
    (request, response) => response.writeHead(request.url === '/robots.txt' ? 404 : 200).end('safe'),
  );
  const securePort = await listen(secure);
  const port = await listen(socksServer([], undefined));
  const using = observer({ proxy: `socks5://127.0.0.1:${port}`, authorities: [certificates.authority] });
  expect(bodyOf(await using.observe(probeOf(`https://127.0.0.1:${securePort}/`)))).toBe('safe');
  const refusing = await listen(socksServer([], undefined, 2));
  const refused = observer({ proxy: `socks5://127.0.0.1:${refusing}` });
  expect((await refused.observe(probeOf('http://127.0.0.1:9/'))).outcome).toMatchObject({
    fault: { code: 'proxy-failed', sentence: expect.stringContaining('its rules forbid it') as string },
  });
});

test('packed in every way a server may, and unpacked', async () => {
  const { gzipSync, deflateSync, deflateRawSync, brotliCompressSync, zstdCompressSync } = await import('node:zlib');
  const text = 'the same text over and over, '.repeat(5000);
  const ways: Record<string, [string | string[], Buffer]> = {
    '/gzip': ['gzip', gzipSync(text)],
    '/x-gzip': ['x-gzip', gzipSync(text)],
    '/deflate': ['deflate', deflateSync(text)],
    '/raw': ['deflate', deflateRawSync(text)],
    '/br': ['br', brotliCompressSync(text)],
    '/zstd': ['zstd', zstdCompressSync(text)],
    '/twice': ['gzip, br', brotliCompressSync(gzipSync(text))],
    '/two-lines': [['gzip', 'br'], brotliCompressSync(gzipSync(text))],
    '/identity': ['identity', Buffer.from(text)],
  };
  const server = await serve((request, response) => {
    const [encoding, body] = ways[request.url!]!;
    response.setHeader('content-encoding', encoding).end(body);
  });
  open.push(server);
  const using = observer({});
  for (const path of Object.keys(ways))
    expect(bodyOf(await using.observe(probeOf(`${server.origin}${path}`)))).toBe(text);
  expect(server.asked[1]!.headers['accept-encoding']).toBe('gzip, deflate, br, zstd');
});

test('closing ends what is under way and what waits', async () => {
  const server = await serve(() => {});
  open.push(server);
  const using = observerOn({ spacingMs: 60_000, limits: { firstByteMs: 60_000 }, patienceMs: 600_000 });
  const looks = [0, 1, 2].map((look) => using.observe(probeOf(`${server.origin}/${look}`)));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await using.close();
  for (const { outcome } of await Promise.all(looks)) expect(['failed', 'refused']).toContain(outcome.kind);
});

test('a process that has just been stopped asks for nothing, also where it had begun to connect', async () => {
  const asked: string[] = [];
  const server = createHttpServer((request, response) => {
    asked.push(request.url!);
    response.writeHead(request.url === '/robots.txt' ? 404 : 200).end('here');
  });
  const port = await listen(server);
  let isDrowsy = false;
  const using = observer({ isDrowsy: () => isDrowsy, spacingMs: 0 });
  const look = () => using.observe(probeOf(`http://127.0.0.1:${port}/`));
  expect(bodyOf(await look())).toBe('here');
  isDrowsy = true;
  expect(await look()).toMatchObject({ outcome: { kind: 'failed', fault: { code: 'stopped' } } });
  // Stopped between the connecting and the sending.
  isDrowsy = false;
  let calls = 0;
  const late = observer({ isDrowsy: () => calls++ > 0, spacingMs: 0 });
  expect(await late.observe(probeOf(`http://127.0.0.1:${port}/`))).toMatchObject({
    outcome: { kind: expect.not.stringMatching('fetched') },
  });
  expect(calls).toBeGreaterThan(1);
  expect(asked).toEqual(['/robots.txt', '/']);
  isDrowsy = false;
  expect(bodyOf(await look())).toBe('here');
});

test.each([true, false])(
  'a leave that ends while a connection is made is had anew (%s), or nothing goes out',
  async (renewed) => {
    const server = await serve((_request, response) => response.end('here'));
    open.push(server);
    let current = false;
    let heard = 0;
    const mayAsk = () => {
      const said = heard++ === 0 || renewed;
      current = said;
      // It ends before any connection can be there.
      if (heard === 1) queueMicrotask(() => (current = false));
      return Promise.resolve(said);
    };
    const leave = Object.assign(mayAsk, { isCurrent: () => current });
    const { outcome } = await observer({}).observe(probeOf(`${server.origin}/`), undefined, leave);
    expect(server.connections()).toBe(1);
    expect(server.asked.map(({ path }) => path)).toEqual(renewed ? ['/robots.txt', '/'] : []);
    expect(outcome).toMatchObject(renewed ? { kind: 'fetched', status: 200 } : { fault: { code: 'stopped' } });
  },
);
