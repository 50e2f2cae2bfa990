/** Versions and the words they are found by, in PostgreSQL. Contents are packed by the daemon's own functions. */
import {
  type Content,
  type Contents,
  type Look,
  baseNumber,
  brought,
  keepContent,
  readContent,
  searchable,
} from 'revisit/ports';
import type { Sql } from './connection.ts';

/** A tsvector holds at most 1 MB; words beyond this many characters are not indexed, the text itself is kept whole. */
const indexedCharactersMax = 300_000;
/** A chain of differences is at most seven long (see the daemon's versions). */
const chainMax = 8;

const hex = (bytes: Buffer): string => bytes.toString('hex');
const bytesOf = (name: string): Buffer => Buffer.from(name, 'hex');

interface ContentRow {
  readonly name: Buffer;
  readonly base: Buffer | null;
  readonly bytes: number;
  readonly packed: Buffer;
}

/** Contents in memory: those read ahead for one piece of work, and those it adds. */
class Gathered implements Contents {
  readonly #known = new Map<string, Content>();
  readonly added: { readonly name: string; readonly content: Content }[] = [];

  get(name: string): Content | undefined {
    return this.#known.get(name);
  }

  put(name: string, content: Content): void {
    this.#known.set(name, content);
    this.added.push({ name, content });
  }

  know(rows: readonly ContentRow[]): void {
    for (const { name, base, bytes, packed } of rows)
      this.#known.set(hex(name), { base: base === null ? null : hex(base), bytes, packed });
  }
}

/** The content and everything that it builds on, in one question. */
async function gather(sql: Sql, names: readonly Buffer[]): Promise<Gathered> {
  const gathered = new Gathered();
  if (names.length === 0) return gathered;
  const { rows } = await sql.query<ContentRow>(
    `WITH RECURSIVE chain (name, base, bytes, packed, depth) AS (
       SELECT name, base, bytes, packed, 1 FROM contents WHERE name = ANY ($1)
       UNION ALL
       SELECT below.name, below.base, below.bytes, below.packed, depth + 1
       FROM chain JOIN contents AS below ON below.name = chain.base WHERE depth < ${chainMax}
     ) SELECT DISTINCT ON (name) name, base, bytes, packed FROM chain`,
    [names],
  );
  gathered.know(rows);
  return gathered;
}

/** Text as words: case and accents do not count, scripts without spaces are found by character. */
export function plainWords(text: string): string {
  // PostgreSQL's texts cannot hold a NUL.
  return searchable(text.slice(0, indexedCharactersMax))
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('\0', ' ');
}

/** A new version of a page, with the words by which it is found. */
export async function keepVersion(sql: Sql, pk: number, look: Look): Promise<void> {
  const { projection, raw, state, atMs } = look;
  const { text, format, title } = projection!;
  const number = state.version;
  const base = baseNumber(number);
  const { rows } = await sql.query<{ number: number; content: Buffer; raw: Buffer | null }>(
    'SELECT number, content, raw FROM versions WHERE pk = $1 AND number = ANY ($2)',
    [pk, [base ?? 0, number - 1]],
  );
  const below = rows.find((row) => row.number === base);
  const before = rows.find((row) => row.number === number - 1);
  const content = Buffer.from(text, 'utf8');
  const gathered = await gather(
    sql,
    [below?.content, below?.raw, before?.content].filter((name) => name !== undefined && name !== null),
  );
  const name = keepContent(gathered, content, below && hex(below.content));
  const rawName =
    raw === undefined ? undefined : keepContent(gathered, Buffer.from(raw), below?.raw ? hex(below.raw) : undefined);
  for (const { name: added, content: packed } of gathered.added) {
    await sql.query('INSERT INTO contents (name, base, bytes, packed) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', [
      bytesOf(added),
      packed.base === null ? null : bytesOf(packed.base),
      packed.bytes,
      packed.packed,
    ]);
  }
  const old = before && readContent(gathered, hex(before.content));
  const oldText = old?.kind === 'read' ? Buffer.from(old.content).toString('utf8') : undefined;
  await sql.query(
    `INSERT INTO versions (pk, number, at, content, raw, format, bytes, title, words) VALUES ($1, $2, $3, $4, $5, $6, $7, $8,
       setweight(to_tsvector('simple', $9), 'A') || to_tsvector('simple', $10))`,
    [
      pk,
      number,
      atMs,
      bytesOf(name),
      rawName === undefined ? null : bytesOf(rawName),
      format,
      content.length,
      title ?? null,
      plainWords(title ?? ''),
      plainWords(brought(oldText, text)),
    ],
  );
  await sql.query(
    `INSERT INTO current_words (pk, words) VALUES ($1, setweight(to_tsvector('simple', $2), 'A') || to_tsvector('simple', $3))
     ON CONFLICT (pk) DO UPDATE SET words = excluded.words`,
    [pk, plainWords(title ?? ''), plainWords(text)],
  );
}

