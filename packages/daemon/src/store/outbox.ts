/** The outbox in SQLite. `plan` runs inside the transaction that keeps the change. */
import { setImmediate as others } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import type { Change } from '../values/change.ts';
import { StoreFailed } from '../values/fault.ts';
import type { Attempt, Delivery, Exceptions, Outbox, PlannedDelivery } from '../values/outbox.ts';
import type { Subscription, SubscriptionSettings } from '../values/subscription.ts';
import {
  deliveryOf,
  edited,
  newDelivery,
  notByTheHour,
  settledValues,
  subscriptionOf,
  subscriptionRow,
  type DeliveryRow,
  type SubscriptionRow,
} from './outbox-rows.ts';
import { faultOf } from './sqlite-faults.ts';

/** Few enough that whatever else waits does so for milliseconds. */
const forgetBatch = 500;

interface Row extends DeliveryRow {
  readonly n: number;
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

  /** Rejects with `StoreFailed` where the disk does not take it. */
  #write<Value>(work: () => Value): Promise<Value> {
    try {
      return Promise.resolve(work());
    } catch (error) {
      return Promise.reject(new StoreFailed(faultOf(error)));
    }
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

  #create(change: Change, subscriptionId: string, dueMs: number, bundle: string | undefined, nowMs: number): number {
    const { lastInsertRowid } = this.#sql(
      `INSERT INTO deliveries (id, subscription, lane, bundle, status, due, planned_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ).run(...newDelivery(subscriptionId, change, dueMs, bundle, nowMs));
    return Number(lastInsertRowid);
  }

  subscriptions(): Promise<readonly Subscription[]> {
    const rows = this.#sql('SELECT * FROM subscriptions ORDER BY created_at, id').all();
    return Promise.resolve((rows as SubscriptionRow[]).map(subscriptionOf));
  }

  addSubscription(settings: SubscriptionSettings, nowMs: number): Promise<Subscription> {
    const { total } = this.#sql('SELECT count(*) AS total FROM subscriptions').get() as { total: number };
    const row = subscriptionRow(settings, nowMs, total);
    return this.#write(() => {
      this.#sql('INSERT INTO subscriptions VALUES (?, ?, ?)').run(row.id, row.created_at, row.settings);
      return subscriptionOf(row);
    });
  }

  updateSubscription(id: string, settings: Partial<SubscriptionSettings>): Promise<Subscription | undefined> {
    const row = this.#sql('SELECT * FROM subscriptions WHERE id = ?').get(id) as SubscriptionRow | undefined;
    if (!row) return Promise.resolve(undefined);
    const after = edited(row, settings);
    return this.#write(() => {
      this.#sql('UPDATE subscriptions SET settings = ? WHERE id = ?').run(after.settings, id);
      return subscriptionOf(after);
    });
  }

  removeSubscription(id: string): Promise<boolean> {
    return this.#write(() => this.#sql('DELETE FROM subscriptions WHERE id = ?').run(id).changes > 0);
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
    return this.#write(() => take.immediate().map((row) => this.#delivery(row)));
  }

  hasten(subscriptionId: string, nowMs: number): Promise<void> {
    return this.#write(() => {
      this.#sql(
        `UPDATE deliveries SET due = ? WHERE subscription = ? AND status = 'due' AND attempts > 0 AND due > ?`,
      ).run(nowMs, subscriptionId, nowMs);
    });
  }

  hastenAll(nowMs: number): Promise<void> {
    return this.#write(() => {
      this.#sql(`UPDATE deliveries SET due = ? WHERE status IN ('open', 'due') AND ${notByTheHour} AND due > ?`).run(
        nowMs,
        nowMs,
      );
    });
  }

  nextDueMs(afterMs = -1): Promise<number | undefined> {
    const row = this.#sql(`SELECT min(due) AS due FROM deliveries WHERE status IN ('open', 'due') AND due > ?`).get(
      afterMs,
    ) as { due: number | null };
    return Promise.resolve(row.due ?? undefined);
  }

  settle(id: string, attempt: Attempt, nowMs: number): Promise<void> {
    const values = settledValues(attempt, nowMs);
    return this.#write(() => {
      this.#sql(
        `UPDATE deliveries SET status = ?, attempts = attempts + 1, first_tried = coalesce(first_tried, ?),
           due = coalesce(?, due), settled_at = ?, fault_code = ?, fault_sentence = ?
         WHERE id = ? AND status = 'due'`,
      ).run(values.status, nowMs, values.due, values.settledAt, values.faultCode, values.faultSentence, id);
    });
  }

  deliveries(query: Parameters<Outbox['deliveries']>[0]): Promise<readonly Delivery[]> {
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
    return this.#write(() => {
      const { changes } = this.#sql(
        `UPDATE deliveries SET status = 'due', due = ?, first_tried = NULL, settled_at = NULL WHERE id = ? AND status = 'dead'`,
      ).run(nowMs, id);
      return changes > 0;
    });
  }

  changesOf(delivery: Delivery): Promise<readonly Change[]> {
    const rows = this.#sql(
      `SELECT entry FROM deliveries JOIN delivered_changes ON delivery = n JOIN changes USING (sequence)
       WHERE deliveries.id = ? ORDER BY sequence`,
    ).all(delivery.id) as { entry: string }[];
    return Promise.resolve(rows.map((row) => JSON.parse(row.entry) as Change));
  }

  async forget(settledBeforeMs: number): Promise<number> {
    for (let gone = 0; ;) {
      const batch = await this.#write(
        () =>
          this.#sql(
            `DELETE FROM deliveries WHERE n IN (SELECT n FROM deliveries WHERE settled_at < ? LIMIT ${forgetBatch})`,
          ).run(settledBeforeMs).changes,
      );
      gone += batch;
      if (batch < forgetBatch) return gone;
      await others();
    }
  }

  #delivery(row: Row): Delivery {
    const sequences = this.#sql('SELECT sequence FROM delivered_changes WHERE delivery = ? ORDER BY sequence').all(
      row.n,
    ) as { sequence: number }[];
    return deliveryOf(
      row,
      sequences.map(({ sequence }) => sequence),
    );
  }
}
