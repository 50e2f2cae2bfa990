/** The subscriptions of a running daemon, ready to be asked of every change before it is kept. */
import type { Outbox, PlannedDelivery } from '../values/outbox.ts';
import type { Subscription, SubscriptionSettings } from '../values/subscription.ts';
import { needsTexts, parseExpression, type Expression } from './expression.ts';
import { matches, type ChangedTexts, type Told } from './match.ts';
import { needsOf, type Concerned, type Needs } from './needs.ts';
import { plannedFor } from './when.ts';

interface Entry {
  readonly subscription: Subscription;
  readonly expression: Expression;
  readonly texts: boolean;
}

export class Subscribers {
  readonly #outbox: Outbox;
  #entries: readonly Entry[] = [];
  #mark: string | undefined;
  readonly #listeners = new Set<(asksOther: (page: Concerned) => boolean) => void>();

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** Told of every change among the subscriptions, with the question of which pages they now ask something else. */
  onChanged(listener: (asksOther: (page: Concerned) => boolean) => void): void {
    this.#listeners.add(listener);
  }

  /** Reads them again where another process has changed them. */
  async refresh(): Promise<void> {
    if ((await this.#outbox.subscriptionsMark?.()) !== this.#mark) await this.load();
  }

  async load(): Promise<void> {
    this.#mark = await this.#outbox.subscriptionsMark?.();
    const subscriptions = await this.#outbox.subscriptions();
    const before = this.#entries;
    this.#entries = subscriptions.flatMap((subscription) => {
      const parsed = parseExpression(subscription.match);
      if (parsed.kind === 'wrong' || subscription.paused) return [];
      return [{ subscription, expression: parsed.expression, texts: needsTexts(parsed.expression) }];
    });
    const asksOther = (page: Concerned): boolean =>
      JSON.stringify(needsOf(page, before)) !== JSON.stringify(this.needs(page));
    for (const listener of this.#listeners) listener(asksOther);
  }

  async add(settings: SubscriptionSettings, nowMs: number): Promise<Subscription> {
    const added = await this.#outbox.addSubscription(settings, nowMs);
    await this.load();
    return added;
  }

  async update(id: string, settings: Partial<SubscriptionSettings>): Promise<Subscription | undefined> {
    const updated = await this.#outbox.updateSubscription(id, settings);
    await this.load();
    return updated;
  }

  async remove(id: string): Promise<boolean> {
    const removed = await this.#outbox.removeSubscription(id);
    await this.load();
    return removed;
  }

  /** Whether somebody asks for the words that came or went. */
  get needTexts(): boolean {
    return this.#entries.some(({ texts }) => texts);
  }

  /** What those whom the page concerns ask of the plan. */
  needs(page: Concerned): Needs {
    return needsOf(page, this.#entries);
  }

  /** Who is to be told of this change, and when. Texts are read at most once, and only when somebody asks for words. */
  async planned(change: Told, nowMs: number, texts: () => Promise<ChangedTexts>): Promise<readonly PlannedDelivery[]> {
    await this.refresh();
    const out: PlannedDelivery[] = [];
    let read: ChangedTexts | undefined;
    for (const { subscription, expression, texts: wordy } of this.#entries) {
      if (wordy) read ??= await texts();
      if (matches(expression, change, read)) out.push(plannedFor(subscription, nowMs));
    }
    return out;
  }
}

export interface Tryout {
  readonly matched: number;
  readonly of: number;
  readonly examples: readonly Told[];
}

/** What an expression would have matched: asked before it is saved. */
export async function tryOut<Change extends Told>(
  expression: Expression,
  changes: readonly Change[],
  texts: (change: Change) => Promise<ChangedTexts>,
): Promise<Tryout> {
  const wordy = needsTexts(expression);
  const found: Change[] = [];
  for (const change of changes)
    if (matches(expression, change, wordy ? await texts(change) : undefined)) found.push(change);
  return { matched: found.length, of: changes.length, examples: found.slice(0, 10) };
}
