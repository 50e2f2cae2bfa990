import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beginLife, succeeds } from './life.ts';

test('who comes later in the same folder is there in place of those before, and of nobody else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'revisit-life-'));
  const [here, there, broken] = ['a', 'b', 'c'].map((name) => join(folder, name)) as [string, string, string];
  const lives = Array.from({ length: 12 }, () => beginLife(here));
  expect(new Set(lives).size).toBe(12);
  expect(succeeds(lives[11], lives[0])).toBe(true);
  expect(succeeds(lives[0], lives[11])).toBe(false);
  expect(succeeds(lives[3], lives[3])).toBe(false);
  expect(succeeds(beginLife(there), lives[0])).toBe(false);
  expect([succeeds(undefined, lives[0]), succeeds(lives[0], undefined), succeeds('x', 'x')]).toEqual([
    false,
    false,
    false,
  ]);
  writeFileSync(broken, 'half a l');
  expect(succeeds(beginLife(broken), lives[0])).toBe(false);
  // Where nothing can be written each is the first of its own.
  const nowhere = join(folder, 'none', 'd');
  expect(succeeds(beginLife(nowhere), beginLife(nowhere))).toBe(false);
  rmSync(folder, { recursive: true, force: true });
});
