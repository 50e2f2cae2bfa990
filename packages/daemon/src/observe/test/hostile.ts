/** Servers that are broken, slow or mean, each with what a look at it should come to; for tests of one look and of a daemon. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

/** Short, and yet long enough for a healthy site while a loaded machine works on the hostile one. */
export const shortLimits = {
  connectMs: 600,
  firstByteMs: 1_000,
  totalMs: 1_400,
  wireBytesMax: 2 ** 20,
  bodyBytesMax: 2 ** 21,
  headerBytesMax: 32 * 2 ** 10,
};

/** Servers of one test, closed together. */
export class Servers {
  readonly #open: (() => Promise<void>)[] = [];

  /** Answers host and port. */
  listen(server: Server, address = '127.0.0.1'): Promise<string> {
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
    const close = (done: () => void): void => {
      for (const socket of sockets) socket.destroy();
      server.close(() => done());
    };
    this.#open.push(() => new Promise(close));
    return new Promise((resolve) => {
      server.listen(0, address, () => resolve(`${address}:${(server.address() as AddressInfo).port}`));
    });
  }

  /** Speaks bytes: robots.txt is not there, everything else is the case's business. */
  raw(answer: Answering, address?: string): Promise<string> {
    const server = createServer((socket) => {
      socket.on('data', (data) => {
        const request = data.toString('latin1');
        if (request.startsWith('GET /robots.txt')) socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
        else answer(socket, request);
      });
    });
    return this.listen(server, address);
  }

  async close(): Promise<void> {
    for (const close of this.#open.splice(0)) await close();
  }
}

export type Answering = (socket: Socket, request: string) => unknown;

export function repeat(socket: Socket, everyMs: number, write: () => void): void {
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : write()), everyMs);
  socket.on('close', () => clearInterval(timer));
}

export interface HostileServer {
  readonly name: string;
  /** The fault that a look at it ends with. */
  readonly code: string;
  /** Makes ready what takes time and memory of its own. */
  readonly begin: () => Answering;
}

const mean = (name: string, code: string, answer: Answering): HostileServer => ({ name, code, begin: () => answer });

/** What a bomb unpacks to. */
export const bombBytes = 64 * 2 ** 20;

function bomb(name: string, encoding: string, pack: (plain: Buffer) => Buffer, bytes = bombBytes): HostileServer {
  const begin = (): Answering => {
    const packed = pack(Buffer.alloc(bytes));
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${packed.length}\r\n\r\n`;
    return (socket) => void (socket.write(head), socket.write(packed));
  };
  return { name: `a decompression bomb in ${name}`, code: 'body-too-large', begin };
}

const ok = 'HTTP/1.1 200 OK\r\n';
const chunk = 'x'.repeat(65_536);
const led = (place: string): string => `HTTP/1.1 302 Found\r\nLocation: ${place}\r\nContent-Length: 0\r\n\r\n`;

export const hostileServers: readonly HostileServer[] = [
  mean('a server that accepts and says nothing', 'first-byte-timeout', () => {}),
  mean('headers that drip', 'first-byte-timeout', (socket) => {
    socket.write(ok);
    repeat(socket, 20, () => socket.write('x: y\r\n'));
  }),
  mean('interim answers without end', 'first-byte-timeout', (socket) =>
    repeat(socket, 5, () => socket.write('HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n')),
  ),
  mean('a body that drips', 'total-timeout', (socket) => {
    socket.write(`${ok}Content-Length: 100000\r\n\r\n`);
    repeat(socket, 20, () => socket.write('x'));
  }),
  mean('a body without end in chunks', 'body-too-large', (socket) => {
    socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n`);
    repeat(socket, 1, () => socket.write(`10000\r\n${chunk}\r\n`));
  }),
  mean('a body without end until the connection closes', 'body-too-large', (socket) => {
    socket.write(`${ok}Connection: close\r\n\r\n`);
    repeat(socket, 1, () => socket.write(chunk));
  }),
  mean('a body that announces a terabyte', 'body-too-large', (socket) =>
    socket.write(`${ok}Content-Length: 1000000000000\r\n\r\nx`),
  ),
  bomb('gzip', 'gzip', gzipSync),
  bomb('deflate', 'deflate', deflateSync),
  bomb('raw deflate', 'deflate', deflateRawSync),
  bomb('brotli', 'br', brotliCompressSync, bombBytes / 4),
  bomb('zstd', 'zstd', zstdCompressSync),
  bomb('gzip twice', 'gzip, gzip', (plain) => gzipSync(gzipSync(plain))),
  mean('a flood of headers', 'headers-too-large', (socket) => {
    socket.write(ok);
    repeat(socket, 1, () => socket.write(`x-${'y'.repeat(1000)}: ${'z'.repeat(8000)}\r\n`));
  }),
  mean('what is not HTTP', 'answer-malformed', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n')),
  mean('redirects in a circle', 'redirect-loop', (socket) => socket.write(led('/loop'))),
  mean('a redirect into the network', 'address-refused', (socket) => socket.write(led('http://10.0.0.1/'))),
  mean('a redirect to a file', 'redirect-refused', (socket) => socket.write(led('file:///etc/passwd'))),
  mean('a body that is shorter than it says', 'body-truncated', (socket) =>
    socket.end(`${ok}Content-Length: 100\r\n\r\nshort`),
  ),
  mean('an encoding that is none', 'encoding-broken', (socket) =>
    socket.end(`${ok}Content-Encoding: br\r\nContent-Length: 24\r\n\r\nthis is no brotli at all`),
  ),
  mean('a connection reset after the request', 'connection-lost', (socket) => socket.resetAndDestroy()),
  mean('a connection reset in the headers', 'connection-lost', (socket) =>
    socket.write(`${ok}Content-Le`, () => socket.resetAndDestroy()),
  ),
  mean('a connection reset in the body', 'body-truncated', (socket) =>
    socket.write(`${ok}Content-Length: 9\r\n\r\nx`, () => setTimeout(() => socket.resetAndDestroy(), 30)),
  ),
];
