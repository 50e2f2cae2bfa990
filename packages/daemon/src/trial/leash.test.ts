import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from './command.ts';

const parent = (rest: string): string => `
  import { spawn } from 'node:child_process';
  import { leash } from ${JSON.stringify(join(import.meta.dirname, 'leash.ts'))};
  const pids = [1, 2, 3].map(() => leash(spawn('sleep', ['600'], { stdio: 'ignore' })).pid);
  console.log(pids.join(' '));
  ${rest}`;

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test.each([
  ['is killed', 'process.kill(process.pid, "SIGKILL");'],
  ['fails', 'throw new Error("on purpose");'],
  ['ends', 'process.exit(0);'],
])('children end with a parent that %s', async (_how, rest) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', parent(`setTimeout(() => { ${rest} }, 50);`)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  await new Promise((done) => child.once('close', done));
  const pids = out.trim().split(' ').map(Number);
  expect(pids).toHaveLength(3);
  await eventually(() => !pids.some(lives));
});

test('a process that has ended before is not confused with another that got its number', async () => {
  const other = spawn('sleep', ['600'], { stdio: 'ignore' });
  const rest = `
    import { leashed } from ${JSON.stringify(join(import.meta.dirname, 'leash.ts'))};
    const ended = leashed(${other.pid});
    leashed(${other.pid}0);
    ended();
    setTimeout(() => process.exit(0), 50);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', parent(rest)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  await new Promise((done) => child.once('close', done));
  const pids = out.trim().split(' ').map(Number);
  await eventually(() => !pids.some(lives));
  expect(lives(other.pid!)).toBe(true);
  other.kill('SIGKILL');
});
