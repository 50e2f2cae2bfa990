/**
 * The directory of a ZIP archive: where each entry is and what it says of itself. It stands at the end of the file, behind a
 * record that says where it begins; archives beyond 65,535 entries or 4 GB have a second, wider record before that one, and
 * entries whose numbers do not fit into 32 bits carry them in an extra field (ZIP64).
 */
import type { FileHandle } from 'node:fs/promises';
import { Unreadable } from './source.ts';

/** A million entries with long names fit. */
const directoryBytesMax = 256 * 2 ** 20;
const entriesMax = 1_000_000;

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly flags: number;
  readonly crc32: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly offset: number;
}

export async function bytesAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  if (bytesRead < length) throw new Unreadable('the archive ends too early');
  return buffer;
}

const damaged = (): Unreadable => new Unreadable('the directory of the archive is damaged');

/** Numbers of 64 bits that no file can have are those of a damaged one. */
function wide(buffer: Buffer, at: number): number {
  const value = Number(buffer.readBigUInt64LE(at));
  if (!Number.isSafeInteger(value)) throw damaged();
  return value;
}

export async function readDirectory(file: FileHandle, size: number): Promise<ZipEntry[]> {
  const { length, offset } = await directoryPlace(file, size);
  if (length > directoryBytesMax || offset + length > size)
    throw new Unreadable('the directory of the archive is out of its bounds');
  return entriesOf(await bytesAt(file, offset, length));
}

async function directoryPlace(file: FileHandle, size: number): Promise<{ length: number; offset: number }> {
  const tailBytes = Math.min(size, 20 + 22 + 0xffff);
  const tail = await bytesAt(file, size - tailBytes, tailBytes);
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end < 0 || end + 22 > tail.length)
    throw new Unreadable('the archive has no directory at its end, as if it were cut off');
  const narrow = { length: tail.readUInt32LE(end + 12), offset: tail.readUInt32LE(end + 16) };
  const locator = end - 20;
  if (locator < 0 || tail.readUInt32LE(locator) !== 0x07064b50) {
    if (narrow.offset === 0xffffffff || narrow.length === 0xffffffff) throw damaged();
    return narrow;
  }
  const recordAt = wide(tail, locator + 8);
  if (recordAt + 56 > size) throw new Unreadable('the directory of the archive is out of its bounds');
  const record = await bytesAt(file, recordAt, 56);
  if (record.readUInt32LE(0) !== 0x06064b50) throw damaged();
  return { length: wide(record, 40), offset: wide(record, 48) };
}

function entriesOf(directory: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = [];
  for (let at = 0; at + 46 <= directory.length;) {
    if (directory.readUInt32LE(at) !== 0x02014b50) throw damaged();
    const nameBytes = directory.readUInt16LE(at + 28);
    const extraBytes = directory.readUInt16LE(at + 30);
    const commentBytes = directory.readUInt16LE(at + 32);
    const extraAt = at + 46 + nameBytes;
    if (extraAt + extraBytes + commentBytes > directory.length) throw damaged();
    entries.push({
      name: directory.toString('utf8', at + 46, extraAt),
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      crc32: directory.readUInt32LE(at + 16),
      ...numbersOf(directory, at, directory.subarray(extraAt, extraAt + extraBytes)),
    });
    if (entries.length > entriesMax) throw new Unreadable(`the archive has more than ${entriesMax} entries`);
    at = extraAt + extraBytes + commentBytes;
  }
  return entries;
}

/** Sizes and place of an entry; each that reads "all ones" stands in the extra field instead, in this order. */
function numbersOf(directory: Buffer, at: number, extra: Buffer): Pick<ZipEntry, 'bytes' | 'packedBytes' | 'offset'> {
  const wider = wideField(extra);
  let used = 0;
  const number = (field: number): number => {
    const value = directory.readUInt32LE(at + field);
    if (value !== 0xffffffff) return value;
    if (!wider || used + 8 > wider.length) throw damaged();
    used += 8;
    return wide(wider, used - 8);
  };
  const [bytes, packedBytes, offset] = [number(24), number(20), number(42)];
  return { bytes, packedBytes, offset };
}

function wideField(extra: Buffer): Buffer | undefined {
  for (let at = 0; at + 4 <= extra.length;) {
    const length = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === 1) return extra.subarray(at + 4, at + 4 + length);
    at += 4 + length;
  }
  return undefined;
}
