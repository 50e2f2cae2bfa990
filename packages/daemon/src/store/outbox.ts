/** The outbox in SQLite. `plan` runs inside the transaction that keeps the change. */
import { createHash } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { Change } from '../values/change.ts';
import type { Attempt, Delivery, DeliveryStatus, Exceptions, Outbox, PlannedDelivery } from '../values/outbox.ts';
import type { Subscription, SubscriptionSettings } from '../values/subscription.ts';

interface Row {
  readonly n: number;
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
}

export class SqliteOutbox implements Outbox {
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement<unknown[]>>();

  constructor(db: Database.Database) {
    this.#db = db;
  }

  #sql(text: string): Database.Statement<unknown[]> {
    let statement = this.#statements.get(text);
    if (!statement) this.#statements.set(text, (statement = this.#db.prepare(text)));
    return statement;
  }

  plan(change: Change, planned: readonly PlannedDelivery[], nowMs: number): void {
    for (const { subscriptionId, dueMs, bundle } of planned) {
      // The subscription may have been removed while the look was under way.
      if (!this.#sql('SELECT 1 FROM subscriptions WHERE id = ?').get(subscriptionId)) continue;
      const open =
        bundle === undefined
          ? undefined
          : (this.#sql(
              `SELECT n FROM deliveries WHERE subscription = ? AND bundle = ? AND status = 'open' AND due > ? ORDER BY n DESC`,
            ).get(subscriptionId, bundle, nowMs) as { n: number } | undefined);
      const n = open?.n ?? this.#create(change, subscriptionId, dueMs, bundle, nowMs);
      this.#sql('INSERT OR IGNORE INTO delivered_changes VALUES (?, ?)').run(n, change.sequence);
    }
  }

  /** The id follows from the subscription and the first change, so it is the same whenever it is planned. */
  #create(change: Change, subscriptionId: string, dueMs: number, bundle: string | undefined, nowMs: number): number {
    const id = createHash('sha256').update(`${subscriptionId}\n${change.id}`).digest('hex').slice(0, 24);
    const { lastInsertRowid } = this.#sql(
      `INSERT INTO deliveries (id, subscription, lane, bundle, status, due, planned_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      id,
      subscriptionId,
      bundle === undefined ? change.pageId : '',
      bundle ?? null,
      bundle === undefined ? 'due' : 'open',
      dueMs,
      nowMs,
    );
    return Number(lastInsertRowid);
  }

  subscriptions(): Promise<readonly Subscription[]> {
    const rows = this.#sql('SELECT * FROM subscriptions ORDER BY created_at, id').all();
    return Promise.resolve((rows as SubscriptionRow[]).map(subscriptionOf));
  }

  addSubscription(settings: SubscriptionSettings, nowMs: number): Promise<Subscription> {
    const text = JSON.stringify(settings);
    const { total } = this.#sql('SELECT count(*) AS total FROM subscriptions').get() as { total: number };
    const id = createHash('sha256').update(`${nowMs}\n${total}\n${text}`).digest('hex').slice(0, 16);
    this.#sql('INSERT INTO subscriptions VALUES (?, ?, ?)').run(id, nowMs, text);
    return Promise.resolve({ id, createdAtMs: nowMs, ...settings });
  }

  updateSubscription(id: string, settings: Partial<SubscriptionSettings>): Promise<Subscription | undefined> {
    const row = this.#sql('SELECT * FROM subscriptions WHERE id = ?').get(id) as SubscriptionRow | undefined;
    if (!row) return Promise.resolve(undefined);
    const text = JSON.stringify({ ...(JSON.parse(row.settings) as SubscriptionSettings), ...settings });
    this.#sql('UPDATE subscriptions SET settings = ? WHERE id = ?').run(text, id);
    return Promise.resolve(subscriptionOf({ ...row, settings: text }));
  }

  removeSubscription(id: string): Promise<boolean> {
    return Promise.resolve(this.#sql('DELETE FROM subscriptions WHERE id = ?').run(id).changes > 0);
  }

  due(nowMs: number, limit: number, except: Exceptions): Promise<readonly Delivery[]> {
    const take = this.#db.transaction(() => {
      this.#sql(`UPDATE deliveries SET status = 'due' WHERE status = 'open' AND due <= ?`).run(nowMs);
      // Messages of one page each wait behind those of the same page and behind gathered ones; a gathered one behind all.
      return this.#sql(
        `SELECT * FROM deliveries AS d WHERE status = 'due' AND due <= ?
         AND subscription NOT IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT value FROM json_each(?))
         AND NOT EXISTS (SELECT 1 FROM deliveries AS e WHERE e.status IN ('open', 'due')
           AND e.subscription = d.subscription AND e.lane = d.lane AND e.n < d.n)
         AND NOT EXISTS (SELECT 1 FROM deliveries AS e WHERE e.status IN ('open', 'due')
           AND e.subscription = d.subscription AND e.lane = '' AND e.n < d.n)
         AND (d.lane <> '' OR NOT EXISTS (SELECT 1 FROM deliveries AS e WHERE e.status IN ('open', 'due')
           AND e.subscription = d.subscription AND e.n < d.n))
         ORDER BY due, n LIMIT ?`,
      ).all(nowMs, JSON.stringify([...except.subscriptions]), JSON.stringify([...except.deliveries]), limit) as Row[];
    });
    return Promise.resolve(take.immediate().map((row) => this.#delivery(row)));
  }

  hasten(subscriptionId: string, nowMs: number): Promise<void> {
    this.#sql(
      `UPDATE deliveries SET due = ? WHERE subscription = ? AND status = 'due' AND attempts > 0 AND due > ?`,
    ).run(nowMs, subscriptionId, nowMs);
    return Promise.resolve();
  }

  nextDueMs(): Promise<number | undefined> {
    const row = this.#sql(`SELECT min(due) AS due FROM deliveries WHERE status IN ('open', 'due')`).get() as {
      due: number | null;
    };
    return Promise.resolve(row.due ?? undefined);
  }

  settle(id: string, attempt: Attempt, nowMs: number): Promise<void> {
    const status = attempt.kind === 'taken' ? 'sent' : attempt.kind === 'dead' ? 'dead' : 'due';
    const fault = attempt.kind === 'taken' ? undefined : attempt.fault;
    this.#sql(
      `UPDATE deliveries SET status = ?, attempts = attempts + 1, first_tried = coalesce(first_tried, ?),
         due = coalesce(?, due), settled_at = ?, fault_code = ?, fault_sentence = ?
       WHERE id = ? AND status = 'due'`,
    ).run(
      status,
      nowMs,
      attempt.kind === 'later' ? attempt.dueMs : null,
      attempt.kind === 'later' ? null : nowMs,
      fault?.code ?? null,
      fault?.sentence ?? null,
      id,
    );
    return Promise.resolve();
  }

  deliveries(query: {
    readonly status?: DeliveryStatus;
    readonly subscriptionId?: string;
    readonly limit: number;
    readonly before?: string;
  }): Promise<readonly Delivery[]> {
    const conditions = ['n < coalesce((SELECT n FROM deliveries WHERE id = ?), 9e15)'];
    const values: unknown[] = [query.before ?? ''];
    if (query.status !== undefined) {
      conditions.push('status = ?');
      values.push(query.status);
    }
    if (query.subscriptionId !== undefined) {
      conditions.push('subscription = ?');
      values.push(query.subscriptionId);
    }
    const rows = this.#sql(`SELECT * FROM deliveries WHERE ${conditions.join(' AND ')} ORDER BY n DESC LIMIT ?`).all(
      ...values,
      query.limit,
    ) as Row[];
    return Promise.resolve(rows.map((row) => this.#delivery(row)));
  }

  replay(id: string, nowMs: number): Promise<boolean> {
    const { changes } = this.#sql(
      `UPDATE deliveries SET status = 'due', due = ?, first_tried = NULL, settled_at = NULL WHERE id = ? AND status = 'dead'`,
    ).run(nowMs, id);
    return Promise.resolve(changes > 0);
  }

  changesOf(delivery: Delivery): Promise<readonly Change[]> {
    const rows = this.#sql(
      `SELECT entry FROM deliveries JOIN delivered_changes ON delivery = n JOIN changes USING (sequence)
       WHERE deliveries.id = ? ORDER BY sequence`,
    ).all(delivery.id) as { entry: string }[];
    return Promise.resolve(rows.map((row) => JSON.parse(row.entry) as Change));
  }

  #delivery(row: Row): Delivery {
    const sequences = this.#sql('SELECT sequence FROM delivered_changes WHERE delivery = ? ORDER BY sequence').all(
      row.n,
    ) as { sequence: number }[];
    return {
      id: row.id,
      subscriptionId: row.subscription,
      status: row.status as DeliveryStatus,
      sequences: sequences.map(({ sequence }) => sequence),
      dueMs: row.due,
      attempts: row.attempts,
      plannedAtMs: row.planned_at,
      ...(row.first_tried === null ? {} : { firstTriedMs: row.first_tried }),
      ...(row.settled_at === null ? {} : { settledMs: row.settled_at }),
      ...(row.fault_code === null ? {} : { fault: { code: row.fault_code, sentence: row.fault_sentence ?? '' } }),
    };
  }
}

interface SubscriptionRow {
  readonly id: string;
  readonly created_at: number;
  readonly settings: string;
}

function subscriptionOf(row: SubscriptionRow): Subscription {
  return { ...(JSON.parse(row.settings) as SubscriptionSettings), id: row.id, createdAtMs: row.created_at };
}
