/** Three real NATS servers that keep every message between them, as clusters have them; one at a time is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locate } from '../../../../house/provision.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import type { NatsServer } from './nats-server.ts';
import { answers, freePort } from './postgres-server.ts';

const count = 3;
/** Until whoever was started has caught up with the others, and may be needed. */
const caughtUpMsMax = 20_000;

interface Member {
  readonly name: string;
  readonly port: number;
  readonly monitor: number;
  readonly config: string;
  child: ChildProcess | undefined;
}

export interface NatsServers extends Pick<NatsServer, 'url' | 'start' | 'end'> {
  /**
   * Ends the next of them in turn, which `start` brings back; false where one that was killed before has not caught up: with two
   * that are behind, servers of this version may never find together again.
   */
  kill(): Promise<boolean>;
}

export async function startNatsServers(): Promise<NatsServers> {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-nats-'));
  const ports = await Promise.all(Array.from({ length: 3 * count }, freePort));
  const routes = ports.slice(0, count).map((port) => `nats://127.0.0.1:${port}`);
  const members = Array.from({ length: count }, (_, i): Member => {
    const [route, port, monitor] = [ports[i]!, ports[count + i]!, ports[2 * count + i]!];
    const name = `nats-${i}`;
    const config = join(folder, `${name}.conf`);
    writeFileSync(
      config,
      `server_name: ${name}
listen: "127.0.0.1:${port}"
http: "127.0.0.1:${monitor}"
jetstream { store_dir: ${JSON.stringify(join(folder, name))} }
cluster { name: trial, listen: "127.0.0.1:${route}", routes: [${routes.join(', ')}] }
`,
    );
    return { name, port, monitor, config, child: undefined };
  });
  const begin = async (member: Member): Promise<void> => {
    const child = leash(spawn(locate('nats-server')!, ['-c', member.config], { stdio: 'ignore' }));
    member.child = child;
    while (!(await answers(member.port))) {
      if (child.exitCode !== null) throw new Error(`${member.name} ended with ${child.exitCode}`);
      await pause(20);
    }
  };
  const end = (member: Member): Promise<void> =>
    new Promise((resolve) => {
      const { child } = member;
      if (!child || child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once('close', () => resolve());
      child.kill('SIGKILL');
    });
  await Promise.all(members.map(begin));
  let turn = 0;
  return {
    url: members.map(({ port }) => `nats://127.0.0.1:${port}`).join(','),
    kill: async () => {
      for (const member of members) if (!(await caughtUp(member))) return false;
      await end(members[turn % count]!);
      return true;
    },
    start: () => begin(members[turn++ % count]!),
    end: async () => {
      await Promise.all(members.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function caughtUp({ monitor }: Member): Promise<boolean> {
  for (const untilMs = performance.now() + caughtUpMsMax; performance.now() < untilMs; await pause(100)) {
    const well = await fetch(`http://127.0.0.1:${monitor}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (well) return true;
  }
  return false;
}
