/** What was seen, as it is read back: the log of changes, and the looks at a page and at a site. */
import type Database from 'better-sqlite3';
import type { Change } from '../values/change.ts';
import { type LookKind, lookKinds } from '../values/look.ts';
import type { Counts, LookEntry, SiteHour, Store } from './port.ts';

export class History {
  readonly #sql: (text: string) => Database.Statement<unknown[]>;

  constructor(sql: (text: string) => Database.Statement<unknown[]>) {
    this.#sql = sql;
  }

  changes({ after, limit, pageId }: Parameters<Store['changes']>[0]): readonly Change[] {
    return this.#entries('sequence > ? ORDER BY sequence LIMIT ?', [after, limit], pageId);
  }

  latestChanges({ before, limit, pageId }: Parameters<Store['latestChanges']>[0]): readonly Change[] {
    const last = before ?? Number.MAX_SAFE_INTEGER;
    return this.#entries('sequence < ? ORDER BY sequence DESC LIMIT ?', [last, limit], pageId);
  }

  #entries(which: string, values: readonly number[], pageId: string | undefined): readonly Change[] {
    const rows =
      pageId === undefined
        ? this.#sql(`SELECT entry FROM changes WHERE ${which}`).all(...values)
        : this.#sql(`SELECT entry FROM changes WHERE page_id = ? AND ${which}`).all(pageId, ...values);
    return (rows as { entry: string }[]).map((row) => JSON.parse(row.entry) as Change);
  }

  looks(pageId: string, limit: number): readonly LookEntry[] {
    const rows = this.#sql(
      'SELECT looks.at AS atMs, kind, duration, bytes FROM looks JOIN pages USING (pk) WHERE id = ? ORDER BY looks.at DESC LIMIT ?',
    ).all(pageId, limit) as { atMs: number; kind: number; duration: number; bytes: number }[];
    return rows.map((row) => ({
      atMs: row.atMs,
      kind: lookKinds[row.kind]!,
      durationMs: row.duration,
      bytesReceived: row.bytes,
    }));
  }

  counts(): Counts {
    return this.#sql(
      'SELECT (SELECT count(*) FROM pages) AS pages, (SELECT coalesce(max(sequence), 0) FROM changes) AS changes, (SELECT coalesce(sum(looks), 0) FROM states) AS looks',
    ).get() as Counts;
  }

  activity(pageIds: readonly string[], limit: number): ReadonlyMap<string, readonly LookKind[]> {
    const statement = this.#sql(
      'SELECT kind FROM looks WHERE pk = (SELECT pk FROM pages WHERE id = ?) ORDER BY at DESC LIMIT ?',
    );
    const kindsOf = (id: string): readonly LookKind[] =>
      (statement.all(id, limit) as { kind: number }[]).map((row) => lookKinds[row.kind]!).reverse();
    return new Map(pageIds.map((id) => [id, kindsOf(id)]));
  }

  siteHours(site: string, sinceMs: number): readonly SiteHour[] {
    // The epoch began on a Thursday, three days after a Monday.
    return this.#sql(
      `SELECT (looks.at / 3600000 + 72) % 168 AS hour, count(*) AS looks, sum(kind = 6) AS failures,
         sum(kind = 5) AS refused, sum(kind = 1) AS changes, avg(duration) AS meanMs
       FROM looks JOIN pages USING (pk) WHERE site = ? AND looks.at >= ? GROUP BY hour ORDER BY hour`,
    ).all(site, sinceMs) as SiteHour[];
  }
}
