import fc from 'fast-check';
import { expect, test } from 'vitest';
import { align, numbered } from './align.ts';
import { apply, difference, wordRuns } from './difference.ts';
import { words } from './words.ts';

const line = fc.oneof(
  fc.constantFrom('a', 'b', 'c', '', 'one two three', 'one two four', '価格は十円', '}'),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
);
const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.join('\n'));

test('applied to the old version it gives the new one', () => {
  fc.assert(
    fc.property(text, text, (old, next) => {
      expect(apply(old, difference(old, next))).toBe(next);
    }),
    { seed: 1, numRuns: 600 },
  );
});

test('applied after a few edits of a long text, and it survives JSON', () => {
  const base = Array.from({ length: 2000 }, (_, i) => `line ${i % 700} of the ledger`);
  const edit = fc.record({ at: fc.nat(1999), remove: fc.nat(3), insert: fc.array(line, { maxLength: 3 }) });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 12 }), (edits) => {
      const lines = [...base];
      for (const { at, remove, insert } of edits) lines.splice(at, remove, ...insert);
      const [old, next] = [base.join('\n'), lines.join('\n')];
      const change = JSON.parse(JSON.stringify(difference(old, next))) as ReturnType<typeof difference>;
      expect(apply(old, change)).toBe(next);
    }),
    { seed: 2, numRuns: 60 },
  );
});

test('texts with nothing in common are bounded in time and still right', () => {
  const old = Array.from({ length: 30_000 }, (_, i) => `old ${i}`).join('\n');
  const next = Array.from({ length: 30_000 }, (_, i) => `new ${i}`).join('\n');
  expect(apply(old, difference(old, next))).toBe(next);
});

test('the hunks are as few edits as the longest common subsequence allows, on small inputs', () => {
  const sequence = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 });
  fc.assert(
    fc.property(sequence, sequence, (a, b) => {
      const hunks = align(Int32Array.from(a), Int32Array.from(b));
      const edits = hunks.reduce((sum, hunk) => sum + hunk.to - hunk.from + hunk.newTo - hunk.newFrom, 0);
      const table = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
      for (let i = a.length - 1; i >= 0; i--)
        for (let j = b.length - 1; j >= 0; j--)
          table[i][j] = a[i] === b[j] ? 1 + table[i + 1][j + 1] : Math.max(table[i + 1][j], table[i][j + 1]);
      expect(edits).toBe(a.length + b.length - 2 * table[0][0]);
    }),
    { seed: 3, numRuns: 400 },
  );
});

test('words joined are the text, and runs name what went and came', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (any) => {
      expect(words(any).join('')).toBe(any);
    }),
    { seed: 4, numRuns: 100 },
  );
  expect(wordRuns('The fee is ten crowns.', 'The fee is twelve crowns.')).toEqual([
    { kind: 'same', text: 'The fee is ' },
    { kind: 'removed', text: 'ten' },
    { kind: 'added', text: 'twelve' },
    { kind: 'same', text: ' crowns.' },
  ]);
  expect(numbered(['x', 'y', 'x'], new Map())).toEqual(Int32Array.of(0, 1, 0));
});

test('numbers and items are compared as such', () => {
  expect(difference('10', '12', { format: 'number' }).number).toEqual({ from: 10, to: 12 });
  const items = difference('{"id":1,"n":1}\n{"id":2}', '{"id":1,"n":2}\n{"id":3}', { format: 'items' }).items!;
  expect([items.added, items.removed, items.changed.map(({ fields }) => fields)]).toEqual([
    [{ id: 3 }],
    [{ id: 2 }],
    [['n']],
  ]);
});
