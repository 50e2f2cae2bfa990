/**
 * Carries what is due out of the outbox, at least once each and in order per page.
 *
 * A delivery that is not taken is due again later: 10 seconds, doubled to 6 hours, for 5 days, then it is dead. A receiver
 * that fails gets a rest as a whole, so that a thousand messages for one that is down are not a thousand requests every
 * few seconds; when it takes one again, all the others follow at once.
 */
import type { Clock } from '../values/clock.ts';
import { type Fault, StoreFailed } from '../values/fault.ts';
import type { Attempt, Delivery, Outbox } from '../values/outbox.ts';
import type { Subscription } from '../values/subscription.ts';
import type { Message } from './message.ts';

export type Sent =
  | { readonly kind: 'taken' }
  /** `forever`: the receiver wants no more of it. `retryAfterMs`: it says when. */
  | { readonly kind: 'refused'; readonly fault: Fault; readonly forever?: boolean; readonly retryAfterMs?: number };

export type Send = (subscription: Subscription, message: Message, nowMs: number) => Promise<Sent>;

export interface CourierParts {
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly send: Send;
  readonly message: (delivery: Delivery, subscription: Subscription) => Promise<Message | undefined>;
  readonly log: (level: 'debug' | 'info' | 'warn' | 'error', text: string, fields?: Record<string, unknown>) => void;
}

const retryMs = { first: 10_000, most: 6 * 3_600_000 };
/** While nothing gets through, the receiver as a whole is tried this often at most. */
const restMs = { first: 2_000, most: 10 * 60_000 };
export const giveUpMs = 5 * 86_400_000;
/** A receiver that has not answered by then is taken to have failed; what it does later with the message is its own affair. */
export const sendMsMax = 60_000;
/** Between two tries to write down what became of a message, while the store cannot. */
const storeRestMs = 2_000;
const atOnce = 32;
const atOncePerReceiver = 4;
/** Sleeping longer brings nothing, and a clock that was set back is noticed. */
const sleepMsMax = 60_000;

interface Receiver {
  underWay: number;
  failures: number;
  restUntilMs: number;
  /** Nothing is known yet of how it did before this process began. */
  unknown: boolean;
}

export function backOffMs(tries: number, { first, most }: { first: number; most: number } = retryMs): number {
  return Math.min(most, first * 2 ** Math.min(tries, 40));
}

export class Courier {
  readonly #parts: CourierParts;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #receivers = new Map<string, Receiver>();
  #wake: () => void = () => {};
  #stirred = false;
  /** The moment for which it was last asked what is due. */
  #askedMs = -Infinity;
  #dead = false;
  #storeFailed = false;
  /** From here on nobody waits for the store. */
  readonly #ended = new AbortController();

  constructor(parts: CourierParts) {
    this.#parts = parts;
  }

  /** Ends as a killed process does: whatever is under way comes to nothing. For simulations. */
  die(): void {
    this.#dead = true;
    this.#ended.abort('dead');
    this.#wake();
  }

  /** Something new may be due. */
  nudge(): void {
    this.#stirred = true;
    this.#wake();
  }

