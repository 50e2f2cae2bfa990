/** The outbox in PostgreSQL. `planDeliveries` runs inside the transaction that keeps the change. */
import {
  type Attempt,
  type Change,
  type Delivery,
  type DeliveryRow,
  type Exceptions,
  type Outbox,
  type PlannedDelivery,
  type Subscription,
  type SubscriptionRow,
  type SubscriptionSettings,
  deliveryOf,
  edited,
  newDelivery,
  notByTheHour,
  settledValues,
  subscriptionOf,
  subscriptionRow,
} from 'revisit/ports';
import type { Connection, Sql } from './connection.ts';

/** Few enough that nobody waits for them. */
const forgetBatch = 500;

interface Row extends DeliveryRow {
  readonly sequences: readonly number[] | null;
}

const columns = `d.*, (SELECT array_agg(sequence::float8 ORDER BY sequence) FROM delivered_changes WHERE delivery = d.n) AS sequences`;

const told = (row: Row): Delivery => deliveryOf(row, row.sequences ?? []);

export interface Planned {
  readonly change: Change;
  readonly deliveries: readonly PlannedDelivery[];
  readonly nowMs: number;
}

/** A message that is to be written, and the changes it tells; `n` once it has a row. */
interface Message {
  readonly row: (string | number | null)[] | undefined;
  n: number | undefined;
  readonly dueMs: number;
  readonly sequences: number[];
}

/** However many changes and messages, in four statements. */
export async function planDeliveries(sql: Sql, planned: readonly Planned[]): Promise<void> {
  const wanted = new Set(planned.flatMap(({ deliveries }) => deliveries.map(({ subscriptionId }) => subscriptionId)));
  if (wanted.size === 0) return;
  // A subscription may have been removed while the look was under way.
  const { rows } = await sql.query<{ id: string }>(
    'SELECT id FROM subscriptions WHERE id = ANY ($1) ORDER BY id FOR SHARE',
    [[...wanted]],
  );
  const known = new Set(rows.map((row) => row.id));
  const gathering = await openBundles(sql, planned);
  const messages = new Set<Message>(gathering.values());
  for (const { change, deliveries, nowMs } of planned)
    for (const { subscriptionId, dueMs, bundle } of deliveries) {
      if (!known.has(subscriptionId)) continue;
      const key = bundle === undefined ? undefined : keyOf(subscriptionId, bundle);
      const open = key === undefined ? undefined : gathering.get(key);
      const joins = open !== undefined && open.dueMs > nowMs;
      const row = joins ? undefined : newDelivery(subscriptionId, change, dueMs, bundle, nowMs);
      const message: Message = joins ? open : { row, n: undefined, dueMs, sequences: [] };
      message.sequences.push(change.sequence);
      messages.add(message);
      if (key !== undefined) gathering.set(key, message);
    }
  await writeMessages(sql, [...messages]);
}

const keyOf = (subscription: string, bundle: string): string => `${subscription}\n${bundle}`;

/** Messages that still gather changes, by subscription and bundle; the newest where there are several. */
async function openBundles(sql: Sql, planned: readonly Planned[]): Promise<Map<string, Message>> {
  const bundles = planned.flatMap(({ deliveries }) => deliveries.filter(({ bundle }) => bundle !== undefined));
  if (bundles.length === 0) return new Map();
  const { rows } = await sql.query<{ n: number; subscription: string; bundle: string; due: number }>(
    `SELECT n, subscription, bundle, due FROM deliveries WHERE status = 'open'
       AND (subscription, bundle) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY n FOR UPDATE`,
    [bundles.map(({ subscriptionId }) => subscriptionId), bundles.map(({ bundle }) => bundle)],
  );
  return new Map(
    rows.map(({ n, subscription, bundle, due }) => [
      keyOf(subscription, bundle),
      { row: undefined, n, dueMs: due, sequences: [] },
    ]),
  );
}

