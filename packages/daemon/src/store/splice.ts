/**
 * A small edit as what it is: so many bytes from the beginning of the old content, a few new ones, and the rest from its end.
 * Most edits of a page are one line, and a compressor takes ten times as long to find that out and to undo it.
 *
 *   mark (1)  bytes from the beginning (4)  bytes from the end (4)  new bytes
 */

/** No frame of zstd begins with it. */
const mark = 1;
const headBytes = 9;
/** More new bytes than these are worth compressing. */
const newBytesMax = 256;
/** Compared at once, by the machine's own means. */
const blockBytes = 1024;

/** Undefined where the edit is larger, or in several places far apart. */
export function splice(old: Uint8Array, content: Uint8Array): Uint8Array | undefined {
  const [from, to] = [asBuffer(old), asBuffer(content)];
  const most = Math.min(from.length, to.length);
  const atStart = sharedStart(from, to, most);
  const atEnd = sharedEnd(from, to, most - atStart);
  if (to.length - atStart - atEnd > newBytesMax) return undefined;
  const packed = Buffer.allocUnsafe(headBytes + to.length - atStart - atEnd);
  packed[0] = mark;
  packed.writeUInt32LE(atStart, 1);
  packed.writeUInt32LE(atEnd, 5);
  to.copy(packed, headBytes, atStart, to.length - atEnd);
  return packed;
}

export const isSplice = (packed: Uint8Array): boolean => packed[0] === mark;

/** Throws where the old content is not the one it was made for, as far as lengths tell. */
export function spliced(old: Uint8Array | undefined, packed: Uint8Array): Uint8Array {
  const edit = asBuffer(packed);
  const atStart = edit.readUInt32LE(1);
  const atEnd = edit.readUInt32LE(5);
  if (!old || atStart + atEnd > old.length) throw new Error('what it builds on is too short');
  return Buffer.concat([old.subarray(0, atStart), edit.subarray(headBytes), old.subarray(old.length - atEnd)]);
}

const asBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);

function sharedStart(a: Buffer, b: Buffer, most: number): number {
  let n = 0;
  while (n + blockBytes <= most && a.compare(b, n, n + blockBytes, n, n + blockBytes) === 0) n += blockBytes;
  while (n < most && a[n] === b[n]) n++;
  return n;
}

function sharedEnd(a: Buffer, b: Buffer, most: number): number {
  let n = 0;
  while (n + blockBytes <= most && isSameBefore(a, b, n)) n += blockBytes;
  while (n < most && a[a.length - 1 - n] === b[b.length - 1 - n]) n++;
  return n;
}

/** Whether the blocks that end so far before the end are the same. */
function isSameBefore(a: Buffer, b: Buffer, n: number): boolean {
  const [toA, toB] = [a.length - n, b.length - n];
  return a.compare(b, toB - blockBytes, toB, toA - blockBytes, toA) === 0;
}
