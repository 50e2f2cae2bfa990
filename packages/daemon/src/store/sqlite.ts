/**
 * The store on SQLite: one file, WAL, one writer. better-sqlite3 is synchronous, so a transaction is a function that runs
 * to its end; the port is asynchronous because PostgreSQL's is.
 *
 * A killed process loses at most the transaction it was in: `synchronous = NORMAL` under WAL survives kill -9, and a
 * power cut can only take back whole recent transactions, never tear one.
 */
import type Database from 'better-sqlite3';
import type { Change } from '../values/change.ts';
import type { Look, LookKind, WatchedPage } from '../values/look.ts';
import type { NewPageSettings } from '../values/page.ts';
import type { Probe } from '../values/probe.ts';
import { Archive, type WantedText } from './archive.ts';
import { SqliteCare } from './care.ts';
import { History } from './history.ts';
import { type LookRows, rowsOf } from './look-rows.ts';
import { LookWrites } from './look-writes.ts';
import { type InFlight, inFlightBeside } from './in-flight.ts';
import { openDatabase } from './open.ts';
import { SqliteOutbox } from './outbox.ts';
import { PageTable } from './page-table.ts';
import type {
  Added,
  Counts,
  Edit,
  Journal,
  Kept,
  ListedPage,
  LookEntry,
  NewPage,
  PageQuery,
  Past,
  SiteHour,
  Store,
  Version,
  Wish,
} from './port.ts';
import { faultOf } from './sqlite-faults.ts';
import { Writer } from './writer.ts';
import { WishTable } from './wish-table.ts';
import { search, type SearchHit, type SearchQuery } from './search.ts';
import { type PlannedRow, createdIds, plannedColumns, plannedOf } from './rows.ts';

export type Opened =
  | { readonly kind: 'opened'; readonly store: SqliteStore }
  | { readonly kind: 'failed'; readonly sentence: string };

const pageBatch = 5_000;
/** Packing and indexing a longer text takes this thread as long as a hundred looks without news. */
const largeText = 256 * 2 ** 10;

/**
 * Opens or creates the database at `file` (":memory:" keeps nothing). From `writerFrom` looks at once, or a large text, what looks write goes to
 * a thread of its own; without it never, as simulated time cannot wait for one.
 */
export function openSqlite(file: string, { writerFrom = Infinity } = {}): Opened {
  const opened = openDatabase(file);
  return opened.kind === 'opened' ? { kind: 'opened', store: new SqliteStore(opened.db, writerFrom) } : opened;
}

export class SqliteStore implements Store {
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement<unknown[]>>();

  readonly #archive: Archive;
  readonly outbox: SqliteOutbox;
  readonly care: SqliteCare;

  readonly #pages: PageTable;
  readonly #wishes: WishTable;
  readonly #history: History;
  readonly #lookWrites: LookWrites;
  readonly #writerFrom: number;
  #probesInFlight: InFlight | undefined;
  /** Probes that a process of an earlier version left, which kept them in the database. */
  #left = new Set<string>();
  #writer: Writer | undefined;

