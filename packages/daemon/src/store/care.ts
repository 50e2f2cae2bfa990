/** Looking after the data: integrity and repair, retention, space, backups. */
import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { Archive, type VersionRow } from './archive.ts';
import type { Retention } from '../values/retention.ts';
import { expired, readContent } from './versions.ts';

export interface Finding {
  readonly what: string;
  /** What repairing does, or did, about it. */
  readonly remedy: string;
  readonly pageId?: string;
}

export interface Checkup {
  readonly pages: number;
  readonly versions: number;
  readonly contents: number;
  readonly bytesKept: number;
  readonly bytesWhole: number;
  readonly findings: readonly Finding[];
  readonly repaired: boolean;
}

interface BadVersion {
  readonly row: VersionRow;
  readonly pageId: string;
  readonly why: string;
}

export class SqliteCare {
  readonly #db: Database.Database;
  readonly #archive: Archive;

  constructor(db: Database.Database, archive: Archive) {
    this.#db = db;
    this.#archive = archive;
  }

  /** Reads everything that is kept. With `repair`, also mends what can be mended, in one transaction. */
  check(repair: boolean): Checkup {
    const findings: Finding[] = [...this.#database()];
    const bad = this.#unreadable();
    for (const { row, pageId, why } of bad)
      findings.push({
        what: `version ${row.number} cannot be read: ${why}`,
        remedy: 'it is let go; if it was the last one, the next look begins anew',
        pageId,
      });
    const strays = this.#strays();
    findings.push(...strays.map(({ finding }) => finding));
    const mend = () => {
      for (const { row } of bad) this.#archive.drop(row.pk, [row.number]);
      this.#restart(new Set(bad.map(({ row }) => row.pk)));
      for (const stray of strays) stray.mend();
      this.#archive.sweep();
    };
    if (repair) this.#db.transaction(mend).immediate();
    return { ...this.#size(), findings, repaired: repair && findings.length > 0 };
  }

  #database(): Finding[] {
    const rows = this.#db.pragma('integrity_check(20)') as { integrity_check: string }[];
    const keys = this.#db.pragma('foreign_key_check') as { table: string }[];
    return [
      ...rows
        .filter((row) => row.integrity_check !== 'ok')
        .map((row) => ({ what: row.integrity_check, remedy: 'restore a backup, or export what can be read' })),
      ...keys
        .slice(0, 20)
        .map((row) => ({ what: `a row of ${row.table} belongs to nothing`, remedy: 'restore a backup' })),
    ];
  }

  #unreadable(): BadVersion[] {
    const bad: BadVersion[] = [];
    const rows = this.#db
      .prepare('SELECT versions.*, pages.id AS pageId FROM versions JOIN pages USING (pk) ORDER BY versions.id')
      .iterate() as IterableIterator<VersionRow & { pageId: string }>;
    // Reading while iterating is safe: nothing is written before all rows were seen.
    for (const row of rows) {
      const content = this.#archive.read(row);
      const raw = row.raw ? readContent(this.#archive.contents, row.raw.toString('hex')) : undefined;
      const broken = content.kind === 'broken' ? content : raw?.kind === 'broken' ? raw : undefined;
      if (broken) bad.push({ row, pageId: row.pageId, why: `${broken.why} (${broken.at.slice(0, 12)})` });
    }
    return bad;
  }

  /** A page whose last version is lost forgets its copy: the next readable answer is its first again, under a new number. */
  #restart(pks: ReadonlySet<number>): void {
    for (const pk of pks) {
      const last = this.#db.prepare('SELECT version FROM states WHERE pk = ?').get(pk) as { version: number };
      if (this.#archive.row(pk, last.version)) continue;
      this.#db
        .prepare('UPDATE states SET detect_state = NULL, hash = NULL, etag = NULL, last_modified = NULL WHERE pk = ?')
        .run(pk);
      this.#db.prepare('DELETE FROM current_words WHERE rowid = ?').run(pk);
    }
  }

  /** What disagrees between tables although each is sound. */
  #strays(): { finding: Finding; mend: () => void }[] {
    const strays: { finding: Finding; mend: () => void }[] = [];
    const unfound = this.#db
      .prepare(
        `SELECT versions.*, pages.id AS pageId, states.seen_title AS title FROM states JOIN pages USING (pk)
         JOIN versions ON versions.pk = states.pk AND versions.number = states.version
         WHERE states.pk NOT IN (SELECT rowid FROM current_words)`,
      )
      .all() as (VersionRow & { pageId: string; title: string | null })[];
    for (const row of unfound) {
      strays.push({
        finding: {
          what: 'the current copy is missing from the search index',
          remedy: 'it is indexed again',
          pageId: row.pageId,
        },
        mend: () => {
          const text = this.#archive.text(row.pk, row.number);
          this.#db.prepare('DELETE FROM past_words WHERE rowid = ?').run(row.id);
          if (text !== undefined) this.#archive.index([{ ...row, title: row.title ?? undefined, text }]);
        },
      });
    }
    const holes = this.#db
      .prepare('SELECT count(*) AS kept, coalesce(max(sequence), 0) AS last FROM changes')
      .get() as { kept: number; last: number };
    if (holes.kept !== holes.last)
      strays.push({
        finding: {
          what: `the log of changes has ${holes.kept} entries and ends at ${holes.last}`,
          remedy: 'restore a backup',
        },
        mend: () => {},
      });
    return strays;
  }

