/**
 * The daemon's store on PostgreSQL, for several coordinators at once.
 *
 * What makes it right with many writers: the end of the log is one row that whoever appends locks until it commits, so
 * sequences have no holes and become visible in order; a look is kept only while its probe is still open, so a probe that
 * was carried out twice changes nothing the second time; and a store opened for some shards refuses to commit once another
 * holds their leases.
 */
import {
  type Added,
  type Change,
  type Counts,
  type Edit,
  type Journal,
  type Kept,
  type ListedPage,
  type Look,
  type LookEntry,
  type LookKind,
  type NewPage,
  type NewPageSettings,
  type PageQuery,
  type Past,
  type Probe,
  type Retention,
  type SearchHit,
  type SearchQuery,
  type SiteHour,
  type Store,
  StoreFailed,
  type Version,
  type WatchedPage,
  type Wish,
  createdIds,
} from 'revisit/ports';
import { allShards, shardOf } from '../dispatch/streams.ts';
import { readVersion } from './archive.ts';
import { type Connection, type Sql, faultOf } from './connection.ts';
import { append, changesAfter, changesBefore, firstSince } from './log.ts';
import { activityOf, looksOf, siteHours } from './look-packs.ts';
import { keepLooks } from './looks.ts';
import { PostgresOutbox } from './outbox.ts';
import { addPages, listPages, pagesOf, pagesWith, removePages, updatePages } from './pages.ts';
import { sweep, thin } from './retention.ts';
import { search } from './search.ts';
import { keepWishes, wishesOf } from './wishes.ts';

/** Which shards this store loads and keeps looks of; all of them unless a coordinator holds only some. */
export interface Mandate {
  /** As far as this process knows. */
  readonly held: () => ReadonlySet<number>;
  /** As the server knows, and not to be taken away before the transaction ends. */
  readonly confirmed: (sql: Sql) => Promise<ReadonlySet<number>>;
  /** A look of this shard was not kept: the shard is another's by now, or what is in memory is not what is in the store. */
  readonly doubt: (shard: number) => void;
}

const all: ReadonlySet<number> = new Set(allShards);
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

  addPages(pages: readonly NewPage[], journal?: Journal, past?: Past): Promise<Kept<readonly Added[]>> {
    return this.#connection.write(async (sql) => {
      const added = await addPages(sql, pages);
      if (journal)
        await this.#reviseIn(sql, journal.key, (before) => ({
          after: journal.value(createdIds(added), before),
          value: undefined,
        }));
      if (!past) return added;
      // Whoever looks after these pages: what was looked at elsewhere is nobody's work here.
      await keepLooks(sql, past(added), all, () => {});
      const now = await pagesWith(
        sql,
        added.map(({ page }) => page.page.id),
      );
      return added.map(({ page, created }) => ({ page: now.get(page.page.id)!, created }));
    });
  }

  updatePages(
    changes: readonly { readonly id: string; readonly settings: Partial<NewPageSettings> }[],
  ): Promise<Kept<readonly WatchedPage[]>> {
    return this.#connection.write((sql) => updatePages(sql, changes));
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
    return this.#connection.write((sql) => removePages(sql, ids));
  }

  page(id: string): Promise<WatchedPage | undefined> {
    return this.pagesById([id]).then(([page]) => page);
  }

  /** Those of the pages that exist. */
  async pagesById(ids: readonly string[]): Promise<readonly WatchedPage[]> {
    return [...(await this.#connection.must((sql) => pagesWith(sql, ids))).values()];
  }

  pages(query: PageQuery): Promise<readonly ListedPage[]> {
    return listPages(this.#connection, query);
  }

  everyPage(): AsyncIterable<readonly WatchedPage[]> {
    return this.pagesOf([...this.#mandate.held()]);
  }

  pagesOf(shards: readonly number[]): AsyncIterable<readonly WatchedPage[]> {
    return pagesOf(this.#connection, shards);
  }

  dispatched(probes: readonly Probe[]): Promise<Kept<undefined>> {
    return this.#connection.write(async (sql) => {
      const held = await this.#mandate.confirmed(sql);
      if (!probes.every((probe) => held.has(shardOf(probe.site))))
        throw new StoreFailed({
          code: 'lease-lost',
          sentence: 'Another coordinator has taken over a site of these probes.',
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
      'SELECT probe FROM in_flight WHERE shard = ANY ($1) ORDER BY at, length(id), id',
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
      return append(sql, await keepLooks(sql, looks, held, (shard) => this.#mandate.doubt(shard)));
    });
  }

  wish(ids: readonly string[], atMs: number, hurried: boolean): Promise<Kept<readonly string[]>> {
    return this.#connection.write((sql) => keepWishes(sql, ids, atMs, hurried));
  }

  wishes(): Promise<readonly Wish[]> {
    return this.wishesOf([...this.#mandate.held()]);
  }

  wishesOf(shards: readonly number[]): Promise<readonly Wish[]> {
    return wishesOf(this.#connection, shards);
  }

  changes(query: Parameters<Store['changes']>[0]): Promise<readonly Change[]> {
    return changesAfter(this.#connection, query);
  }

  /** The place in the log of the first change that was seen at this time or later. */
  changesSince(atMs: number): Promise<number | undefined> {
    return firstSince(this.#connection, Math.floor(atMs));
  }

  latestChanges(query: Parameters<Store['latestChanges']>[0]): Promise<readonly Change[]> {
    return changesBefore(this.#connection, query);
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

  looks(pageId: string, limit: number): Promise<readonly LookEntry[]> {
    return looksOf(this.#connection, pageId, limit);
  }

  activity(pageIds: readonly string[], limit: number): Promise<ReadonlyMap<string, readonly LookKind[]>> {
    return activityOf(this.#connection, pageIds, limit);
  }

  siteHours(site: string, sinceMs: number): Promise<readonly SiteHour[]> {
    return siteHours(this.#connection, site, sinceMs);
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

  revise<Value>(key: string, edit: Edit<Value>): Promise<Kept<Value>> {
    return this.#connection.write((sql) => this.#reviseIn(sql, key, edit));
  }

  async #reviseIn<Value>(sql: Sql, key: string, edit: Edit<Value>): Promise<Value> {
    // Until this transaction ends; of a key that is not there yet no row could be locked.
    await sql.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`memory ${key}`]);
    const { rows } = await sql.query<{ value: Buffer }>('SELECT value FROM memory WHERE key = $1', [key]);
    const { after, value } = edit(rows[0]?.value);
    if (after) await this.#putMemory(sql, key, after);
    return value;
  }

  async recall(key: string): Promise<Uint8Array | undefined> {
    const rows = await this.#connection.query<{ value: Buffer }>('SELECT value FROM memory WHERE key = $1', [key]);
    return rows[0]?.value;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
