/**
 * Versions in SQLite: which page had which content when, the contents themselves as differences, and the words of both for
 * searching. Everything here runs inside the transaction of whoever calls.
 */
import type Database from 'better-sqlite3';
import type { Projection } from '../values/change.ts';
import type { Version } from './port.ts';
import { searchable } from './search-query.ts';
import {
  RecentContents,
  baseNumber,
  brought,
  keepContent,
  readContent,
  type Content,
  type Contents,
  type ReadContent,
} from './versions.ts';

export interface VersionRow {
  readonly id: number;
  readonly pk: number;
  readonly number: number;
  readonly at: number;
  readonly content: Buffer;
  readonly raw: Buffer | null;
  readonly format: string;
  readonly bytes: number;
}

/** A version whose words are to be indexed. */
export interface NewWords extends Pick<VersionRow, 'pk' | 'id' | 'number'> {
  readonly title: string | undefined;
  readonly text: string;
}

/**
 * A text is found by the words of its beginning: twenty megabytes took six seconds to index, in which nothing else could be
 * written. It is as much as a long book.
 */
const indexedMax = 2 ** 20;

export interface WantedText {
  readonly pageId: string;
  readonly number: number;
}

const hex = (name: Uint8Array): string => Buffer.from(name.buffer, name.byteOffset, name.length).toString('hex');
const blob = (name: string): Buffer => Buffer.from(name, 'hex');

export class Archive {
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement<unknown[]>>();
  readonly contents: Contents;
  readonly #recent = new RecentContents();

