/**
 * Enough of ZIP to read a backup: the central directory and single entries, stored or deflated. Nothing is written to disk,
 * and names are only ever looked up, so a name that climbs out of the folder leads nowhere; it is refused all the same.
 *
 * A bomb meets three bounds: an entry's size, its ratio, and all that is read together. Entries that overlap would let one
 * packed byte count many times, so bytes read may not exceed the file's size more than a few times.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';
import { Unreadable } from './source.ts';

const directoryBytesMax = 64 * 2 ** 20;
const entriesMax = 1_000_000;
/** The largest version a page may have. */
const entryBytesMax = 32 * 2 ** 20;
/** All entries together; a backup of a hundred thousand pages is smaller. */
const totalBytesMax = 4 * 2 ** 30;

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly flags: number;
  readonly packedBytes: number;
  readonly bytes: number;
  readonly offset: number;
}

export interface Zip {
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /** Names that no honest archive has; their entries are not read. */
  readonly refused: readonly string[];
  read(entry: ZipEntry): Promise<Buffer>;
  close(): Promise<void>;
}

async function bytesAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  if (bytesRead < length) throw new Unreadable('the archive ends too early');
  return buffer;
}

async function directoryOf(file: FileHandle, size: number): Promise<Buffer> {
  const tailBytes = Math.min(size, 22 + 0xffff);
  const tail = await bytesAt(file, size - tailBytes, tailBytes);
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end < 0 || end + 22 > tail.length)
    throw new Unreadable('the archive has no directory at its end; is it complete?');
  const [count, length, offset] = [
    tail.readUInt16LE(end + 10),
    tail.readUInt32LE(end + 12),
    tail.readUInt32LE(end + 16),
  ];
  if (count === 0xffff || offset === 0xffffffff)
    throw new Unreadable('the archive is in ZIP64 form; unpack it and pack it again below 4 GB');
  if (length > directoryBytesMax || offset + length > size)
    throw new Unreadable('the directory of the archive is out of its bounds');
  return bytesAt(file, offset, length);
}

function entriesOf(directory: Buffer): ZipEntry[] {
  const entries: ZipEntry[] = [];
  for (let at = 0; at + 46 <= directory.length;) {
    if (directory.readUInt32LE(at) !== 0x02014b50) throw new Unreadable('the directory of the archive is damaged');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    entries.push({
      name: directory.toString('utf8', at + 46, at + 46 + nameBytes),
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      bytes: directory.readUInt32LE(at + 24),
      offset: directory.readUInt32LE(at + 42),
    });
    if (entries.length > entriesMax) throw new Unreadable(`the archive has more than ${entriesMax} entries`);
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  return entries;
}

const climbs = (name: string): boolean =>
  name.startsWith('/') ||
  name.includes('\\') ||
  name.includes('\0') ||
  /^[a-z]:/i.test(name) ||
  name.split('/').includes('..');

export async function openZip(path: string): Promise<Zip> {
  const file = await open(path, 'r');
  const { size } = await file.stat();
  let packedRead = 0;
  let bytesRead = 0;
  const read = async (entry: ZipEntry): Promise<Buffer> => {
    const { name, packedBytes } = entry;
    if (entry.flags & 1) throw new Unreadable(`${name} in the archive is encrypted`);
    if (entry.method !== 0 && entry.method !== 8)
      throw new Unreadable(`${name} is packed by method ${entry.method}; stored and deflated are read`);
    if (entry.bytes > entryBytesMax)
      throw new Unreadable(`${name} unpacks to ${entry.bytes} bytes; at most ${entryBytesMax} are read`);
    packedRead += packedBytes;
    if (packedRead > 4 * size) throw new Unreadable('entries of the archive overlap');
    const header = await bytesAt(file, entry.offset, 30);
    if (header.readUInt32LE(0) !== 0x04034b50) throw new Unreadable(`${name} is not where the directory says`);
    const begin = entry.offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
    const packed = await bytesAt(file, begin, packedBytes);
    const plain = entry.method === 0 ? packed : inflate(name, packed, entry.bytes);
    bytesRead += plain.length;
    if (bytesRead > totalBytesMax) throw new Unreadable(`the archive unpacks to more than ${totalBytesMax} bytes`);
    return plain;
  };
  try {
    const all = entriesOf(await directoryOf(file, size)).filter((entry) => !entry.name.endsWith('/'));
    return {
      entries: new Map(all.filter((entry) => !climbs(entry.name)).map((entry) => [entry.name, entry])),
      refused: all.filter((entry) => climbs(entry.name)).map((entry) => entry.name),
      read,
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function inflate(name: string, packed: Buffer, bytes: number): Buffer {
  try {
    // Not a byte more than the directory promised: whoever lies about sizes is not read.
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, bytes) });
  } catch {
    throw new Unreadable(`${name} in the archive is damaged or unpacks to more than it says`);
  }
}
