import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { references } from '../../../house/reference.ts';

test('what docs/ has from the code is current ("node house/reference.ts" writes it anew)', async () => {
  for (const [name, text] of await references()) {
    const file = readFileSync(join(import.meta.dirname, '../../../docs', name), 'utf8');
    expect(file === text, `docs/${name} is not current; run: node house/reference.ts`).toBe(true);
  }
});
