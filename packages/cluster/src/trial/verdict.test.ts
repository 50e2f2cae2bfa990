import { expect, test } from 'vitest';
import { wrongOfPage } from './verdict.ts';

const at = (second: number): string => new Date(1e12 + 1000 * second).toISOString();
const told = (...entries: readonly (readonly [toVersion: number, second: number])[]) =>
  entries.map(([toVersion, second]) => ({ toVersion, at: at(second) }));

test('every edition once, in order, is as it should be; so is one that was told late with its own time', () => {
  expect(wrongOfPage([1, 2, 3], told([2, 10], [3, 20]), 3)).toEqual([]);
  // Edition 2 came after 3, whose copy is kept once more.
  expect(wrongOfPage([1, 3, 2, 3], told([2, 20], [3, 10]), 3)).toEqual([]);
});

test.each([
  ['an edition is lost', [1, 3], told([2, 20]), /no version of edition 2/],
  ['a version is not told', [1, 2, 3], told([3, 20]), /told of 3/],
  [
    'a stale answer is told as news',
    [1, 2, 3, 2, 3],
    told([2, 10], [3, 20], [4, 30], [5, 40]),
    /went back from edition 3 to 2/,
  ],
  ['an edition is told twice', [1, 2, 3, 2, 3], told([2, 10], [3, 20], [4, 15], [5, 40]), /told twice/],
  ['the page ends with what it was', [1, 2, 3, 2], told([2, 10], [3, 20], [4, 15]), /ends with edition 2/],
  ['something was never served', [1, 2, 7, 3], told([2, 10], [3, 15], [4, 20]), /has editions 1, 2, 7, 3/],
])('%s is seen', (_, editions, changes, sentence) => {
  expect(wrongOfPage(editions, changes, 3).join('; ')).toMatch(sentence);
});
