/** Real processes for the benchmark of the cluster, the web they look at, and patience with them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve, type Serving } from '../../packages/daemon/src/trial/command.ts';

const bin = join(import.meta.dirname, '../../packages/daemon/bin/revisit.js');
const open = ['--allow-network', '127.0.0.0/8', '--log-level', 'error'];
/** How long a site takes to answer: what a robot mostly waits for. */
export const siteMs = 100;
/** A part that has not come so far by then is told as what it is, and the others are measured all the same. */
const patienceMs = 45_000;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function until(what: string, there: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await there())) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${patienceMs / 1000} s`);
    await pause(100);
  }
}

export interface Web {
  readonly port: number;
  change(): void;
  close(): void;
}

/** Pages whose words differ from page to page, of 2 KB under `/small` and 20 KB elsewhere; a change is one line. */
export async function startWeb(): Promise<Web> {
  let edition = 0;
  const bodies = new Map<string, string>();
  const bodyOf = (key: string, lines: number): string => {
    let known = bodies.get(key);
    if (!known) {
      let seed = Buffer.from(key).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
      const word = (): string => ((seed = (seed * 1664525 + 1013904223) >>> 0) >>> 8).toString(36);
      known = Array.from({ length: lines }, () => `<p>${Array.from({ length: 12 }, word).join(' ')}</p>`).join('\n');
      bodies.set(key, known);
    }
    return known;
  };
  const server: Server = createServer((request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end();
    const far = request.headers['user-agent']?.includes('far') === true;
    const lines = request.url?.startsWith('/small') ? 25 : 250;
    const words = bodyOf(`${request.headers.host}${request.url}`, lines);
    const body = `<html><body>${words}<p>Edition ${edition}</p></body></html>`;
    const send = (): void => void response.writeHead(200, { 'content-type': 'text/html' }).end(body);
    return far ? setTimeout(send, siteMs) : send();
  });
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done));
  return {
    port: (server.address() as AddressInfo).port,
    change: () => void edition++,
    close: () => void (server.closeAllConnections(), server.close()),
  };
}

/** Seconds of CPU that a process has used so far, as Linux counts them: in hundredths. */
export function cpuSeconds(child: ChildProcess): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

interface RobotsBody {
  readonly kept: number;
  readonly observers: readonly { readonly looks: number; readonly sites: readonly string[] }[];
}

/** A daemon and whoever looks for it. */
export class Cluster {
  readonly #children: ChildProcess[] = [];
  readonly coordinator: Serving;

  private constructor(coordinator: Serving) {
    this.coordinator = coordinator;
  }

  /** With words for a store and NATS a coordinator, without them a single process. */
  static async start(settings: string, ...words: string[]): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'revisit-bench-'));
    const config = join(folder, 'revisit.yaml');
    writeFileSync(config, `policy: uniform\n${settings}`);
    return new Cluster(await serve([config, '--data', join(folder, 'data'), ...words, ...open]));
  }

  run(...words: string[]): ChildProcess {
    const child = spawn(process.execPath, [bin, ...words, ...open], { cwd: tmpdir(), stdio: 'ignore' });
    this.#children.push(child);
    return child;
  }

  async add(urls: readonly string[]): Promise<void> {
    const answer = await fetch(`${this.coordinator.url}/api/pages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(urls.map((url) => ({ url }))),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }

  async robots(): Promise<RobotsBody> {
    return (await (await fetch(`${this.coordinator.url}/api/robots`)).json()) as RobotsBody;
  }

  async kept(): Promise<number> {
    return (await this.robots()).kept;
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await this.coordinator.end('SIGKILL');
  }
}
