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
 *
 * Where several processes share a store, each has the subscriptions of the pages that it looks after in memory, and all of them are in
 * the store. A hub calls whichever it reaches; that one finds the subscription there, and passes on to its holder what is signed.
 * Whoever calls with a token that nobody gave out costs us one small reading.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Entry } from './collection/collection.ts';
import type { LoopParts } from './loop-parts.ts';
import { Drawers } from './store/drawers.ts';
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
  /** The last part of the callback: whoever knows it is the hub. It begins with the drawer in which the subscription lies. */
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
  askedAtMs?: number;
}

type Query = Readonly<Record<string, unknown>>;

/** Other processes on the store, each of which does so for the subscriptions of its own pages. */
export interface Others {
  verify(token: string, query: Query): Promise<string | undefined>;
  /** Whether somebody has heard it. */
  hear(token: string): Promise<boolean>;
}

/** What becomes of a notice; while nobody looks after the page, or the notice cannot be kept, the hub does well to come again. */
type Received = 'taken' | 'nobody asked' | 'nobody there';

/** Of some hundred subscriptions each, when there are as many as may be. */
const drawerCount = 64;
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
  readonly #drawers: Drawers<Subscription>;
  readonly #byPage = new Map<string, Subscription>();
  readonly #byToken = new Map<string, Subscription>();
  /** Set by whoever has the page looked at; false where that cannot be promised. */
  noticed: (pageId: string) => Promise<boolean> = () => Promise.resolve(true);
  /** Pages that this process looks after. */
  watches: (pageId: string) => boolean = () => true;
  /** Whoever else looks after pages on this store. */
  others: Others | undefined;

  constructor(parts: WebSubParts) {
    this.#parts = parts;
    this.#drawers = new Drawers(parts.store, 'websub', drawerCount);
  }

  /** Takes up what is kept of pages that are looked after here and not known yet: after a restart, or from another process. */
  async load(): Promise<void> {
    for (let drawer = 0; drawer < drawerCount; drawer++) await this.#loadDrawer(drawer);
  }

  /** Answers all that lies there. */
  async #loadDrawer(drawer: number): Promise<readonly Subscription[]> {
    const all = await this.#drawers.read(drawer);
    for (const kept of all) if (!this.#byPage.has(kept.pageId) && this.watches(kept.pageId)) this.#add(kept);
    return all;
  }

  #add(subscription: Subscription): void {
    const old = this.#byPage.get(subscription.pageId);
    if (old) this.#byToken.delete(old.token);
    this.#byPage.set(subscription.pageId, subscription);
    this.#byToken.set(subscription.token, subscription);
  }

  /** The page is removed, or looked after by another process from now on, which takes its subscription up. */
  released(pageId: string): void {
    const known = this.#byPage.get(pageId);
    if (!known) return;
    this.#byPage.delete(pageId);
    this.#byToken.delete(known.token);
  }

  #save(subscription: Subscription): Promise<void> {
    return this.#saveIn(this.#drawers.drawerOf(subscription.pageId), [subscription]);
  }

  async #saveAll(): Promise<void> {
    const drawers = Map.groupBy(this.#byPage.values(), ({ pageId }) => this.#drawers.drawerOf(pageId));
    for (const [drawer, own] of drawers) await this.#saveIn(drawer, own);
  }

  /** What else lies there stays; what nobody has renewed for a day after its end belongs to no page any more. */
  async #saveIn(drawer: number, own: readonly Subscription[]): Promise<void> {
    const endedMs = this.#parts.clock.nowMs() - dayMs;
    const pages = new Set(own.map(({ pageId }) => pageId));
    await this.#drawers.edit(drawer, (before) => {
      const others = before.filter(({ pageId, untilMs }) => !pages.has(pageId) && untilMs > endedMs);
      return { after: [...others, ...own], value: undefined };
    });
  }

  get active(): number {
    return [...this.#byPage.values()].filter(({ state }) => state === 'active').length;
  }

  /** An answer named a hub, or none. */
  async found(entry: Entry, hub: Hub | undefined): Promise<void> {
    const { clock, secret } = this.#parts;
    if (!hub || entry.page.headers) return;
    const pageId = entry.page.id;
    const drawer = this.#drawers.drawerOf(pageId);
    if (!this.#byPage.has(pageId)) await this.#loadDrawer(drawer);
    const known = this.#byPage.get(pageId);
    if (known && known.hub === hub.hub && known.topic === hub.topic) return;
    if (!known && this.#byPage.size >= subscriptionsMax) return;
    const fresh = { state: 'asked', untilMs: clock.nowMs() + askedMs, noticedMs: 0, right: 0, wrong: 0 } as const;
    const token = `${drawer.toString(36)}-${secret()}`;
    const subscription: Subscription = { pageId, ...hub, token, secret: secret(), ...fresh };
    this.#add(subscription);
    await this.#ask(subscription);
  }

  async #ask(subscription: Subscription): Promise<void> {
    const { clock, publicUrl, submit, log } = this.#parts;
    // Kept before it is asked: the hub may call back before it answers, or after a restart.
    subscription.askedAtMs = clock.nowMs();
    await this.#save(subscription);
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
    await this.#save(subscription);
  }

  /** The hub asks whether it was meant; answers what it must be told, or undefined when it was not. */
  async verify(token: string, query: Query): Promise<string | undefined> {
    const { own, theirs } = await this.#find(token);
    if (own) return this.#verify(own, query);
    return theirs && this.others!.verify(token, query);
  }

  async verifyOwn(token: string, query: Query): Promise<string | undefined> {
    const { own } = await this.#find(token);
    return own && this.#verify(own, query);
  }

  async #verify(subscription: Subscription, query: Query): Promise<string | undefined> {
    const { 'hub.mode': mode, 'hub.topic': topic, 'hub.challenge': challenge, 'hub.lease_seconds': lease } = query;
    if (topic !== subscription.topic) return undefined;
    const nowMs = this.#parts.clock.nowMs();
    if (mode === 'denied') {
      subscription.state = 'refused';
      subscription.untilMs = nowMs + dayMs;
      await this.#save(subscription);
      return '';
    }
    if (mode !== 'subscribe' || typeof challenge !== 'string') return undefined;
    const leaseMs = 1000 * Number(lease ?? leaseSeconds);
    subscription.state = 'active';
    subscription.leaseMs = leaseMs > 0 ? Math.min(leaseMs, leaseMsMax) : dayMs;
    subscription.untilMs = nowMs + subscription.leaseMs;
    await this.#save(subscription);
    return challenge;
  }

  /** Something came for a subscription; what is not signed by its secret moves nothing. */
  async receive(token: string, signature: string | undefined, body: Uint8Array): Promise<Received> {
    const { own, theirs } = await this.#find(token);
    const subscription = own ?? theirs;
    if (subscription?.state !== 'active') return 'nobody asked';
    if (!isSigned(subscription.secret, signature, body)) return 'taken';
    const heard = await (own ? this.#hear(own) : this.others!.hear(token));
    return heard ? 'taken' : 'nobody there';
  }

  /** Another process was told, and has checked that it was by the hub. */
  async hearOwn(token: string): Promise<true | undefined> {
    const { own } = await this.#find(token);
    return own && (await this.#hear(own)) ? true : undefined;
  }

  /** By its token: of a page that is looked after here, or by another process. */
  async #find(token: string): Promise<{ own?: Subscription; theirs?: Subscription }> {
    const drawer = drawerIn(token);
    const known = this.#byToken.get(token);
    if (known || drawer === undefined) return known ? { own: known } : {};
    const kept = (await this.#loadDrawer(drawer)).find((one) => one.token === token);
    const own = this.#byToken.get(token);
    return own ? { own } : kept && this.others ? { theirs: kept } : {};
  }

  async #hear(subscription: Subscription): Promise<boolean> {
    const nowMs = this.#parts.clock.nowMs();
    const { right, vain = 0, noticedMs } = subscription;
    if (vain >= vainMax && vain > 4 * right && nowMs - noticedMs < vainEveryMs) return true;
    subscription.noticedMs = nowMs;
    return this.noticed(subscription.pageId);
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
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(this.#untilRenewalMs(), signal);
      if (!signal.aborted) await this.renew();
    }
    await this.#saveAll();
  }

  /** Leases of minutes are renewed in time as well as those of weeks. */
  #untilRenewalMs(): number {
    const nowMs = this.#parts.clock.nowMs();
    let next = renewEveryMs;
    for (const subscription of this.#byPage.values())
      if (subscription.state === 'active') next = Math.min(next, renewalMs(subscription) - nowMs + 1);
    return Math.max(renewMsMin, next);
  }

  async renew(): Promise<void> {
    await this.load();
    const nowMs = this.#parts.clock.nowMs();
    for (const subscription of this.#byPage.values()) {
      if (!this.watches(subscription.pageId)) this.released(subscription.pageId);
      else if (nowMs > renewalMs(subscription)) {
        if (subscription.untilMs <= nowMs) {
          subscription.state = 'asked';
          subscription.untilMs = nowMs + askedMs;
        }
        await this.#ask(subscription);
      }
    }
  }
}

function drawerIn(token: string): number | undefined {
  const drawer = parseInt(/^([0-9a-z]{1,2})-/.exec(token)?.[1] ?? '', 36);
  return drawer < drawerCount ? drawer : undefined;
}

/** How long before its end a lease is renewed. */
const aheadMs = ({ leaseMs = dayMs }: Subscription): number => Math.min(dayMs, leaseMs) / 2;

/** When the hub is asked again: one that took the last request and has not called back yet is given its time. */
function renewalMs(subscription: Subscription): number {
  const { state, untilMs, askedAtMs = 0 } = subscription;
  if (state !== 'active') return untilMs;
  const leadMs = aheadMs(subscription);
  return Math.max(untilMs - leadMs, askedAtMs + Math.min(askedMs, leadMs));
}

const methods = new Set(['sha1', 'sha256', 'sha384', 'sha512']);

function isSigned(secret: string, signature: string | undefined, body: Uint8Array): boolean {
  const [method = '', hex = ''] = (signature ?? '').split('=');
  if (!methods.has(method)) return false;
  const expected = createHmac(method, secret).update(body).digest();
  const given = Buffer.from(hex, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
