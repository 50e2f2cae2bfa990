/** A hub, a web of pages that name it, and the way by which it reaches daemons, for trials. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { leash } from './leash.ts';

interface HubState {
  readonly asked: readonly { readonly kind: string }[];
  readonly unverified: readonly { readonly kind: string; readonly status: number }[];
  readonly subscribers: readonly {
    readonly kind: string;
    readonly verified: number;
    readonly answers: readonly number[];
  }[];
}

/** What a trial has started, to be ended by it in reverse order. */
export type Cleanups = (() => unknown)[];

export async function startHub(cleanups: Cleanups, ...words: readonly number[]) {
  const child: ChildProcess = leash(
    spawn(process.execPath, [join(import.meta.dirname, 'hub.ts'), ...words.map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const gone = new Promise((resolve) => child.once('exit', resolve));
  cleanups.push(() => void child.kill('SIGKILL'));
  const port = await new Promise<string>((resolve) =>
    child.stdout!.once('data', (data) => resolve(String(data).trim())),
  );
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    state: async () => (await (await fetch(`${url}/state`)).json()) as HubState,
    publish: (topic: string) =>
      fetch(`${url}/publish`, { method: 'POST', body: new URLSearchParams({ 'hub.url': topic }) }),
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Pages that name a hub; each says what the test wrote last. */
export async function startWeb(cleanups: Cleanups, hubUrl: string, address = '127.0.0.1') {
  const texts = new Map<string, string>();
  const looks = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const text = texts.get(path);
    if (text === undefined) return response.writeHead(404).end();
    // The hub fetches what it publishes; those are not our looks.
    if (request.headers['user-agent']?.startsWith('revisit/')) looks.set(path, (looks.get(path) ?? 0) + 1);
    const hub = `<${hubUrl}${path}>; rel="hub"`;
    return response.writeHead(200, { 'content-type': 'text/html', link: hub }).end(`<p>${text}</p>`);
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  cleanups.push(() => (server.closeAllConnections(), server.close()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, texts, looks };
}

/** What stands between the internet and daemons, to each of which it leads in turn: its address is known before theirs. */
export async function startFront(cleanups: Cleanups) {
  let insides: readonly string[] = [];
  let known = (): void => {};
  const isKnown = new Promise<void>((resolve) => (known = resolve));
  let requests = 0;
  const server = createServer((request, response) => {
    const { method, headers, url } = request;
    // A hub may call before the daemon has said where it is.
    void isKnown.then(() => {
      const onward = ask(`${insides[requests++ % insides.length]}${url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  cleanups.push(() => (server.closeAllConnections(), server.close()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const leadTo = (...to: readonly string[]): void => {
    insides = to;
    known();
  };
  return { url, leadTo };
}
