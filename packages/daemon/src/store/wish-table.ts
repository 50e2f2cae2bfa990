/**
 * Wishes for a look, by a person or a hub. Whoever is asked keeps the wish here before it says that it was heard; the page stands in
 * line in memory, and a process that follows a kill puts it there again. A wish ends in the transaction that keeps a look at its page
 * that was made after it. Writing runs inside the transaction of whoever calls.
 */
import type Database from 'better-sqlite3';
import type { Wish } from './port.ts';

export class WishTable {
  readonly #sql: (text: string) => Database.Statement<unknown[]>;

  constructor(sql: (text: string) => Database.Statement<unknown[]>) {
    this.#sql = sql;
  }

  /** Answers those of the pages that there are. */
  keep(pageIds: readonly string[], atMs: number, hurried: boolean): readonly string[] {
    const put = this.#sql(
      `INSERT INTO wishes SELECT pk, ?, ? FROM pages WHERE id = ?
       ON CONFLICT (pk) DO UPDATE SET at = excluded.at, hurried = max(hurried, excluded.hurried)`,
    );
    return pageIds.filter((id) => put.run(Math.floor(atMs), Number(hurried), id).changes > 0);
  }

  all(): readonly Wish[] {
    const rows = this.#sql(
      'SELECT id, at AS atMs, hurried FROM wishes JOIN pages USING (pk) ORDER BY at, pk',
    ).all() as { id: string; atMs: number; hurried: number }[];
    return rows.map(({ id, atMs, hurried }) => ({ id, atMs, hurried: hurried === 1 }));
  }

  /** Whether there are any: mostly there are none, and then no look need be held against them. */
  get isEmpty(): boolean {
    return this.#sql('SELECT 1 FROM wishes LIMIT 1').get() === undefined;
  }

  /** A look at the page is kept. */
  grant(pk: number, lookedAtMs: number): void {
    this.#sql('DELETE FROM wishes WHERE pk = ? AND at <= ?').run(pk, lookedAtMs);
  }
}
