import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, ownFolderMode } from './make-folder.ts';

test('folders are made with those above them, or it is said why not', () => {
  const root = mkdtempSync(join(tmpdir(), 'revisit-folder-'));
  makeFolder(join(root, 'a/b/c'));
  makeFolder(join(root, 'a/b/c'));
  expect(statSync(join(root, 'a/b/c')).isDirectory()).toBe(true);
  makeFolder(join(root, 'a/own'), ownFolderMode);
  expect(statSync(join(root, 'a/own')).mode & 0o777).toBe(0o700);
  writeFileSync(join(root, 'file'), '');
  expect(() => makeFolder(join(root, 'file'))).toThrow('EEXIST');
  expect(() => makeFolder(join(root, 'file/below'))).toThrow(/E[A-Z]+/);
  rmSync(root, { recursive: true });
});

test.skipIf(!existsSync('/proc/self'))('where nothing can be made, that is said', () => {
  expect(() => makeFolder('/proc/nope')).toThrow('ENOENT');
  expect(() => makeFolder('/proc/nope/deep')).toThrow('ENOENT');
});
