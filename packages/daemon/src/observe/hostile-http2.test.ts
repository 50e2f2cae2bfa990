/**
 * Servers that speak HTTP/2 to do harm, frame by frame on real sockets of loopback. For each: the outcome a page should have,
 * within the time and memory the limits name, while a healthy site beside it is observed as if nothing were wrong.
 */
import { createServer, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { WebObserver } from './observe.ts';
import { codeOf, lookBeside } from './test/beside.ts';
import * as certificates from './test/certificates.ts';
import { bombBytes, repeat, Servers, shortLimits } from './test/hostile.ts';
import { type Loopback, observerOn, serve } from './test/loopback.ts';

const servers = new Servers();
let using: WebObserver;
let healthy: Loopback;
beforeAll(async () => {
  healthy = await serve((_request, response) => response.end('well'), undefined, '127.0.0.2');
});
afterEach(async () => {
  await using.close();
  await servers.close();
});
afterAll(() => healthy.close());

/** RFC 9113, section 6. */
const types = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  promise: 5,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
};
const endStream = 1;
const endHeaders = 4;

function frame(type: keyof typeof types, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(types[type], 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** As RFC 7541 writes a header that is in no table: not kept, not packed. */
function field(name: string, value: string): Buffer {
  const text = (of: string): Buffer => {
    const rest = of.length - 127;
    const length = rest < 0 ? [of.length] : rest < 128 ? [127, rest] : [127, (rest & 127) | 128, rest >> 7];
    return Buffer.concat([Buffer.from(length), Buffer.from(of)]);
  };
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}
/** Entries 8 and 13 of the table that everybody has. */
const status200 = Buffer.from([0x88]);
const status404 = Buffer.from([0x8d]);
const begun = (stream: number, ...fields: Buffer[]): Buffer =>
  frame('headers', endHeaders, stream, Buffer.concat([status200, ...fields]));

interface Asked {
  readonly socket: TLSSocket;
  readonly stream: number;
}

/** Agrees on HTTP/2, has no robots.txt, and leaves what is asked for next to the case. */
function http2(answer: (asked: Asked) => unknown): Promise<string> {
  const options = { cert: certificates.good, key: certificates.key, ALPNProtocols: ['h2'] };
  let asked = 0;
  const server = createServer(options, (socket) => {
    socket.on('error', () => {}).write(frame('settings', 0, 0));
    let unread = Buffer.alloc(0);
    let greeted = false;
    socket.on('data', (data) => {
      unread = Buffer.concat([unread, data]);
      if (!greeted && unread.length >= 24) {
        greeted = true;
        unread = unread.subarray(24);
      }
      while (greeted && unread.length >= 9 && unread.length >= 9 + unread.readUIntBE(0, 3)) {
        const [type, flags, stream] = [unread[3]!, unread[4]!, unread.readUInt32BE(5)];
        unread = unread.subarray(9 + unread.readUIntBE(0, 3));
        if (type === types.settings && (flags & 1) === 0) socket.write(frame('settings', 1, 0));
        if (type !== types.headers) continue;
        if (asked++ === 0) socket.write(frame('headers', endHeaders | endStream, stream, status404));
        else answer({ socket, stream });
      }
    });
  });
  server.on('tlsClientError', () => {});
  return servers.listen(server);
}

async function outcome(host: string): Promise<string> {
  using = observerOn({ limits: shortLimits, authorities: [certificates.authority] });
  return codeOf(await lookBeside(`${healthy.origin}/`, `https://${host}/`, using));
}

const refused = 7;
const internal = 2;
const cancelled = 8;
const reset = (stream: number, code: number): Buffer => frame('reset', 0, stream, number(code));
const goAway = (last: number, code: number): Buffer =>
  frame('goAway', 0, 0, Buffer.concat([number(last), number(code)]));
const some = Buffer.alloc(1_000, 'x');
const large = Buffer.alloc(16_384, 'x');

const cases: readonly (readonly [name: string, code: string, answer: (asked: Asked) => unknown])[] = [
  [
    'a stream reset before its answer',
    'connection-lost',
    ({ socket, stream }) => socket.write(reset(stream, internal)),
  ],
  [
    'a stream reset after its headers',
    'body-truncated',
    ({ socket, stream }) => (socket.write(begun(stream)), setTimeout(() => socket.write(reset(stream, internal)), 30)),
  ],
  [
    'a stream reset in its body',
    'body-truncated',
    ({ socket, stream }) => {
      socket.write(Buffer.concat([begun(stream), frame('data', 0, stream, some)]));
      setTimeout(() => socket.write(reset(stream, internal)), 30);
    },
  ],
  [
    'a stream reset without an error before its announced end',
    'body-truncated',
    ({ socket, stream }) => {
      socket.write(Buffer.concat([begun(stream, field('content-length', '2000')), frame('data', 0, stream, some)]));
      setTimeout(() => socket.write(reset(stream, 0)), 30);
    },
  ],
  [
    'a stream reset without an error in a body of no announced length',
    'body-truncated',
    ({ socket, stream }) => {
      socket.write(Buffer.concat([begun(stream), frame('data', 0, stream, some)]));
      setTimeout(() => socket.write(reset(stream, 0)), 30);
    },
  ],
  [
    'a stream reset without an error with all that came before it in one piece',
    'body-truncated',
    ({ socket, stream }) =>
      socket.write(Buffer.concat([begun(stream), frame('data', 0, stream, some), reset(stream, 0)])),
  ],
  [
    'a stream reset without an error after its headers',
    'body-truncated',
    ({ socket, stream }) => (socket.write(begun(stream)), setTimeout(() => socket.write(reset(stream, 0)), 30)),
  ],
  [
    'a stream called off in its body',
    'body-truncated',
    ({ socket, stream }) => {
      socket.write(Buffer.concat([begun(stream), frame('data', 0, stream, some)]));
      setTimeout(() => socket.write(reset(stream, cancelled)), 30);
    },
  ],
  [
    'a whole answer that ends with trailers',
    'fetched',
    ({ socket, stream }) =>
      socket.write(
        Buffer.concat([
          begun(stream),
          frame('data', 0, stream, some),
          frame('headers', endHeaders | endStream, stream, field('x-sum', '1')),
        ]),
      ),
  ],
  [
    'a farewell in the body',
    'body-truncated',
    ({ socket, stream }) => {
      socket.write(Buffer.concat([begun(stream), frame('data', 0, stream, some)]));
      setTimeout(() => socket.end(goAway(stream, internal)), 30);
    },
  ],
  [
    'a farewell in the body, and silence',
    'total-timeout',
    ({ socket, stream }) =>
      socket.write(Buffer.concat([begun(stream), frame('data', 0, stream, some), goAway(stream, 0)])),
  ],
  [
    'a connection cut in the body',
    'body-truncated',
    ({ socket, stream }) =>
      socket.write(Buffer.concat([begun(stream), frame('data', 0, stream, some)]), () =>
        setTimeout(() => socket.destroy(), 30),
      ),
  ],
  ['an answer that never comes', 'first-byte-timeout', () => {}],
  [
    'headers without end',
    'connection-lost',
    ({ socket, stream }) => {
      socket.write(frame('headers', 0, stream, status200));
      repeat(socket, 1, () => socket.write(frame('continuation', 0, stream, field('x', 'y'.repeat(8_000)))));
    },
  ],
  [
    'headers in empty pieces without end',
    'connection-lost',
    ({ socket, stream }) => {
      socket.write(frame('headers', 0, stream, status200));
      repeat(socket, 1, () => socket.write(Buffer.concat(Array(100).fill(frame('continuation', 0, stream)))));
    },
  ],
  [
    'more headers than anybody needs',
    'headers-too-large',
    ({ socket, stream }) => {
      const fields = Array.from({ length: 60 }, (_, i) => field(`x-${i}`, 'y'.repeat(1_000)));
      socket.write(frame('headers', 0, stream, Buffer.concat([status200, ...fields.slice(0, 15)])));
      for (let i = 15; i < 60; i += 15)
        socket.write(frame('continuation', i === 45 ? endHeaders : 0, stream, Buffer.concat(fields.slice(i, i + 15))));
      socket.write(frame('data', endStream, stream, some));
    },
  ],
  [
    'interim answers without end',
    'first-byte-timeout',
    ({ socket, stream }) =>
      repeat(socket, 2, () => socket.write(frame('headers', endHeaders, stream, field(':status', '103')))),
  ],
  [
    'settings without end',
    'first-byte-timeout',
    ({ socket }) => repeat(socket, 1, () => socket.write(Buffer.concat(Array(500).fill(frame('settings', 0, 0))))),
  ],
  [
    'pings without end',
    'first-byte-timeout',
    ({ socket }) =>
      repeat(socket, 1, () => socket.write(Buffer.concat(Array(500).fill(frame('ping', 0, 0, Buffer.alloc(8)))))),
  ],
  [
    'a body without end',
    'body-too-large',
    ({ socket, stream }) => {
      socket.write(begun(stream));
      repeat(socket, 1, () => socket.write(frame('data', 0, stream, large)));
    },
  ],
  [
    'a body that drips',
    'total-timeout',
    ({ socket, stream }) => {
      socket.write(begun(stream));
      repeat(socket, 20, () => socket.write(frame('data', 0, stream, 'x')));
    },
  ],
  [
    'a body of nothing without end',
    'body-truncated',
    ({ socket, stream }) => {
      socket.write(begun(stream));
      repeat(socket, 1, () => socket.write(Buffer.concat(Array(200).fill(frame('data', 0, stream)))));
    },
  ],
  [
    'a body that announces a terabyte',
    'body-too-large',
    ({ socket, stream }) =>
      socket.write(
        Buffer.concat([begun(stream, field('content-length', '1000000000000')), frame('data', 0, stream, 'x')]),
      ),
  ],
  [
    'a body that is shorter than it says',
    'body-truncated',
    ({ socket, stream }) =>
      socket.write(Buffer.concat([begun(stream, field('content-length', '9')), frame('data', endStream, stream, 'x')])),
  ],
  [
    'pages that nobody asked for',
    'connection-lost',
    ({ socket, stream }) =>
      socket.write(frame('promise', endHeaders, stream, Buffer.concat([number(2), Buffer.from([0x82, 0x84, 0x87])]))),
  ],
  ['what is not HTTP/2', 'connection-lost', ({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\n')],
];

test.each(cases)('%s', async (_name, code, answer) => {
  expect(await outcome(await http2(answer))).toBe(code);
});

test.each([
  ['says farewell', ({ socket }: Asked) => socket.end(goAway(0, 0))],
  ['refuses its streams', ({ socket, stream }: Asked) => socket.write(reset(stream, refused))],
  [
    'says farewell and refuses its streams',
    ({ socket, stream }: Asked) => socket.write(Buffer.concat([goAway(0, 0), reset(stream, refused)])),
  ],
])('a server that %s is asked as often as its gate let out, and no more', async (_name, answer) => {
  let asked = 0;
  const host = await http2((request) => (asked++, answer(request)));
  expect(await outcome(host)).toBe('connection-lost');
  expect(asked).toBe(1);
});

test.each([0, internal])('an answer that is whole counts, and its reset with code %i does not', async (code) => {
  const host = await http2(({ socket, stream }) =>
    socket.write(Buffer.concat([begun(stream), frame('data', endStream, stream, some), reset(stream, code)])),
  );
  expect(await outcome(host)).toBe('fetched');
});

test('a decompression bomb', async () => {
  const packed = gzipSync(Buffer.alloc(bombBytes));
  const host = await http2(({ socket, stream }) => {
    socket.write(begun(stream, field('content-encoding', 'gzip')));
    for (let at = 0; at < packed.length; at += large.length)
      socket.write(
        frame(
          'data',
          at + large.length < packed.length ? 0 : endStream,
          stream,
          packed.subarray(at, at + large.length),
        ),
      );
  });
  expect(await outcome(host)).toBe('body-too-large');
});
