import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { locate } from '../../../../house/provision.ts';
import { eventually } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import { type NatsServer, startNats } from '../trial/nats-server.ts';
import { type TroubledLink, troubledLink } from '../trial/troubled-link.ts';

const bin = join(import.meta.dirname, '../../../daemon/bin/revisit.js');

interface Started {
  readonly process: ChildProcess;
  readonly said: () => string;
}

describe.skipIf(locate('nats-server') === undefined)('one observer of a name', () => {
  let nats: NatsServer;
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'revisit-only-')));
  const [here, elsewhere] = folders as [string, string];
  const all: Started[] = [];
  beforeAll(async () => {
    nats = await startNats();
  });
  afterEach(async () => {
    for (const { process: child } of all.splice(0)) {
      child.kill('SIGKILL');
      await eventually(() => hasEnded(child));
    }
  });
  afterAll(async () => {
    await nats.end();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

  function start(folder: string, url = nats.url): Started {
    const words = ['observer', '--nats', url, '--name', 'near', '--data', folder];
    const child = leash(spawn(process.execPath, [bin, ...words], { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] }));
    let text = '';
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (text += String(chunk)));
    const started = { process: child, said: () => text };
    all.push(started);
    return started;
  }

  const isAtWork = ({ said }: Started): boolean => said().includes('observer at work');

  async function atWork(started: Started): Promise<void> {
    await eventually(() => isAtWork(started) || hasEnded(started.process));
    expect(started.said()).toContain('observer at work');
  }

  async function givesWay({ process: child, said }: Started): Promise<void> {
    await eventually(() => hasEnded(child));
    expect(child.exitCode).toBe(1);
    expect(
      said()
        .split('\n')
        .filter((line) => line.includes('Another observer is at work as near')),
    ).toHaveLength(1);
  }

  test('a second is refused in a sentence, with its folder or on another machine; after kill -9 the next is taken', async () => {
    const first = start(here);
    await atWork(first);
    const [beside, apart] = [start(here), start(elsewhere)];
    await Promise.all([givesWay(beside), givesWay(apart)]);
    expect([isAtWork(beside), isAtWork(apart), hasEnded(first.process)]).toEqual([false, false, false]);
    expect(beside.said()).toContain(`--data ${here}`);
    first.process.kill('SIGKILL');
    await atWork(start(here));
  });

  test('of two that start at once one stays', async () => {
    const both = [start(here), start(elsewhere)];
    await eventually(() => both.some(({ process: child }) => hasEnded(child)) && both.some(isAtWork));
    const [ended, stays] = both.sort((a, b) => Number(hasEnded(b.process)) - Number(hasEnded(a.process)));
    await givesWay(ended!);
    await atWork(stays!);
    expect(hasEnded(stays!.process)).toBe(false);
  });

  test('one that had no link meets the one that came in its place, and one stays', async () => {
    const link: TroubledLink = await troubledLink({ host: '127.0.0.1', port: Number(new URL(nats.url).port) });
    const first = start(here, `nats://127.0.0.1:${link.port}`);
    await atWork(first);
    link.cut();
    const second = start(elsewhere);
    await atWork(second);
    link.mend();
    const both = [first, second];
    await eventually(() => both.some(({ process: child }) => hasEnded(child)));
    const [ended, stays] = both.sort((a, b) => Number(hasEnded(b.process)) - Number(hasEnded(a.process)));
    await givesWay(ended!);
    expect(hasEnded(stays!.process)).toBe(false);
    await link.end();
  });
});
