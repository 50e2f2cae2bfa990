/** What a delivery says, the same at every try. */
import type { Change } from '../values/change.ts';
import type { Delivery } from '../values/outbox.ts';
import type { Subscription } from '../values/subscription.ts';
import { fill, plainBody, plainTitle, type Entry } from './template.ts';

export interface Message {
  readonly id: string;
  readonly subscription: { readonly id: string; readonly name?: string };
  readonly title: string;
  readonly text: string;
  readonly changes: readonly Record<string, unknown>[];
  /** Where the first change is to be seen. */
  readonly url: string;
}

/** Longer additions are cut in messages; the versions themselves are a request away. */
const textMax = 20_000;

const time = (ms: number): string => new Date(ms).toISOString();

function changeBody({ change, added, removed }: Entry): Record<string, unknown> {
  const { sequence, atMs, afterMs, ...rest } = change;
  return {
    cursor: String(sequence),
    ...rest,
    at: time(atMs),
    after: afterMs === undefined ? null : time(afterMs),
    added: added.slice(0, textMax),
    removed: removed.slice(0, textMax),
  };
}

export function messageOf(delivery: Delivery, subscription: Subscription, entries: readonly Entry[]): Message {
  const { template, id, name } = subscription;
  const first: Change = entries[0].change;
  return {
    id: delivery.id,
    subscription: { id, ...(name === undefined ? {} : { name }) },
    title: template?.title === undefined ? plainTitle(entries) : fill(template.title, entries),
    text: (template?.body === undefined ? plainBody(entries) : fill(template.body, entries)).slice(0, 5 * textMax),
    changes: entries.map(changeBody),
    url: first.url,
  };
}
