/** Full text over the current copies, or over everything that ever came. */
import type Database from 'better-sqlite3';
import { readQuery, snippet, type SnippetPart } from './search-query.ts';
import type { Archive } from './archive.ts';

export interface SearchQuery {
  readonly words: string;
  /** Versions of the past too: each by the words it brought. */
  readonly past?: boolean;
  readonly site?: string;
  readonly tag?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly limit: number;
  readonly skip?: number;
}

export interface SearchHit {
  readonly pageId: string;
  readonly url: string;
  readonly site: string;
  readonly title?: string;
  readonly version: number;
  /** When this version came. */
  readonly atMs: number;
  /** Higher is better; comparable within one answer. */
  readonly score: number;
  readonly snippet: readonly SnippetPart[];
}

interface Row {
  readonly pk: number;
  readonly pageId: string;
  readonly url: string;
  readonly site: string;
  readonly title: string | null;
  readonly version: number;
  readonly atMs: number;
  readonly score: number;
}

/** A word in the title says more than one in the text. */
const weights = '4.0, 1.0';

export function search(db: Database.Database, archive: Archive, query: SearchQuery): readonly SearchHit[] {
  const { match, marks } = readQuery(query.words);
  if (match === undefined) return [];
  const conditions: string[] = [];
  const values: unknown[] = [match];
  const add = (condition: string, value: unknown) => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('pages.site = ?', query.site);
  add(`EXISTS (SELECT 1 FROM json_each(pages.settings, '$.tags') WHERE value = ?)`, query.tag);
  add('versions.at >= ?', query.fromMs);
  add('versions.at < ?', query.toMs);
  const words = query.past ? 'past_words' : 'current_words';
  const join = query.past
    ? 'JOIN versions ON versions.id = past_words.rowid JOIN pages ON pages.pk = versions.pk JOIN states ON states.pk = pages.pk'
    : 'JOIN pages ON pages.pk = current_words.rowid JOIN states ON states.pk = pages.pk JOIN versions ON versions.pk = pages.pk AND versions.number = states.version';
  const rows = db
    .prepare(
      `SELECT pages.pk AS pk, pages.id AS pageId, pages.url AS url, pages.site AS site,
         coalesce(json_extract(pages.settings, '$.title'), states.seen_title) AS title,
         versions.number AS version, versions.at AS atMs, -bm25(${words}, ${weights}) AS score
       FROM ${words} ${join}
       WHERE ${[`${words} MATCH ?`, ...conditions].join(' AND ')}
       ORDER BY score DESC, atMs DESC, pk LIMIT ? OFFSET ?`,
    )
    .all(...values, query.limit, query.skip ?? 0) as Row[];
  return rows.map(({ pk, title, ...row }) => ({
    ...row,
    ...(title === null ? {} : { title }),
    snippet: snippet(archive.text(pk, row.version) ?? '', marks),
  }));
}
