/**
 * The tables of a data folder as rows, for moving to another store. Read-only, and beside a daemon that works on the folder:
 * SQLite's log lets readers see whole transactions while a writer goes on.
 */
import Database from 'better-sqlite3';
import { inFlightBeside } from './in-flight.ts';
import { migrations } from './migrations.ts';

export type Cell = string | number | null | Uint8Array;

export interface MovedTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** By which rows are told apart and in which order they are read. */
  readonly key: readonly string[];
  /** Rows are only ever added, and in the order of the key: what was moved once need not be read again. */
  readonly grows: boolean;
}

/** In an order in which every row finds what it refers to. */
export const movedTables: readonly MovedTable[] = [
  {
    name: 'pages',
    columns: ['pk', 'id', 'url', 'selection', 'site', 'settings', 'added_at'],
    key: ['pk'],
    grows: false,
  },
  {
    name: 'states',
    columns:
      'pk status version told_version hash etag last_modified last_look last_seen last_change fault_code fault_sentence failures looks changes moved_to seen_title model detect_state validators_url revealed'.split(
        ' ',
      ),
    key: ['pk'],
    grows: false,
  },
  { name: 'contents', columns: ['name', 'base', 'bytes', 'packed'], key: ['name'], grows: false },
  {
    name: 'versions',
    columns: ['pk', 'number', 'at', 'content', 'raw', 'format', 'bytes'],
    key: ['pk', 'number'],
    grows: false,
  },
  { name: 'changes', columns: ['sequence', 'id', 'page_id', 'at', 'entry'], key: ['sequence'], grows: true },
  { name: 'looks', columns: ['pk', 'at', 'kind', 'duration', 'bytes'], key: ['pk', 'at'], grows: false },
  { name: 'subscriptions', columns: ['id', 'created_at', 'settings'], key: ['id'], grows: false },
  {
    name: 'deliveries',
    columns:
      'n id subscription lane bundle status due attempts planned_at first_tried settled_at fault_code fault_sentence'.split(
        ' ',
      ),
    key: ['n'],
    grows: false,
  },
  { name: 'delivered_changes', columns: ['delivery', 'sequence'], key: ['delivery', 'sequence'], grows: false },
  { name: 'wishes', columns: ['pk', 'at', 'hurried'], key: ['pk'], grows: false },
  { name: 'memory', columns: ['key', 'value'], key: ['key'], grows: false },
  { name: 'in_flight', columns: ['id', 'at', 'probe'], key: ['id'], grows: false },
];

export interface Emigrant {
  /** Rows after the key, in its order; at most so many. */
  rows(table: MovedTable, after: readonly Cell[] | undefined, limit: number): readonly (readonly Cell[])[];
  /** Of all tables. */
  readonly rowCount: number;
  close(): void;
}

export type Emigrating =
  | { readonly kind: 'opened'; readonly source: Emigrant }
  | { readonly kind: 'failed'; readonly sentence: string };

/** Everything is read as of one moment, so that what belongs together comes together. */
export function emigrate(file: string): Emigrating {
  try {
    const db = new Database(file, { readonly: true, fileMustExist: true });
    const taken = db.pragma('user_version', { simple: true }) as number;
    if (taken !== migrations.length) {
      db.close();
      const sentence = `${file} has schema ${taken}, this revisit knows ${migrations.length}; start "revisit serve" on it once, then move it`;
      return { kind: 'failed', sentence };
    }
    db.exec('BEGIN');
    const countOf = ({ name }: MovedTable): number =>
      db.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number;
    const inTables = movedTables.reduce((sum, table) => sum + countOf(table), 0);
    const beside = inFlightBeside(db)
      .probes()
      .map((probe): readonly Cell[] => [probe.id, probe.atMs, JSON.stringify(probe)]);
    return {
      kind: 'opened',
      source: {
        rowCount: inTables + beside.length,
        rows: (table, after, limit) => {
          const key = table.key.join(', ');
          const from = after ? `WHERE (${key}) > (${table.key.map(() => '?').join(', ')})` : '';
          const rows = db
            .prepare(`SELECT ${table.columns.join(', ')} FROM ${table.name} ${from} ORDER BY ${key} LIMIT ?`)
            .raw()
            .all(...(after ?? []), limit) as (readonly Cell[])[];
          return table.name === 'in_flight' ? merged(rows, beside, after, limit) : rows;
        },
        close: () => {
          db.exec('ROLLBACK');
          db.close();
        },
      },
    };
  } catch (error) {
    return { kind: 'failed', sentence: `${file} cannot be read: ${(error as Error).message}` };
  }
}

/** By their ids, which both have in their first column. */
function merged(
  rows: readonly (readonly Cell[])[],
  more: readonly (readonly Cell[])[],
  after: readonly Cell[] | undefined,
  limit: number,
): readonly (readonly Cell[])[] {
  const rest = more.filter(([id]) => !after || String(id) > String(after[0]));
  return [...rows, ...rest].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)).slice(0, limit);
}
