/** The log of changes: appended to at the end of a transaction, read from any place in either direction. */
import { type Change, type Look, type Store, changeId } from 'revisit/ports';
import type { Connection, Sql } from './connection.ts';
import { planDeliveries } from './outbox.ts';

/** The last thing a transaction does: from here to its end, whoever else appends waits. */
export async function append(sql: Sql, looks: readonly Look[]): Promise<readonly Change[]> {
  if (looks.length === 0) return [];
  const { rows } = await sql.query<{ sequence: number }>(
    'UPDATE log_end SET sequence = sequence + $1 RETURNING sequence',
    [looks.length],
  );
  const first = rows[0]!.sequence - looks.length + 1;
  const changes = looks.map((look, i): Change => {
    const entry = look.change!;
    return { sequence: first + i, id: changeId(look, entry), ...entry };
  });
  await sql.query(
    'INSERT INTO changes SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[])',
    [
      changes.map((change) => change.sequence),
      changes.map((change) => change.id),
      changes.map((change) => change.pageId),
      changes.map((change) => change.atMs),
      changes.map((change) => JSON.stringify(change)),
    ],
  );
  await planDeliveries(
    sql,
    looks.map(({ deliveries = [], endedAtMs }, i) => ({ change: changes[i]!, deliveries, nowMs: endedAtMs })),
  );
  return changes;
}

export function changesAfter(
  connection: Connection,
  { after, limit, pageId }: Parameters<Store['changes']>[0],
): Promise<readonly Change[]> {
  return read(connection, `sequence > $1`, 'sequence', [after, limit], pageId);
}

export function changesBefore(
  connection: Connection,
  { before = Number.MAX_SAFE_INTEGER, limit, pageId }: Parameters<Store['latestChanges']>[0],
): Promise<readonly Change[]> {
  return read(connection, `sequence < $1`, 'sequence DESC', [before, limit], pageId);
}

/** The place of the first entry that was seen at this time or later. Reads the whole log, where nobody has to ask often. */
export async function firstSince(connection: Connection, atMs: number): Promise<number | undefined> {
  const rows = await connection.query<{ first: number | null }>(
    'SELECT min(sequence) AS first FROM changes WHERE at >= $1',
    [atMs],
  );
  return rows[0]!.first ?? undefined;
}

async function read(
  connection: Connection,
  where: string,
  order: string,
  values: readonly number[],
  pageId: string | undefined,
): Promise<readonly Change[]> {
  // One text for all: thousands of rows take longer to be told apart on their way than to be read.
  const rows = await connection.query<{ entries: string | null }>(
    `SELECT string_agg(entry, ',' ORDER BY ${order}) AS entries FROM (
       SELECT sequence, entry FROM changes WHERE ${where} ${pageId === undefined ? '' : 'AND page_id = $3'}
       ORDER BY ${order} LIMIT $2) AS found`,
    pageId === undefined ? values : [...values, pageId],
  );
  return JSON.parse(`[${rows[0]!.entries ?? ''}]`) as Change[];
}
