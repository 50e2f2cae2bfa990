/** For tests that use the command as a person does: real processes, a real web on loopback, folders of their own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leash } from './leash.ts';

const bin = join(import.meta.dirname, '../../bin/revisit.js');

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), 'revisit-trial-'));
}

export function revisit(
  words: readonly string[],
  options: { readonly cwd?: string; readonly input?: string; readonly inputAfterMs?: number } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = leash(spawn(process.execPath, [bin, ...words], { cwd: options.cwd ?? tmpdir(), stdio: 'pipe' }));
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    setTimeout(() => child.stdin.end(options.input ?? ''), options.inputAfterMs ?? 0);
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

export interface Serving {
  readonly url: string;
  readonly process: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts a daemon on a free port and waits until it answers; fails with what it said when it does not. */
export function serve(words: readonly string[], nodeWords: readonly string[] = []): Promise<Serving> {
  return new Promise((resolve, reject) => {
    const child = leash(
      spawn(process.execPath, [...nodeWords, bin, 'serve', '--port', '0', ...words], {
        cwd: tmpdir(),
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    const closed = new Promise<number | null>((done) => child.on('close', done));
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
      const url = /Dashboard and API: (\S+)/.exec(err)?.[1];
      if (url) {
        resolve({
          url,
          process: child,
          out: () => out,
          err: () => err,
          end: (signal) => {
            child.kill(signal);
            return closed;
          },
        });
      }
    });
    void closed.then((code) => reject(new Error(`serve ended with ${code}: ${err}`)));
  });
}

export interface LoopbackWeb {
  readonly url: string;
  /** What the page at a path says now. */
  readonly pages: Map<string, string>;
  /** When each path was asked for, in order. */
  readonly asked: { readonly path: string; readonly atMs: number; readonly agent: string }[];
  /** Every request, for robots.txt too, and at which address it came in. */
  readonly requests: { readonly host: string; readonly path: string; readonly atMs: number; readonly agent: string }[];
  close(): Promise<void>;
}

/** A small web whose pages the test rewrites; paths it does not know are gone. */
export async function loopbackWeb(
  address = '127.0.0.1',
  delayMs: (path: string, agent: string) => number = () => 0,
): Promise<LoopbackWeb> {
  const pages = new Map<string, string>();
  const asked: LoopbackWeb['asked'] = [];
  const requests: LoopbackWeb['requests'] = [];
  const server: Server = createServer((request: IncomingMessage, response) => {
    const path = request.url ?? '/';
    const agent = request.headers['user-agent'] ?? '';
    const atMs = Date.now();
    requests.push({ host: request.socket.localAddress ?? '', path, atMs, agent });
    if (path === '/robots.txt') return response.writeHead(404).end();
    asked.push({ path, atMs, agent });
    const body = pages.get(path);
    if (body === undefined) return response.writeHead(404).end();
    const answer = (): void => void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
    const waitMs = delayMs(path, agent);
    return waitMs > 0 ? setTimeout(answer, waitMs) : answer();
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    pages,
    asked,
    requests,
    close: () => new Promise((done) => void (server.closeAllConnections(), server.close(() => done()))),
  };
}

/** No machine is so slow: who waits for longer waits for ever, and should say for what. */
const patienceMs = 150_000;

/** Asks again until the answer is there. */
export async function eventually<Value>(
  look: () => Promise<Value | undefined | false> | Value | undefined | false,
): Promise<Value> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > untilMs) throw new Error(`Still waiting after ${patienceMs} ms for ${look.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
