/**
 * Moves a data folder into PostgreSQL: table by table, a batch in a transaction that also keeps how far it went, so that a
 * move that was broken off goes on where it was. When all is there, every table is counted and hashed on both sides, row by
 * row in the order of its key, and every kept content is unpacked and held against its name.
 *
 * Rows keep their keys. A second run over the same folder brings over what has changed since, so a daemon may go on working
 * during the first; the last run is made when it has stopped.
 */
import { createHash } from 'node:crypto';
import { type Cell, type Emigrant, type MovedTable, movedTables } from 'revisit/ports';
import { shardOf } from '../dispatch/streams.ts';
import { indexVersions, verifyContents } from './archive.ts';
import type { Connection, Sql } from './connection.ts';
import { looksHere, putLooks } from './immigrate-looks.ts';

const batchRows = 500;
/** Says that this database holds what was moved from that folder. */
const originKey = 'migration:origin';

export interface Moved {
  readonly tables: readonly { readonly name: string; readonly rows: number; readonly hash: string }[];
  readonly contents: number;
}

export type Move =
  | { readonly kind: 'moved'; readonly moved: Moved }
  /** Something differs: the table, and what. */
  | { readonly kind: 'differs'; readonly sentence: string }
  | { readonly kind: 'wrong'; readonly sentence: string };

/** How many rows have moved in this run, and what is being moved. */
type Progress = (rows: number, what: string) => void;

export async function moveIn(
  connection: Connection,
  source: Emigrant,
  origin: string,
  progress: Progress = () => {},
): Promise<Move> {
  const claimed = await connection.must((sql) => claim(sql, origin));
  if (claimed !== undefined) return { kind: 'wrong', sentence: claimed };
  let moved = 0;
  for (let resumed = await connection.must(brokenOff); ; resumed = false) {
    for (const table of movedTables)
      await moveTable(connection, source, table, (rows) => progress((moved += rows), table.name));
    await connection.must(settle);
    await indexAll(connection, () => progress(moved, 'words'));
    const outcome = await verify(connection, source);
    // Going on from a run that was broken off, nobody has seen what was written before its place since then.
    if (outcome.kind !== 'differs' || !resumed) return outcome;
  }
}

/** Whether a run ended within a table. */
async function brokenOff(sql: Sql): Promise<boolean> {
  const places = movedTables.filter(({ grows }) => !grows).map(placeKey);
  const { rows } = await sql.query('SELECT 1 FROM memory WHERE key = ANY ($1)', [places]);
  return rows.length > 0;
}

/** What is wrong with moving in here; undefined when nothing is. */
async function claim(sql: Sql, origin: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ value: Buffer }>('SELECT value FROM memory WHERE key = $1', [originKey]);
  const known = rows[0]?.value.toString();
  if (known !== undefined && known !== origin)
    return `the database holds what was moved from ${known}; choose another for ${origin}`;
  if (known === undefined) {
    const { rows: pages } = await sql.query('SELECT 1 FROM pages LIMIT 1');
    if (pages.length > 0) return 'the database has pages of its own already; an empty one is needed';
    // Leases of before the move say nothing, unless their coordinator lives; one since then is of a coordinator that works here, or has.
    await sql.query(
      'DELETE FROM leases WHERE NOT EXISTS (SELECT 1 FROM coordinators WHERE coordinators.holder = leases.holder AND coordinators.until > now())',
    );
  }
  const { rows: leases } = await sql.query('SELECT 1 FROM leases LIMIT 1');
  if (leases.length > 0)
    return 'a coordinator works on the database, or has since the move: the folder would be written over what it found';
  if (known !== undefined) return undefined;
  await sql.query('INSERT INTO memory VALUES ($1, $2)', [originKey, Buffer.from(origin)]);
  return undefined;
}

const placeKey = (table: MovedTable): string => `migration:${table.name}`;
const ours = "key LIKE 'migration:%' OR key LIKE 'observers:%' OR key = 'alive' OR key = 'published'";

/** PostgreSQL's texts hold no NUL. */
const clean = (cell: Cell): Cell => (typeof cell === 'string' ? cell.replaceAll('\0', '') : cell);

async function moveTable(
  connection: Connection,
  source: Emigrant,
  table: MovedTable,
  progress: (rows: number) => void,
): Promise<void> {
  let after = await connection.must((sql) => placeOf(sql, table));
  for (;;) {
    const rows = source.rows(table, after, batchRows);
    const from = after;
    const last = rows.at(-1);
    const to = last && table.key.map((name) => last[table.columns.indexOf(name)]!);
    await connection.must(async (sql) => {
      if (table.name === 'looks') await putLooks(sql, from, to, rows);
      else {
        await removeGone(sql, table, from, to, rows);
        await put(sql, table, rows);
      }
      // What only grows is never read again; everything else from its beginning at the next run.
      if (to || !table.grows) await keepPlace(sql, table, to);
    });
    progress(rows.length);
    if (!to) return;
    after = to;
  }
}