  constructor(db: Database.Database, writerFrom = Infinity) {
    this.#db = db;
    this.#archive = new Archive(db);
    this.outbox = new SqliteOutbox(db);
    this.care = new SqliteCare(db, this.#archive);
    this.#pages = new PageTable((text) => this.#sql(text), this.#archive);
    this.#wishes = new WishTable((text) => this.#sql(text));
    this.#history = new History((text) => this.#sql(text));
    this.#lookWrites = new LookWrites((text) => this.#sql(text), this.#archive, this.outbox);
    this.#writerFrom = writerFrom;
  }

  get file(): string | undefined {
    return this.#db.memory ? undefined : this.#db.name;
  }

  #sql(text: string): Database.Statement<unknown[]> {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#db.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  /** All of the work or none of it. A few microseconds matter here: every look passes through. */
  #write<Value>(work: () => Value): Promise<Kept<Value>> {
    try {
      this.#sql('BEGIN IMMEDIATE').run();
      try {
        const value = work();
        this.#sql('COMMIT').run();
        return Promise.resolve({ kind: 'kept', value });
      } catch (error) {
        this.#lookWrites.takenBack();
        if (this.#db.inTransaction) this.#sql('ROLLBACK').run();
        throw error;
      }
    } catch (error) {
      return Promise.resolve({ kind: 'failed', fault: faultOf(error) });
    }
  }

  addPages(pages: readonly NewPage[], journal?: Journal, past?: Past): Promise<Kept<readonly Added[]>> {
    return this.#write(() => {
      const added = pages.map((page) => this.#pages.add(page));
      if (journal) this.#putMemory(journal.key, journal.value(createdIds(added), this.#getMemory(journal.key)));
      if (!past) return added;
      this.#lookWrites.keep(rowsOf(past(added)));
      return added.map(({ page, created }) => ({ page: this.#pages.one(page.page.id)!, created }));
    });
  }

  #putMemory(key: string, value: Uint8Array): void {
    this.#sql('INSERT OR REPLACE INTO memory VALUES (?, ?)').run(key, value);
  }

  updatePages(
    changes: readonly { readonly id: string; readonly settings: Partial<NewPageSettings> }[],
  ): Promise<Kept<readonly WatchedPage[]>> {
    return this.#write(() => changes.flatMap(({ id, settings }) => this.#pages.update(id, settings) ?? []));
  }

  setDetectState(id: string, detectState: string): Promise<Kept<undefined>> {
    return this.#write(() => {
      this.#sql('UPDATE states SET detect_state = ? WHERE pk = (SELECT pk FROM pages WHERE id = ?)').run(
        detectState,
        id,
      );
      return undefined;
    });
  }

  removePages(ids: readonly string[]): Promise<Kept<readonly string[]>> {
    return this.#write(() => ids.filter((id) => this.#pages.remove(id)));
  }

  page(id: string): Promise<WatchedPage | undefined> {
    return Promise.resolve(this.#pages.one(id));
  }

  pages(query: PageQuery): Promise<readonly ListedPage[]> {
    return Promise.resolve(this.#pages.list(query));
  }

  async *everyPage(): AsyncIterable<readonly WatchedPage[]> {
    const statement = this.#db
      .prepare(`SELECT ${plannedColumns} FROM pages JOIN states USING (pk) WHERE pk > ? ORDER BY pk LIMIT ?`)
      .raw();
    for (let after = 0; ;) {
      const rows = statement.all(after, pageBatch) as PlannedRow[];
      if (rows.length === 0) return;
      after = rows.at(-1)![0];
      yield rows.map(plannedOf);
    }
  }

  /** Read when it is first asked for: whoever only reads beside a daemon has nothing to do with it. */
  get #inFlight(): InFlight {
    return (this.#probesInFlight ??= inFlightBeside(this.#db));
  }

  dispatched(probes: readonly Probe[]): Promise<Kept<undefined>> {
    return this.#note(() => this.#inFlight.add(probes));
  }

  unfinished(): Promise<readonly Probe[]> {
    const rows = this.#sql('SELECT probe FROM in_flight').all() as { probe: string }[];
    const left = rows.map((row) => JSON.parse(row.probe) as Probe);
    this.#left = new Set(left.map(({ id }) => id));
    const probes = [...left, ...this.#inFlight.probes()];
    return Promise.resolve(probes.sort((a, b) => a.atMs - b.atMs));
  }

  async finished(probeIds: readonly string[]): Promise<Kept<undefined>> {
    const noted = await this.#note(() => this.#inFlight.end(probeIds));
    const left = probeIds.filter((id) => this.#left.has(id));
    if (noted.kind === 'failed' || left.length === 0) return noted;
    return this.#write(() => {
      for (const id of left) this.#sql('DELETE FROM in_flight WHERE id = ?').run(id);
      return undefined;
    });
  }

  /** Writes to the file beside the database. */
  #note(work: () => void): Promise<Kept<undefined>> {
    try {
      work();
      return Promise.resolve({ kind: 'kept', value: undefined });
    } catch (error) {
      return Promise.resolve({ kind: 'failed', fault: faultOf(error) });
    }
  }

  wish(pageIds: readonly string[], atMs: number, hurried: boolean): Promise<Kept<readonly string[]>> {
    return this.#write(() => this.#wishes.keep(pageIds, atMs, hurried));
  }

  wishes(): Promise<readonly Wish[]> {
    return Promise.resolve(this.#wishes.all());
  }

  async commit(looks: readonly Look[]): Promise<Kept<readonly Change[]>> {
    if (this.#isWorthAThread(looks)) this.#writer ??= new Writer(this.#db.name);
    const rows = rowsOf(looks);
    // Here, or in the thread once there is one.
    const kept = await (this.#writer?.write(rows) ?? this.#write(() => this.#lookWrites.keep(rows)));
    if (kept.kind === 'kept') this.#inFlight.looked(looks.map(({ probeId }) => probeId));
    return kept;
  }

  #isWorthAThread(looks: readonly Look[]): boolean {
    if (this.#writer || this.#writerFrom === Infinity) return false;
    return (
      looks.length >= this.#writerFrom || looks.some(({ projection }) => (projection?.text.length ?? 0) > largeText)
    );
  }

  /** Several batches of looks in one transaction: all of them or none. */
  together(batches: readonly LookRows[]): Promise<Kept<readonly (readonly Change[])[]>> {
    return this.#write(() => batches.map((rows) => this.#lookWrites.keep(rows)));
  }

  changes(query: Parameters<Store['changes']>[0]): Promise<readonly Change[]> {
    return Promise.resolve(this.#history.changes(query));
  }

  latestChanges(query: Parameters<Store['latestChanges']>[0]): Promise<readonly Change[]> {
    return Promise.resolve(this.#history.latestChanges(query));
  }

  versions(pageId: string): Promise<readonly Version[]> {
    return Promise.resolve(this.#archive.list(pageId));
  }

  versionText(pageId: string, number: number): Promise<string | undefined> {
    return Promise.resolve(this.#archive.textOf(pageId, number));
  }

  /** As they stand at one moment. */
  versionTexts(wanted: readonly WantedText[]): readonly (string | undefined)[] {
    return this.#archive.textsOf(wanted);
  }

  versionRaw(pageId: string, number: number): Promise<string | undefined> {
    const row = this.#sql('SELECT pk FROM pages WHERE id = ?').get(pageId) as { pk: number } | undefined;
    return Promise.resolve(row && this.#archive.raw(row.pk, number));
  }

  search(query: SearchQuery): Promise<readonly SearchHit[]> {
    return Promise.resolve(search(this.#db, this.#archive, query));
  }

  looks(pageId: string, limit: number): Promise<readonly LookEntry[]> {
    return Promise.resolve(this.#history.looks(pageId, limit));
  }

  activity(pageIds: readonly string[], limit: number): Promise<ReadonlyMap<string, readonly LookKind[]>> {
    return Promise.resolve(this.#history.activity(pageIds, limit));
  }

  siteHours(site: string, sinceMs: number): Promise<readonly SiteHour[]> {
    return Promise.resolve(this.#history.siteHours(site, sinceMs));
  }

  counts(): Promise<Counts> {
    return Promise.resolve(this.#history.counts());
  }

  retain(...rules: Parameters<Store['retain']>): Promise<Kept<number>> {
    return this.#write(() => this.care.retain(...rules));
  }

  remember(key: string, value: Uint8Array): Promise<Kept<undefined>> {
    return this.#write(() => {
      this.#putMemory(key, value);
      return undefined;
    });
  }

  recall(key: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#getMemory(key));
  }

  #getMemory(key: string): Uint8Array | undefined {
    const row = this.#sql('SELECT value FROM memory WHERE key = ?').get(key) as { value: Uint8Array } | undefined;
    return row?.value;
  }

  revise<Value>(key: string, edit: Edit<Value>): Promise<Kept<Value>> {
    return this.#write(() => {
      const { after, value } = edit(this.#getMemory(key));
      if (after) this.#putMemory(key, after);
      return value;
    });
  }

  async close(): Promise<void> {
    await this.#writer?.close();
    this.#probesInFlight?.close();
    this.#db.close();
  }
}
