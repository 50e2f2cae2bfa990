/**
 * The daemon's store on PostgreSQL, for several coordinators at once.
 *
 * What makes it right with many writers: the end of the log is one row that whoever appends locks until it commits, so
 * sequences have no holes and become visible in order; a look is kept only while its probe is still open, so a probe that
 * was carried out twice changes nothing the second time; and a store opened for some shards refuses to commit once another
 * holds their leases.
 */
import { createHash } from 'node:crypto';
import {
  type Change,
  type Counts,
  type Journal,
  type Kept,
  type Look,
  type LookEntry,
  type LookKind,
  type NewPage,
  type NewPageSettings,
  type ListedPage,
  type PageQuery,
  type PageRow,
  type Probe,
  type Retention,
  type SearchHit,
  type SearchQuery,
  type SiteHour,
  type StateRow,
  type Store,
  type Version,
  type WatchedPage,
  createdIds,
  freshState,
  lookKinds,
  pageOf,
  selectionText,
  settingsText,
  watchedOf,
} from 'revisit/ports';
import { shardCount, shardOf } from '../dispatch/streams.ts';
import { readVersion } from './archive.ts';
import { type Connection, type Sql, faultOf } from './connection.ts';
import { keepLooks, putState } from './looks.ts';
import { PostgresOutbox, planDeliveries } from './outbox.ts';
import { sweep, thin } from './retention.ts';
import { search } from './search.ts';

type FullRow = PageRow & StateRow & Record<string, unknown>;

const pageBatch = 5_000;

/** Which shards this store loads and keeps looks of; all of them unless a coordinator holds only some. */
export interface Mandate {
  /** As far as this process knows. */
  readonly held: () => ReadonlySet<number>;
  /** As the server knows, and not to be taken away before the transaction ends. */
  readonly confirmed: (sql: Sql) => Promise<ReadonlySet<number>>;
  /** A look of this shard was not kept: the shard is another's by now, or what is in memory is not what is in the store. */
  readonly doubt: (shard: number) => void;
}

const all: ReadonlySet<number> = new Set(Array.from({ length: shardCount }, (_, shard) => shard));
const everything: Mandate = { held: () => all, confirmed: () => Promise.resolve(all), doubt: () => {} };

export class PostgresStore implements Store {
  readonly #connection: Connection;
  readonly #mandate: Mandate;
  readonly outbox: PostgresOutbox;

  constructor(connection: Connection, mandate: Mandate = everything) {
    this.#connection = connection;
    this.#mandate = mandate;
    this.outbox = new PostgresOutbox(connection, () => mandate.held().has(0));
  }

