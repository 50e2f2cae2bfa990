/**
 * Messages on their way. What is to be told is planned in the transaction that keeps the change; from then on a delivery is
 * - `open`: gathering changes until it is due (digest, quiet hours, burst);
 * - `due`: its changes are fixed for ever, and it is tried until it is taken;
 * - `sent`: the receiver has taken it;
 * - `dead`: tried for days in vain, or refused for good; listed, and can be sent again by hand under the same id.
 * Months after a message has ended it is forgotten; the changes it told stay in the log.
 *
 * Its id never changes, so a receiver that gets it twice can tell.
 */
import type { Change } from './change.ts';
import type { Fault } from './fault.ts';
import type { Subscription, SubscriptionSettings } from './subscription.ts';

/** What a change means for one subscription, decided before the change is kept. */
export interface PlannedDelivery {
  readonly subscriptionId: string;
  readonly dueMs: number;
  /** Changes with the same name are gathered in one message while it is open; absent, the change is a message of its own. */
  readonly bundle?: string;
}

export type DeliveryStatus = 'open' | 'due' | 'sent' | 'dead';

export interface Delivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly status: DeliveryStatus;
  /** Positions in the log of changes, ascending. */
  readonly sequences: readonly number[];
  readonly dueMs: number;
  readonly attempts: number;
  readonly plannedAtMs: number;
  readonly firstTriedMs?: number;
  readonly settledMs?: number;
  readonly fault?: Fault;
}

export type Attempt =
  | { readonly kind: 'taken' }
  | { readonly kind: 'later'; readonly fault: Fault; readonly dueMs: number }
  | { readonly kind: 'dead'; readonly fault: Fault };

/** What is under way, and whose receivers are given a rest. */
export interface Exceptions {
  readonly deliveries: ReadonlySet<string>;
  readonly subscriptions: ReadonlySet<string>;
}

/** What writes may reject with `StoreFailed`. */
export interface Outbox {
  subscriptions(): Promise<readonly Subscription[]>;
  /** Another text whenever they are others; absent where no other process can have changed them. */
  subscriptionsMark?(): Promise<string>;
  addSubscription(settings: SubscriptionSettings, nowMs: number): Promise<Subscription>;
  updateSubscription(id: string, settings: Partial<SubscriptionSettings>): Promise<Subscription | undefined>;
  /** With everything that still waits for it. */
  removeSubscription(id: string): Promise<boolean>;

  /**
   * Deliveries that may be tried now, oldest first, their changes fixed from here on. One that shares a page with an
   * earlier one to the same subscription that is neither sent nor dead is held back: order per page is kept.
   */
  due(nowMs: number, limit: number, except: Exceptions): Promise<readonly Delivery[]>;
  /** The receiver answers again: what waits for a later try is due now. */
  hasten(subscriptionId: string, nowMs: number): Promise<void>;
  /** The clock was set back: all that waits is due now, but for what waits for a time of day. */
  hastenAll(nowMs: number): Promise<void>;
  /** When the next delivery is due, if one waits; with `afterMs`, the first that is due later than that. */
  nextDueMs(afterMs?: number): Promise<number | undefined>;
  settle(id: string, attempt: Attempt, nowMs: number): Promise<void>;
  deliveries(query: {
    readonly status?: DeliveryStatus;
    readonly subscriptionId?: string;
    readonly limit: number;
    readonly before?: string;
  }): Promise<readonly Delivery[]>;
  /** Sends a dead one again, under its id. */
  replay(id: string, nowMs: number): Promise<boolean>;
  changesOf(delivery: Delivery): Promise<readonly Change[]>;
  /** Those that were sent or given up before this time go; how many. */
  forget(settledBeforeMs: number): Promise<number>;
}
