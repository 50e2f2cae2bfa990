import { randomBytes } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decompress } from './decompress.ts';
import { defaultLimits } from './limits.ts';

/** A frame of zstd that holds "abc" and asks for a window of so many doublings. */
const frame = (windowLog: number): Buffer =>
  Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3]),
    // The last block, three bytes as they are.
    Buffer.from([(3 << 3) | 1, 0, 0]),
    Buffer.from('abc'),
  ]);

test('zstd that asks for a window of more than 8 MB is refused before memory is spent on it (RFC 9659)', async () => {
  expect(await decompress(frame(23), 'zstd', defaultLimits)).toEqual({ kind: 'body', body: Buffer.from('abc') });
  expect(await decompress(frame(24), 'zstd', defaultLimits)).toMatchObject({
    kind: 'fault',
    fault: { code: 'encoding-broken' },
  });
});

test('zstd of several frames is all of them, also behind one to be skipped, and there is an end to how many', async () => {
  const skipped = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
  const read = (...parts: Buffer[]) => decompress(Buffer.concat(parts), 'zstd', defaultLimits);
  const abc = frame(20);
  expect(await read(abc, skipped, abc)).toEqual({ kind: 'body', body: Buffer.from('abcabc') });
  const large = zstdCompressSync(randomBytes(100_000));
  expect(await read(large, abc, large)).toMatchObject({ kind: 'body', body: { length: 200_003 } });
  expect(await read(abc, Buffer.from('not a frame'))).toEqual({ kind: 'body', body: Buffer.from('abc') });
  expect(await read(abc, abc.subarray(0, 10))).toMatchObject({ fault: { code: 'body-truncated' } });
  const zeros = zstdCompressSync(Buffer.alloc(30 * 2 ** 20));
  expect(await read(large, zeros, zeros)).toMatchObject({ fault: { code: 'body-too-large' } });
  expect(await read(...Array.from({ length: 300 }, () => abc))).toMatchObject({ fault: { code: 'encoding-refused' } });
});

test('gzip with anything behind it is what it was before that, and one that is cut is not', async () => {
  const text = 'a text that is long enough to be packed into several bytes '.repeat(40);
  const named = Buffer.from(gzipSync(text));
  // A header with extra bytes, a name and a comment.
  const head = Buffer.concat([
    Buffer.from([0x1f, 0x8b, 8, 4 | 8 | 16, 0, 0, 0, 0, 0, 3]),
    Buffer.from([3, 0, 7, 7, 7]),
    Buffer.from('name\0comment\0'),
  ]);
  const dressed = Buffer.concat([head, named.subarray(10)]);
  const read = async (body: Buffer): Promise<string> => {
    const found = await decompress(body, 'gzip', defaultLimits);
    return found.kind === 'body' ? Buffer.from(found.body).toString() : found.fault.code;
  };
  for (const member of [named, dressed])
    for (const behind of ['', '\n', '\0\0', ' <!-- served by 7 -->', '\x1fx'])
      expect(await read(Buffer.concat([member, Buffer.from(behind)]))).toBe(text);
  expect(await read(Buffer.concat([named, named, Buffer.from('\n')]))).toBe(text + text);
  const large = gzipSync(Buffer.from(Array.from({ length: 200_000 }, (_, n) => (n * n) % 251)));
  expect((await decompress(Buffer.concat([large, Buffer.from('x')]), 'gzip', defaultLimits)).kind).toBe('body');
  for (let cut = 3; cut < named.length; cut += 5) expect(await read(named.subarray(0, cut))).toBe('body-truncated');
  const wrong = Buffer.concat([named, Buffer.from('x')]);
  wrong[named.length - 8]! ^= 1;
  expect(await read(wrong)).toBe('encoding-broken');
});

test('what names letters or nothing as its encoding is as it came', async () => {
  for (const name of ['none', 'UTF-8', 'identity', 'iso-8859-1'])
    expect(await decompress(Buffer.from('abc'), name, defaultLimits)).toEqual({
      kind: 'body',
      body: Buffer.from('abc'),
    });
  expect(await decompress(Buffer.from('abc'), 'rot13', defaultLimits)).toMatchObject({
    fault: { code: 'encoding-refused' },
  });
});

test('what unpacks to far more than text does is refused long before the largest page, and a small one is not', async () => {
  const packed = (bytes: number) => gzipSync(Buffer.alloc(bytes));
  expect(await decompress(packed(20 * 2 ** 20), 'gzip', defaultLimits)).toMatchObject({
    kind: 'fault',
    fault: { code: 'body-too-large' },
  });
  expect(await decompress(packed(2 ** 20), 'gzip', defaultLimits)).toMatchObject({ kind: 'body' });
});
