/**
 * Content codings undone, bounded in size and ratio. Bodies come whole, within their own limit, so a bomb is stopped by the
 * decoder's output limit before it takes memory. Small ones are decoded in place, since a trip to another thread costs more.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Fault } from '../values/fault.ts';
import { fault } from '../values/fault.ts';
import type { Limits } from './limits.ts';

export const acceptEncoding = 'gzip, deflate, br, zstd';

/** What some servers write where nothing is packed: that, or in which letters the page is written. */
const asItIs = /^(identity|none|null|binary|8bit|utf-?8|us-ascii|iso-8859-\d+|windows-\d+)$/;

export type Decompressed =
  | { readonly kind: 'body'; readonly body: Uint8Array }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** Below this, decoding takes less time than handing it to another thread. */
const inPlaceBytesMax = 32 * 2 ** 10;
/** Packers in parallel write one for each megabyte or so; a million empty ones would take a minute. */
const framesMax = 256;
/** Any page may be this large whatever its ratio. */
const ratioFreeBytes = 2 ** 20;

interface Coding {
  readonly now: (body: Uint8Array, options: zlib.ZlibOptions) => Buffer;
  readonly later: (body: Uint8Array, options: zlib.ZlibOptions) => Promise<Buffer>;
  readonly options?: object;
}

const gzip: Coding = { now: zlib.gunzipSync, later: promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip) };
const codings: Readonly<Record<string, Coding>> = {
  gzip,
  'x-gzip': gzip,
  br: {
    now: zlib.brotliDecompressSync as Coding['now'],
    later: promisify(zlib.brotliDecompress) as unknown as Coding['later'],
  },
  zstd: {
    now: zlib.zstdDecompressSync as unknown as Coding['now'],
    later: promisify(zlib.zstdDecompress) as unknown as Coding['later'],
    // RFC 9659: a window above 8 MB is not for the web, and would be memory spent on the server's word.
    options: { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } },
  },
};
const zlibFormat: Coding = {
  now: zlib.inflateSync,
  later: promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate),
};
const rawFormat: Coding = {
  now: zlib.inflateRawSync,
  later: promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflateRaw),
};

export async function decompress(body: Uint8Array, contentEncoding: string, limits: Limits): Promise<Decompressed> {
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !asItIs.test(name));
  if (names.length > limits.encodingsMax) {
    return {
      kind: 'fault',
      fault: fault(
        'encoding-refused',
        `the answer is packed ${names.length} times; allowed are ${limits.encodingsMax}`,
      ),
    };
  }
  const outputMax = Math.min(limits.bodyBytesMax, Math.max(ratioFreeBytes, body.length * limits.ratioMax));
  let current = body;
  for (const name of names.reverse()) {
    const unpacked = await undo(name, current, outputMax);
    if (unpacked.kind === 'fault') return unpacked;
    current = unpacked.body;
  }
  return { kind: 'body', body: current };
}

async function undo(name: string, body: Uint8Array, outputMax: number): Promise<Decompressed> {
  // "deflate" means the zlib format, and some servers send it without its two bytes of header.
  const coding = name === 'deflate' ? (looksLikeZlib(body) ? zlibFormat : rawFormat) : codings[name];
  if (!coding) {
    return {
      kind: 'fault',
      fault: fault(
        'encoding-refused',
        `the answer has the encoding ${JSON.stringify(name)}; understood are ${acceptEncoding}`,
      ),
    };
  }
  const options = { ...coding.options, maxOutputLength: outputMax };
  try {
    if (coding === codings['zstd']) return await undoFrames(body, options);
    const small = body.length <= inPlaceBytesMax;
    return { kind: 'body', body: small ? coding.now(body, options) : await coding.later(body, options) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      return {
        kind: 'fault',
        fault: fault('body-too-large', `${body.length} bytes of ${name} unpack to more than ${outputMax} bytes`),
      };
    }
    // Some servers name an encoding and send plain bytes; gzip is known by its first bytes.
    if (coding === gzip && !isMember(body)) return { kind: 'body', body };
    const members = coding === gzip ? await undoMembers(body, options).catch(() => undefined) : undefined;
    if (members) return { kind: 'body', body: members };
    const cut = code === 'Z_BUF_ERROR' || code === 'ERR_BROTLI_DECODER_ERROR_UNEXPECTED_END';
    return {
      kind: 'fault',
      fault: cut
        ? fault('body-truncated', `the answer ends in the middle of its ${name}`)
        : fault('encoding-broken', `the answer is not valid ${name} (${code ?? 'unknown error'})`),
    };
  }
}

