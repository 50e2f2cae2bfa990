/**
 * Connections to PostgreSQL: a pool, transactions that are whole or nothing, and the server's troubles as faults. Nothing
 * here outlives a transaction on the server (no session settings, no named statements), so a pooler may stand in between.
 */
import pg from 'pg';
import { type Fault, type Kept, StoreFailed } from 'revisit/ports';
import { migrations } from './migrations.ts';

// Times in milliseconds and counts stay far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type Sql = Pick<pg.ClientBase, 'query'>;

/** Two transactions wanted the same row in opposite order; one of them is asked to come again. */
const comeAgain = new Set(['40001', '40P01']);
const triesMax = 5;
/** A day: no step of the schema takes longer, and a timer takes no more than 24. */
const stepMsMax = 86_400_000;
/** Between two tries to reach a server that is away. */
const restMsMax = 2_000;

export type Connected =
  | { readonly kind: 'connected'; readonly connection: Connection }
  | {
      readonly kind: 'failed';
      readonly sentence: string;
      /** Whether it is there no more or not yet. */ readonly away: boolean;
    };

export function faultOf(error: unknown): Fault {
  if (error instanceof StoreFailed) return error.fault;
  const code = (error as { code?: unknown }).code;
  const message = error instanceof Error ? error.message : String(error);
  if (code === '53100')
    return { code: 'disk-full', sentence: "The database server's disk is full; nothing was changed." };
  if (code === '25006')
    return { code: 'disk-read-only', sentence: 'The database server takes no changes (read-only).' };
  // Classes 08, 53, 57 and the socket's own errors: the server is away, full or shutting down.
  const away = typeof code === 'string' && /^(08|53|57)|^E[A-Z]+$/.test(code);
  if (away || /terminat|timeout|connect/i.test(message))
    return { code: 'store-away', sentence: `The database server does not answer (${message}); nothing was changed.` };
  throw error;
}

export class Connection {
  readonly #pool: pg.Pool;
  readonly #begin: string;
  #hurried = false;

  constructor(pool: pg.Pool, patienceMs: number, pauseMs: number) {
    this.#pool = pool;
    // The server gives up first; where its word does not come through, so do we. Said in each transaction, because a pooler
    // takes no settings with a connection, and would give those of a session to others.
    // A process that is stopped between two statements would keep what it has locked from all others for as long.
    const settings = `SET LOCAL statement_timeout = ${patienceMs}; SET LOCAL idle_in_transaction_session_timeout = ${pauseMs}`;
    this.#begin = `BEGIN; ${settings}`;
    // A connection that breaks while idle is replaced at the next use; without a listener it would end the process.
    pool.on('error', () => {});
    // Likewise one that breaks between two statements of a transaction: the next statement tells.
    pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** Reads, and single statements that may safely run twice. While the server is away this waits for it. */
  query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.must((sql) => sql.query<Row>(text, [...values]).then((answer) => answer.rows));
  }

  /** The same with rows as arrays: giving names to each of a million rows takes longer than reading them. */
  arrays<Row extends readonly unknown[]>(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.must((sql) =>
      sql.query({ text, values: [...values], rowMode: 'array' }).then((answer) => answer.rows as never),
    );
  }

  /** All of the work or none of it, however long the server stays away. */
  must<Value>(work: (sql: Sql) => Promise<Value>): Promise<Value> {
    return this.#patiently(() => this.#transaction(work));
  }

  /** Whoever only reads has nothing better to do than to wait: a server that restarts is back within seconds. */
  async #patiently<Value>(work: () => Promise<Value>): Promise<Value> {
    for (let restMs = 100; ; restMs = Math.min(2 * restMs, restMsMax)) {
      try {
        return await work();
      } catch (error) {
        const again = comeAgain.has(String((error as { code?: unknown }).code)) || faultOf(error).code === 'store-away';
        if (!again || this.#hurried) throw error;
        await new Promise((resolve) => setTimeout(resolve, restMs));
      }
    }
  }

  /** All of the work or none of it. The work may run more than once. */
  async write<Value>(work: (sql: Sql) => Promise<Value>): Promise<Kept<Value>> {
    for (let tries = 1; ; tries++) {
      try {
        return { kind: 'kept', value: await this.#transaction(work) };
      } catch (error) {
        if (comeAgain.has(String((error as { code?: unknown }).code)) && tries < triesMax) continue;
        return { kind: 'failed', fault: faultOf(error) };
      }
    }
  }

  async #transaction<Value>(work: (sql: Sql) => Promise<Value>): Promise<Value> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query(this.#begin);
      const value = await work(client);
      await client.query('COMMIT');
      return value;
    } catch (error) {
      broken = error as Error;
      // A statement that was given up may still hold its connection: whatever is said there would wait behind it.
      if (!/timeout/i.test(broken.message))
        await client.query('ROLLBACK').then(
          () => (broken = undefined),
          () => {},
        );
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** From now on nobody waits for a server that is away: the process wants to end. */
  hurry(): void {
    this.#hurried = true;
  }

  close(): Promise<void> {
    this.#hurried = true;
    return this.#pool.end();
  }
}

export interface ConnectOptions {
  readonly connectionsMax?: number;
  /** The longest that one statement may take. */
  readonly patienceMs?: number;
  /** The longest that a transaction may do nothing. */
  readonly pauseMs?: number;
}

/** Connects and takes the steps of the schema that are missing, one process at a time. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Connected> {
  const { connectionsMax = 8, patienceMs = 20_000, pauseMs = 4_000 } = options;
  const connection = new Connection(
    new pg.Pool({
      connectionString: url,
      max: connectionsMax,
      connectionTimeoutMillis: Math.min(5_000, patienceMs),
      query_timeout: patienceMs + 500,
      keepAlive: true,
    }),
    patienceMs,
    pauseMs,
  );
  try {
    const outcome = await connection.write(migrate);
    if (outcome.kind === 'kept' && outcome.value === undefined) return { kind: 'connected', connection };
    await connection.close();
    if (outcome.kind === 'kept') return { kind: 'failed', sentence: outcome.value!, away: false };
    return { kind: 'failed', sentence: outcome.fault.sentence, away: outcome.fault.code === 'store-away' };
  } catch (error) {
    await connection.close();
    return { kind: 'failed', sentence: `The database cannot be used: ${(error as Error).message}.`, away: false };
  }
}

const patient = (text: string): pg.QueryConfig & { readonly query_timeout: number } => ({
  text,
  query_timeout: stepMsMax,
});

/** Says what is wrong, or nothing. */
async function migrate(sql: Sql): Promise<string | undefined> {
  // Held until this transaction ends: two coordinators that start together migrate one after the other.
  await sql.query(`SELECT pg_advisory_xact_lock(hashtext('revisit schema'))`);
  await sql.query('CREATE TABLE IF NOT EXISTS schema_steps (taken integer NOT NULL)');
  const { rows } = await sql.query<{ taken: number }>('SELECT taken FROM schema_steps');
  const taken = rows[0]?.taken ?? 0;
  if (taken > migrations.length)
    return `The database was written by a newer version of revisit (schema ${taken}, this one knows ${migrations.length}).`;
  // A step may write a large table anew, which takes longer than any statement of the day's work may.
  await sql.query('SET LOCAL statement_timeout = 0');
  for (let step = taken; step < migrations.length; step++) await sql.query(patient(migrations[step]!));
  if (rows.length === 0) await sql.query('INSERT INTO schema_steps VALUES ($1)', [migrations.length]);
  else await sql.query('UPDATE schema_steps SET taken = $1', [migrations.length]);
  return undefined;
}
