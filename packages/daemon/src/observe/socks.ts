/**
 * SOCKS version 5 (RFC 1928) with an optional user name and password (RFC 1929): greet, authenticate, ask, be connected.
 *
 * `socks5:` looks names up here, where addresses are judged, and sends the proxy an address; `socks5h:` leaves names to the
 * proxy, which then decides what it connects to.
 */
import { connect, isIP } from 'node:net';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Resolve } from './resolve.ts';

export interface SocksProxy {
  readonly host: string;
  readonly port: number;
  readonly namesAtProxy: boolean;
  readonly user?: string;
  readonly password?: string;
}

export class SocksRefused extends Error {
  readonly code = 'REVISIT_SOCKS_REFUSED';
}

const replies: Readonly<Record<number, string>> = {
  1: 'it failed',
  2: 'its rules forbid it',
  3: 'the network is unreachable',
  4: 'the host is unreachable',
  5: 'the host refused the connection',
  6: 'it took too long',
  7: 'it does not know the command',
  8: 'it does not know this kind of address',
};

export async function connectThroughSocks(
  proxy: SocksProxy,
  target: { readonly hostname: string; readonly port?: string; readonly protocol: string },
  connectMs: number,
  resolve: Resolve,
  refusal: (host: string, address: string) => Error | undefined,
): Promise<Socket> {
  const host = proxy.namesAtProxy ? target.hostname : await addressOf(target.hostname, resolve, refusal);
  const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
  const socket = connect({ host: proxy.host, port: proxy.port });
  const timer = setTimeout(
    () => socket.destroy(new SocksRefused(`the proxy did not answer within ${connectMs} ms`)),
    connectMs,
  );
  const reader = readerOf(socket);
  try {
    await reader.connected.catch((error: NodeJS.ErrnoException) => {
      throw new SocksRefused(
        `the proxy ${proxy.host}:${proxy.port} cannot be reached (${error.code ?? error.message})`,
      );
    });
    const withPassword = proxy.user !== undefined;
    socket.write(Buffer.from(withPassword ? [5, 2, 0, 2] : [5, 1, 0]));
    const [version, method] = await reader.take(2);
    if (version !== 5) throw new SocksRefused('the proxy does not speak SOCKS 5');
    if (method === 2 && withPassword) await authenticate(socket, reader, proxy.user ?? '', proxy.password ?? '');
    else if (method !== 0) throw new SocksRefused('the proxy wants another way of signing in');
    socket.write(Buffer.concat([Buffer.from([5, 1, 0]), addressBytes(host), Buffer.from([port >> 8, port & 255])]));
    const [, reply, , kind] = await reader.take(4);
    if (reply !== 0) throw new SocksRefused(`the proxy says ${replies[reply!] ?? `error ${reply}`}`);
    const length = kind === 1 ? 4 : kind === 4 ? 16 : (await reader.take(1))[0]!;
    await reader.take(length + 2);
    reader.release();
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function addressOf(
  hostname: string,
  resolve: Resolve,
  refusal: (host: string, address: string) => Error | undefined,
): Promise<string> {
  if (isIP(hostname) !== 0) return hostname;
  const all = await resolve(hostname);
  const allowed = all.find(({ address }) => !refusal(hostname, address));
  if (allowed) return allowed.address;
  throw (all[0] && refusal(hostname, all[0].address)) ?? new SocksRefused(`${hostname} has no address`);
}

async function authenticate(socket: Socket, reader: Reader, user: string, password: string): Promise<void> {
  const part = (text: string) => {
    const bytes = Buffer.from(text).subarray(0, 255);
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  };
  socket.write(Buffer.concat([Buffer.from([1]), part(user), part(password)]));
  const [, status] = await reader.take(2);
  if (status !== 0) throw new SocksRefused('the proxy does not accept the user name and password');
}

function addressBytes(host: string): Buffer {
  const family = isIP(host);
  if (family === 0) {
    const name = Buffer.from(host);
    return Buffer.concat([Buffer.from([3, name.length]), name]);
  }
  return Buffer.from([family === 4 ? 1 : 4, ...ipaddr.parse(host).toByteArray()]);
}

interface Reader {
  readonly connected: Promise<void>;
  take(count: number): Promise<Buffer>;
  /** Hands the socket on; bytes that came early go back into it. */
  release(): void;
}

function readerOf(socket: Socket): Reader {
  let held = Buffer.alloc(0);
  let wake: () => void = () => {};
  let broken: Error | undefined;
  const connected = Promise.withResolvers<void>();
  connected.promise.catch(() => {});
  const onData = (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    wake();
  };
  const onEnd = (error?: unknown) => {
    broken = error instanceof Error ? error : new SocksRefused('the proxy closed the connection');
    connected.reject(broken);
    wake();
  };
  socket.once('connect', connected.resolve).on('data', onData).on('error', onEnd).on('close', onEnd);
  return {
    connected: connected.promise,
    take: async (count) => {
      while (held.length < count) {
        if (broken) throw broken;
        await new Promise<void>((resolve) => (wake = resolve));
      }
      const taken = held.subarray(0, count);
      held = held.subarray(count);
      return taken;
    },
    release: () => {
      socket.off('data', onData).off('error', onEnd).off('close', onEnd).pause();
      if (held.length > 0) socket.unshift(held);
    },
  };
}
