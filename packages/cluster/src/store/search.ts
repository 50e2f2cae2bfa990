/** Full text by tsvector, with the daemon's own query language. */
import { type SearchHit, type SearchQuery, type Term, readQuery, snippet } from 'revisit/ports';
import { plainWords, readVersion } from './archive.ts';
import type { Sql } from './connection.ts';

interface Row {
  readonly pageId: string;
  readonly url: string;
  readonly site: string;
  readonly title: string | null;
  readonly version: number;
  readonly atMs: number;
  readonly score: number;
}

/** A term as an expression over parameters: a phrase, or, with an open end, all its words with the last one as a beginning. */
function termText({ text, prefix }: Term, parameter: (value: unknown) => string): string {
  const words = plainWords(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  if (!prefix || words.length === 0) return `phraseto_tsquery('simple', ${parameter(plainWords(text))})`;
  return `to_tsquery('simple', ${parameter(words.map((word, i) => `'${word}'${i === words.length - 1 ? ':*' : ''}`).join(' <-> '))})`;
}

export async function search(sql: Sql, query: SearchQuery): Promise<readonly SearchHit[]> {
  const { groups, without, marks } = readQuery(query.words);
  if (groups.length === 0) return [];
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const either = (terms: readonly Term[]): string => `(${terms.map((term) => termText(term, parameter)).join(' || ')})`;
  const wanted = groups.map(either).join(' && ');
  const match = without.length === 0 ? wanted : `${wanted} && !!${either(without)}`;
  const conditions: string[] = [];
  if (query.site !== undefined) conditions.push(`pages.site = ${parameter(query.site)}`);
  if (query.tag !== undefined) conditions.push(`(pages.settings::jsonb -> 'tags') ? ${parameter(query.tag)}`);
  if (query.fromMs !== undefined) conditions.push(`versions.at >= ${parameter(query.fromMs)}`);
  if (query.toMs !== undefined) conditions.push(`versions.at < ${parameter(query.toMs)}`);
  const words = query.past ? 'versions.words' : 'current_words.words';
  const from = query.past
    ? 'versions JOIN pages USING (pk) JOIN states USING (pk)'
    : 'current_words JOIN pages USING (pk) JOIN states USING (pk) JOIN versions ON versions.pk = pages.pk AND versions.number = states.version';
  const { rows } = await sql.query<Row>(
    `SELECT pages.id AS "pageId", pages.url AS url, pages.site AS site,
       coalesce(pages.settings::jsonb ->> 'title', states.seen_title) AS title,
       versions.number AS version, versions.at AS "atMs", ts_rank(${words}, wanted.query) AS score
     FROM (SELECT ${match} AS query) AS wanted, ${from}
     WHERE ${[`${words} @@ wanted.query`, ...conditions].join(' AND ')}
     ORDER BY score DESC, "atMs" DESC, pages.pk LIMIT ${parameter(query.limit)} OFFSET ${parameter(query.skip ?? 0)}`,
    values,
  );
  const hits: SearchHit[] = [];
  for (const { title, ...row } of rows) {
    const text = await readVersion(sql, row.pageId, row.version, 'content');
    hits.push({ ...row, ...(title === null ? {} : { title }), snippet: snippet(text ?? '', marks) });
  }
  return hits;
}
