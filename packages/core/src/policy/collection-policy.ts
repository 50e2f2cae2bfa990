/**
 * Several collections of pages, each with a policy of its own, under one budget. A collection that was given a budget has it;
 * the others share what is left by their numbers of pages. Whoever wants a look soonest is next.
 *
 * Where the budget is smaller than what was given, everybody has proportionally less, so that no collection is starved.
 */
import type { GroupKeys } from '../model/kin.ts';
import type { Belief, Choice, Finding, MarketPrices, Policy, Watched } from './policy.ts';
import { bytesOf, valueOf } from './saved-text.ts';

export interface PolicyCollection {
  readonly name: string;
  readonly policy: Policy;
  /** Its own budget; a share by pages where there is none. */
  readonly looksPerSecond?: number;
}

/** Of a budget, what is kept for collections without one of their own when the others were given all of it. */
const restShareLeast = 0.1;

export class CollectionPolicy implements Policy {
  readonly name: string;
  readonly #collections: readonly PolicyCollection[];
  readonly #sizes: number[];
  /** The collection of each page. */
  readonly #of: number[] = [];
  #budget = 0;
  #shared = false;

  /** Pages name their collection by its place in this list. */
  constructor(collections: readonly PolicyCollection[]) {
    this.#collections = collections;
    this.#sizes = collections.map(() => 0);
    this.name = collections
      .map(({ name, policy }) => (name === '' ? policy.name : `${name}: ${policy.name}`))
      .join(', ');
  }

  policyOf(page: number): Policy {
    return this.#collections[this.#of[page] ?? 0]!.policy;
  }

  watch(watched: Watched, now: number): void {
    const collection = watched.collection ?? 0;
    this.#of[watched.page] = collection;
    this.#sizes[collection]!++;
    this.#shared = false;
    this.policyOf(watched.page).watch(watched, now);
  }

  forget(page: number, now: number): void {
    this.#sizes[this.#of[page] ?? 0]!--;
    this.#shared = false;
    this.policyOf(page).forget(page, now);
  }

  regrouped(page: number, alike: readonly number[]): void {
    this.policyOf(page).regrouped?.(page, alike);
  }

  setBudget(looksPerSecond: number, now: number): void {
    this.#budget = looksPerSecond;
    this.#share(now);
  }

  next(now: number, waitingSince?: number): Choice | undefined {
    if (!this.#shared) this.#share(now);
    let first: Choice | undefined;
    for (const { policy } of this.#collections) {
      const choice = policy.next(now, waitingSince);
      if (choice && (!first || choice.at < first.at)) first = choice;
    }
    return first;
  }

  asksAgainAt(): number {
    return Math.min(...this.#collections.map(({ policy }) => policy.asksAgainAt?.() ?? Infinity));
  }

  /** The market's price is that of one budget; where there are several, each collection hears only what is dear. */
  setPrices({ price, ...others }: MarketPrices, now: number): void {
    const one = this.#collections.length === 1 && price !== undefined;
    for (const { policy } of this.#collections) policy.setPrices?.(one ? { price, ...others } : others, now);
  }

  started(page: number, now: number): void {
    this.policyOf(page).started(page, now);
  }

  looked(page: number, at: number, finding: Finding): void {
    this.policyOf(page).looked(page, at, finding);
  }

  taught(page: number, changes: Float64Array, from: number, to: number): void {
    this.policyOf(page).taught?.(page, changes, from, to);
  }

  hinted(page: number, now: number, chance: number): void {
    this.policyOf(page).hinted?.(page, now, chance);
  }

  due(page: number, now: number): number {
    return this.policyOf(page).due(page, now);
  }

  belief(page: number, now: number): Belief {
    return this.policyOf(page).belief(page, now);
  }

  /** The page's week, or that of the first collection that knows one. */
  weekShape(page?: number): ArrayLike<number> | undefined {
    if (page !== undefined) return this.policyOf(page).weekShape?.(page);
    for (const { policy } of this.#collections) {
      const shape = policy.weekShape?.();
      if (shape) return shape;
    }
    return undefined;
  }

  save(page: number): Uint8Array {
    return this.policyOf(page).save?.(page) ?? new Uint8Array(0);
  }

  restore(page: number, saved: Uint8Array, now: number): boolean {
    return this.policyOf(page).restore?.(page, saved, now) ?? false;
  }

  saveAll(keys: GroupKeys): Uint8Array {
    const parts: Record<string, unknown> = {};
    for (const collection of this.#collections) {
      const saved = collection.policy.saveAll?.(keys);
      if (saved) parts[keyOf(collection)] = valueOf(saved);
    }
    return bytesOf({ version: 1, parts });
  }

  restoreAll(saved: Uint8Array, now: number, keys: GroupKeys): void {
    const all = valueOf(saved) as { version: number; parts: Record<string, unknown> } | undefined;
    if (all?.version !== 1) return;
    for (const collection of this.#collections) {
      const part = all.parts[keyOf(collection)];
      if (part !== undefined) collection.policy.restoreAll?.(bytesOf(part), now, keys);
    }
  }

  #share(now: number): void {
    this.#shared = true;
    const given = this.#collections.map(({ looksPerSecond }, n) => (this.#sizes[n]! > 0 ? (looksPerSecond ?? 0) : 0));
    const others = this.#collections.map((collection, n) =>
      collection.looksPerSecond === undefined ? this.#sizes[n]! : 0,
    );
    const wanted = given.reduce((a, b) => a + b, 0);
    const pages = others.reduce((a, b) => a + b, 0);
    const most = this.#budget * (pages > 0 ? 1 - restShareLeast : 1);
    const scale = wanted > most ? most / wanted : 1;
    const left = Math.max(0, this.#budget - scale * wanted);
    this.#collections.forEach(({ policy }, n) => {
      policy.setBudget(given[n]! > 0 ? scale * given[n]! : pages > 0 ? (left * others[n]!) / pages : 0, now);
    });
  }
}

/** A collection that is given another policy begins anew. */
function keyOf({ name, policy }: PolicyCollection): string {
  return `${name}:${policy.name}`;
}
