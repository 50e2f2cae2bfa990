import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const sources = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));

/** Codes as they are written: `fault('code', …)`, `new LimitReached('code', …)`, `failed('code', …)`, tables in `explain.ts`. */
const written = /(?:\bfault\(|LimitReached\(|\bfailed\()\s*'([a-z][a-z-]+)'|: \['([a-z-]+)', '|code: '([a-z][a-z-]+)'/g;

test('every fault of observing has its row in docs/faults.md', () => {
  const here = import.meta.dirname;
  const code = [
    ...sources(here),
    readFileSync(join(here, '../values/url.ts'), 'utf8'),
    readFileSync(join(here, '../values/network.ts'), 'utf8'),
    readFileSync(join(here, '../values/scope.ts'), 'utf8'),
  ].join('\n');
  const used = new Set([...code.matchAll(written)].map((match) => match[1] ?? match[2] ?? match[3]));
  const page = readFileSync(join(here, '../../../../docs/faults.md'), 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith('Looking at pages'))!;
  const listed = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1]);
  expect([...used].sort()).toEqual(listed);
  expect(used.size).toBeGreaterThan(30);
});
