/**
 * Letting go of old versions and looks in PostgreSQL, a batch of pages at a time, and of contents that nothing needs any more.
 */
import { type Retention, expired } from 'revisit/ports';
import type { Connection, Sql } from './connection.ts';

const pageBatch = 500;
const contentBatch = 2_000;
/** A chain of differences is at most seven long (see the daemon's versions); each round frees those the last one built on. */
const roundsMax = 8;
/** Whoever keeps versions shares this lock, and whoever sweeps has it alone: contents cannot go while somebody counts on them. */
const contentsLock = 7_373_001;

type OwnRules = (keep: unknown) => Retention | undefined;

interface PageToThin {
  readonly pk: number;
  readonly version: number;
  readonly told: number;
  readonly keep: unknown;
}

interface KeptRow {
  readonly pk: number;
  readonly number: number;
  readonly atMs: number;
  readonly bytesKept: number;
}

/** From here to the end of the transaction no content goes away. */
export async function countOnContents(sql: Sql): Promise<void> {
  await sql.query(`SELECT pg_advisory_xact_lock_shared(${contentsLock})`);
}

/** Lets go of what the rules no longer keep of these shards' pages; answers how many versions went. */
export async function thin(
  connection: Connection,
  shards: readonly number[],
  rules: { readonly all: Retention; readonly ownOf: OwnRules },
  nowMs: number,
): Promise<number> {
  const own = `settings::jsonb #> '{options,keep}'`;
  const everyPage = Object.keys(rules.all).length > 0;
  let gone = 0;
  for (let after = 0; ;) {
    const pages = await connection.query<PageToThin & Record<string, unknown>>(
      `SELECT pk, version, told_version AS told, ${own} AS keep FROM pages JOIN states USING (pk)
       WHERE pages.pk > $1 AND states.pk > $1 AND shard = ANY ($2) ${everyPage ? '' : `AND ${own} IS NOT NULL`} ORDER BY pk LIMIT ${pageBatch}`,
      [after, shards],
    );
    if (pages.length === 0) return gone;
    after = pages.at(-1)!.pk;
    gone += await connection.must((sql) => thinBatch(sql, pages, rules, nowMs));
  }
}

async function thinBatch(
  sql: Sql,
  pages: readonly PageToThin[],
  rules: { readonly all: Retention; readonly ownOf: OwnRules },
  nowMs: number,
): Promise<number> {
  const { rows } = await sql.query<KeptRow>(
    `SELECT pk, number, at AS "atMs", coalesce(length(packed), 0) AS "bytesKept"
     FROM versions LEFT JOIN contents ON name = content WHERE pk = ANY ($1) ORDER BY pk, number`,
    [pages.map(({ pk }) => pk)],
  );
  const versions = Map.groupBy(rows, ({ pk }) => pk);
  const ruled = pages.map((page) => ({
    ...page,
    kept: (page.keep === null ? undefined : rules.ownOf(page.keep)) ?? rules.all,
  }));
  const going = ruled.flatMap(({ pk, version, told, kept }) => {
    const numbers = expired(versions.get(pk) ?? [], kept, nowMs, new Set([version, told]));
    return numbers.map((number) => ({ pk, number }));
  });
  if (going.length > 0)
    await sql.query(
      `DELETE FROM versions USING unnest($1::bigint[], $2::integer[]) AS going (pk, number)
       WHERE versions.pk = going.pk AND versions.number = going.number`,
      [going.map(({ pk }) => pk), going.map(({ number }) => number)],
    );
  const forgetful = ruled.flatMap(({ pk, kept: { looksAgeMsMax: ageMs } }) =>
    ageMs === undefined ? [] : [{ pk, fromMs: nowMs - ageMs }],
  );
  // A pack goes with its last look.
  if (forgetful.length > 0)
    await sql.query(
      `DELETE FROM looks USING unnest($1::bigint[], $2::bigint[]) AS forgetful (pk, from_ms)
       WHERE looks.pk = forgetful.pk AND upto < from_ms`,
      [forgetful.map(({ pk }) => pk), forgetful.map(({ fromMs }) => fromMs)],
    );
  return going.length;
}

/** Contents that no version has and nothing builds on, of pages that were thinned or removed. */
export async function sweep(connection: Connection): Promise<number> {
  let swept = 0;
  for (let round = 0; round < roundsMax; round++) {
    const more = await sweepOnce(connection);
    swept += more;
    if (more === 0) break;
  }
  return swept;
}

async function sweepOnce(connection: Connection): Promise<number> {
  let swept = 0;
  for (let after: Buffer = Buffer.alloc(0); ;) {
    const rows = await connection.query<{ name: Buffer }>(
      `SELECT name FROM contents WHERE name > $1 ORDER BY name LIMIT ${contentBatch}`,
      [after],
    );
    if (rows.length === 0) return swept;
    after = rows.at(-1)!.name;
    swept += await connection.must(async (sql) => {
      await sql.query(`SELECT pg_advisory_xact_lock(${contentsLock})`);
      const { rows: gone } = await sql.query(
        `DELETE FROM contents WHERE name = ANY ($1)
           AND NOT EXISTS (SELECT 1 FROM versions WHERE versions.content = contents.name)
           AND NOT EXISTS (SELECT 1 FROM versions WHERE versions.raw = contents.name)
           AND NOT EXISTS (SELECT 1 FROM contents AS other WHERE other.base = contents.name)
         RETURNING 1`,
        [rows.map(({ name }) => name)],
      );
      return gone.length;
    });
  }
}