  #size() {
    return this.#db
      .prepare(
        `SELECT (SELECT count(*) FROM pages) AS pages, (SELECT count(*) FROM versions) AS versions,
           (SELECT count(*) FROM contents) AS contents, (SELECT coalesce(sum(length(packed)), 0) FROM contents) AS bytesKept,
           (SELECT coalesce(sum(bytes), 0) FROM versions) AS bytesWhole`,
      )
      .get() as Omit<Checkup, 'findings' | 'repaired'>;
  }

  /** As the port's `retain`, inside the transaction of whoever calls. */
  retain(
    retention: Retention,
    nowMs: number,
    ownOf: (keep: unknown) => Retention | undefined = () => undefined,
  ): number {
    const own = `json_extract(settings, '$.options.keep')`;
    const all = Object.keys(retention).length > 0;
    const pages = this.#db
      .prepare(
        `SELECT pk, version, told_version AS told, ${own} AS keep FROM states JOIN pages USING (pk)
         ${all ? '' : `WHERE ${own} IS NOT NULL`}`,
      )
      .all() as { pk: number; version: number; told: number; keep: string | null }[];
    let gone = 0;
    for (const { pk, version, told, keep } of pages) {
      const rules = (keep === null ? undefined : ownOf(JSON.parse(keep))) ?? retention;
      const versions = this.#db
        .prepare(
          `SELECT number, at AS atMs, coalesce((SELECT length(packed) FROM contents WHERE name = content), 0) AS bytesKept
           FROM versions WHERE pk = ? ORDER BY number`,
        )
        .all(pk) as { number: number; atMs: number; bytesKept: number }[];
      const numbers = expired(versions, rules, nowMs, new Set([version, told]));
      this.#archive.drop(pk, numbers);
      gone += numbers.length;
      if (rules.looksAgeMsMax !== undefined)
        this.#db.prepare('DELETE FROM looks WHERE pk = ? AND at < ?').run(pk, nowMs - rules.looksAgeMsMax);
    }
    if (gone > 0) this.#archive.sweep();
    return gone;
  }

  /** Gives space back to the disk; returns the bytes of the file before and after. */
  vacuum(): { readonly before: number; readonly after: number } {
    const size = () => (this.#db.memory ? 0 : statSync(this.#db.name).size);
    this.#db.pragma('wal_checkpoint(TRUNCATE)');
    const before = size();
    this.#db.transaction(() => this.#archive.sweep()).immediate();
    this.#db.exec(`INSERT INTO current_words (current_words) VALUES ('optimize')`);
    this.#db.exec(`INSERT INTO past_words (past_words) VALUES ('optimize')`);
    this.#db.exec('VACUUM');
    this.#db.pragma('wal_checkpoint(TRUNCATE)');
    return { before, after: size() };
  }

  /** A consistent copy while everything goes on; complete when the promise resolves. */
  async backup(file: string): Promise<void> {
    if (this.#db.memory) {
      await this.#db.backup(file);
      return;
    }
    // A reader of its own, whose view stands still: a copy begins anew whenever another connection writes.
    const reader = new Database(this.#db.name, { readonly: true });
    try {
      reader.exec('BEGIN');
      reader.prepare('SELECT count(*) FROM sqlite_master').get();
      await reader.backup(file);
    } finally {
      reader.close();
    }
  }
}
