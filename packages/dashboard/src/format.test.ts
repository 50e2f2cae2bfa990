import { expect, test } from 'vitest';
import { many } from './format.ts';

test('so many of a thing, in the right number', () => {
  expect([0, 1, 2, 12_345].map((count) => many(count, 'probe'))).toEqual([
    '0 probes',
    '1 probe',
    '2 probes',
    '12,345 probes',
  ]);
});