interface Frame {
  readonly buffer: Buffer;
  /** `bytesWritten`: how much of what it was given the frame took. */
  readonly engine: { readonly bytesWritten: number };
}

const frameNow = zlib.zstdDecompressSync as unknown as (body: Uint8Array, options: object) => Frame;
const frameLater = promisify(zlib.zstdDecompress) as unknown as (body: Uint8Array, options: object) => Promise<Frame>;

/** zstd may be several frames, one after the other (RFC 8878, 3.1), of which the decoder reads one. */
async function undoFrames(body: Uint8Array, options: { readonly maxOutputLength: number }): Promise<Decompressed> {
  const parts: Buffer[] = [];
  let left = options.maxOutputLength;
  let rest = body;
  do {
    if (parts.length === framesMax)
      return {
        kind: 'fault',
        fault: fault('encoding-refused', `the answer has more than ${framesMax} frames of zstd`),
      };
    const limited = { ...options, maxOutputLength: Math.max(1, left), info: true };
    const small = rest.length <= inPlaceBytesMax;
    const { buffer, engine } = small ? frameNow(rest, limited) : await frameLater(rest, limited);
    parts.push(buffer);
    left -= buffer.length;
    rest = rest.subarray(engine.bytesWritten);
  } while (isFrame(rest));
  return { kind: 'body', body: parts.length === 1 ? parts[0]! : Buffer.concat(parts) };
}

/** A frame, or one that decoders skip. */
const isFrame = (body: Uint8Array): boolean =>
  body.length >= 4 &&
  ((body[0] === 0x28 && body[1] === 0xb5 && body[2] === 0x2f && body[3] === 0xfd) ||
    ((body[0]! & 0xf0) === 0x50 && body[1] === 0x2a && body[2] === 0x4d && body[3] === 0x18));

const rawNow = zlib.inflateRawSync as unknown as (body: Uint8Array, options: object) => Frame;
const rawLater = promisify(zlib.inflateRaw) as unknown as (body: Uint8Array, options: object) => Promise<Frame>;

/** Members of gzip that are whole, with anything behind them, as browsers read it; the decoder refuses what is no other member. */
async function undoMembers(body: Uint8Array, options: { readonly maxOutputLength: number }): Promise<Buffer> {
  const parts: Buffer[] = [];
  let left = options.maxOutputLength;
  let rest = body;
  while (isMember(rest) && parts.length < framesMax) {
    const packed = rest.subarray(memberHeadBytes(rest));
    const limited = { ...options, maxOutputLength: Math.max(1, left), info: true };
    const small = packed.length <= inPlaceBytesMax;
    const { buffer, engine } = small ? rawNow(packed, limited) : await rawLater(packed, limited);
    const tail = packed.subarray(engine.bytesWritten, engine.bytesWritten + memberTailBytes);
    if (tail.length < memberTailBytes) throw new Error('cut short');
    if (Buffer.from(tail).readUInt32LE() !== zlib.crc32(buffer)) throw new Error('another checksum');
    parts.push(buffer);
    left -= buffer.length;
    rest = packed.subarray(engine.bytesWritten + memberTailBytes);
  }
  return Buffer.concat(parts);
}

const isMember = (body: Uint8Array): boolean => body[0] === 0x1f && body[1] === 0x8b;
/** Checksum and length. */
const memberTailBytes = 8;

/** RFC 1952, 2.3: ten bytes, and by their flags more of them, a name, a comment and a checksum. */
function memberHeadBytes(member: Uint8Array): number {
  const flags = member[3]!;
  let at = 10;
  if (flags & 4) at += 2 + member[at]! + 256 * member[at + 1]!;
  if (flags & 8) at = member.indexOf(0, at) + 1;
  if (flags & 16) at = member.indexOf(0, at) + 1;
  return flags & 2 ? at + 2 : at;
}

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress(),
};

/** The first so many bytes, and a little more, of what is packed once; undefined where there are fewer. */
export async function decompressStart(
  body: Uint8Array,
  contentEncoding: string,
  bytesMin: number,
): Promise<Uint8Array | undefined> {
  const decoder = decoders[contentEncoding.trim().toLowerCase()]?.();
  if (!decoder) return undefined;
  const parts: Buffer[] = [];
  let bytes = 0;
  decoder.end(body);
  try {
    for await (const part of decoder as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes > bytesMin) return Buffer.concat(parts);
    }
  } catch {
    return undefined;
  }
  return undefined;
}

const looksLikeZlib = (body: Uint8Array) =>
  body.length >= 2 && (body[0]! & 0x0f) === 8 && ((body[0]! << 8) | body[1]!) % 31 === 0;
