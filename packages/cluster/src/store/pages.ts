/** Pages and their states as the daemon reads them: added, edited, removed, listed. */
import { createHash } from 'node:crypto';
import {
  type ListedPage,
  type NewPage,
  type NewPageSettings,
  type PageQuery,
  type PageRow,
  type PlannedRow,
  type StateRow,
  type WatchedPage,
  freshState,
  pageOf,
  plannedColumns,
  plannedOf,
  selectionText,
  settingsText,
  watchedOf,
} from 'revisit/ports';
import { shardOf } from '../dispatch/streams.ts';
import type { Connection, Sql } from './connection.ts';
import { addStates, stateNames } from './looks.ts';

type FullRow = PageRow & StateRow & Record<string, unknown>;

/** The server does not see that a state lies behind a place because its page does, and would read all states before it. */
const behind = 'pages.pk > $1 AND states.pk > $1';

/** Pages with their states, without the looks that stand there. */
const everything = `SELECT pages.*, ${stateNames.slice(1).join(', ')} FROM pages JOIN states USING (pk)`;

const pageBatch = 5_000;

interface Wanted {
  readonly page: NewPage;
  readonly selection: string;
}

const keyOf = (url: string, selection: string): string => `${url}\n${selection}`;

/** However many pages, in a few statements; in the order in which they were given. */
export async function addPages(
  sql: Sql,
  pages: readonly NewPage[],
): Promise<readonly { readonly page: WatchedPage; readonly created: boolean }[]> {
  const keys = pages.map((page) => keyOf(page.url, selectionText(page.select)));
  const wanted = new Map(keys.map((key, i) => [key, { page: pages[i]!, selection: selectionText(pages[i]!.select) }]));
  const ids = await known(sql, [...wanted.values()]);
  const created = new Set<string>();
  const lacking = (): readonly Wanted[] => [...wanted].filter(([key]) => !ids.has(key)).map(([, page]) => page);
  for (let salt = 0, left = lacking(); left.length > 0; salt++, left = lacking()) {
    for (const id of await insert(sql, left, salt)) created.add(id);
    // What is not there now has an id that belongs to a page whose selection was edited later.
    for (const [key, id] of await known(sql, left)) ids.set(key, id);
  }
  const watched = await pagesWith(sql, [...ids.values()]);
  return keys.map((key) => {
    const id = ids.get(key)!;
    return { page: watched.get(id)!, created: created.delete(id) };
  });
}

async function known(sql: Sql, wanted: readonly Wanted[]): Promise<Map<string, string>> {
  const { rows } = await sql.query<{ id: string; url: string; selection: string }>(
    `SELECT id, url, selection FROM pages JOIN unnest($1::text[], $2::text[]) AS wanted (url, selection) USING (url, selection)
     WHERE md5(pages.url || E'\\n' || pages.selection) = md5(wanted.url || E'\\n' || wanted.selection)`,
    [wanted.map(({ page }) => page.url), wanted.map(({ selection }) => selection)],
  );
  return new Map(rows.map(({ id, url, selection }) => [keyOf(url, selection), id]));
}

/** The ids of those that are new; another may add the same pages meanwhile. */
async function insert(sql: Sql, wanted: readonly Wanted[], salt: number): Promise<readonly string[]> {
  const settings = wanted.map(({ page: { site: _site, addedAtMs: _added, ...rest } }) => settingsText(rest));
  const { rows } = await sql.query<{ pk: number; id: string }>(
    `INSERT INTO pages (id, url, selection, site, shard, settings, added_at)
     SELECT id, url, selection, site, shard, settings, added_at
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::smallint[], $6::text[], $7::bigint[]) WITH ORDINALITY
       AS new (id, url, selection, site, shard, settings, added_at, place) ORDER BY place
     ON CONFLICT DO NOTHING RETURNING pk, id`,
    [
      wanted.map(({ page, selection }) => idOf(page.url, selection, salt)),
      wanted.map(({ page }) => page.url),
      wanted.map(({ selection }) => selection),
      wanted.map(({ page }) => page.site),
      wanted.map(({ page }) => shardOf(page.site)),
      settings,
      wanted.map(({ page }) => page.addedAtMs),
    ],
  );
  await addStates(
    sql,
    rows.map(({ pk }) => ({ pk, state: freshState })),
  );
  return rows.map(({ id }) => id);
}

function idOf(url: string, selection: string, salt: number): string {
  return createHash('sha256')
    .update(`${url}\n${selection}\n${salt || ''}`)
    .digest('hex')
    .slice(0, 16);
}

/** Those of the pages that exist, as they are now. */
export async function updatePages(
  sql: Sql,
  changes: readonly { readonly id: string; readonly settings: Partial<NewPageSettings> }[],
): Promise<readonly WatchedPage[]> {
  const { rows } = await sql.query<PageRow & Record<string, unknown>>(
    'SELECT * FROM pages WHERE id = ANY ($1) ORDER BY pk FOR UPDATE',
    [changes.map(({ id }) => id)],
  );
  const edited = new Map(rows.map((row) => [row.id, { pk: row.pk, page: pageOf(row) }]));
  for (const { id, settings } of changes) {
    const before = edited.get(id);
    if (before) edited.set(id, { ...before, page: { ...before.page, ...settings } });
  }
  const next = [...edited.values()].map(({ pk, page: { id: _id, addedAtMs: _added, site, ...settings } }) => ({
    pk,
    site,
    settings,
  }));
  await sql.query(
    `UPDATE pages SET url = new.url, selection = new.selection, site = new.site, shard = new.shard, settings = new.settings
     FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::smallint[], $6::text[])
       AS new (pk, url, selection, site, shard, settings) WHERE pages.pk = new.pk`,
    [
      next.map(({ pk }) => pk),
      next.map(({ settings }) => settings.url),
      next.map(({ settings }) => selectionText(settings.select)),
      next.map(({ site }) => site),
      next.map(({ site }) => shardOf(site)),
      next.map(({ settings }) => settingsText(settings)),
    ],
  );
  const old = new Map(rows.map((row) => [row.pk, row.url]));
  const moved = next.filter(({ pk, settings }) => settings.url !== old.get(pk));
  // As `atNewUrl` says of a state: the old URL's server spoke of itself.
  if (moved.length > 0)
    await sql.query(
      'UPDATE states SET etag = NULL, last_modified = NULL, validators_url = NULL, moved_to = NULL, revealed = NULL WHERE pk = ANY ($1)',
      [moved.map(({ pk }) => pk)],
    );
  const watched = await pagesWith(sql, [...edited.keys()]);
  return changes.flatMap(({ id }) => watched.get(id) ?? []);
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

export async function pagesWith(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, WatchedPage>> {
  const { rows } = await sql.query<FullRow>(`${everything} WHERE id = ANY ($1)`, [ids]);
  return new Map(rows.map((row) => [row.id, watchedOf(row)]));
}

export async function listPages(connection: Connection, query: PageQuery): Promise<readonly ListedPage[]> {
  const values: unknown[] = [query.after ?? 0];
  const conditions = [behind];
  if (query.site !== undefined) conditions.push(`site = $${values.push(query.site)}`);
  if (query.tag !== undefined) conditions.push(`tags ? $${values.push(query.tag)}`);
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
    const rows = await connection.arrays<PlannedRow>(
      `SELECT ${plannedColumns} FROM pages JOIN states USING (pk) WHERE ${behind} AND shard = ANY ($2) ORDER BY pk LIMIT $3`,
      [after, shards, pageBatch],
    );
    if (rows.length === 0) return;
    after = rows.at(-1)![0];
    yield rows.map(plannedOf);
  }
}
