/** Two coordinators and a robot, for tests that ask now the one and now the other. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Serving, freshFolder, serve } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { systemClock } from '../../../daemon/src/values/clock.ts';
import { type NatsServer, startNats } from './nats-server.ts';
import { startPooled } from './pooler.ts';
import { type TroubledLink, troubledLink } from './troubled-link.ts';

const bin = join(import.meta.dirname, '../../../daemon/bin/revisit.js');
const open = ['--allow-network', '127.0.0.0/8', '--log-level', 'error'];

export interface Pair {
  readonly both: readonly [Serving, Serving];
  /** The second one's way to NATS. */
  readonly way: TroubledLink;
  /** Where they answer. */
  readonly urls: readonly [string, string];
  readonly nats: NatsServer;
  /** One more of them, until the end. */
  another(): Promise<Serving>;
  end(): Promise<void>;
}

export async function startPair(lease: string): Promise<Pair> {
  const [postgres, nats] = await Promise.all([startPooled(), startNats()]);
  const way = await troubledLink({ host: '127.0.0.1', port: Number(new URL(nats.url).port) });
  const words = ['--store', await postgres.database('together'), ...open];
  const folders = [freshFolder(), freshFolder()];
  const started: Serving[] = [];
  const start = async (folder: string, natsUrl: string): Promise<Serving> => {
    const serving = await serve([
      ...words,
      '--nats',
      natsUrl,
      '--data',
      folder,
      '--budget',
      '50/second',
      '--spacing',
      '20ms',
      '--lease',
      lease,
    ]);
    started.push(serving);
    return serving;
  };
  const both = [await start(folders[0]!, nats.url), await start(folders[1]!, `nats://127.0.0.1:${way.port}`)] as const;
  const robot = ['robot', '--nats', nats.url, '--spacing', '20ms', ...open];
  leash(spawn(process.execPath, [bin, ...robot], { cwd: tmpdir(), stdio: 'ignore' }));
  return {
    both,
    way,
    nats,
    urls: [both[0].url, both[1].url],
    another: () => start(folders[folders.push(freshFolder()) - 1]!, nats.url),
    end: async () => {
      await Promise.all(started.map((serving) => serving.end('SIGKILL')));
      await way.end();
      await Promise.all([postgres.end(), nats.end()]);
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a call of the API is answered; again where the database had no time for it, as on a busy machine: nothing was changed then. */
export async function answerTo(method: string, url: string, payload?: object | string): Promise<Response> {
  const kind = typeof payload === 'string' ? 'text/csv' : 'application/json';
  const body = payload === undefined ? {} : { headers: { 'content-type': kind }, body: said(payload) };
  for (;;) {
    const answer = await fetch(url, { method, ...body });
    if (answer.status !== 503) return answer;
    await systemClock.sleep(200);
  }
}

/** A call of the API; it must be answered well. */
export async function call<Body>(method: string, url: string, payload?: object | string): Promise<Body> {
  const answer = await answerTo(method, url, payload);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} is answered ${answer.status}: ${text}`);
  return (
    text === '' ? undefined : answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  ) as Body;
}

const said = (payload: object | string): string => (typeof payload === 'string' ? payload : JSON.stringify(payload));
