/** Pages and their states as the daemon reads them: added, edited, removed, listed. */
import { createHash } from 'node:crypto';
import {
  type ListedPage,
  type NewPage,
  type NewPageSettings,
  type PageQuery,
  type PageRow,
  type StateRow,
  type WatchedPage,
  freshState,
  pageOf,
  selectionText,
  settingsText,
  watchedOf,
} from 'revisit/ports';
import { shardOf } from '../dispatch/streams.ts';
import type { Connection, Sql } from './connection.ts';
import { addState, stateNames } from './looks.ts';

type FullRow = PageRow & StateRow & Record<string, unknown>;

/** Pages with their states, without the looks that stand there. */
const everything = `SELECT pages.*, ${stateNames.slice(1).join(', ')} FROM pages JOIN states USING (pk)`;
const pageText = `${everything} WHERE id = $1`;

const pageBatch = 5_000;

export async function addPage(sql: Sql, page: NewPage): Promise<{ page: WatchedPage; created: boolean }> {
  const { site, addedAtMs, ...settings } = page;
  const selection = selectionText(settings.select);
  const find = async (): Promise<string | undefined> =>
    (
      await sql.query<{ id: string }>(
        `SELECT id FROM pages WHERE md5(url || E'\\n' || selection) = md5($1 || E'\\n' || $2) AND url = $1 AND selection = $2`,
        [page.url, selection],
      )
    ).rows[0]?.id;
  const known = await find();
  if (known !== undefined) return { page: (await pageWith(sql, known))!, created: false };
  for (let salt = 0; ; salt++) {
    const id = createHash('sha256')
      .update(`${page.url}\n${selection}\n${salt || ''}`)
      .digest('hex')
      .slice(0, 16);
    const { rows } = await sql.query<{ pk: number }>(
      `INSERT INTO pages (id, url, selection, site, shard, settings, added_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT DO NOTHING RETURNING pk`,
      [id, page.url, selection, site, shardOf(site), settingsText(settings), addedAtMs],
    );
    if (rows[0]) {
      await addState(sql, rows[0].pk, freshState);
      return { page: (await pageWith(sql, id))!, created: true };
    }
    // Somebody else added the same page meanwhile, or the id belongs to a page whose selection was edited later.
    const other = await find();
    if (other !== undefined) return { page: (await pageWith(sql, other))!, created: false };
  }
}

/** Undefined when there is no such page. */
export async function updatePage(
  sql: Sql,
  id: string,
  settings: Partial<NewPageSettings>,
): Promise<WatchedPage | undefined> {
  const { rows } = await sql.query<PageRow & Record<string, unknown>>('SELECT * FROM pages WHERE id = $1 FOR UPDATE', [
    id,
  ]);
  if (!rows[0]) return undefined;
  const { id: _id, addedAtMs: _added, ...old } = pageOf(rows[0]);
  const { site, ...next } = { ...old, ...settings };
  await sql.query('UPDATE pages SET url = $1, selection = $2, site = $3, shard = $4, settings = $5 WHERE pk = $6', [
    next.url,
    selectionText(next.select),
    site,
    shardOf(site),
    settingsText(next),
    rows[0].pk,
  ]);
  // As `atNewUrl` says of a state: the old URL's server spoke of itself.
  if (next.url !== old.url)
    await sql.query(
      'UPDATE states SET etag = NULL, last_modified = NULL, validators_url = NULL, moved_to = NULL WHERE pk = $1',
      [rows[0].pk],
    );
  return pageWith(sql, id);
}

/** The ids that were there. */
export async function removePages(sql: Sql, ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql.query<{ id: string; pk: number }>(
    'DELETE FROM pages WHERE id = ANY ($1) RETURNING id, pk',
    [ids],
  );
  await sql.query('DELETE FROM looks WHERE pk = ANY ($1)', [rows.map((row) => row.pk)]);
  const there = new Set(rows.map((row) => row.id));
  return ids.filter((id) => there.has(id));
}

async function pageWith(sql: Sql, id: string): Promise<WatchedPage | undefined> {
  const { rows } = await sql.query<FullRow>(pageText, [id]);
  return rows[0] && watchedOf(rows[0]);
}

export async function readPage(connection: Connection, id: string): Promise<WatchedPage | undefined> {
  const rows = await connection.query<FullRow>(pageText, [id]);
  return rows[0] && watchedOf(rows[0]);
}

export async function listPages(connection: Connection, query: PageQuery): Promise<readonly ListedPage[]> {
  const values: unknown[] = [query.after ?? 0];
  const conditions = ['pk > $1'];
  if (query.site !== undefined) conditions.push(`site = $${values.push(query.site)}`);
  if (query.tag !== undefined) conditions.push(`(settings::jsonb -> 'tags') ? $${values.push(query.tag)}`);
  if (query.text !== undefined && query.text !== '') {
    const place = `$${values.push(query.text)}`;
    conditions.push(
      `(strpos(lower(url), lower(${place})) > 0 OR strpos(lower(coalesce(seen_title, '')), lower(${place})) > 0)`,
    );
  }
  const rows = await connection.query<FullRow>(
    `${everything} WHERE ${conditions.join(' AND ')} ORDER BY pk LIMIT $${values.push(query.limit)}`,
    values,
  );
  return rows.map((row) => ({ ...watchedOf(row), place: Number(row.pk) }));
}

/** All pages of these shards, a batch at a time. */
export async function* pagesOf(
  connection: Connection,
  shards: readonly number[],
): AsyncIterable<readonly WatchedPage[]> {
  for (let after = 0; ;) {
    const rows = await connection.query<FullRow>(
      `${everything} WHERE pk > $1 AND shard = ANY ($2) ORDER BY pk LIMIT $3`,
      [after, shards, pageBatch],
    );
    if (rows.length === 0) return;
    after = rows.at(-1)!.pk;
    yield rows.map(watchedOf);
  }
}
