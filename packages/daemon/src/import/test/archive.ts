/** Writes zip archives for tests, honest ones and others. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface Packed {
  readonly name: string;
  readonly content: Buffer | string;
  /** What the directory says instead of the truth. */
  readonly saysBytes?: number;
}

const ones = 0xffffffff;

/** What does not fit into 32 bits stands in a field of its own; here it is put there although it would fit. */
function wideExtra(bytes: number, packedBytes: number, offset: number): Buffer {
  const extra = Buffer.alloc(4 + 24);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(24, 2);
  [bytes, packedBytes, offset].forEach((value, i) => extra.writeBigUInt64LE(BigInt(value), 4 + 8 * i));
  return extra;
}

/** The wider end record and the one that says where it is. */
function wideEnd(count: number, length: number, offset: number): Buffer {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(length), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(offset + length), 64);
  end.writeUInt32LE(1, 72);
  return end;
}

export function zipOf(files: readonly Packed[], form: 'plain' | 'zip64' = 'plain'): Buffer {
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
    entry.writeUInt32LE(crc32(plain), 16);
    const numbers = [saysBytes ?? plain.length, packed.length, offset] as const;
    const extra = form === 'zip64' ? wideExtra(...numbers) : Buffer.alloc(0);
    entry.writeUInt32LE(form === 'zip64' ? ones : numbers[0], 24);
    entry.writeUInt32LE(form === 'zip64' ? ones : numbers[1], 20);
    entry.writeUInt32LE(form === 'zip64' ? ones : offset, 42);
    entry.writeUInt16LE(title.length, 28);
    entry.writeUInt16LE(extra.length, 30);
    parts.push(head, title, packed);
    directory.push(entry, title, extra);
    offset += 30 + title.length + packed.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  const count = form === 'zip64' ? 0xffff : files.length;
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(form === 'zip64' ? ones : index.length, 12);
  end.writeUInt32LE(form === 'zip64' ? ones : offset, 16);
  const wider = form === 'zip64' ? [wideEnd(files.length, index.length, offset)] : [];
  return Buffer.concat([...parts, index, ...wider, end]);
}