async function writeMessages(sql: Sql, messages: readonly Message[]): Promise<void> {
  const fresh = messages.flatMap((message) => (message.row ? [{ message, row: message.row }] : []));
  if (fresh.length > 0) {
    const types = ['text', 'text', 'text', 'text', 'text', 'bigint', 'bigint'];
    const { rows } = await sql.query<{ n: number; id: string }>(
      `INSERT INTO deliveries (id, subscription, lane, bundle, status, due, planned_at)
       SELECT id, subscription, lane, bundle, status, due, planned_at
       FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')}) WITH ORDINALITY
         AS new (id, subscription, lane, bundle, status, due, planned_at, place) ORDER BY place RETURNING n, id`,
      types.map((_, column) => fresh.map(({ row }) => row[column])),
    );
    const numbers = new Map(rows.map(({ n, id }) => [id, n]));
    for (const { message, row } of fresh) message.n = numbers.get(String(row[0]));
  }
  const told = messages.flatMap(({ n, sequences }) => sequences.map((sequence) => ({ n, sequence })));
  await sql.query(
    'INSERT INTO delivered_changes SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING',
    [told.map(({ n }) => n), told.map(({ sequence }) => sequence)],
  );
}

export class PostgresOutbox implements Outbox {
  readonly #connection: Connection;
  readonly #carries: () => boolean;

  constructor(connection: Connection, carries: () => boolean) {
    this.#connection = connection;
    this.#carries = carries;
  }

