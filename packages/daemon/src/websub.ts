/**
 * WebSub (W3C): a feed or page that names a hub is subscribed to, so that the hub tells us when it has changed. What a hub
 * sends is never taken for a copy of the page: a signed notice makes us look. Only where the daemon has a public URL.
 *
 * A subscription is `asked` (the hub has been asked, and must show that it is meant: it calls back with our own topic and
 * expects its challenge back), then `active` until its lease ends; it is asked for again before that. A hub that refuses, or
 * says no, is left alone for a day.
 *
 * Waits are lengthened only where notices have proven complete: changes that a look found after a notice count as right,
 * those that no notice had told of as wrong. From so many on, a page whose hub was hardly ever silent waits for a notice, a day at
 * most, but for one look in so many that tests it. A hub that cries wolf is heard once an hour.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Entry } from './collection.ts';
import type { LoopParts } from './loop-parts.ts';
import type { Store } from './store/port.ts';
import type { Clock } from './values/clock.ts';
import type { Hub } from './values/observation.ts';

export interface WebSubParts {
  readonly clock: Clock;
  readonly random: () => number;
  /** 128 bits and more that nobody can guess, as text. */
  readonly secret: () => string;
  /** Where hubs reach this daemon, without a slash at the end. */
  readonly publicUrl: string;
  /** Sends a form, guarded and polite as every request; answers the status, or undefined when there was no answer. */
  readonly submit: (url: string, form: Readonly<Record<string, string>>) => Promise<number | undefined>;
  readonly store: Store;
  readonly log: LoopParts['log'];
}

interface Subscription {
  readonly pageId: string;
  readonly hub: string;
  readonly topic: string;
  /** The last part of the callback: whoever knows it is the hub. */
  readonly token: string;
  readonly secret: string;
  state: 'asked' | 'active' | 'refused';
  /** When the lease ends, or a hub that was asked or said no may be asked again. */
  untilMs: number;
  noticedMs: number;
  right: number;
  wrong: number;
  /** Looks after a notice that found nothing. */
  vain?: number;
  /** How long the hub last promised to tell. */
  leaseMs?: number;
}

const dayMs = 86_400_000;
const leaseSeconds = 7 * 86_400;
/** Longer leases are renewed as if they were this long: hubs lose their memory too. */
const leaseMsMax = 30 * dayMs;
/** How long a hub may take to call back. */
const askedMs = 3_600_000;
/** How often leases are gone through; a moment for thousands. */
const renewEveryMs = 300_000;
/** However short a hub's leases are, it is not asked more often. */
const renewMsMin = 60_000;
/** After so many notices without news, and when most are, a hub is heard once in this time: its word costs us requests. */
const vainMax = 8;
const vainEveryMs = 3_600_000;
const testsMin = 8;
const wrongShareMax = 0.05;
const testEvery = 10;
/** One page with a hub in three is a feed; a collection of more is better served by looking. */
const subscriptionsMax = 10_000;

export class WebSub {
  readonly #parts: WebSubParts;
  readonly #byPage = new Map<string, Subscription>();
  readonly #byToken = new Map<string, Subscription>();
  /** Set by the loop that is to look. */
  noticed: (pageId: string) => void = () => {};

  constructor(parts: WebSubParts) {
    this.#parts = parts;
  }

  async load(): Promise<void> {
    const saved = await this.#parts.store.recall('websub');
    if (!saved) return;
    for (const subscription of JSON.parse(new TextDecoder().decode(saved)) as Subscription[]) this.#add(subscription);
  }

