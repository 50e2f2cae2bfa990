/** Writes zip archives for tests, honest ones and others. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface Packed {
  readonly name: string;
  readonly content: Buffer | string;
  /** What the directory says instead of the truth. */
  readonly saysBytes?: number;
}

export function zipOf(files: readonly Packed[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, saysBytes } of files) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const title = Buffer.from(name);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(8, 8);
    head.writeUInt32LE(crc32(plain), 14);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(plain.length, 22);
    head.writeUInt16LE(title.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(saysBytes ?? plain.length, 24);
    entry.writeUInt16LE(title.length, 28);
    entry.writeUInt32LE(offset, 42);
    parts.push(head, title, packed);
    directory.push(entry, title);
    offset += 30 + title.length + packed.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, index, end]);
}
