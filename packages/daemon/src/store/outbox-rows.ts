/** Rows of the outbox, as every store keeps them, and what they mean. */
import { createHash } from 'node:crypto';
import type { Attempt, Delivery, DeliveryStatus } from '../values/outbox.ts';
import type { Subscription, SubscriptionSettings } from '../values/subscription.ts';

export interface DeliveryRow {
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

export interface SubscriptionRow {
  readonly id: string;
  readonly created_at: number;
  readonly settings: string;
}

/** Deliveries that go out at once, again, or with a burst; digests and quiet hours end when the clock on the wall says so. */
export const notByTheHour = `(bundle IS NULL OR bundle = 'burst' OR attempts > 0)`;

export function deliveryOf(row: DeliveryRow, sequences: readonly number[]): Delivery {
  return {
    id: row.id,
    subscriptionId: row.subscription,
    status: row.status as DeliveryStatus,
    sequences,
    dueMs: row.due,
    attempts: row.attempts,
    plannedAtMs: row.planned_at,
    ...(row.first_tried === null ? {} : { firstTriedMs: row.first_tried }),
    ...(row.settled_at === null ? {} : { settledMs: row.settled_at }),
    ...(row.fault_code === null ? {} : { fault: { code: row.fault_code, sentence: row.fault_sentence ?? '' } }),
  };
}

/** A new delivery's values: id, subscription, lane, bundle, status, due, planned at. */
export function newDelivery(
  subscriptionId: string,
  change: { readonly id: string; readonly pageId: string },
  dueMs: number,
  bundle: string | undefined,
  nowMs: number,
): (string | number | null)[] {
  // The id follows from the subscription and the first change, so it is the same whenever it is planned.
  const id = createHash('sha256').update(`${subscriptionId}\n${change.id}`).digest('hex').slice(0, 24);
  const gathers = bundle !== undefined;
  return [id, subscriptionId, gathers ? '' : change.pageId, bundle ?? null, gathers ? 'open' : 'due', dueMs, nowMs];
}

/** What an attempt leaves in the row: status, due (null leaves it), settled at, fault. */
export function settledValues(attempt: Attempt, nowMs: number) {
  const fault = attempt.kind === 'taken' ? undefined : attempt.fault;
  return {
    status: attempt.kind === 'taken' ? 'sent' : attempt.kind === 'dead' ? 'dead' : 'due',
    due: attempt.kind === 'later' ? attempt.dueMs : null,
    settledAt: attempt.kind === 'later' ? null : nowMs,
    faultCode: fault?.code ?? null,
    faultSentence: fault?.sentence ?? null,
  };
}

export function subscriptionOf(row: SubscriptionRow): Subscription {
  return { ...(JSON.parse(row.settings) as SubscriptionSettings), id: row.id, createdAtMs: row.created_at };
}

/** `total`: how many there are already, so that two alike made in one moment differ. */
export function subscriptionRow(settings: SubscriptionSettings, nowMs: number, total: number): SubscriptionRow {
  const text = JSON.stringify(settings);
  const id = createHash('sha256').update(`${nowMs}\n${total}\n${text}`).digest('hex').slice(0, 16);
  return { id, created_at: nowMs, settings: text };
}

/** The row with some settings replaced; those given as undefined go. */
export function edited(row: SubscriptionRow, settings: Partial<SubscriptionSettings>): SubscriptionRow {
  const before = JSON.parse(row.settings) as SubscriptionSettings;
  return { ...row, settings: JSON.stringify({ ...before, ...settings }) };
}
