/** Those who are told, in virtual time: they fail, hang, answer late, and all that reached them is on record. */
import { exponential } from '@revisit/core';
import type { Send, Sent } from '../tell/courier.ts';
import type { Change } from '../values/change.ts';
import type { World } from './world.ts';

/** One message as its receiver got it, whether the sender ever learned of that or not. */
export interface Receipt {
  readonly delivery: string;
  readonly changes: readonly { readonly id: string; readonly pageId: string; readonly cursor: number }[];
}

export type Behaviour = 'take' | 'fail' | 'hang' | 'take and answer late' | 'take and fail';

/** Longer than the courier waits for an answer. */
const lateMs = 90_000;

export class Receivers {
  /** By the name of the subscription. */
  readonly taken = new Map<string, Receipt[]>();
  readonly #world: World;
  /** How the receiver of that name behaves now. */
  readonly #law: (name: string, atMs: number) => Behaviour;

  constructor(world: World, law: (name: string, atMs: number) => Behaviour) {
    this.#world = world;
    this.#law = law;
  }

  send: Send = async (subscription, message): Promise<Sent> => {
    const { clock, random: luck } = this.#world;
    const name = subscription.name!;
    await clock.sleep(exponential(luck, 300));
    const what = this.#law(name, clock.nowMs());
    if (what === 'hang') await clock.sleep(Infinity);
    if (what !== 'fail') {
      const list = this.taken.get(name) ?? [];
      list.push(receiptOf(message));
      this.taken.set(name, list);
    }
    if (what === 'take and answer late') await clock.sleep(lateMs);
    await clock.sleep(exponential(luck, 300));
    return what === 'fail' || what === 'take and fail'
      ? { kind: 'refused', fault: { code: 'receiver-refused', sentence: 'It answered 500.' } }
      : { kind: 'taken' };
  };
}

export function receiptOf(message: {
  readonly id: string;
  readonly changes: readonly Readonly<Record<string, unknown>>[];
}): Receipt {
  return {
    delivery: message.id,
    changes: message.changes.map((change) => ({
      id: String(change['id']),
      pageId: String(change['pageId']),
      cursor: Number(change['cursor']),
    })),
  };
}

/** What is wrong with how a receiver was told of these changes: each must have come, under one id, in order per page. */
export function wrongIn(receipts: readonly Receipt[], changes: readonly Change[]): string[] {
  const wrong: string[] = [];
  const deliveryOf = new Map<string, string>();
  const seenOfPage = new Map<string, number>();
  for (const { delivery, changes: told } of receipts) {
    for (const { id, pageId, cursor } of told) {
      const before = deliveryOf.get(id);
      if (before !== undefined && before !== delivery)
        wrong.push(`change ${id} was told under the ids ${before} and ${delivery}`);
      if (before !== undefined) continue;
      deliveryOf.set(id, delivery);
      if (cursor <= (seenOfPage.get(pageId) ?? 0)) wrong.push(`change ${cursor} of page ${pageId} was told too late`);
      seenOfPage.set(pageId, cursor);
    }
  }
  const lost = changes.filter(({ id }) => !deliveryOf.has(id));
  if (lost.length > 0) wrong.push(`${lost.length} changes were never told, the first is ${lost[0]!.sequence}`);
  const kept = new Set(changes.map(({ id }) => id));
  for (const id of deliveryOf.keys()) if (!kept.has(id)) wrong.push(`change ${id} was told and is not in the log`);
  return wrong;
}
