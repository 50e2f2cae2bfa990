import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Codes as they are written: `problem(reply, 404, 'code', …)` or `fault('code', …)`, and those the error handler chooses from. */
const written = /(?:\b[45]\d\d,\s*|\bfault\()'([a-z][a-z-]+)'|[?:] '([a-z][a-z-]+)'(?= :|;)/g;

test('every fault of the API has its row in docs/faults.md', () => {
  const here = import.meta.dirname;
  const own = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('client.ts'),
  );
  // A preview's faults are answers of the API too.
  const files = [...own, '../previews.ts'];
  const codes = files.flatMap((file) => {
    const text = readFileSync(join(here, file), 'utf8');
    const all = [...text.matchAll(written)];
    return (file === 'server.ts' ? all : all.filter((match) => match[1])).map((match) => match[1] ?? match[2]!);
  });
  const page = readFileSync(join(here, '../../../../docs/faults.md'), 'utf8');
  const section = page.split(/^## /m).find((part) => part.startsWith('The API'))!;
  const listed = [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1]);
  expect([...new Set(codes)].sort()).toEqual(listed);
  expect(listed.length).toBeGreaterThan(20);
});