  /** Runs until the signal; what is under way then may finish within the time given, and goes out again otherwise. */
  async run(signal: AbortSignal, graceMs = 3_000): Promise<void> {
    this.#endWith(signal);
    while (!signal.aborted && !this.#dead) {
      this.#stirred = false;
      const busy = await this.#start();
      if (signal.aborted || this.#dead) break;
      if (!busy && !this.#stirred) await this.#rest(signal);
    }
    if (this.#dead) return;
    const done = new AbortController();
    const late = this.#parts.clock.sleep(graceMs, done.signal);
    await Promise.race([Promise.all(this.#underWay.values()), late]);
    done.abort('ended');
  }

  #endWith(signal: AbortSignal): void {
    const end = (): void => this.#ended.abort('ended');
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  }

  /**
   * While the store cannot write, this waits for it: a message that was taken and is not noted down would go out again.
   * Undefined when the courier ends first.
   */
  async #patiently<Value>(write: () => Promise<Value>): Promise<Value | undefined> {
    const { clock, log } = this.#parts;
    for (;;) {
      try {
        const value = await write();
        this.#storeFailed = false;
        return value;
      } catch (error) {
        if (!(error instanceof StoreFailed)) throw error;
        const { code, sentence } = error.fault;
        if (!this.#storeFailed) log('error', `Nobody is told for now: ${sentence}`, { code });
        this.#storeFailed = true;
      }
      if (!this.#ended.signal.aborted) await clock.sleep(storeRestMs, this.#ended.signal);
      if (this.#ended.signal.aborted) return undefined;
    }
  }

  /** Sends what is due until nothing more can go now; for one-shot commands. After the signal nobody waits for the store. */
  async once(signal: AbortSignal): Promise<void> {
    this.#endWith(signal);
    while ((await this.#start()) || this.#underWay.size > 0) await Promise.race(this.#underWay.values());
  }

  async #start(): Promise<boolean> {
    const { outbox, clock } = this.#parts;
    const now = clock.nowMs();
    this.#askedMs = now;
    const room = atOnce - this.#underWay.size;
    if (room <= 0 || (await outbox.nextDueMs()) === undefined) return false;
    const resting = [...this.#receivers].filter(
      ([, receiver]) =>
        receiver.restUntilMs > now || receiver.underWay >= (receiver.failures > 0 ? 1 : atOncePerReceiver),
    );
    const subscriptions = new Map(
      (await outbox.subscriptions()).map((subscription) => [subscription.id, subscription]),
    );
    const paused = [...subscriptions.values()].filter((subscription) => subscription.paused);
    // Those who are not told now do not stand in the way of others, however much waits for them.
    const except = {
      deliveries: new Set(this.#underWay.keys()),
      subscriptions: new Set([...resting.map(([id]) => id), ...paused.map(({ id }) => id)]),
    };
    const due = (await this.#patiently(() => outbox.due(now, room, except))) ?? [];
    if (due.length === 0) return false;
    let started = false;
    for (const delivery of due) {
      const subscription = subscriptions.get(delivery.subscriptionId);
      if (!subscription) continue;
      const receiver = this.#receiver(subscription.id);
      if (receiver.underWay >= (receiver.failures > 0 ? 1 : atOncePerReceiver)) continue;
      receiver.underWay++;
      started = true;
      const work = this.#carry(delivery, subscription, receiver).finally(() => {
        receiver.underWay--;
        this.#underWay.delete(delivery.id);
        this.nudge();
      });
      this.#underWay.set(delivery.id, work);
    }
    return started;
  }

  #receiver(id: string): Receiver {
    let receiver = this.#receivers.get(id);
    if (!receiver) this.#receivers.set(id, (receiver = { underWay: 0, failures: 0, restUntilMs: 0, unknown: true }));
    return receiver;
  }

  async #carry(delivery: Delivery, subscription: Subscription, receiver: Receiver): Promise<void> {
    const { outbox, clock, log } = this.#parts;
    const sent = await this.#try(delivery, subscription);
    if (this.#dead) return;
    const now = clock.nowMs();
    const attempt = this.#judge(delivery, sent, now);
    if (sent.kind === 'taken') {
      const recovered = receiver.failures > 0 || receiver.unknown;
      receiver.failures = 0;
      receiver.unknown = false;
      receiver.restUntilMs = 0;
      await this.#patiently(() => outbox.settle(delivery.id, attempt, now));
      if (recovered) await this.#patiently(() => outbox.hasten(subscription.id, now));
      return;
    }
    receiver.failures++;
    receiver.restUntilMs = now + Math.max(sent.retryAfterMs ?? 0, backOffMs(receiver.failures - 1, restMs));
    const { fault } = sent;
    log(attempt.kind === 'dead' ? 'error' : 'warn', fault.sentence, {
      code: fault.code,
      delivery: delivery.id,
      subscription: subscription.id,
      ...(attempt.kind === 'later' ? { nextTry: new Date(attempt.dueMs).toISOString() } : {}),
    });
    await this.#patiently(() => outbox.settle(delivery.id, attempt, now));
  }

  async #try(delivery: Delivery, subscription: Subscription): Promise<Sent> {
    const { clock, send, message } = this.#parts;
    const ready = await message(delivery, subscription);
    // Its changes are gone from the log: nothing is left to say.
    if (!ready)
      return {
        kind: 'refused',
        fault: { code: 'delivery-empty', sentence: 'What was to be told is no longer kept.' },
        forever: true,
      };
    const done = new AbortController();
    const late = clock.sleep(sendMsMax, done.signal).then((): Sent => ({
      kind: 'refused',
      fault: { code: 'receiver-timeout', sentence: `The receiver did not answer within ${sendMsMax / 1000} s.` },
    }));
    const sent = await Promise.race([send(subscription, ready, clock.nowMs()), late]);
    done.abort('answered');
    return sent;
  }

  #judge(delivery: Delivery, sent: Sent, now: number): Attempt {
    if (sent.kind === 'taken') return { kind: 'taken' };
    const { fault } = sent;
    const { firstTriedMs = now, plannedAtMs, attempts } = delivery;
    // What waited behind others for days has had its time too, once it was tried in earnest itself.
    const late = now - firstTriedMs >= giveUpMs || (now - plannedAtMs >= giveUpMs && attempts >= 4);
    if (sent.forever || late) return { kind: 'dead', fault };
    return { kind: 'later', fault, dueMs: now + Math.max(sent.retryAfterMs ?? 0, backOffMs(delivery.attempts)) };
  }

  async #rest(signal: AbortSignal): Promise<void> {
    const { clock, outbox } = this.#parts;
    // What was due when it was asked for is held back: by what is under way, at rest, paused or before it on its page. What
    // ends that wakes us. What became due since was not seen yet, however short that is ago.
    const next = await outbox.nextDueMs(this.#askedMs);
    const now = clock.nowMs();
    const restEnds = [...this.#receivers.values()].map((receiver) => receiver.restUntilMs).filter((ms) => ms > now);
    const until = Math.min(next ?? Infinity, ...restEnds);
    const woken = new AbortController();
    const wake = (): void => woken.abort('woken');
    this.#wake = wake;
    if (this.#stirred || signal.aborted) return;
    signal.addEventListener('abort', wake, { once: true });
    await clock.sleep(Math.max(1, Math.min(sleepMsMax, until - now)), woken.signal);
    signal.removeEventListener('abort', wake);
  }
}
