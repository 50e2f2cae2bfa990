/** Bytes from a file, a pipe or the web as text, a piece at a time, with gzip unpacked within limits. */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { Readable } from 'node:stream';

/** Unpacked text may be this large whatever its ratio: every honest sitemap is smaller. */
const unpackedBytesFree = 64 * 2 ** 20;
/** Beyond that, unpacked over packed: lists of URLs reach 30, bombs 1000. */
const ratioMax = 100;

export type Pieces = AsyncIterable<string>;

/** Ends a reading that cannot go on; its message is for a person. */
export class Unreadable extends Error {}

export function fileBytes(path: string): Readable {
  return path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 1 << 18 });
}

async function* joined(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* unpacked(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let packedBytes = 0;
  let unpackedBytes = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of packed) {
      packedBytes += chunk.length;
      yield chunk;
    }
  };
  const gunzip = Readable.from(counted()).compose(createGunzip()) as AsyncIterable<Buffer>;
  for await (const chunk of gunzip) {
    unpackedBytes += chunk.length;
    if (unpackedBytes > unpackedBytesFree && unpackedBytes > ratioMax * packedBytes)
      throw new Unreadable(
        `it unpacks to more than ${ratioMax} times its size (at ${unpackedBytes} bytes); that is no list of pages`,
      );
    yield chunk;
  }
}

/** The first bytes, to tell what it is, and everything from the beginning. */
export async function peek(
  bytes: AsyncIterable<Buffer>,
  size: number,
): Promise<{ readonly head: Buffer; readonly all: AsyncIterable<Buffer> }> {
  const iterator = bytes[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  for (let got = 0; got < size;) {
    const next = await iterator.next();
    if (next.done) break;
    first.push(next.value);
    got += next.value.length;
  }
  return { head: Buffer.concat(first).subarray(0, size), all: joined(first, iterator) };
}

/** Text, whatever stands before it: gzip, a byte order mark, UTF-16. */
export async function* textOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const outer = await peek(bytes, 2);
  const plain = outer.head[0] === 0x1f && outer.head[1] === 0x8b ? unpacked(outer.all) : outer.all;
  const { head, all } = await peek(plain, 2);
  const label =
    head[0] === 0xff && head[1] === 0xfe ? 'utf-16le' : head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : 'utf-8';
  const decoder = new TextDecoder(label);
  try {
    for await (const chunk of all) yield decoder.decode(chunk, { stream: true });
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    throw new Unreadable(`it cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`);
  }
  yield decoder.decode();
}

/** All of it, where the format needs the whole; more than `max` characters is refused. */
export async function wholeText(pieces: Pieces, max: number): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > max)
      throw new Unreadable(`it is longer than ${max} characters, the most a file of this kind may have`);
    parts.push(piece);
  }
  return parts.join('');
}