export async function readVersion(
  sql: Sql,
  pageId: string,
  number: number,
  part: 'content' | 'raw',
): Promise<string | undefined> {
  const { rows } = await sql.query<{ name: Buffer | null }>(
    `SELECT versions.${part} AS name FROM versions JOIN pages USING (pk) WHERE pages.id = $1 AND number = $2`,
    [pageId, number],
  );
  const name = rows[0]?.name;
  if (!name) return undefined;
  const read = readContent(await gather(sql, [name]), hex(name));
  return read.kind === 'read' ? Buffer.from(read.content).toString('utf8') : undefined;
}

/** The words of a version that came without them. */
export async function indexVersion(sql: Sql, pk: number, number: number): Promise<void> {
  const { rows } = await sql.query<{ number: number; content: Buffer; title: string | null; current: boolean }>(
    `SELECT number, content, seen_title AS title, number = version AS current FROM versions JOIN states USING (pk)
     WHERE pk = $1 AND number IN ($2, $2 - 1)`,
    [pk, number],
  );
  const gathered = await gather(
    sql,
    rows.map((row) => row.content),
  );
  const textOf = (row: { readonly content: Buffer } | undefined): string | undefined => {
    const read = row && readContent(gathered, hex(row.content));
    return read?.kind === 'read' ? Buffer.from(read.content).toString('utf8') : undefined;
  };
  const here = rows.find((row) => row.number === number)!;
  const text = textOf(here) ?? '';
  const title = here.current ? plainWords(here.title ?? '') : '';
  const before = textOf(rows.find((row) => row.number === number - 1));
  await sql.query(
    `UPDATE versions SET words = setweight(to_tsvector('simple', $3), 'A') || to_tsvector('simple', $4) WHERE pk = $1 AND number = $2`,
    [pk, number, title, plainWords(brought(before, text))],
  );
  if (here.current)
    await sql.query(
      `INSERT INTO current_words (pk, words) VALUES ($1, setweight(to_tsvector('simple', $2), 'A') || to_tsvector('simple', $3))
       ON CONFLICT (pk) DO UPDATE SET words = excluded.words`,
      [pk, title, plainWords(text)],
    );
}

/** Contents after this name, unpacked and held against their names; the next name to go on from. */
export async function verifyContents(
  sql: Sql,
  after: Buffer,
): Promise<
  | { readonly kind: 'whole'; readonly count: number; readonly next: Buffer | undefined }
  | { readonly kind: 'broken'; readonly name: string; readonly why: string }
> {
  const { rows } = await sql.query<{ name: Buffer }>(
    'SELECT name FROM contents WHERE name > $1 ORDER BY name LIMIT 200',
    [after],
  );
  const names = rows.map((row) => row.name);
  const gathered = await gather(sql, names);
  for (const name of names) {
    const read = readContent(gathered, hex(name));
    if (read.kind === 'broken') return { kind: 'broken', name: hex(name), why: read.why };
  }
  return { kind: 'whole', count: names.length, next: names.at(-1) };
}
