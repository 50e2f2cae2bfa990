/**
 * What every look writes: a probe remembered, forgotten, and a look kept with all that follows from it. Runs inside the
 * transaction of whoever calls, in the process's own thread or in the one that writes (`writer.ts`).
 */
import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { Change } from '../values/change.ts';
import { lookKinds, type Look } from '../values/look.ts';
import type { Probe } from '../values/probe.ts';
import type { Archive } from './archive.ts';
import type { SqliteOutbox } from './outbox.ts';
import { stateColumns, stateValues } from './rows.ts';

export type Work =
  | { readonly kind: 'dispatched'; readonly probes: readonly Probe[] }
  | { readonly kind: 'finished'; readonly probeIds: readonly string[] }
  | { readonly kind: 'commit'; readonly looks: readonly Look[] };

/** What a look has nothing to say of stays as it is. */
const lasting: readonly string[] = ['hash', 'detect_state'];
const updateState = `UPDATE states SET ${stateColumns
  .map((column) => `${column} = ${lasting.includes(column) ? `coalesce(?, ${column})` : '?'}`)
  .join(', ')} WHERE pk = ?`;

export class LookWrites {
  readonly #sql: (text: string) => Database.Statement<unknown[]>;
  readonly #archive: Archive;
  readonly #outbox: SqliteOutbox;

  constructor(sql: (text: string) => Database.Statement<unknown[]>, archive: Archive, outbox: SqliteOutbox) {
    this.#sql = sql;
    this.#archive = archive;
    this.#outbox = outbox;
  }

  /** Answers the changes as they stand in the log. */
  do(work: Work): readonly Change[] {
    switch (work.kind) {
      case 'dispatched': {
        const remember = this.#sql('INSERT OR REPLACE INTO in_flight VALUES (?, ?, ?)');
        for (const probe of work.probes) remember.run(probe.id, probe.atMs, JSON.stringify(probe));
        return [];
      }
      case 'finished': {
        const forget = this.#sql('DELETE FROM in_flight WHERE id = ?');
        for (const id of work.probeIds) forget.run(id);
        return [];
      }
      case 'commit':
        return work.looks.flatMap((look) => this.#keep(look) ?? []);
    }
  }

  #keep(look: Look): Change | undefined {
    this.#sql('DELETE FROM in_flight WHERE id = ?').run(look.probeId);
    const row = this.#sql('SELECT pk FROM pages WHERE id = ?').get(look.pageId) as { pk: number } | undefined;
    // The page was removed while we looked.
    if (!row) return undefined;
    this.#sql(updateState).run(...stateValues(look.state), row.pk);
    this.#sql('INSERT OR REPLACE INTO looks VALUES (?, ?, ?, ?, ?)').run(
      row.pk,
      look.atMs,
      lookKinds.indexOf(look.kind),
      look.endedAtMs - look.atMs,
      look.bytesReceived,
    );
    if (look.projection) this.#archive.keep(row.pk, look.state.version, look.atMs, look.projection, look.raw);
    if (!look.change) return undefined;
    const change = this.#log(look.change, look.probeId);
    this.#outbox.plan(change, look.deliveries ?? [], look.endedAtMs);
    return change;
  }

  /** A change's id follows from the probe and the page, so a look that is kept twice is still one change. */
  #log(entry: Omit<Change, 'sequence' | 'id'>, probeId: string): Change {
    const id = createHash('sha256').update(`${probeId}\n${entry.pageId}\n${entry.kind}`).digest('hex').slice(0, 24);
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
