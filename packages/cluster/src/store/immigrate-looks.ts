/**
 * Looks of a data folder, a row each, into packs and back. A pack ends where a batch of rows ends, so what stands between the
 * keys of two batches is whole packs, and a run with other batches than the one before replaces them one after the other.
 */
import type { Cell, MovedTable } from 'revisit/ports';
import type { Sql } from './connection.ts';
import { packMax, packed, unpacked } from './look-packs.ts';

const packsBatch = 64;

/** Rows are pk, at, kind, duration, bytes, in that order. */
export async function putLooks(
  sql: Sql,
  from: readonly Cell[] | undefined,
  to: readonly Cell[] | undefined,
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  const values = [...(from ?? []), ...(to ?? [])];
  const bounds = [
    ...(from ? ['(pk, upto) > ($1, $2)'] : []),
    ...(to ? [`(pk, upto) <= ($${values.length - 1}, $${values.length})`] : []),
  ];
  await sql.query(`DELETE FROM looks ${bounds.length > 0 ? `WHERE ${bounds.join(' AND ')}` : ''}`, values);
  await sql.query(
    `INSERT INTO looks (pk, upto, at, what)
     SELECT pk, max(at), array_agg(at ORDER BY at), array_agg(${packed('kind', 'duration', 'bytes')} ORDER BY at)
     FROM (SELECT *, (row_number() OVER (PARTITION BY pk ORDER BY at) - 1) / ${packMax} AS pack
       FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::integer[], $5::bigint[]) AS moved (pk, at, kind, duration, bytes)
     ) AS numbered GROUP BY pk, pack`,
    [0, 1, 2, 3, 4].map((column) => rows.map((row) => row[column])),
  );
}

/** A batch of looks behind one that was the last of its pack. */
export async function looksHere(
  sql: Sql,
  table: MovedTable,
  after: readonly Cell[] | undefined,
): Promise<readonly (readonly Cell[])[]> {
  const { rows } = await sql.query<Record<string, Cell>>(
    `SELECT pk, one.at, ${unpacked}
     FROM (SELECT * FROM looks ${after ? 'WHERE (pk, upto) > ($1, $2)' : ''} ORDER BY pk, upto LIMIT ${packsBatch}) AS packs,
       unnest(packs.at, packs.what) AS one (at, what) ORDER BY pk, one.at`,
    [...(after ?? [])],
  );
  return rows.map((row) => table.columns.map((name) => row[name]!));
}
