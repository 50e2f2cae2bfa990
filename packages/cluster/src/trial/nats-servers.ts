/** Three real NATS servers that keep every message between them, as clusters have them, to be killed one at a time or all at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locate } from '../../../../house/provision.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import type { NatsServer } from './nats-server.ts';
import { answers, freePort } from './postgres-server.ts';

const count = 3;

interface Member {
  readonly name: string;
  readonly port: number;
  readonly config: string;
  child: ChildProcess | undefined;
}

export interface NatsServers extends Pick<NatsServer, 'url' | 'start' | 'end'> {
  /** Ends the next of them in turn, all, or all but one, who can agree on nothing alone, whether or not one that was killed before has caught up; `start` brings back who was killed. */
  kill(which?: 'all' | 'most'): Promise<void>;
}

/** `more` is what their configuration says beside. */
export async function startNatsServers(more = ''): Promise<NatsServers> {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-nats-'));
  const ports = await Promise.all(Array.from({ length: 2 * count }, freePort));
  const routes = ports.slice(0, count).map((port) => `nats://127.0.0.1:${port}`);
  const members = Array.from({ length: count }, (_, i): Member => {
    const [route, port] = [ports[i]!, ports[count + i]!];
    const name = `nats-${i}`;
    const config = join(folder, `${name}.conf`);
    writeFileSync(
      config,
      `server_name: ${name}
listen: "127.0.0.1:${port}"
jetstream { store_dir: ${JSON.stringify(join(folder, name))} }
cluster { name: trial, listen: "127.0.0.1:${route}", routes: [${routes.join(', ')}] }
${more}
`,
    );
    return { name, port, config, child: undefined };
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
  let killed: readonly Member[] = [];
  return {
    url: members.map(({ port }) => `nats://127.0.0.1:${port}`).join(','),
    kill: async (which) => {
      killed = which === 'all' ? members : which === 'most' ? members.slice(1) : [members[turn++ % count]!];
      await Promise.all(killed.map(end));
    },
    start: async () => {
      await Promise.all(killed.map(begin));
    },
    end: async () => {
      await Promise.all(members.map(end));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
