import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const source = join(import.meta.dirname, '..');
const page = readFileSync(join(source, '../../../docs/faults.md'), 'utf8');

function listed(section: string): string[] {
  const part = page.split(/^## /m).find((text) => text.startsWith(section))!;
  return [...part.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1]!);
}

/** Codes as they are written: `fault('code', …)`, `refused('code', …)`, `code: 'code'`. */
function written(folder: string): string[] {
  const files = readdirSync(join(source, folder)).filter(
    (file) => file.endsWith('.ts') && !/\.(test|oracle)\.ts$/.test(file),
  );
  const codes = files.flatMap((file) =>
    [
      ...readFileSync(join(source, folder, file), 'utf8').matchAll(
        /(?:\b(?:fault|refused)\(\s*|\bcode: )'([a-z][a-z-]+)'/g,
      ),
    ].map((match) => match[1]!),
  );
  return [...new Set(codes)].sort();
}

test('every fault of comparing has its row in docs/faults.md', () => {
  expect(written('detect')).toEqual(listed('Comparing pages'));
});

test('every fault of telling has its row in docs/faults.md', () => {
  expect([...written('tell'), 'not-running'].sort()).toEqual(listed('Telling'));
});

test('every fault of the data folder has its row in docs/faults.md', () => {
  expect(written('store')).toEqual(listed('The data folder'));
});