  constructor(db: Database.Database) {
    this.#db = db;
    this.contents = {
      get: (name) => this.#content(name),
      put: (name, { base, bytes, packed }) => {
        this.#sql('INSERT INTO contents (name, base, bytes, packed) VALUES (?, ?, ?, ?)').run(
          blob(name),
          base === null ? null : blob(base),
          bytes,
          packed,
        );
      },
    };
  }

  #sql(text: string): Database.Statement<unknown[]> {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#db.prepare(text)));
    return statement;
  }

  #content(name: string): Content | undefined {
    const row = this.#sql('SELECT base, bytes, packed FROM contents WHERE name = ?').get(blob(name)) as
      | { base: Buffer | null; bytes: number; packed: Buffer }
      | undefined;
    return row && { base: row.base === null ? null : hex(row.base), bytes: row.bytes, packed: row.packed };
  }

  row(pk: number, number: number): VersionRow | undefined {
    return this.#sql('SELECT * FROM versions WHERE pk = ? AND number = ?').get(pk, number) as VersionRow | undefined;
  }

  /** A new version of a page; it is found by its words when those are indexed. */
  keep(pk: number, number: number, atMs: number, projection: Projection, raw: string | undefined): NewWords {
    const bytes = Buffer.from(projection.text, 'utf8');
    const base = baseNumber(number);
    const below = base === undefined ? undefined : this.row(pk, base);
    const name = keepContent(this.contents, bytes, below && hex(below.content), this.#recent);
    const rawName =
      raw === undefined
        ? undefined
        : keepContent(this.contents, Buffer.from(raw), below?.raw ? hex(below.raw) : undefined, this.#recent);
    const { lastInsertRowid } = this.#sql(
      'INSERT INTO versions (pk, number, at, content, raw, format, bytes) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ).run(pk, number, atMs, blob(name), rawName === undefined ? null : blob(rawName), projection.format, bytes.length);
    return { pk, id: Number(lastInsertRowid), number, title: projection.title, text: projection.text };
  }

  /**
   * The current copy is found by all its words; a version of the past by those that it brought. Rows come in their order, all
   * at once: whenever one comes before the last, FTS5 writes out what it has gathered, to be put together with all else again.
   */
  index(versions: readonly NewWords[]): void {
    const newest = new Map(versions.map((version) => [version.pk, version]));
    const current = [...newest.values()].sort((a, b) => a.pk - b.pk);
    for (const { pk } of current) this.#sql('DELETE FROM current_words WHERE rowid = ?').run(pk);
    for (const { pk, title, text } of current)
      this.#sql('INSERT INTO current_words (rowid, title, body) VALUES (?, ?, ?)').run(
        pk,
        searchable(title ?? ''),
        searchable(text.slice(0, indexedMax)),
      );
    for (const { pk, id, number, title, text } of versions.toSorted((a, b) => a.id - b.id)) {
      const before = number > 1 ? this.text(pk, number - 1) : undefined;
      this.#sql('INSERT INTO past_words (rowid, title, body) VALUES (?, ?, ?)').run(
        id,
        searchable(title ?? ''),
        searchable(brought(before, text).slice(0, indexedMax)),
      );
    }
  }

  /** As it stands on the disk, whatever is remembered of it. */
  read(row: VersionRow): ReadContent {
    return readContent(this.contents, hex(row.content));
  }

  #text(name: Buffer | null | undefined): string | undefined {
    const content = name ? readContent(this.contents, hex(name), this.#recent) : undefined;
    return content?.kind === 'read'
      ? Buffer.from(content.content.buffer, content.content.byteOffset, content.content.length).toString('utf8')
      : undefined;
  }

  text(pk: number, number: number): string | undefined {
    return this.#text(this.row(pk, number)?.content);
  }

  raw(pk: number, number: number): string | undefined {
    return this.#text(this.row(pk, number)?.raw);
  }

  /**
   * Many at once, in one transaction: each begins by letting go of what is remembered of the file where another thread has written
   * since, and would find its way to a text through all of it again.
   */
  textsOf(wanted: readonly WantedText[]): readonly (string | undefined)[] {
    return this.#db.transaction(() => wanted.map(({ pageId, number }) => this.textOf(pageId, number)))();
  }

  /** In one statement, for the same reason. */
  textOf(pageId: string, number: number): string | undefined {
    const found = this.#sql(
      'SELECT content FROM versions WHERE pk = (SELECT pk FROM pages WHERE id = ?) AND number = ?',
    ).get(pageId, number) as Pick<VersionRow, 'content'> | undefined;
    return this.#text(found?.content);
  }

  list(pageId: string): readonly Version[] {
    const rows = this.#sql(
      `SELECT number, versions.at AS atMs, lower(hex(content)) AS hash, format, bytes, raw IS NOT NULL AS raw
       FROM versions JOIN pages USING (pk) WHERE id = ? ORDER BY number`.replace('WHERE id', 'WHERE pages.id'),
    ).all(pageId) as (Omit<Version, 'raw'> & { raw: number })[];
    return rows.map((row) => ({ ...row, hash: row.hash.slice(0, 32), raw: row.raw === 1 }));
  }

  /** Lets versions go, with their words; contents that nothing needs any more go with `sweep`. */
  drop(pk: number, numbers: readonly number[]): void {
    for (const number of numbers) {
      const row = this.row(pk, number);
      if (!row) continue;
      this.#sql('DELETE FROM past_words WHERE rowid = ?').run(row.id);
      this.#sql('DELETE FROM versions WHERE id = ?').run(row.id);
    }
  }

  /** Before a page goes: its words, which no foreign key reaches. */
  forget(pk: number): void {
    this.#sql('DELETE FROM past_words WHERE rowid IN (SELECT id FROM versions WHERE pk = ?)').run(pk);
    this.#sql('DELETE FROM current_words WHERE rowid = ?').run(pk);
  }

  /** Contents that no version has and nothing builds on. Each round frees those the last one built on. */
  sweep(): number {
    let swept = 0;
    for (;;) {
      const { changes } = this.#sql(
        `DELETE FROM contents WHERE
           NOT EXISTS (SELECT 1 FROM versions WHERE versions.content = contents.name)
           AND NOT EXISTS (SELECT 1 FROM versions WHERE versions.raw = contents.name)
           AND NOT EXISTS (SELECT 1 FROM contents AS other WHERE other.base = contents.name)`,
      ).run();
      if (changes === 0) return swept;
      swept += changes;
    }
  }
}