  addPages(pages: readonly NewPage[], journal?: Journal): ReturnType<Store['addPages']> {
    return this.#connection.write(async (sql) => {
      const outcomes: { page: WatchedPage; created: boolean }[] = [];
      for (const page of pages) outcomes.push(await this.#addPage(sql, page));
      if (journal) await this.#putMemory(sql, journal.key, journal.value(createdIds(outcomes)));
      return outcomes;
    });
  }

  async #addPage(sql: Sql, page: NewPage): Promise<{ page: WatchedPage; created: boolean }> {
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
    if (known !== undefined) return { page: (await this.#page(sql, known))!, created: false };
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
        await putState(sql, rows[0].pk, freshState);
        return { page: (await this.#page(sql, id))!, created: true };
      }
      // Somebody else added the same page meanwhile, or the id belongs to a page whose selection was edited later.
      const other = await find();
      if (other !== undefined) return { page: (await this.#page(sql, other))!, created: false };
    }
  }

  updatePages(
    changes: readonly { readonly id: string; readonly settings: Partial<NewPageSettings> }[],
  ): Promise<Kept<readonly WatchedPage[]>> {
    return this.#connection.write(async (sql) => {
      const updated: WatchedPage[] = [];
      for (const { id, settings } of changes) {
        const { rows } = await sql.query<PageRow & Record<string, unknown>>(
          'SELECT * FROM pages WHERE id = $1 FOR UPDATE',
          [id],
        );
        if (!rows[0]) continue;
        const { id: _id, addedAtMs: _added, ...old } = pageOf(rows[0]);
        const { site, ...next } = { ...old, ...settings };
        await sql.query(
          'UPDATE pages SET url = $1, selection = $2, site = $3, shard = $4, settings = $5 WHERE pk = $6',
          [next.url, selectionText(next.select), site, shardOf(site), settingsText(next), rows[0].pk],
        );
        updated.push((await this.#page(sql, id))!);
      }
      return updated;
    });
  }

  setDetectState(id: string, detectState: string): Promise<Kept<undefined>> {
    return this.#connection.write(async (sql) => {
      await sql.query('UPDATE states SET detect_state = $1 WHERE pk = (SELECT pk FROM pages WHERE id = $2)', [
        detectState,
        id,
      ]);
      return undefined;
    });
  }

  removePages(ids: readonly string[]): Promise<Kept<readonly string[]>> {
    return this.#connection.write(async (sql) => {
      const { rows } = await sql.query<{ id: string; pk: number }>(
        'DELETE FROM pages WHERE id = ANY ($1) RETURNING id, pk',
        [ids],
      );
      await sql.query('DELETE FROM looks WHERE pk = ANY ($1)', [rows.map((row) => row.pk)]);
      const there = new Set(rows.map((row) => row.id));
      return ids.filter((id) => there.has(id));
    });
  }

  async #page(sql: Sql, id: string): Promise<WatchedPage | undefined> {
    const { rows } = await sql.query<FullRow>('SELECT * FROM pages JOIN states USING (pk) WHERE id = $1', [id]);
    return rows[0] && watchedOf(rows[0]);
  }

  async page(id: string): Promise<WatchedPage | undefined> {
    const rows = await this.#connection.query<FullRow>('SELECT * FROM pages JOIN states USING (pk) WHERE id = $1', [
      id,
    ]);
    return rows[0] && watchedOf(rows[0]);
  }

  async pages(query: PageQuery): Promise<readonly ListedPage[]> {
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
    const rows = await this.#connection.query<FullRow>(
      `SELECT * FROM pages JOIN states USING (pk) WHERE ${conditions.join(' AND ')} ORDER BY pk LIMIT $${values.push(query.limit)}`,
      values,
    );
    return rows.map((row) => ({ ...watchedOf(row), place: Number(row.pk) }));
  }

  everyPage(): AsyncIterable<readonly WatchedPage[]> {
    return this.pagesOf([...this.#mandate.held()]);
  }

  async *pagesOf(shards: readonly number[]): AsyncIterable<readonly WatchedPage[]> {
    for (let after = 0; ;) {
      const rows = await this.#connection.query<FullRow>(
        'SELECT * FROM pages JOIN states USING (pk) WHERE pk > $1 AND shard = ANY ($2) ORDER BY pk LIMIT $3',
        [after, shards, pageBatch],
      );
      if (rows.length === 0) return;
      after = rows.at(-1)!.pk;
      yield rows.map(watchedOf);
    }
  }

  dispatched(probes: readonly Probe[]): Promise<Kept<undefined>> {
    return this.#connection.write(async (sql) => {
      const held = await this.#mandate.confirmed(sql);
      if (!probes.every((probe) => held.has(shardOf(probe.site))))
        throw Object.assign(new Error('Another coordinator has taken over a site of these probes.'), {
          code: 'lease-lost',
        });
      await sql.query(
        `INSERT INTO in_flight (id, shard, at, probe)
         SELECT * FROM unnest($1::text[], $2::smallint[], $3::bigint[], $4::text[]) ON CONFLICT (id) DO NOTHING`,
        [
          probes.map((probe) => probe.id),
          probes.map((probe) => shardOf(probe.site)),
          probes.map((probe) => probe.atMs),
          probes.map((probe) => JSON.stringify(probe)),
        ],
      );
      return undefined;
    });
  }

  unfinished(): Promise<readonly Probe[]> {
    return this.unfinishedOf([...this.#mandate.held()]);
  }

  async unfinishedOf(shards: readonly number[]): Promise<readonly Probe[]> {
    const rows = await this.#connection.query<{ probe: string }>(
      'SELECT probe FROM in_flight WHERE shard = ANY ($1) ORDER BY at, id',
      [shards],
    );
    return rows.map((row) => JSON.parse(row.probe) as Probe);
  }

  finished(probeIds: readonly string[]): Promise<Kept<undefined>> {
    return this.#connection.write(async (sql) => {
      // What another coordinator has taken over is its own to finish.
      await sql.query('DELETE FROM in_flight WHERE id = ANY ($1) AND shard = ANY ($2)', [
        probeIds,
        [...(await this.#mandate.confirmed(sql))],
      ]);
      return undefined;
    });
  }

  commit(looks: readonly Look[]): Promise<Kept<readonly Change[]>> {
    return this.#connection.write(async (sql) => {
      const held = await this.#mandate.confirmed(sql);
      return this.#log(sql, await keepLooks(sql, looks, held, (shard) => this.#mandate.doubt(shard)));
    });
  }

  /** The last thing a transaction does: from here to its end, whoever else appends waits. */
  async #log(sql: Sql, looks: readonly Look[]): Promise<readonly Change[]> {
    if (looks.length === 0) return [];
    const { rows } = await sql.query<{ sequence: number }>(
      'UPDATE log_end SET sequence = sequence + $1 RETURNING sequence',
      [looks.length],
    );
    const first = rows[0]!.sequence - looks.length + 1;
    const changes = looks.map((look, i): Change => {
      const entry = look.change!;
      const id = createHash('sha256')
        .update(`${look.probeId}\n${entry.pageId}\n${entry.kind}`)
        .digest('hex')
        .slice(0, 24);
      return { sequence: first + i, id, ...entry };
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

  async changes(query: {
    readonly after: number;
    readonly limit: number;
    readonly pageId?: string;
  }): Promise<readonly Change[]> {
    const rows = await this.#connection.query<{ entry: string }>(
      `SELECT entry FROM changes WHERE sequence > $1 ${query.pageId === undefined ? '' : 'AND page_id = $3'} ORDER BY sequence LIMIT $2`,
      [query.after, query.limit, ...(query.pageId === undefined ? [] : [query.pageId])],
    );
    return rows.map((row) => JSON.parse(row.entry) as Change);
  }

  async latestChanges(query: {
    readonly before?: number;
    readonly limit: number;
    readonly pageId?: string;
  }): Promise<readonly Change[]> {
    const rows = await this.#connection.query<{ entry: string }>(
      `SELECT entry FROM changes WHERE sequence < $1 ${query.pageId === undefined ? '' : 'AND page_id = $3'} ORDER BY sequence DESC LIMIT $2`,
      [query.before ?? Number.MAX_SAFE_INTEGER, query.limit, ...(query.pageId === undefined ? [] : [query.pageId])],
    );
    return rows.map((row) => JSON.parse(row.entry) as Change);
  }

  async versions(pageId: string): Promise<readonly Version[]> {
    const rows = await this.#connection.query<{
      number: number;
      atMs: number;
      hash: string;
      format: string;
      bytes: number;
      raw: boolean;
    }>(
      `SELECT number, versions.at AS "atMs", left(encode(content, 'hex'), 32) AS hash, format, bytes, raw IS NOT NULL AS raw
       FROM versions JOIN pages USING (pk) WHERE pages.id = $1 ORDER BY number`,
      [pageId],
    );
    return rows;
  }

  versionText(pageId: string, number: number): Promise<string | undefined> {
    return this.#connection.must((sql) => readVersion(sql, pageId, number, 'content'));
  }

  versionRaw(pageId: string, number: number): Promise<string | undefined> {
    return this.#connection.must((sql) => readVersion(sql, pageId, number, 'raw'));
  }

  search(query: SearchQuery): Promise<readonly SearchHit[]> {
    return this.#connection.must((sql) => search(sql, query));
  }

  async looks(pageId: string, limit: number): Promise<readonly LookEntry[]> {
    const rows = await this.#connection.query<{ atMs: number; kind: number; duration: number; bytes: number }>(
      `SELECT looks.at AS "atMs", kind, duration, looks.bytes AS bytes FROM looks JOIN pages USING (pk) WHERE pages.id = $1 ORDER BY looks.at DESC LIMIT $2`,
      [pageId, limit],
    );
    return rows.map((row) => ({
      atMs: row.atMs,
      kind: lookKinds[row.kind]!,
      durationMs: row.duration,
      bytesReceived: row.bytes,
    }));
  }

  async activity(pageIds: readonly string[], limit: number): Promise<ReadonlyMap<string, readonly LookKind[]>> {
    const rows = await this.#connection.query<{ id: string; kinds: number[] | null }>(
      `SELECT pages.id AS id, (SELECT array_agg(kind ORDER BY at) FROM
         (SELECT kind, at FROM looks WHERE looks.pk = pages.pk ORDER BY at DESC LIMIT $2) AS latest) AS kinds
       FROM pages WHERE pages.id = ANY($1)`,
      [pageIds, limit],
    );
    const known = new Map(rows.map((row) => [row.id, (row.kinds ?? []).map((kind) => lookKinds[kind]!)]));
    return new Map(pageIds.map((id) => [id, known.get(id) ?? []]));
  }

  siteHours(site: string, sinceMs: number): Promise<readonly SiteHour[]> {
    // The epoch began on a Thursday, three days after a Monday.
    return this.#connection.query<SiteHour>(
      `SELECT ((looks.at / 3600000 + 72) % 168)::int AS hour, count(*)::int AS looks,
         (count(*) FILTER (WHERE kind IN (5, 6)))::int AS failures, (count(*) FILTER (WHERE kind = 1))::int AS changes,
         avg(duration)::float8 AS "meanMs"
       FROM looks JOIN pages USING (pk) WHERE site = $1 AND looks.at >= $2 GROUP BY 1 ORDER BY 1`,
      [site, sinceMs],
    );
  }

  /** Each coordinator thins the pages of its own shards, and one of them sweeps for all. */
  async retain(
    all: Retention,
    nowMs: number,
    ownOf: (keep: unknown) => Retention | undefined = () => undefined,
  ): Promise<Kept<number>> {
    const held = this.#mandate.held();
    try {
      const gone = await thin(this.#connection, [...held], { all, ownOf }, nowMs);
      if (held.has(0)) await sweep(this.#connection);
      return { kind: 'kept', value: gone };
    } catch (error) {
      return { kind: 'failed', fault: faultOf(error) };
    }
  }

  async counts(): Promise<Counts> {
    const rows = await this.#connection.query<{ pages: number; changes: number; looks: number }>(
      'SELECT (SELECT count(*) FROM pages) AS pages, (SELECT sequence FROM log_end) AS changes, (SELECT coalesce(sum(looks), 0)::bigint FROM states) AS looks',
    );
    return rows[0]!;
  }

  /** Kept only while the shard is held: whoever has lost it without knowing would write over its next holder's word. False when it is not. */
  rememberOf(shard: number, key: string, value: Uint8Array): Promise<Kept<boolean>> {
    return this.#connection.write(async (sql) => {
      if (!(await this.#mandate.confirmed(sql)).has(shard)) return false;
      await this.#putMemory(sql, key, value);
      return true;
    });
  }

  remember(key: string, value: Uint8Array): Promise<Kept<undefined>> {
    return this.#connection.write(async (sql) => {
      await this.#putMemory(sql, key, value);
      return undefined;
    });
  }

  async #putMemory(sql: Sql, key: string, value: Uint8Array): Promise<void> {
    await sql.query('INSERT INTO memory VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value', [
      key,
      value,
    ]);
  }

  async recall(key: string): Promise<Uint8Array | undefined> {
    const rows = await this.#connection.query<{ value: Buffer }>('SELECT value FROM memory WHERE key = $1', [key]);
    return rows[0]?.value;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
