import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('every fault of the cluster has its row in docs/faults.md, and every row its fault', () => {
  const source = globSync('**/*.ts', { cwd: import.meta.dirname })
    .filter((file) => !file.includes('.test.') && !file.startsWith('trial'))
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .join('\n');
  const codes = new Set([...source.matchAll(/\bcode: '([a-z-]+)'/g)].map((match) => match[1]!));
  const page = readFileSync(join(import.meta.dirname, '../../../docs/faults.md'), 'utf8');
  const section = page.slice(page.indexOf('## The cluster'));
  const rows = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1]!);
  expect(rows).toEqual([...codes].sort());
});
