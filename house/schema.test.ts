import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonSchema } from '../packages/daemon/src/config/file-form.ts';

const file = join(import.meta.dirname, '../docs/revisit.schema.json');

test('the published schema of revisit.yaml is the one that is checked (REVISIT_WRITE=1 writes it anew)', () => {
  const text = `${JSON.stringify(jsonSchema(), null, 2)}\n`;
  if (process.env['REVISIT_WRITE'] === '1') writeFileSync(file, text);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(text));
});
