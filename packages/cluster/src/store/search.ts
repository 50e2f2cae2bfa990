/** Full text by tsvector, with the daemon's own query language. */
import { type SearchHit, type SearchQuery, type Term, readQuery, snippet } from 'revisit/ports';
import { plainWords, readTexts } from './archive.ts';
import type { Sql } from './connection.ts';

/**
 * Of a word that more copies have, only the newest so many are ranked: ranking reads all words of a copy, and a word that every
 * page has would read every page.
 */
const rankedMax = 1_000;

interface Row {
  readonly pageId: string;
  readonly url: string;
  readonly site: string;
  readonly title: string | null;
  readonly version: number;
  readonly atMs: number;
  readonly score: number;
  readonly content: Buffer;
}

/** A term as an expression over parameters: a phrase, or, with an open end, all its words with the last one as a beginning. */
function termText({ text, prefix }: Term, parameter: (value: unknown) => string): string {
  const words = plainWords(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  if (!prefix || words.length === 0) return `phraseto_tsquery('simple', ${parameter(plainWords(text))})`;
  return `to_tsquery('simple', ${parameter(words.map((word, i) => `'${word}'${i === words.length - 1 ? ':*' : ''}`).join(' <-> '))})`;
}

/** Of the current copies those whose version has no words of its own. */
const alone =
  'JOIN (SELECT pk, number FROM versions JOIN states USING (pk) WHERE number = version AND words IS NULL) AS own USING (pk)';

export async function search(sql: Sql, query: SearchQuery): Promise<readonly SearchHit[]> {
  const { groups, without, marks } = readQuery(query.words);
  if (groups.length === 0) return [];
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const either = (terms: readonly Term[]): string => `(${terms.map((term) => termText(term, parameter)).join(' || ')})`;
  const all = groups.map(either).join(' && ');
  const wanted = without.length === 0 ? all : `${all} && !!${either(without)}`;
  const conditions = conditionsOf(query, parameter);
  // A condition on the page needs it beside the words; mostly there is none.
  const page = query.site === undefined && query.tag === undefined ? '' : 'JOIN pages USING (pk)';
  const newest = (from: string, number: string): string =>
    `(SELECT pk, found.at, found.words, ${number} AS number FROM ${from} ${page}
      WHERE ${[`found.words @@ (${wanted})`, ...conditions].join(' AND ')} ORDER BY found.at DESC, pk LIMIT ${rankedMax})`;
  const found = query.past
    ? `(${newest('versions AS found', 'number')} UNION ALL ${newest(`current_words AS found ${alone}`, 'own.number')})`
    : newest('current_words AS found', 'NULL::integer');
  const { rows } = await sql.query<Row>(
    `WITH best AS (
       SELECT pk, number, at, ts_rank(words, (${wanted})) AS score
       FROM (SELECT * FROM ${found} AS found ORDER BY at DESC, pk LIMIT ${rankedMax}) AS newest
       ORDER BY score DESC, at DESC, pk LIMIT ${parameter(query.limit)} OFFSET ${parameter(query.skip ?? 0)}
     )
     SELECT pages.id AS "pageId", pages.url AS url, pages.site AS site,
       coalesce(pages.settings::jsonb ->> 'title', states.seen_title) AS title,
       versions.number AS version, versions.at AS "atMs", score, versions.content AS content
     FROM best JOIN pages USING (pk) JOIN states USING (pk)
       JOIN versions ON versions.pk = best.pk AND versions.number = coalesce(best.number, states.version)
     ORDER BY score DESC, versions.at DESC, pages.pk`,
    values,
  );
  const texts = await readTexts(
    sql,
    rows.map(({ content }) => content),
  );
  return rows.map(({ title, content: _content, ...row }, i) => ({
    ...row,
    ...(title === null ? {} : { title }),
    snippet: snippet(texts[i] ?? '', marks),
  }));
}

function conditionsOf(query: SearchQuery, parameter: (value: unknown) => string): readonly string[] {
  return [
    ...(query.site === undefined ? [] : [`pages.site = ${parameter(query.site)}`]),
    ...(query.tag === undefined ? [] : [`pages.tags ? ${parameter(query.tag)}`]),
    ...(query.fromMs === undefined ? [] : [`found.at >= ${parameter(query.fromMs)}`]),
    ...(query.toMs === undefined ? [] : [`found.at < ${parameter(query.toMs)}`]),
  ];
}