  async subscriptions(): Promise<readonly Subscription[]> {
    const rows = await this.#connection.query<SubscriptionRow & Record<string, unknown>>(
      'SELECT * FROM subscriptions ORDER BY created_at, id',
    );
    return rows.map(subscriptionOf);
  }

  async subscriptionsMark(): Promise<string> {
    const rows = await this.#connection.query<{ mark: string | null }>(
      `SELECT md5(string_agg(id || settings, ',' ORDER BY id)) AS mark FROM subscriptions`,
    );
    return rows[0]!.mark ?? '';
  }

  addSubscription(settings: SubscriptionSettings, nowMs: number): Promise<Subscription> {
    return this.#connection.must(async (sql) => {
      const { rows } = await sql.query<{ total: number }>('SELECT count(*) AS total FROM subscriptions');
      const row = subscriptionRow(settings, nowMs, rows[0]!.total);
      await sql.query('INSERT INTO subscriptions VALUES ($1, $2, $3)', [row.id, row.created_at, row.settings]);
      return subscriptionOf(row);
    });
  }

  updateSubscription(id: string, settings: Partial<SubscriptionSettings>): Promise<Subscription | undefined> {
    return this.#connection.must(async (sql) => {
      const { rows } = await sql.query<SubscriptionRow>('SELECT * FROM subscriptions WHERE id = $1 FOR UPDATE', [id]);
      if (!rows[0]) return undefined;
      const after = edited(rows[0], settings);
      await sql.query('UPDATE subscriptions SET settings = $1 WHERE id = $2', [after.settings, id]);
      return subscriptionOf(after);
    });
  }

  async removeSubscription(id: string): Promise<boolean> {
    return (await this.#connection.query('DELETE FROM subscriptions WHERE id = $1 RETURNING id', [id])).length > 0;
  }

  due(nowMs: number, limit: number, except: Exceptions): Promise<readonly Delivery[]> {
    // One coordinator carries the messages; the others keep them.
    if (!this.#carries()) return Promise.resolve([]);
    return this.#connection.must(async (sql) => {
      await sql.query(`UPDATE deliveries SET status = 'due' WHERE status = 'open' AND due <= $1`, [nowMs]);
      // Messages of one page each wait behind those of the same page and behind gathered ones; a gathered one behind all.
      const { rows } = await sql.query<Row>(
        `SELECT ${columns} FROM deliveries AS d WHERE status = 'due' AND due <= $1
         AND NOT (d.id = ANY ($3)) AND NOT (d.subscription = ANY ($4))
         AND NOT EXISTS (SELECT 1 FROM deliveries AS e WHERE e.status IN ('open', 'due')
           AND e.subscription = d.subscription AND e.lane = d.lane AND e.n < d.n)
         AND NOT EXISTS (SELECT 1 FROM deliveries AS e WHERE e.status IN ('open', 'due')
           AND e.subscription = d.subscription AND e.lane = '' AND e.n < d.n)
         AND (d.lane <> '' OR NOT EXISTS (SELECT 1 FROM deliveries AS e WHERE e.status IN ('open', 'due')
           AND e.subscription = d.subscription AND e.n < d.n))
         ORDER BY due, n LIMIT $2`,
        [nowMs, limit, [...except.deliveries], [...except.subscriptions]],
      );
      return rows.map(told);
    });
  }

  async hasten(subscriptionId: string, nowMs: number): Promise<void> {
    await this.#connection.query(
      `UPDATE deliveries SET due = $1 WHERE subscription = $2 AND status = 'due' AND attempts > 0 AND due > $1`,
      [nowMs, subscriptionId],
    );
  }

  async hastenAll(nowMs: number): Promise<void> {
    await this.#connection.query(
      `UPDATE deliveries SET due = $1 WHERE status IN ('open', 'due') AND ${notByTheHour} AND due > $1`,
      [nowMs],
    );
  }

  async nextDueMs(afterMs = -1): Promise<number | undefined> {
    const rows = await this.#connection.query<{ due: number | null }>(
      `SELECT min(due) AS due FROM deliveries WHERE status IN ('open', 'due') AND due > $1`,
      [afterMs],
    );
    return rows[0]?.due ?? undefined;
  }

  async settle(id: string, attempt: Attempt, nowMs: number): Promise<void> {
    const values = settledValues(attempt, nowMs);
    await this.#connection.query(
      `UPDATE deliveries SET status = $1, attempts = attempts + 1, first_tried = coalesce(first_tried, $2),
         due = coalesce($3, due), settled_at = $4, fault_code = $5, fault_sentence = $6
       WHERE id = $7 AND status = 'due'`,
      [values.status, nowMs, values.due, values.settledAt, values.faultCode, values.faultSentence, id],
    );
  }

  async deliveries(query: Parameters<Outbox['deliveries']>[0]): Promise<readonly Delivery[]> {
    const conditions = ['n < coalesce((SELECT n FROM deliveries WHERE id = $1), 9000000000000000)'];
    const values: unknown[] = [query.before ?? ''];
    if (query.status !== undefined) conditions.push(`status = $${values.push(query.status)}`);
    if (query.subscriptionId !== undefined) conditions.push(`subscription = $${values.push(query.subscriptionId)}`);
    const rows = await this.#connection.query<Row & Record<string, unknown>>(
      `SELECT ${columns} FROM deliveries AS d WHERE ${conditions.join(' AND ')} ORDER BY n DESC LIMIT $${values.push(query.limit)}`,
      values,
    );
    return rows.map(told);
  }

  async replay(id: string, nowMs: number): Promise<boolean> {
    const rows = await this.#connection.query(
      `UPDATE deliveries SET status = 'due', due = $1, first_tried = NULL, settled_at = NULL WHERE id = $2 AND status = 'dead' RETURNING id`,
      [nowMs, id],
    );
    return rows.length > 0;
  }

  async forget(settledBeforeMs: number): Promise<number> {
    if (!this.#carries()) return 0;
    for (let gone = 0; ;) {
      const batch = await this.#connection.query(
        `DELETE FROM deliveries WHERE n IN (SELECT n FROM deliveries WHERE settled_at < $1 LIMIT ${forgetBatch}) RETURNING n`,
        [settledBeforeMs],
      );
      gone += batch.length;
      if (batch.length < forgetBatch) return gone;
    }
  }

  async changesOf(delivery: Delivery): Promise<readonly Change[]> {
    const rows = await this.#connection.query<{ entry: string }>(
      `SELECT entry FROM deliveries JOIN delivered_changes ON delivery = n JOIN changes USING (sequence)
       WHERE deliveries.id = $1 ORDER BY sequence`,
      [delivery.id],
    );
    return rows.map((row) => JSON.parse(row.entry) as Change);
  }
}
