/** Pages and their states as they are added, edited, removed and listed. Writing runs inside the transaction of whoever calls. */
import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import { atNewUrl, type WatchedPage } from '../values/look.ts';
import type { NewPageSettings } from '../values/page.ts';
import type { Archive } from './archive.ts';
import type { Added, ListedPage, NewPage, PageQuery } from './port.ts';
import {
  type PageRow,
  type StateRow,
  freshState,
  pageOf,
  selectionText,
  settingsText,
  stateValues,
  watchedOf,
} from './rows.ts';

export class PageTable {
  readonly #sql: (text: string) => Database.Statement<unknown[]>;
  readonly #archive: Archive;

  constructor(sql: (text: string) => Database.Statement<unknown[]>, archive: Archive) {
    this.#sql = sql;
    this.#archive = archive;
  }

  add(page: NewPage): Added {
    const { site, addedAtMs, ...settings } = page;
    const selection = selectionText(settings.select);
    const known = this.#sql('SELECT id FROM pages WHERE url = ? AND selection = ?').get(page.url, selection) as
      | { id: string }
      | undefined;
    if (known) return { page: this.one(known.id)!, created: false };
    const id = this.#newId(page.url, selection);
    const { lastInsertRowid } = this.#sql(
      'INSERT INTO pages (id, url, selection, site, settings, added_at) VALUES (?, ?, ?, ?, ?, ?)',
    ).run(id, page.url, selection, site, settingsText(settings), addedAtMs);
    this.#putState(Number(lastInsertRowid), freshState);
    return { page: this.one(id)!, created: true };
  }

  /** The id follows from what is watched, so that the same collection has the same ids everywhere; a page whose selection was edited later keeps its own. */
  #newId(url: string, selection: string): string {
    for (let salt = 0; ; salt++) {
      const id = createHash('sha256')
        .update(`${url}\n${selection}\n${salt || ''}`)
        .digest('hex')
        .slice(0, 16);
      if (!this.#sql('SELECT 1 FROM pages WHERE id = ?').get(id)) return id;
    }
  }

  #putState(pk: number, state: WatchedPage['state']): void {
    const values = [pk, ...stateValues(state)];
    this.#sql(`INSERT OR REPLACE INTO states VALUES (${values.map(() => '?').join()})`).run(...values);
  }

  update(id: string, settings: Partial<NewPageSettings>): WatchedPage | undefined {
    const row = this.#sql('SELECT * FROM pages WHERE id = ?').get(id) as PageRow | undefined;
    if (!row) return undefined;
    const { id: _id, addedAtMs: _added, ...old } = pageOf(row);
    const { site, ...updated } = { ...old, ...settings };
    const selection = selectionText(updated.select);
    this.#sql('UPDATE pages SET url = ?, selection = ?, site = ?, settings = ? WHERE pk = ?').run(
      updated.url,
      selection,
      site,
      settingsText(updated),
      row.pk,
    );
    if (updated.url !== old.url) {
      const { state } = this.one(id)!;
      this.#putState(row.pk, atNewUrl(state));
    }
    return this.one(id);
  }

  /** False when there is none. */
  remove(id: string): boolean {
    const row = this.#sql('SELECT pk FROM pages WHERE id = ?').get(id) as { pk: number } | undefined;
    if (!row) return false;
    this.#archive.forget(row.pk);
    this.#sql('DELETE FROM looks WHERE pk = ?').run(row.pk);
    this.#sql('DELETE FROM pages WHERE pk = ?').run(row.pk);
    return true;
  }

  one(id: string): WatchedPage | undefined {
    const row = this.#sql('SELECT * FROM pages JOIN states USING (pk) WHERE id = ?').get(id) as
      | (PageRow & StateRow)
      | undefined;
    return row && watchedOf(row);
  }

  list(query: PageQuery): readonly ListedPage[] {
    const conditions = ['pk > ?'];
    const values: unknown[] = [query.after ?? 0];
    if (query.site !== undefined) {
      conditions.push('site = ?');
      values.push(query.site);
    }
    if (query.tag !== undefined) {
      conditions.push(`EXISTS (SELECT 1 FROM json_each(settings, '$.tags') WHERE value = ?)`);
      values.push(query.tag);
    }
    if (query.text !== undefined && query.text !== '') {
      conditions.push(`(instr(lower(url), lower(?)) > 0 OR instr(lower(coalesce(seen_title, '')), lower(?)) > 0)`);
      values.push(query.text, query.text);
    }
    const rows = this.#sql(
      `SELECT * FROM pages JOIN states USING (pk) WHERE ${conditions.join(' AND ')} ORDER BY pk LIMIT ?`,
    ).all(...values, query.limit);
    return (rows as (PageRow & StateRow)[]).map((row) => ({ ...watchedOf(row), place: Number(row.pk) }));
  }
}
