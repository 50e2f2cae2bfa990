/** A day of auctions, generated and recorded, what an estimator would say of it, and what a schedule captures. */
import { type Chances, type Life, type Random, collect, exponential, integer } from '@revisit/core';
import type { Context } from './item.ts';

const instants = 1440;

/** The true changes of each page, ascending instants from 1. */
export type Bids = readonly (readonly number[])[];

/** Auctions of one day: some bids over the day, more of them towards each auction's end, as on auction sites. */
export function auctions(luck: Random, pages = 7550): Bids {
  return Array.from({ length: pages }, () => {
    const end = 1 + integer(luck, instants);
    const bids = new Set<number>();
    const count = Math.floor(exponential(luck, 4));
    for (let i = 0; i < count; i++) {
      const before = luck() < 0.5 ? exponential(luck, 20) : luck() * instants;
      const at = Math.round(end - before);
      if (at >= 1 && at <= instants) bids.add(at);
    }
    return [...bids].sort((a, b) => a - b);
  });
}

/** The recorded counterpart: 7,564 bursty sources on 1,440 instants. */
export function recorded(context: Context): Bids | undefined {
  const events = context.trace('burst-7k.instants');
  if (!events) return undefined;
  const pages = new Map<string, Set<number>>();
  for (const [source, instant] of events) (pages.get(source) ?? pages.set(source, new Set()).get(source)!).add(instant);
  return [...pages.values()].map((times) => [...times].sort((a, b) => a - b));
}

/** What an estimator would say: some changes missed and as many imagined, and each smeared over its neighbourhood. */
export function estimated(truth: readonly number[], fpn: number, sigma: number, luck: Random): Chances {
  const at = new Map<number, number>();
  for (const change of truth) {
    const place = luck() < fpn ? 1 + integer(luck, instants) : change;
    const reach = Math.ceil(4 * sigma);
    let total = 0;
    for (let d = -reach; d <= reach; d++) total += sigma === 0 ? 1 : Math.exp((-d * d) / (2 * sigma * sigma));
    for (let d = -reach; d <= reach; d++) {
      const j = place + d;
      if (j < 1 || j > instants) continue;
      const share = sigma === 0 ? 1 : Math.exp((-d * d) / (2 * sigma * sigma)) / total;
      at.set(j, 1 - (1 - (at.get(j) ?? 0)) * (1 - share));
    }
  }
  const order = [...at.keys()].sort((a, b) => a - b);
  return { at: order, probability: order.map((j) => Math.min(1, at.get(j)!)) };
}

export interface Captured {
  readonly utility: number;
  readonly captured: number;
  readonly delays: readonly number[];
  readonly total: number;
}

/** What the schedule made from estimates captures of what really happened. */
export function capture(bids: Bids, chances: readonly Chances[], capacity: number, life: Life, rate: number): Captured {
  const pages = chances.map((change) => ({ weight: 1, change, life, urgency: { kind: 'decay', rate } as const }));
  const { schedule } = collect({ instants, capacity, pages });
  const next = new Int32Array(bids.length);
  const delays: number[] = [];
  let [utility, total] = [0, 0];
  for (const page of bids) total += page.length;
  schedule.forEach((looked, i) => {
    for (const page of looked) {
      const list = bids[page]!;
      const from = next[page]!;
      while (next[page]! < list.length && list[next[page]!]! <= i + 1) next[page]!++;
      // Where each change overwrites the last, only the newest is still there.
      const first = life.kind === 'overwrite' ? Math.max(from, next[page]! - 1) : from;
      for (let k = first; k < next[page]!; k++) {
        const delay = i + 1 - list[k]!;
        delays.push(delay);
        utility += rate ** delay;
      }
    }
  });
  return { utility: utility / total, captured: delays.length / total, delays, total };
}
