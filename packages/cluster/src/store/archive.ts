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
import { countOnContents } from './retention.ts';

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

/** New versions, of different pages, with the words by which they are found. */
export async function keepVersions(
  sql: Sql,
  found: readonly { readonly pk: number; readonly look: Look }[],
): Promise<void> {
  if (found.length === 0) return;
  await countOnContents(sql);
  const { rows } = await sql.query<BelowRow>(
    `SELECT pk, number, content, raw, words IS NULL AS current FROM versions
     JOIN unnest($1::bigint[], $2::integer[], $3::integer[]) AS wanted (pk, base, before) USING (pk)
     WHERE number IN (base, before)`,
    [
      found.map(({ pk }) => pk),
      found.map(({ look }) => baseNumber(look.state.version) ?? 0),
      found.map(({ look }) => look.state.version - 1),
    ],
  );
  const below = new Map(rows.map((row) => [`${row.pk}/${row.number}`, row]));
  const gathered = await gather(
    sql,
    rows.flatMap((row) => (row.raw === null ? [row.content] : [row.content, row.raw])),
  );
  const versions = found.map(({ pk, look }) => packVersion(gathered, below, pk, look));
  await addContents(sql, gathered);
  await ownWords(sql, rows);
  await sql.query(
    `INSERT INTO versions (pk, number, at, content, raw, format, bytes, title, words)
     SELECT pk, number, at, content, raw, format, bytes, title, ${vector('title_words', 'new_words')}
     FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::bytea[], $5::bytea[], $6::text[], $7::integer[], $8::text[],
       $9::text[], $10::text[]) AS new (pk, number, at, content, raw, format, bytes, title, title_words, new_words)`,
    [
      versions.map(({ pk }) => pk),
      versions.map(({ number }) => number),
      versions.map(({ atMs }) => atMs),
      versions.map(({ content }) => content),
      versions.map(({ raw }) => raw),
      versions.map(({ format }) => format),
      versions.map(({ bytes }) => bytes),
      versions.map(({ title }) => title),
      versions.map(({ titleWords }) => titleWords),
      versions.map(({ newWords }) => newWords),
    ],
  );
  await putCurrentWords(
    sql,
    versions.map(({ pk, atMs, titleWords, text }) => ({ pk, atMs, title: titleWords, text })),
  );
}

/** The words by which pages are found as they are now. `title` is plain already. */
async function putCurrentWords(
  sql: Sql,
  copies: readonly { readonly pk: number; readonly atMs: number; readonly title: string; readonly text: string }[],
): Promise<void> {
  await sql.query(
    `INSERT INTO current_words (pk, at, words) SELECT pk, at, ${vector('title', 'words')}
     FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS new (pk, at, title, words)
     ON CONFLICT (pk) DO UPDATE SET at = excluded.at, words = excluded.words`,
    [
      copies.map(({ pk }) => pk),
      copies.map(({ atMs }) => atMs),
      copies.map(({ title }) => title),
      copies.map(({ text }) => plainWords(text)),
    ],
  );
}

/** A word in the title says more than one in the text. Without words there is nothing, not an empty vector. */
const vector = (title: string, words: string): string =>
  `setweight(to_tsvector('simple', ${title}), 'A') || to_tsvector('simple', ${words})`;

/** Versions that were found by the words of the current copy, and are no longer current, get them for their own. */
async function ownWords(sql: Sql, rows: readonly BelowRow[]): Promise<void> {
  const overtaken = rows.filter(({ current }) => current);
  if (overtaken.length === 0) return;
  await sql.query(
    `UPDATE versions SET words = current_words.words
     FROM unnest($1::bigint[], $2::integer[]) AS overtaken (pk, number) JOIN current_words USING (pk)
     WHERE versions.pk = overtaken.pk AND versions.number = overtaken.number`,
    [overtaken.map(({ pk }) => pk), overtaken.map(({ number }) => number)],
  );
}

interface BelowRow {
  readonly pk: number;
  readonly number: number;
  readonly content: Buffer;
  readonly raw: Buffer | null;
  /** Found by the words of the current copy. */
  readonly current: boolean;
}

