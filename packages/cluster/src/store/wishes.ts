/**
 * Wishes for a look, by a person or a hub. Whoever is asked keeps the wish here before it says that it was heard; whoever holds the
 * page's shard, then or later, looks. A wish ends in the transaction that keeps the look of a probe that left after it (looks.ts).
 */
import type { Wish } from 'revisit/ports';
import type { Connection, Sql } from './connection.ts';

/** Read at once, the oldest first; those behind them are read when these have been looked at. */
const wishesMax = 10_000;

/** Answers those of the pages that there are. */
export async function keepWishes(
  sql: Sql,
  ids: readonly string[],
  atMs: number,
  hurried: boolean,
): Promise<readonly string[]> {
  // In one order for all, so that two who wish for the same pages wait for each other once.
  const { rows } = await sql.query<{ pk: number; id: string }>(
    'SELECT pk, id FROM pages WHERE id = ANY ($1) ORDER BY pk FOR KEY SHARE',
    [ids],
  );
  await sql.query(
    `INSERT INTO wishes (pk, at, hurried) SELECT unnest($1::bigint[]), $2, $3
     ON CONFLICT (pk) DO UPDATE SET at = greatest(wishes.at, excluded.at), hurried = wishes.hurried OR excluded.hurried`,
    [rows.map(({ pk }) => pk), Math.ceil(atMs), hurried],
  );
  return rows.map(({ id }) => id);
}

export function wishesOf(connection: Connection, shards: readonly number[]): Promise<readonly Wish[]> {
  return connection.query<{ id: string; atMs: number; hurried: boolean }>(
    'SELECT id, at AS "atMs", hurried FROM wishes JOIN pages USING (pk) WHERE shard = ANY ($1) ORDER BY at, pk LIMIT $2',
    [shards, wishesMax],
  );
}
