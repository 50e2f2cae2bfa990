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

/**
 * Which rows fit best is found in the index alone: what is said of a hit is read only of the few that are shown, or a word
 * that every page has would read every page.
 */
export function search(db: Database.Database, archive: Archive, query: SearchQuery): readonly SearchHit[] {
  const { match, marks } = readQuery(query.words);
  if (match === undefined) return [];
  const words = query.past ? 'past_words' : 'current_words';
  const about = query.past
    ? 'versions JOIN pages ON pages.pk = versions.pk JOIN states ON states.pk = pages.pk'
    : 'pages JOIN states ON states.pk = pages.pk JOIN versions ON versions.pk = pages.pk AND versions.number = states.version';
  const row = query.past ? 'versions.id' : 'pages.pk';
  const { conditions, values } = conditionsOf(query);
  const wanted =
    conditions.length > 0
      ? `AND EXISTS (SELECT 1 FROM ${about} WHERE ${row} = ${words}.rowid AND ${conditions.join(' AND ')})`
      : '';
  const rows = db
    .prepare(
      `WITH best AS MATERIALIZED (
         SELECT rowid AS hit, -bm25(${words}, ${weights}) AS score FROM ${words}
         WHERE ${words} MATCH ? ${wanted}
         ORDER BY score DESC, rowid DESC LIMIT ? OFFSET ?
       )
       SELECT pages.pk AS pk, pages.id AS pageId, pages.url AS url, pages.site AS site,
         coalesce(json_extract(pages.settings, '$.title'), states.seen_title) AS title,
         versions.number AS version, versions.at AS atMs, score
       FROM best CROSS JOIN ${about} WHERE ${row} = hit
       ORDER BY score DESC, hit DESC`,
    )
    .all(match, ...values, query.limit, query.skip ?? 0) as Row[];
  return rows.map(({ pk, title, ...hit }) => ({
    ...hit,
    ...(title === null ? {} : { title }),
    snippet: snippet(archive.text(pk, hit.version) ?? '', marks),
  }));
}

function conditionsOf(query: SearchQuery): {
  readonly conditions: readonly string[];
  readonly values: readonly unknown[];
} {
  const all = [
    ['pages.site = ?', query.site],
    [`EXISTS (SELECT 1 FROM json_each(pages.settings, '$.tags') WHERE value = ?)`, query.tag],
    ['versions.at >= ?', query.fromMs],
    ['versions.at < ?', query.toMs],
  ] as const;
  const given = all.filter(([, value]) => value !== undefined);
  return { conditions: given.map(([condition]) => condition), values: given.map(([, value]) => value) };
}