async function placeOf(sql: Sql, table: MovedTable): Promise<readonly Cell[] | undefined> {
  const { rows } = await sql.query<{ value: Buffer }>('SELECT value FROM memory WHERE key = $1', [placeKey(table)]);
  if (!rows[0]) return undefined;
  const cells = JSON.parse(rows[0].value.toString()) as (string | number | { hex: string })[];
  return cells.map((cell) => (typeof cell === 'object' ? Buffer.from(cell.hex, 'hex') : cell));
}

async function keepPlace(sql: Sql, table: MovedTable, place: readonly Cell[] | undefined): Promise<void> {
  if (!place) {
    await sql.query('DELETE FROM memory WHERE key = $1', [placeKey(table)]);
    return;
  }
  const cells = place.map((cell) => (cell instanceof Uint8Array ? { hex: Buffer.from(cell).toString('hex') } : cell));
  await sql.query('INSERT INTO memory VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value', [
    placeKey(table),
    Buffer.from(JSON.stringify(cells)),
  ]);
}

/** Rows between two keys that the folder no longer has. */
async function removeGone(
  sql: Sql,
  table: MovedTable,
  from: readonly Cell[] | undefined,
  to: readonly Cell[] | undefined,
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  const there = new Set(rows.map((row) => keyText(table, row)));
  const key = table.key.join(', ');
  const values: Cell[] = [];
  const bound = (sign: string, cells: readonly Cell[]): string =>
    `(${key}) ${sign} (${cells.map((cell) => `$${values.push(clean(cell))}`).join(', ')})`;
  const bounds = [...(from ? [bound('>', from)] : []), ...(to ? [bound('<=', to)] : [])];
  const where = [...bounds, ...(table.name === 'memory' ? [`NOT (${ours})`] : [])];
  const { rows: present } = await sql.query<Record<string, Cell>>(
    `SELECT ${key} FROM ${table.name} ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}`,
    values,
  );
  for (const row of present) {
    const cells = table.key.map((name) => row[name]!);
    if (there.has(textOf(cells))) continue;
    const condition = table.key.map((name, i) => `${name} = $${i + 1}`).join(' AND ');
    await sql.query(`DELETE FROM ${table.name} WHERE ${condition}`, cells);
  }
}

const keyText = (table: MovedTable, row: readonly Cell[]): string =>
  textOf(table.key.map((name) => row[table.columns.indexOf(name)]!));

/** A row as both sides must spell it. */
function textOf(cells: readonly Cell[]): string {
  return JSON.stringify(
    cells.map((cell) => (cell instanceof Uint8Array ? Buffer.from(cell).toString('base64') : clean(cell))),
  );
}

async function put(sql: Sql, table: MovedTable, rows: readonly (readonly Cell[])[]): Promise<void> {
  if (rows.length === 0) return;
  const sharded = table.name === 'pages' || table.name === 'in_flight';
  const columns = sharded ? [...table.columns, 'shard'] : table.columns;
  const others = columns.filter((name) => !table.key.includes(name));
  const update =
    others.length === 0 ? 'NOTHING' : `UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`;
  const identity = table.name === 'pages' || table.name === 'deliveries' ? 'OVERRIDING SYSTEM VALUE' : '';
  const values: Cell[] = [];
  const lines = rows.map((row) => {
    const cells = sharded ? [...row, shardOf(siteOf(table, row))] : row;
    return `(${cells.map((cell) => `$${values.push(clean(cell))}`).join(', ')})`;
  });
  await sql.query(
    `INSERT INTO ${table.name} (${columns.join(', ')}) ${identity} VALUES ${lines.join(', ')}
     ON CONFLICT (${table.key.join(', ')}) DO ${update}`,
    values,
  );
}

function siteOf(table: MovedTable, row: readonly Cell[]): string {
  if (table.name === 'pages') return row[table.columns.indexOf('site')] as string;
  return (JSON.parse(row[table.columns.indexOf('probe')] as string) as { site: string }).site;
}

/** Counters go on where the folder's were. */
async function settle(sql: Sql): Promise<void> {
  await sql.query('UPDATE log_end SET sequence = (SELECT coalesce(max(sequence), 0) FROM changes)');
  for (const [table, column] of [
    ['pages', 'pk'],
    ['deliveries', 'n'],
  ])
    await sql.query(
      `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), (SELECT coalesce(max(${column}), 0) + 1 FROM ${table}), false)`,
    );
}

/** The words by which versions are found, for those that have none yet: neither of their own nor as the current copy. */
async function indexAll(connection: Connection, progress: () => void): Promise<void> {
  let [pk, number] = [0, 0];
  for (;;) {
    const [from, after] = [pk, number];
    const rows = await connection.must(async (sql) => {
      const { rows: bare } = await sql.query<{ pk: number; number: number }>(
        `SELECT pk, number FROM versions JOIN states USING (pk) LEFT JOIN current_words USING (pk)
         WHERE (pk, number) > ($1, $2) AND versions.words IS NULL
           AND (number <> version OR current_words.at IS DISTINCT FROM versions.at)
         ORDER BY pk, number LIMIT 200`,
        [from, after],
      );
      if (bare.length > 0) await indexVersions(sql, bare);
      return bare;
    });
    const last = rows.at(-1);
    if (!last) return;
    ({ pk, number } = last);
    progress();
  }
}

