import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockFolder } from 'revisit/ports';
import { revisit } from '../../../daemon/src/trial/command.ts';
import { leash } from '../../../daemon/src/trial/leash.ts';
import type { Grant } from './grants.ts';
import { readKey } from './key-file.ts';
import { Keyring } from './keyring.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'revisit-keyring-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bin = join(import.meta.dirname, '../../../daemon/bin/revisit.js');

function grantsIn(): readonly Grant[] {
  const listed = new Keyring(folder).grants();
  if (listed.kind === 'failed') throw new Error(listed.sentence);
  return listed.grants;
}
const namesIn = (): string[] => grantsIn().map(({ name }) => name);

/** What stands in every file, without the lock. */
const contents = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((file) => file !== 'access.lock')
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );

test('calls at once take turns: nobody loses a key, and what was taken back stays so', async () => {
  new Keyring(folder).add('robot', 'gone');
  const names = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
  const ended = await Promise.all([
    ...names.map((name) => revisit(['access', 'add', 'robot', name, '--folder', folder])),
    revisit(['access', 'remove', 'gone', '--folder', folder]),
  ]);
  expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 0));
  expect(namesIn().toSorted()).toEqual(names);
  expect(readdirSync(folder).filter((file) => file.endsWith('.nk'))).toEqual(names.map((name) => `${name}.nk`));
});

test('who waits for a turn in vain says so and has done nothing', () => {
  const keys = new Keyring(folder, 50);
  keys.add('robot', 'one');
  const lock = lockFolder(join(folder, 'access.lock'));
  if (lock.kind !== 'locked') throw new Error(lock.kind);
  const failed = { kind: 'failed', sentence: expect.stringMatching(/another "revisit access" has been .* 0\.05 s/) };
  expect([keys.add('robot', 'two'), keys.remove('one'), keys.serve({})]).toEqual([failed, failed, failed]);
  // Looking needs no turn.
  expect(namesIn()).toEqual(['one']);
  lock.release();
  expect(keys.add('robot', 'two')).toMatchObject({ kind: 'done' });
});

test('one that was killed in its turn keeps nobody waiting', async () => {
  const lock = join(import.meta.dirname, '../../../daemon/src/store/lock.ts');
  const program = `(await import(${JSON.stringify(lock)})).lockFolder(${JSON.stringify(join(folder, 'access.lock'))});
    console.log('has it'); setInterval(() => {}, 1000)`;
  const child = leash(spawn(process.execPath, ['--input-type=module', '-e', program]));
  await new Promise((done) => child.stdout.once('data', done));
  expect(new Keyring(folder, 1).add('robot', 'one')).toMatchObject({ kind: 'failed' });
  child.kill('SIGKILL');
  await new Promise((done) => child.once('exit', done));
  expect(new Keyring(folder, 1).add('robot', 'one')).toMatchObject({ kind: 'done' });
});

test('taking back a key where there are none makes no folder', () => {
  const nowhere = join(folder, 'nowhere');
  expect(new Keyring(nowhere).remove('one')).toMatchObject({ kind: 'wrong' });
  expect(existsSync(nowhere)).toBe(false);
});

test.each([0, 1, 2])(
  'where no file can be longer than %i blocks a call leaves all as it was, and works later',
  (most) => {
    const keys = new Keyring(folder);
    for (const name of ['one', 'two', 'three', 'four']) keys.add('robot', name);
    const before = contents();
    // As a full disk does, this ends writing in the middle of a file.
    const limited = (...words: string[]) =>
      spawnSync(
        'sh',
        ['-c', `ulimit -f ${most}; exec "$@"`, 'sh', process.execPath, bin, ...words, '--folder', folder],
        {
          encoding: 'utf8',
        },
      );
    for (const words of [['add', 'robot', 'five'], ['remove', 'one'], ['server']]) {
      const { status, stdout, stderr } = limited('access', ...words);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^revisit: .*revisit-keyring-.* cannot be written.*\n$/);
      expect(contents()).toEqual(before);
    }
    expect(keys.add('robot', 'five')).toMatchObject({ kind: 'done' });
    expect(keys.remove('one')).toMatchObject({ kind: 'done' });
    expect(namesIn()).toEqual(['two', 'three', 'four', 'five']);
  },
);

test('what a killed call has left is completed by the next', () => {
  const keys = new Keyring(folder);
  keys.add('robot', 'one');
  const list = contents()['grants.json']!;
  keys.add('robot', 'two');
  // Killed before the list had its name.
  const killed = (): void => writeFileSync(join(folder, 'grants.json'), list);
  killed();
  writeFileSync(join(folder, 'grants.json.new'), list.slice(0, 40));
  expect(keys.add('robot', 'two')).toMatchObject({ kind: 'done' });
  const key = readKey(contents()['two.nk']!)!.publicKey;
  expect(grantsIn()[1]).toEqual({ role: 'robot', name: 'two', key });
  expect(contents()['accounts.conf']).toContain(key);
  killed();
  expect(keys.remove('two')).toMatchObject({ kind: 'done' });
  expect(contents()['accounts.conf']).not.toContain(key);
  expect(Object.keys(contents())).toEqual(['accounts.conf', 'grants.json', 'nats.conf', 'one.nk']);
  expect(keys.remove('two')).toMatchObject({ kind: 'wrong' });
});

test.each([
  '',
  '{"serving": {"listen": "127.0',
  'null',
  '{"serving": {"listen": ":1", "folder": "x"}, "grants": [{"role": "robot", "name": "one", "key": "} x"}]}',
])('a list that is %j is left as it is, and said in a sentence', async (text) => {
  writeFileSync(join(folder, 'grants.json'), text);
  for (const words of [['add', 'robot', 'one'], ['remove', 'one'], ['server'], ['list']]) {
    const ended = await revisit(['access', ...words, '--folder', folder]);
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toMatch(/^revisit: \S+grants\.json: it is not a list of keys .*\n$/);
  }
  expect(contents()).toEqual({ 'grants.json': text });
});

test("who may read the configuration stays as it was set, and a key is its owner's alone", () => {
  const keys = new Keyring(folder);
  keys.add('robot', 'one');
  const modeOf = (file: string): number => statSync(join(folder, file)).mode & 0o777;
  chmodSync(join(folder, 'accounts.conf'), 0o640);
  writeFileSync(join(folder, 'two.nk'), '', { mode: 0o644 });
  keys.add('robot', 'two');
  expect([modeOf('accounts.conf'), modeOf('one.nk'), modeOf('two.nk')]).toEqual([0o640, 0o600, 0o600]);
});
