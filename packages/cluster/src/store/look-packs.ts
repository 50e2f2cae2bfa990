/**
 * Looks as they are kept: the last ones of a page in the row of its state, which every look writes anyway, and when they are a
 * pack, as one row of `looks` that nothing ever changes. A row and an index entry for each look would take six times as much.
 * A look in a pack is when it was and one number: kind in 3 bits, milliseconds in 28, bytes in 32.
 */
import { type LookEntry, type LookKind, type SiteHour, type Store, lookKinds } from 'revisit/ports';
import type { Connection } from './connection.ts';

/** More would make rows of states longer than what they save in rows of looks. */
export const packMax = 16;
const durationMsMax = 2 ** 28 - 1;
const bytesMax = 2 ** 32 - 1;

/** What a look was, from expressions of its parts. */
export const packed = (kind: string, durationMs: string, bytes: string): string =>
  `((least(${bytes}, ${bytesMax})::bigint << 31) | (greatest(0, least(${durationMs}, ${durationMsMax}))::bigint << 3) | ${kind})`;

/** The parts again, from `one.what`. */
const kindOf = '(one.what & 7)::integer';
const durationOf = `((one.what >> 3) & ${durationMsMax})::integer`;
export const unpacked = `${kindOf} AS kind, ${durationOf} AS duration, one.what >> 31 AS bytes`;

/** The last looks of the page that `pk` says, newest first: `at` and `what`. `limit` is a parameter. */
const latest = (pk: string, limit: string): string =>
  `SELECT one.at, one.what FROM (
     SELECT recent_at AS at, recent_what AS what FROM states WHERE states.pk = ${pk}
     UNION ALL (SELECT at, what FROM looks WHERE looks.pk = ${pk} ORDER BY upto DESC LIMIT ${limit} / ${packMax} + 1)
   ) AS packs, unnest(packs.at, packs.what) AS one (at, what) ORDER BY one.at DESC LIMIT ${limit}`;

export async function looksOf(connection: Connection, pageId: string, limit: number): Promise<readonly LookEntry[]> {
  const rows = await connection.query<{ atMs: number; kind: number; duration: number; bytes: number }>(
    `SELECT at AS "atMs", ${unpacked} FROM pages, LATERAL (${latest('pages.pk', '$2::integer')}) AS one
     WHERE pages.id = $1 ORDER BY at DESC`,
    [pageId, limit],
  );
  return rows.map((row) => ({
    atMs: row.atMs,
    kind: lookKinds[row.kind]!,
    durationMs: row.duration,
    bytesReceived: row.bytes,
  }));
}

export async function activityOf(
  connection: Connection,
  pageIds: readonly string[],
  limit: number,
): ReturnType<Store['activity']> {
  const rows = await connection.query<{ id: string; kinds: number[] | null }>(
    `SELECT id, (SELECT array_agg(${kindOf} ORDER BY at) FROM (${latest('pages.pk', '$2::integer')}) AS one) AS kinds
     FROM pages WHERE id = ANY ($1)`,
    [pageIds, limit],
  );
  const known = new Map(rows.map((row) => [row.id, (row.kinds ?? []).map((kind): LookKind => lookKinds[kind]!)]));
  return new Map(pageIds.map((id) => [id, known.get(id) ?? []]));
}

export function siteHours(connection: Connection, site: string, sinceMs: number): Promise<readonly SiteHour[]> {
  const of = (kind: LookKind): string => `(count(*) FILTER (WHERE kind = ${lookKinds.indexOf(kind)}))::int`;
  // The epoch began on a Thursday, three days after a Monday.
  return connection.query<SiteHour>(
    `SELECT ((at / 3600000 + 72) % 168)::int AS hour, count(*)::int AS looks,
       ${of('failed')} AS failures, ${of('refused')} AS refused, ${of('changed')} AS changes, avg(duration)::float8 AS "meanMs"
     FROM (
       SELECT one.at, ${kindOf} AS kind, ${durationOf} AS duration FROM pages, LATERAL (
         SELECT recent_at AS at, recent_what AS what FROM states WHERE states.pk = pages.pk
         UNION ALL SELECT at, what FROM looks WHERE looks.pk = pages.pk AND upto >= $2
       ) AS packs, unnest(packs.at, packs.what) AS one (at, what) WHERE site = $1 AND one.at >= $2
     ) AS looks GROUP BY 1 ORDER BY 1`,
    [site, sinceMs],
  );
}