async function verify(connection: Connection, source: Emigrant): Promise<Move> {
  const tables: { name: string; rows: number; hash: string }[] = [];
  for (const table of movedTables) {
    const read = table.name === 'looks' ? looksHere : rowsHere;
    const here = await digest((after) => connection.must((sql) => read(sql, table, after)), table);
    const there = await digest((after) => Promise.resolve(source.rows(table, after, batchRows)), table);
    if (here.rows === there.rows && here.hash === there.hash) {
      tables.push({ name: table.name, ...here });
      continue;
    }
    const first = await firstDifference(
      table,
      (after) => connection.must((sql) => read(sql, table, after)),
      (after) => Promise.resolve(source.rows(table, after, batchRows)),
    );
    const how =
      here.rows === there.rows
        ? `${here.rows} rows on both sides, but not the same`
        : `${there.rows} rows in the folder, ${here.rows} moved`;
    return { kind: 'differs', sentence: `${table.name}: ${how}${first}` };
  }
  const lacking = await connection.query<{ pk: number }>(
    'SELECT pk FROM versions LEFT JOIN contents ON contents.name = versions.content WHERE contents.name IS NULL LIMIT 1',
  );
  if (lacking.length > 0) return { kind: 'differs', sentence: 'contents: a version has none' };
  let contents = 0;
  for (let after: Buffer | undefined = Buffer.alloc(0); after;) {
    const from: Buffer = after;
    const part = await connection.must((sql) => verifyContents(sql, from));
    if (part.kind === 'broken')
      return { kind: 'differs', sentence: `contents: ${part.name} is not what was kept (${part.why})` };
    contents += part.count;
    after = part.next;
  }
  return { kind: 'moved', moved: { tables, contents } };
}

async function rowsHere(
  sql: Sql,
  table: MovedTable,
  after: readonly Cell[] | undefined,
): Promise<readonly (readonly Cell[])[]> {
  // Bytes in the order of SQLite: texts by their bytes, whatever language the server speaks.
  const order = table.key.map((name) => (texts.has(`${table.name}.${name}`) ? `${name} COLLATE "C"` : name)).join(', ');
  const values: Cell[] = [...(after ?? [])].map(clean);
  const from = after ? `(${order}) > (${after.map((_, i) => `$${i + 1}`).join(', ')})` : 'true';
  const own = table.name === 'memory' ? `AND NOT (${ours})` : '';
  const { rows } = await sql.query<Record<string, Cell | boolean>>(
    `SELECT ${table.columns.join(', ')} FROM ${table.name} WHERE ${from} ${own} ORDER BY ${order} LIMIT ${batchRows}`,
    values,
  );
  return rows.map((row) => table.columns.map((name) => spelt(row[name]!)));
}

/** SQLite has no truth values but numbers. */
const spelt = (cell: Cell | boolean): Cell => (typeof cell === 'boolean' ? Number(cell) : cell);

const texts = new Set(['subscriptions.id', 'memory.key', 'in_flight.id']);

type Reader = (after: readonly Cell[] | undefined) => Promise<readonly (readonly Cell[])[]>;

const isOwn = (table: MovedTable, row: readonly Cell[]): boolean =>
  // What the two stores say of themselves is no part of the move.
  table.name === 'memory' && /^(alive|published)$/.test(String(row[0]));

const keyOf = (table: MovedTable, row: readonly Cell[]): readonly Cell[] =>
  table.key.map((name) => row[table.columns.indexOf(name)]!);

/** Row by row, in the order of their keys. */
async function* rowsOf(read: Reader, table: MovedTable): AsyncGenerator<readonly Cell[]> {
  for (let after: readonly Cell[] | undefined; ;) {
    const rows = await read(after);
    if (rows.length === 0) return;
    for (const row of rows) if (!isOwn(table, row)) yield row;
    after = keyOf(table, rows.at(-1)!);
  }
}

/** Which row is the first that is not the same on both sides. */
async function firstDifference(table: MovedTable, here: Reader, there: Reader): Promise<string> {
  const others = rowsOf(there, table);
  for await (const row of rowsOf(here, table)) {
    const { value: other } = (await others.next()) as { value: readonly Cell[] | undefined };
    if (other && textOf(row) === textOf(other)) continue;
    const key = keyOf(table, row).map(String).join(', ');
    return ` (the first that differs: ${table.key.join(', ')} ${key} in the database)`;
  }
  const { value: lacking } = (await others.next()) as { value: readonly Cell[] | undefined };
  return lacking
    ? ` (the first that is missing: ${table.key.join(', ')} ${keyOf(table, lacking).map(String).join(', ')})`
    : '';
}

async function digest(read: Reader, table: MovedTable): Promise<{ readonly rows: number; readonly hash: string }> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const row of rowsOf(read, table)) {
    hash.update(textOf(row));
    count++;
  }
  return { rows: count, hash: hash.digest('hex').slice(0, 16) };
}
