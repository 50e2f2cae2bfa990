import { expect, test } from 'vitest';
import { Groups } from './groups.ts';

const names = Array.from({ length: 5000 }, (_, i) => `https://site${i % 7}.example/folder${i}/`);

test('names have dense numbers, the same each time, while the table grows', () => {
  const groups = new Groups();
  names.forEach((name, i) => expect(groups.number(name)).toBe(i));
  names.forEach((name, i) => expect(groups.number(name)).toBe(i));
});

test('a process that meets names in another order knows them by the keys of the one before', () => {
  const before = new Groups();
  const after = new Groups();
  for (const name of names) before.number(name);
  for (const name of names.slice(1000).toReversed()) after.number(name);
  for (const name of names.slice(1000))
    expect(after.groupOf(before.keyOf(before.number(name)))).toBe(after.number(name));
  expect(after.groupOf(before.keyOf(before.number(names[0]!)))).toBeUndefined();
});
