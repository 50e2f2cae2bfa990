import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { solve } from './solve.ts';

const text = readFileSync(join(import.meta.dirname, '../../../../docs/solve.md'), 'utf8');
const examples = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => JSON.parse(json) as { kind: string });

test('every example in docs/solve.md runs as it stands, and each section has one', () => {
  for (const example of examples) expect(solve(example), JSON.stringify(example)).toMatchObject({ kind: 'solved' });
  const sections = [...text.matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
  expect(new Set(examples.map(({ kind }) => kind))).toEqual(new Set(sections));
});
