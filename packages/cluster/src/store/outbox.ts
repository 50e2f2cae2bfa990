/** The outbox in PostgreSQL. `planDeliveries` runs inside the transaction that keeps the change. */
import { createHash } from 'node:crypto';
import type {
  Attempt,
  Change,
  Delivery,
  DeliveryStatus,
  Exceptions,
  Outbox,
  PlannedDelivery,
  Subscription,
  SubscriptionSettings,
} from 'revisit/ports';
import type { Connection, Sql } from './connection.ts';

interface Row {
  readonly id: string;
  readonly subscription: string;
  readonly status: string;
  readonly due: number;
  readonly attempts: number;
  readonly planned_at: number;
  readonly first_tried: number | null;
  readonly settled_at: number | null;
  readonly fault_code: string | null;
  readonly fault_sentence: string | null;
  readonly sequences: readonly number[] | null;
}

interface SubscriptionRow {
  readonly id: string;
  readonly created_at: number;
  readonly settings: string;
}

const columns = `d.*, (SELECT array_agg(sequence::float8 ORDER BY sequence) FROM delivered_changes WHERE delivery = d.n) AS sequences`;

function subscriptionOf(row: SubscriptionRow): Subscription {
  return { ...(JSON.parse(row.settings) as SubscriptionSettings), id: row.id, createdAtMs: row.created_at };
}

function deliveryOf(row: Row): Delivery {
  return {
    id: row.id,
    subscriptionId: row.subscription,
    status: row.status as DeliveryStatus,
    sequences: row.sequences ?? [],
    dueMs: row.due,
    attempts: row.attempts,
    plannedAtMs: row.planned_at,
    ...(row.first_tried === null ? {} : { firstTriedMs: row.first_tried }),
    ...(row.settled_at === null ? {} : { settledMs: row.settled_at }),
    ...(row.fault_code === null ? {} : { fault: { code: row.fault_code, sentence: row.fault_sentence ?? '' } }),
  };
}

/** The id follows from the subscription and the first change, so it is the same whenever it is planned. */
export async function planDeliveries(
  sql: Sql,
  change: Change,
  planned: readonly PlannedDelivery[],
  nowMs: number,
): Promise<void> {
  for (const { subscriptionId, dueMs, bundle } of planned) {
    const known = await sql.query('SELECT 1 FROM subscriptions WHERE id = $1 FOR SHARE', [subscriptionId]);
    // The subscription may have been removed while the look was under way.
    if (known.rows.length === 0) continue;
    const open =
      bundle === undefined
        ? []
        : (
            await sql.query<{ n: number }>(
              `SELECT n FROM deliveries WHERE subscription = $1 AND bundle = $2 AND status = 'open' AND due > $3 ORDER BY n DESC LIMIT 1 FOR UPDATE`,
              [subscriptionId, bundle, nowMs],
            )
          ).rows;
    const id = createHash('sha256').update(`${subscriptionId}\n${change.id}`).digest('hex').slice(0, 24);
    const created =
      open[0] ??
      (
        await sql.query<{ n: number }>(
          `INSERT INTO deliveries (id, subscription, lane, bundle, status, due, planned_at) VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING n`,
          [
            id,
            subscriptionId,
            bundle === undefined ? change.pageId : '',
            bundle ?? null,
            bundle === undefined ? 'due' : 'open',
            dueMs,
            nowMs,
          ],
        )
      ).rows[0]!;
    await sql.query('INSERT INTO delivered_changes VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      created.n,
      change.sequence,
    ]);
  }
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

  addSubscription(settings: SubscriptionSettings, nowMs: number): Promise<Subscription> {
    return this.#connection.must(async (sql) => {
      const text = JSON.stringify(settings);
      const { rows } = await sql.query<{ total: number }>('SELECT count(*) AS total FROM subscriptions');
      const id = createHash('sha256').update(`${nowMs}\n${rows[0]!.total}\n${text}`).digest('hex').slice(0, 16);
      await sql.query('INSERT INTO subscriptions VALUES ($1, $2, $3)', [id, nowMs, text]);
      return { id, createdAtMs: nowMs, ...settings };
    });
  }

  updateSubscription(id: string, settings: Partial<SubscriptionSettings>): Promise<Subscription | undefined> {
    return this.#connection.must(async (sql) => {
      const { rows } = await sql.query<SubscriptionRow>('SELECT * FROM subscriptions WHERE id = $1 FOR UPDATE', [id]);
      if (!rows[0]) return undefined;
      const text = JSON.stringify({ ...(JSON.parse(rows[0].settings) as SubscriptionSettings), ...settings });
      await sql.query('UPDATE subscriptions SET settings = $1 WHERE id = $2', [text, id]);
      return subscriptionOf({ ...rows[0], settings: text });
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
      return rows.map(deliveryOf);
    });
  }

  async hasten(subscriptionId: string, nowMs: number): Promise<void> {
    await this.#connection.query(
      `UPDATE deliveries SET due = $1 WHERE subscription = $2 AND status = 'due' AND attempts > 0 AND due > $1`,
      [nowMs, subscriptionId],
    );
  }

  async nextDueMs(): Promise<number | undefined> {
    const rows = await this.#connection.query<{ due: number | null }>(
      `SELECT min(due) AS due FROM deliveries WHERE status IN ('open', 'due')`,
    );
    return rows[0]?.due ?? undefined;
  }

  async settle(id: string, attempt: Attempt, nowMs: number): Promise<void> {
    const status = attempt.kind === 'taken' ? 'sent' : attempt.kind === 'dead' ? 'dead' : 'due';
    const fault = attempt.kind === 'taken' ? undefined : attempt.fault;
    await this.#connection.query(
      `UPDATE deliveries SET status = $1, attempts = attempts + 1, first_tried = coalesce(first_tried, $2),
         due = coalesce($3, due), settled_at = $4, fault_code = $5, fault_sentence = $6
       WHERE id = $7 AND status = 'due'`,
      [
        status,
        nowMs,
        attempt.kind === 'later' ? attempt.dueMs : null,
        attempt.kind === 'later' ? null : nowMs,
        fault?.code ?? null,
        fault?.sentence ?? null,
        id,
      ],
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
    return rows.map(deliveryOf);
  }

  async replay(id: string, nowMs: number): Promise<boolean> {
    const rows = await this.#connection.query(
      `UPDATE deliveries SET status = 'due', due = $1, first_tried = NULL, settled_at = NULL WHERE id = $2 AND status = 'dead' RETURNING id`,
      [nowMs, id],
    );
    return rows.length > 0;
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
