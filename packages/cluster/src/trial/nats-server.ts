/** A real NATS server with JetStream for tests: Debian's, on a free port with a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locate } from '../../../../house/provision.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import type { CrewKeys } from './crew-keys.ts';
import { answers, freePort } from './postgres-server.ts';

export interface NatsServer {
  readonly url: string;
  start(): Promise<void>;
  /** As a crash ends it. */
  kill(): Promise<void>;
  end(): Promise<void>;
}

/** With `keys`, nobody else is let in. */
export async function startNats(address = '127.0.0.1', keys?: CrewKeys): Promise<NatsServer> {
  const program = locate('nats-server')!;
  const folder = mkdtempSync(join(tmpdir(), 'revisit-nats-'));
  const port = await freePort();
  const words = keys
    ? ['-c', await keys.config(`${address}:${port}`)]
    : ['-a', address, '-p', String(port), '-js', '-sd', folder];
  let child: ChildProcess | undefined;
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      if (!child || child.exitCode !== null) return resolve();
      child.once('close', () => resolve());
      child.kill('SIGKILL');
    });
  const start = async (): Promise<void> => {
    child = leash(spawn(program, words, { stdio: 'ignore' }));
    while (child.exitCode === null) {
      if (await answers(port)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`nats-server on port ${port} ended with ${child.exitCode}`);
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    start,
    kill,
    end: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
