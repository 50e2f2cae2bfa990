/**
 * Traces, page weights and importances as they come in files, packed with gzip or not. Files are read in pieces, row by row: of a
 * history of gigabytes only its changes are held.
 */
import { createReadStream } from 'node:fs';
import { type Readable, pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Trace, type TraceRows, historyRows, traceRows, unquoted } from '@revisit/core';
import { type Importance, readImportance } from './importance.ts';

export type Read<Value> =
  | { readonly kind: 'read'; readonly value: Value }
  | { readonly kind: 'wrong'; readonly sentence: string };

export interface ReadingLimits {
  /** More than this unpacked is refused; a file that was sent may be a bomb. */
  readonly bytesMax?: number;
  readonly pieceBytes?: number;
}

/** A row of 14 weeks of looks has a few kilobytes; one without end would not fit into memory. */
const rowCharactersMax = 2 ** 26;
const pieceBytesUsual = 2 ** 20;
/** The 14-week set has no dates; its days count from Monday 2 January 2006, so that weeks begin where weeks begin. */
const historyStart = 1_136_160_000;

/** What is wrong with a file, said in words. */
class Unfit extends Error {}

async function* pieces(file: string, { bytesMax = Infinity, pieceBytes = pieceBytesUsual }: ReadingLimits) {
  const source: Readable = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: pieceBytes });
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    for await (const piece of unpacked(source, pieceBytes)) {
      bytes += piece.length;
      if (bytes > bytesMax) throw new Unfit(`holds more than ${bytesMax} bytes unpacked; less is expected`);
      yield decoder.decode(piece, { stream: true });
    }
    yield decoder.decode();
  } finally {
    source.destroy();
  }
}

/** The file's bytes, unpacked where its first two are gzip's. */
async function* unpacked(source: Readable, chunkSize: number): AsyncGenerator<Buffer> {
  const ends = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await ends.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  const all = (async function* () {
    yield head;
    for (let next = await ends.next(); !next.done; next = await ends.next()) yield next.value;
  })();
  if (head[0] !== 0x1f || head[1] !== 0x8b) yield* all;
  // Without a callback the error would be nobody's; the loop that reads meets it too.
  else yield* pipeline(all, createGunzip({ chunkSize: Math.max(64, chunkSize) }), () => {}) as AsyncIterable<Buffer>;
}

/** The file's rows, as many at once as a piece ends. */
async function* rowsOf(file: string, limits: ReadingLimits): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const piece of pieces(file, limits)) {
    const rows = piece.split('\n');
    rows[0] = rest + rows[0]!;
    rest = rows.pop()!;
    if (rest.length > rowCharactersMax) throw new Unfit(`has a row of more than ${rowCharactersMax} characters`);
    if (rows.length > 0) yield rows;
  }
  if (rest !== '') yield [rest];
}

function unreadable(file: string, error: unknown): { readonly kind: 'wrong'; readonly sentence: string } {
  if (error instanceof Unfit) return { kind: 'wrong', sentence: `${file}: ${error.message}` };
  const { code, message } = error as NodeJS.ErrnoException;
  // zlib's words for input that ends before the archive does.
  if (code === 'Z_BUF_ERROR')
    return { kind: 'wrong', sentence: `${file}: is cut off, its gzip ends in the middle; the whole file is expected` };
  if (code?.startsWith('Z_'))
    return {
      kind: 'wrong',
      sentence: `${file}: is damaged, its gzip cannot be unpacked (${code}); a whole file is expected`,
    };
  return { kind: 'wrong', sentence: `${file}: cannot be read (${code ?? message}); a readable file is expected` };
}

export async function readTrace(file: string, limits: ReadingLimits = {}): Promise<Read<Trace>> {
  let rows: TraceRows | undefined;
  let waiting: string[] = [];
  const add = (row: string): void => {
    const sentence = rows!.add(row);
    if (sentence !== undefined) throw new Unfit(sentence);
  };
  const begin = (): void => {
    rows = waiting.some((row) => /\t\s*\[\s*[[\]]/.test(row)) ? historyRows(historyStart) : traceRows();
    waiting.forEach(add);
    waiting = [];
  };
  try {
    for await (const some of rowsOf(file, limits)) {
      for (const row of some) {
        if (rows) add(row);
        // The first row may be a header: the second tells which form it is.
        else if (waiting.push(row) === 2) begin();
      }
    }
    if (!rows) begin();
    const outcome = rows!.end();
    return outcome.kind === 'read'
      ? { kind: 'read', value: outcome.trace }
      : { kind: 'wrong', sentence: `${file}: ${outcome.sentence}` };
  } catch (error) {
    return unreadable(file, error);
  }
}

export type ImportanceFile =
  | { readonly kind: 'times'; readonly importance: Importance }
  | { readonly kind: 'pages'; readonly weightOf: ReadonlyMap<string, number> };

/** A JSON profile over the week or the day, or `source,weight` (also with a tab, as the 14-week set's urlid_imp). */
export async function readImportanceFile(file: string): Promise<Read<ImportanceFile>> {
  const wrong = {
    kind: 'wrong',
    sentence: `--importance ${file}: is neither {"breaks":[0,…],"values":[…],"period":168} in hours nor rows of source,weight`,
  } as const;
  const json: string[] = [];
  const weightOf = new Map<string, number>();
  let row = 0;
  try {
    for await (const lines of rowsOf(file, {})) {
      if (
        json.length > 0 ||
        (row === 0 &&
          lines
            .find((line) => line.trim() !== '')
            ?.trimStart()
            .startsWith('{'))
      ) {
        json.push(...lines);
        continue;
      }
      for (const line of lines) addWeight(weightOf, line.replace(/\r$/, ''), ++row);
    }
  } catch (error) {
    return { kind: 'wrong', sentence: `--importance ${unreadable(file, error).sentence}` };
  }
  if (json.length === 0) return weightOf.size > 0 ? { kind: 'read', value: { kind: 'pages', weightOf } } : wrong;
  try {
    // It begins with a brace, so it is an object or no JSON.
    const importance = readImportance(JSON.parse(json.join('\n')) as Readonly<Record<string, unknown>>);
    if (typeof importance === 'string') return { kind: 'wrong', sentence: `--importance ${file}: ${importance}` };
    return { kind: 'read', value: { kind: 'times', importance } };
  } catch (error) {
    return { kind: 'wrong', sentence: `--importance ${file}: is no JSON (${(error as Error).message})` };
  }
}

function addWeight(weightOf: Map<string, number>, line: string, row: number): void {
  if (line === '') return;
  const cut = Math.max(line.lastIndexOf('\t'), line.lastIndexOf(','));
  const given = cut > 0 ? line.slice(cut + 1).trim() : '';
  const weight = given === '' ? Number.NaN : Number(given);
  // A name that is a part of the piece it was read from would keep all of that.
  if (Number.isFinite(weight) && weight >= 0)
    weightOf.set(Buffer.from(unquoted(line.slice(0, cut))).toString(), weight);
  // The first row may be a header, whose last word is no number.
  else if (row > 1 || !Number.isNaN(weight))
    throw new Unfit(
      `row ${row} is ${JSON.stringify(line.slice(0, 60))}; source,weight with a weight of at least 0 is expected`,
    );
}
