import { gzipSync } from 'node:zlib';
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

test('what unpacks to far more than text does is refused long before the largest page, and a small one is not', async () => {
  const packed = (bytes: number) => gzipSync(Buffer.alloc(bytes));
  expect(await decompress(packed(20 * 2 ** 20), 'gzip', defaultLimits)).toMatchObject({
    kind: 'fault',
    fault: { code: 'body-too-large' },
  });
  expect(await decompress(packed(2 ** 20), 'gzip', defaultLimits)).toMatchObject({ kind: 'body' });
});