/** The version as its rows have it; its contents are added to those gathered. */
function packVersion(gathered: Gathered, known: ReadonlyMap<string, BelowRow>, pk: number, look: Look) {
  const { projection, raw, state, atMs } = look;
  const { text, format, title } = projection!;
  const number = state.version;
  const below = known.get(`${pk}/${baseNumber(number) ?? 0}`);
  const before = known.get(`${pk}/${number - 1}`);
  const content = Buffer.from(text, 'utf8');
  const name = keepContent(gathered, content, below && hex(below.content));
  const rawName =
    raw === undefined ? undefined : keepContent(gathered, Buffer.from(raw), below?.raw ? hex(below.raw) : undefined);
  const oldText = before && readText(gathered, before.content);
  return {
    pk,
    number,
    atMs,
    content: bytesOf(name),
    raw: rawName === undefined ? null : bytesOf(rawName),
    format,
    bytes: content.length,
    title: title ?? null,
    titleWords: plainWords(title ?? ''),
    newWords: oldText === undefined ? null : plainWords(brought(oldText, text)),
    text,
  };
}

async function addContents(sql: Sql, { added }: Gathered): Promise<void> {
  // In one order for all: who adds the same contents at the same time waits and does not stand in the other's way.
  const sorted = added.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  await sql.query(
    `INSERT INTO contents (name, base, bytes, packed)
     SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::integer[], $4::bytea[]) ON CONFLICT DO NOTHING`,
    [
      sorted.map(({ name }) => bytesOf(name)),
      sorted.map(({ content }) => (content.base === null ? null : bytesOf(content.base))),
      sorted.map(({ content }) => content.bytes),
      sorted.map(({ content }) => Buffer.from(content.packed)),
    ],
  );
}

function readText(gathered: Gathered, name: Buffer): string | undefined {
  const read = readContent(gathered, hex(name));
  return read.kind === 'read' ? Buffer.from(read.content).toString('utf8') : undefined;
}

/** The texts of these contents, in one question; undefined where one cannot be read. */
export async function readTexts(sql: Sql, names: readonly Buffer[]): Promise<readonly (string | undefined)[]> {
  const gathered = await gather(sql, names);
  return names.map((name) => readText(gathered, name));
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
  return name ? (await readTexts(sql, [name]))[0] : undefined;
}

interface BareRow {
  readonly pk: number;
  readonly number: number;
  readonly at: number;
  readonly content: Buffer;
  readonly title: string | null;
  readonly current: boolean;
}

/** The words of versions that came without them. */
export async function indexVersions(
  sql: Sql,
  bare: readonly { readonly pk: number; readonly number: number }[],
): Promise<void> {
  const { rows } = await sql.query<BareRow>(
    `SELECT DISTINCT pk, number, at, content, seen_title AS title, number = version AS current
     FROM versions JOIN states USING (pk) JOIN unnest($1::bigint[], $2::integer[]) AS bare (pk, wanted) USING (pk)
     WHERE number IN (wanted, wanted - 1)`,
    [bare.map(({ pk }) => pk), bare.map(({ number }) => number)],
  );
  const gathered = await gather(
    sql,
    rows.map((row) => row.content),
  );
  const known = new Map(rows.map((row) => [`${row.pk}/${row.number}`, row]));
  const found = bare.map(({ pk, number }) => {
    const row = known.get(`${pk}/${number}`)!;
    const below = known.get(`${pk}/${number - 1}`);
    const text = readText(gathered, row.content) ?? '';
    // Which title a version came with was not kept beside it; mostly it is the one seen last.
    return { ...row, text, before: below && readText(gathered, below.content), title: plainWords(row.title ?? '') };
  });
  await putCurrentWords(
    sql,
    found.filter(({ current }) => current).map(({ pk, at, title, text }) => ({ pk, atMs: at, title, text })),
  );
  const own = found.filter(({ current, before }) => !current || before !== undefined);
  await sql.query(
    `UPDATE versions SET words = ${vector('new.title', 'new.words')}
     FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[]) AS new (pk, number, title, words)
     WHERE versions.pk = new.pk AND versions.number = new.number`,
    [
      own.map(({ pk }) => pk),
      own.map(({ number }) => number),
      own.map(({ title }) => title),
      own.map(({ before, text }) => plainWords(brought(before, text))),
    ],
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