  #add(subscription: Subscription): void {
    const old = this.#byPage.get(subscription.pageId);
    if (old) this.#byToken.delete(old.token);
    this.#byPage.set(subscription.pageId, subscription);
    this.#byToken.set(subscription.token, subscription);
  }

  async #save(): Promise<void> {
    await this.#parts.store.remember('websub', new TextEncoder().encode(JSON.stringify([...this.#byPage.values()])));
  }

  get active(): number {
    return [...this.#byPage.values()].filter(({ state }) => state === 'active').length;
  }

  /** An answer named a hub, or none. */
  async found(entry: Entry, hub: Hub | undefined): Promise<void> {
    const { clock, secret } = this.#parts;
    if (!hub || entry.page.headers) return;
    const pageId = entry.page.id;
    const known = this.#byPage.get(pageId);
    if (known && known.hub === hub.hub && known.topic === hub.topic) return;
    if (!known && this.#byPage.size >= subscriptionsMax) return;
    const fresh = { state: 'asked', untilMs: clock.nowMs() + askedMs, noticedMs: 0, right: 0, wrong: 0 } as const;
    const subscription: Subscription = { pageId, ...hub, token: secret(), secret: secret(), ...fresh };
    this.#add(subscription);
    await this.#ask(subscription);
  }

  async #ask(subscription: Subscription): Promise<void> {
    const { clock, publicUrl, submit, log } = this.#parts;
    // Kept before it is asked: the hub may call back before it answers, or after a restart.
    await this.#save();
    const status = await submit(subscription.hub, {
      'hub.mode': 'subscribe',
      'hub.topic': subscription.topic,
      'hub.callback': `${publicUrl}/websub/${subscription.token}`,
      'hub.secret': subscription.secret,
      'hub.lease_seconds': String(leaseSeconds),
    });
    if (status !== undefined && status >= 200 && status < 300) return;
    if (subscription.state !== 'active') subscription.state = 'refused';
    subscription.untilMs = Math.max(subscription.untilMs, clock.nowMs() + dayMs);
    log('info', 'a hub did not take the subscription', { hub: subscription.hub, status });
    await this.#save();
  }

  /** The hub asks whether it was meant; answers what it must be told, or undefined when it was not. */
  async verify(token: string, query: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    const subscription = this.#byToken.get(token);
    const { 'hub.mode': mode, 'hub.topic': topic, 'hub.challenge': challenge, 'hub.lease_seconds': lease } = query;
    if (!subscription || topic !== subscription.topic) return undefined;
    const nowMs = this.#parts.clock.nowMs();
    if (mode === 'denied') {
      subscription.state = 'refused';
      subscription.untilMs = nowMs + dayMs;
      await this.#save();
      return '';
    }
    if (mode !== 'subscribe' || typeof challenge !== 'string') return undefined;
    const leaseMs = 1000 * Number(lease ?? leaseSeconds);
    subscription.state = 'active';
    subscription.leaseMs = leaseMs > 0 ? Math.min(leaseMs, leaseMsMax) : dayMs;
    subscription.untilMs = nowMs + subscription.leaseMs;
    await this.#save();
    return challenge;
  }

  /** Something came for a subscription. False when nobody asked for it; what is not signed by its secret moves nothing. */
  receive(token: string, signature: string | undefined, body: Uint8Array): boolean {
    const subscription = this.#byToken.get(token);
    if (!subscription || subscription.state !== 'active') return false;
    if (!isSigned(subscription.secret, signature, body)) return true;
    const nowMs = this.#parts.clock.nowMs();
    const { right, vain = 0, noticedMs } = subscription;
    if (vain >= vainMax && vain > 4 * right && nowMs - noticedMs < vainEveryMs) return true;
    subscription.noticedMs = nowMs;
    this.noticed(subscription.pageId);
    return true;
  }

  /** A look shows whether the hub had told. `sinceMs` is when the page was last seen. */
  looked(entry: Entry, sinceMs: number | undefined, changed: boolean): void {
    const subscription = this.#byPage.get(entry.page.id);
    if (sinceMs === undefined || subscription?.state !== 'active') return;
    const told = subscription.noticedMs >= sinceMs;
    if (changed && told) subscription.right++;
    else if (changed) subscription.wrong++;
    else if (told) subscription.vain = (subscription.vain ?? 0) + 1;
  }

  /** Until when a look at the page may wait; now where it may not. */
  until(entry: Entry, nowMs: number): number {
    const subscription = this.#byPage.get(entry.page.id);
    const { lastSeenMs } = entry.state;
    if (subscription?.state !== 'active' || lastSeenMs === undefined || subscription.untilMs <= nowMs) return nowMs;
    const { right, wrong, noticedMs } = subscription;
    const believed = right + wrong >= testsMin && wrong <= wrongShareMax * (right + wrong);
    if (!believed || noticedMs >= lastSeenMs || this.#parts.random() * testEvery < 1) return nowMs;
    return Math.max(nowMs, Math.min(lastSeenMs, nowMs) + dayMs);
  }

  /** Leases are renewed before they end; pages that are gone from the collection are not. */
  async run(signal: AbortSignal, watches: (pageId: string) => boolean): Promise<void> {
    const { clock } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(this.#untilRenewalMs(), signal);
      if (!signal.aborted) await this.renew(watches);
    }
    await this.#save();
  }

  /** Leases of minutes are renewed in time as well as those of weeks. */
  #untilRenewalMs(): number {
    const nowMs = this.#parts.clock.nowMs();
    let next = renewEveryMs;
    for (const subscription of this.#byPage.values())
      if (subscription.state === 'active')
        next = Math.min(next, subscription.untilMs - aheadMs(subscription) - nowMs + 1);
    return Math.max(renewMsMin, next);
  }

  async renew(watches: (pageId: string) => boolean): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    for (const subscription of this.#byPage.values()) {
      if (!watches(subscription.pageId)) {
        this.#byPage.delete(subscription.pageId);
        this.#byToken.delete(subscription.token);
      } else if (subscription.untilMs - nowMs < (subscription.state === 'active' ? aheadMs(subscription) : 0)) {
        if (subscription.untilMs <= nowMs) subscription.state = 'asked';
        subscription.untilMs = Math.max(subscription.untilMs, nowMs + askedMs);
        await this.#ask(subscription);
      }
    }
  }
}

/** How long before its end a lease is renewed. */
const aheadMs = ({ leaseMs = dayMs }: Subscription): number => Math.min(dayMs, leaseMs) / 2;

const methods = new Set(['sha1', 'sha256', 'sha384', 'sha512']);

function isSigned(secret: string, signature: string | undefined, body: Uint8Array): boolean {
  const [method = '', hex = ''] = (signature ?? '').split('=');
  if (!methods.has(method)) return false;
  const expected = createHmac(method, secret).update(body).digest();
  const given = Buffer.from(hex, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
