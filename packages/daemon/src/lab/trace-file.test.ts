import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readCrawlHistory, readTraceCsv } from '@revisit/core';
import { afterAll, expect, test } from 'vitest';
import { readImportanceFile, readTrace } from './trace-file.ts';
import { TraceShelf } from './trace-shelf.ts';

const folder = mkdtempSync(join(tmpdir(), 'revisit-traces-'));
afterAll(() => rmSync(folder, { recursive: true }));

function written(name: string, bytes: string | Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

const csv = `source,unix_seconds\r\n${Array.from({ length: 40 }, (_, n) => `"größe, ${n % 7}",${1e9 + 1000 * n}`).join('\n')}\n`;
const history = `urlid\toffset\thistory\n${Array.from({ length: 30 }, (_, n) => `${n}\t${n / 4}\t[${Array.from({ length: 14 }, (_, day) => `[${1 + day / 7}, ${(n * day) % 3 === 0 ? 'True' : 'False'}]`).join(', ')}]`).join('\n')}`;

const dayZero = 1_136_160_000;

test.each([
  ['rows of source and time', csv, readTraceCsv(csv)],
  ['the 14-week history', history, readCrawlHistory(history, dayZero)],
])('%s come in pieces of any size, packed or not', async (name, text, whole) => {
  if (whole.kind === 'refused') throw new Error(whole.sentence);
  expect(whole.trace.names.length).toBeGreaterThan(5);
  const plain = written(`${name.length}.csv`, text);
  const packed = written(`${name.length}.csv.gz`, gzipSync(text));
  for (const file of [plain, packed])
    for (const pieceBytes of [1, 7, 64, 1000, 2 ** 20])
      expect(await readTrace(file, { pieceBytes }), `${pieceBytes}`).toEqual({ kind: 'read', value: whole.trace });
});

test('what is no trace is refused with its row, wherever pieces end', async () => {
  const bad = written('bad.csv', 'a,1\nb,2\nc,soon\nd,4\n');
  for (const pieceBytes of [1, 100])
    expect(await readTrace(bad, { pieceBytes })).toMatchObject({
      kind: 'wrong',
      sentence: expect.stringContaining('trace row 3: "c,soon"') as string,
    });
  for (const [file, words] of [
    [written('empty.csv', ''), 'holds no events'],
    [
      written('cut.csv.gz', gzipSync(csv).subarray(0, 60)),
      'cut.csv.gz: is cut off, its gzip ends in the middle; the whole file is expected',
    ],
    [
      written('bent.csv.gz', gzipSync(csv).fill(7, 20, 60)),
      'bent.csv.gz: is damaged, its gzip cannot be unpacked (Z_DATA_ERROR); a whole file is expected',
    ],
    [join(folder, 'nowhere.csv'), 'cannot be read (ENOENT)'],
  ] as const)
    expect(await readTrace(file)).toMatchObject({ kind: 'wrong', sentence: expect.stringContaining(words) as string });
  expect(await readTrace(written('long.csv', csv), { bytesMax: 100 })).toMatchObject({
    kind: 'wrong',
    sentence: expect.stringContaining('more than 100 bytes') as string,
  });
});

test('weights come as the 14-week set has them, hours as JSON', async () => {
  expect(await readImportanceFile(written('imp.tsv', 'urlid\timportance\r\n7\t0.5\r\n8\t2\r\n'))).toEqual({
    kind: 'read',
    value: {
      kind: 'pages',
      weightOf: new Map([
        ['7', 0.5],
        ['8', 2],
      ]),
    },
  });
  // Names as the trace's own rows may have them.
  expect(await readImportanceFile(written('imp.csv', 'source,weight\n"a, ""b""",3\n'))).toEqual({
    kind: 'read',
    value: { kind: 'pages', weightOf: new Map([['a, "b"', 3]]) },
  });
  const week = written('week.json', '\n{\n"breaks":[0,24],\n"values":[1],"period":24}\n');
  expect(await readImportanceFile(week)).toMatchObject({ kind: 'read', value: { kind: 'times' } });
  expect(await readImportanceFile(written('bad.tsv', '7\t1\n8\tmuch\n'))).toMatchObject({
    kind: 'wrong',
    sentence: expect.stringContaining('row 2 is "8\\tmuch"; source,weight with a weight of at least 0') as string,
  });
  for (const [text, words] of [
    ['a/p0,-3\n', 'row 1 is "a/p0,-3"'],
    ['source,weight\na/p0,-3\n', 'row 2 is "a/p0,-3"'],
  ] as const)
    expect(await readImportanceFile(written('less.csv', text))).toMatchObject({
      kind: 'wrong',
      sentence: expect.stringContaining(words) as string,
    });
});

test('a third column and times that no date has are refused with their row', async () => {
  for (const [row, words] of [
    ['b,1700000001,3', 'trace row 2: "b,1700000001,3" has more than two columns'],
    ['"b","c",1700000001', 'has more than two columns'],
    ['b,-5', 'trace row 2: "b,-5" has a time outside of the years 1970 to 9999'],
    ['b,1e300', 'trace row 2: "b,1e300" has a time outside'],
    ['b,1700000001000', 'outside of the years 1970 to 9999'],
  ] as const)
    expect(await readTrace(written('odd.csv', `a,1700000000\n${row}\n`))).toMatchObject({
      kind: 'wrong',
      sentence: expect.stringContaining(words) as string,
    });
  const quoted = await readTrace(written('quoted.csv', '"a,""b"", c",0\nd,253402300799\n'));
  expect(quoted.kind === 'read' && quoted.value.names).toEqual(['a,"b", c', 'd']);
});

test('two traces of one name that are put on the shelf at once are each whole', async () => {
  const shelf = new TraceShelf(folder);
  const kept = await Promise.all([
    shelf.keep('same.csv', Buffer.from('a,1\na,2\n')),
    shelf.keep('same.csv', Buffer.from('b,x')),
  ]);
  expect(kept.map(({ kind }) => kind)).toEqual(['kept', 'wrong']);
  expect(shelf.list().map(({ name }) => name)).toEqual(['same.csv']);
});

test('a history is known by its lists, also where the first are empty or written with spaces', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'revisit-history-')), 'history.tsv');
  writeFileSync(file, '1\t0\t[]\n2\t0\t[ [1, 1], [2, 0], [3, 1]]\n');
  const read = await readTrace(file);
  expect(read.kind === 'read' && read.value.names).toEqual(['1', '2']);
});
