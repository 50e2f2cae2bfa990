import { expect, test } from 'vitest';
import { readCrawlHistory } from './trace.ts';

const day = 86_400;
const start = 1000 * day;

function changesOf(text: string): Record<string, number[]> {
  const outcome = readCrawlHistory(text, start);
  if (outcome.kind === 'refused') throw new Error(outcome.sentence);
  const { names, times } = outcome.trace;
  return Object.fromEntries(names.map((name, i) => [name, [...times[i]!].map((at) => (at - start) / day)]));
}

test('a crawl history is a birth at its offset and a change at each look that found one', () => {
  const rows = [
    'urlid\toffset\thistory',
    '7\t3\t[[1, 0], [2.5, 1], [4, 0], [0.5, 1]]\r',
    '8\t0\t[[1, False], [1, True]]',
    '',
  ];
  expect(changesOf(rows.join('\n'))).toEqual({ 7: [3, 6.5, 11], 8: [0, 2] });
});

test('what is no crawl history is refused with its row', () => {
  const first = '7\t3\t[[1, 0]]\n';
  for (const wrong of ['8\t1', '8\tsoon\t[[1, 0]]', '8\t1\t[[1]]', '8\t1\t[["a", 1]]', '8\t1\t[[1, 0]'])
    expect(readCrawlHistory(first + wrong, start), wrong).toMatchObject({
      kind: 'refused',
      sentence: expect.stringContaining('history row 2'),
    });
  expect(readCrawlHistory('\n', start).kind).toBe('refused');
  expect(readCrawlHistory(`${first}8\t\t[[1, 0]]`, start).kind).toBe('refused');
});

test('looks whose gap or finding cannot be are refused, not counted as changes', () => {
  const first = '7\t3\t[[1, 0]]\n';
  for (const look of ['[1, "0"]', '[1, "1"]', '[1, 7]', '[-5, 1]', '[1, null]', '["1", 0]', '[1, 0, 0]'])
    expect(readCrawlHistory(`${first}8\t1\t[[1, 1], ${look}]`, start), look).toEqual({
      kind: 'refused',
      sentence: `history row 2: look 2 is ${look.replaceAll(' ', '')}; [gap_days, changed] with a gap of at least 0 and 0 or 1 (False or True) is expected`,
    });
});
