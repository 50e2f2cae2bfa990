/**
 * What every look writes: its page's state, a line of the page's history, and where it brought something, all that follows from
 * it. Runs inside the transaction of whoever calls, in the process's own thread or in the one that writes (`writer.ts`).
 */
import type Database from 'better-sqlite3';
import type { Change } from '../values/change.ts';
import { Archive, type NewWords } from './archive.ts';
import { changeId } from './change-id.ts';
import { type LookRows, type News, type ReadRow, readRows } from './look-rows.ts';
import { SqliteOutbox } from './outbox.ts';
import { stateColumns } from './rows.ts';
import { WishTable } from './wish-table.ts';

/** What a look has nothing to say of stays as it is. */
const lasting: readonly string[] = ['hash', 'model', 'detect_state'];
const updateState = `UPDATE states SET ${stateColumns
  .map((column) => `${column} = ${lasting.includes(column) ? `coalesce(?, ${column})` : '?'}`)
  .join(', ')} WHERE pk = ?`;
const updateLooked =
  'UPDATE states SET last_look = ?, last_seen = ?, looks = ?, model = coalesce(?, model) WHERE pk = ?';

/** Pages whose numbers are remembered, so that their next look need not find them: about 100 bytes each. */
const pksMax = 50_000;

export class LookWrites {
  readonly #sql: (text: string) => Database.Statement<unknown[]>;
  readonly #archive: Archive;
  readonly #outbox: SqliteOutbox;
  readonly #wishes: WishTable;
  readonly #pks = new Map<string, number>();

  constructor(sql: (text: string) => Database.Statement<unknown[]>, archive: Archive, outbox: SqliteOutbox) {
    this.#sql = sql;
    this.#archive = archive;
    this.#outbox = outbox;
    this.#wishes = new WishTable(sql);
  }

  /** Answers the changes as they stand in the log. */
  keep(rows: LookRows): readonly Change[] {
    const changes: Change[] = [];
    const words: NewWords[] = [];
    const wished = !this.#wishes.isEmpty;
    readRows(rows, (row) => {
      const change = this.#keep(row, words, wished);
      if (change) changes.push(change);
    });
    this.#archive.index(words);
    return changes;
  }

  #keep(row: ReadRow, words: NewWords[], wished: boolean): Change | undefined {
    const { atMs, line, state, news } = row;
    const pk = this.#looked(row);
    // The page was removed while we looked.
    if (pk === undefined) return undefined;
    if (state) this.#sql(updateState).run(...state, pk);
    // One row, and none taken away: a statement that could be taken back alone makes FTS5 write out the words of every change
    // before it, and put them together with all others again.
    if (this.#sql('INSERT OR IGNORE INTO looks VALUES (?, ?, ?, ?, ?)').run(pk, atMs, ...line).changes === 0)
      this.#sql('UPDATE looks SET kind = ?, duration = ?, bytes = ? WHERE pk = ? AND at = ?').run(...line, pk, atMs);
    if (wished) this.#wishes.grant(pk, atMs);
    return news && this.#bring(pk, atMs, news, words);
  }

  /** Every page that is there has a state: where nothing is updated, the number that is known is of a page that was removed. */
  #looked({ pageId, lastLookMs, lastSeenMs, looks, model }: ReadRow): number | undefined {
    const update = (pk: number) => this.#sql(updateLooked).run(lastLookMs, lastSeenMs, looks, model, pk).changes > 0;
    const known = this.#pks.get(pageId);
    if (known !== undefined && update(known)) return known;
    const page = this.#sql('SELECT pk FROM pages WHERE id = ?').get(pageId) as { pk: number } | undefined;
    if (!page || !update(page.pk)) return undefined;
    if (this.#pks.size >= pksMax) this.#pks.clear();
    this.#pks.set(pageId, page.pk);
    return page.pk;
  }

  /** What was written is taken back, and with it perhaps pages whose numbers others will have. */
  takenBack(): void {
    this.#pks.clear();
  }

  #bring(pk: number, atMs: number, news: News, words: NewWords[]): Change | undefined {
    const { endedAtMs, projection, raw, change, deliveries } = news;
    if (projection) {
      const { version } = this.#sql('SELECT version FROM states WHERE pk = ?').get(pk) as { version: number };
      words.push(this.#archive.keep(pk, version, atMs, projection, raw));
    }
    if (!change) return undefined;
    const logged = this.#log(change, changeId(news, change));
    this.#outbox.plan(logged, deliveries ?? [], endedAtMs);
    return logged;
  }

  #log(entry: Omit<Change, 'sequence' | 'id'>, id: string): Change {
    const { next } = this.#sql('SELECT coalesce(max(sequence), 0) + 1 AS next FROM changes').get() as { next: number };
    const change: Change = { sequence: next, id, ...entry };
    this.#sql('INSERT INTO changes VALUES (?, ?, ?, ?, ?)').run(
      next,
      id,
      entry.pageId,
      entry.atMs,
      JSON.stringify(change),
    );
    return change;
  }
}
