/**
 * Enough of ZIP to read a backup: single entries, stored or deflated, as the directory names them. Nothing is written to disk,
 * and names are only ever looked up, so a name that climbs out of the folder leads nowhere; it is refused all the same.
 *
 * A bomb meets three bounds: an entry's size, its ratio, and all that is read together. Entries that overlap would let one
 * packed byte count many times, so bytes read may not exceed the file's size more than a few times.
 */
import { open } from 'node:fs/promises';
import { crc32, inflateRawSync } from 'node:zlib';
import { Unreadable } from './source.ts';
import { type ZipEntry, bytesAt, readDirectory } from './zip-directory.ts';

/** The largest version a page may have. */
const entryBytesMax = 32 * 2 ** 20;
/** All entries together; a backup of a hundred thousand pages is smaller. */
const totalBytesMax = 4 * 2 ** 30;

export interface Zip {
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /** Names that no honest archive has; their entries are not read. */
  readonly refused: readonly string[];
  read(entry: ZipEntry): Promise<Buffer>;
  close(): Promise<void>;
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
    // Looked at before memory is taken for it.
    if (begin + packedBytes > size) throw new Unreadable('the archive ends too early');
    const packed = await bytesAt(file, begin, packedBytes);
    const plain = entry.method === 0 ? packed : inflate(name, packed, entry.bytes);
    if (plain.length !== entry.bytes || crc32(plain) !== entry.crc32)
      throw new Unreadable(`${name} in the archive is damaged`);
    bytesRead += plain.length;
    if (bytesRead > totalBytesMax) throw new Unreadable(`the archive unpacks to more than ${totalBytesMax} bytes`);
    return plain;
  };
  try {
    const all = (await readDirectory(file, size)).filter((entry) => !entry.name.endsWith('/'));
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
