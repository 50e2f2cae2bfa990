/**
 * Brewington's greedy observation (§2.3.1) for pages that are watched for ever: the budget gives a moment for each look, and
 * the look goes to the page that has lost most: the greatest Z, expected time out of date, or for pages with the loss
 * `staleness` the greatest probability of being out of date, each times its weight. Ages and reset rates are learned from
 * looks (age-book.ts).
 *
 * Which page has lost most at a given moment changes with time; kept instead is when each page will have lost as much as
 * pages looked at lately had (`level`), and the first to get there is next. A level that has risen makes times too early:
 * they are worked out again when their page comes first. One that has fallen makes them too late: then all are.
 */
import { AgeBook, type Seen } from './age-book.ts';
import { DueQueue } from '../time/due-queue.ts';
import { Pace } from './pace.ts';
import type { Belief, Choice, Finding, Policy, Watched } from './policy.ts';
import { bytesOf, valueOf } from './saved-text.ts';

// The level follows the last hundred or so looks.
const levelMemory = 0.01;

export class AgePolicy implements Policy {
  readonly name = 'brewington-greedy';
  readonly #book = new AgeBook();
  readonly #queue = new DueQueue();
  /** The level that each page's place in the queue was worked out for. */
  readonly #placedFor: number[] = [];
  readonly #level = { obsolescence: 3600, staleness: 0.5 };
  readonly #keyed = { obsolescence: 3600, staleness: 0.5 };
  readonly #pace = new Pace();

  watch(watched: Watched, now: number): void {
    this.#book.open(watched, now);
    this.#queue.set(watched.page, now);
  }

  forget(page: number): void {
    this.#book.close(page);
    this.#queue.remove(page);
  }

  setBudget(looksPerSecond: number, now: number): void {
    this.#pace.setBudget(looksPerSecond, now);
  }

  next(now: number): Choice | undefined {
    for (;;) {
      const page = this.#queue.first();
      if (page < 0 || !(this.#pace.budget > 0)) return undefined;
      const seen = this.#book.get(page)!;
      const level = this.#level[lossOf(seen)];
      if (seen.known && this.#placedFor[page]! < 0.98 * level) this.#place(page, seen);
      else return { page, at: Math.max(this.#pace.next, seen.known ? seen.at + seen.watched.spacingSeconds : now) };
    }
  }

  started(page: number, now: number): void {
    const seen = this.#book.get(page);
    if (!seen) return;
    seen.inFlight = true;
    this.#queue.remove(page);
    this.#pace.spend(now);
  }

  looked(page: number, at: number, finding: Finding): void {
    const seen = this.#book.get(page);
    if (!seen) return;
    seen.inFlight = false;
    if (finding.kind !== 'failed') {
      const wait = seen.known ? Math.max(0, at - seen.at) : undefined;
      this.#book.learn(seen, at, finding);
      if (wait !== undefined) this.#follow(seen, wait, page);
    }
    this.#place(page, seen);
  }

  taught(page: number, changes: Float64Array, from: number, to: number): void {
    const seen = this.#book.get(page);
    if (!seen) return;
    this.#book.teach(seen, changes, from, to);
    this.#place(page, seen);
  }

  due(page: number): number {
    return this.#queue.timeOf(page);
  }

  belief(page: number, now: number): Belief {
    return this.#book.belief(page, now);
  }

  save(page: number): Uint8Array {
    return this.#book.save(page);
  }

  restore(page: number, saved: Uint8Array, now: number): boolean {
    const seen = this.#book.get(page);
    if (!seen || !this.#book.restore(page, saved, now)) return false;
    this.#place(page, seen);
    return true;
  }

  saveAll(): Uint8Array {
    return bytesOf({ version: 1, level: this.#level, book: this.#book.saveShared() });
  }

  restoreAll(saved: Uint8Array): void {
    const all = valueOf(saved) as { version: number; level: Record<string, number>; book: unknown } | undefined;
    if (all?.version !== 1) return;
    Object.assign(this.#level, all.level);
    Object.assign(this.#keyed, all.level);
    this.#book.restoreShared(all.book);
    for (const seen of this.#book) if (!seen.inFlight) this.#place(seen.watched.page, seen);
  }

  /** What this look was worth moves the level; a level that fell far asks for all places anew. */
  #follow(seen: Seen, wait: number, page: number): void {
    const loss = lossOf(seen);
    const stale = 1 - this.#book.hazards.unchanged(page, seen.age, wait);
    const worth = seen.watched.weight * (loss === 'staleness' ? stale : (stale * wait) / 2);
    this.#level[loss] += levelMemory * (Math.max(worth, 1e-6) - this.#level[loss]);
    if (this.#level[loss] > 0.8 * this.#keyed[loss]) {
      this.#keyed[loss] = Math.max(this.#keyed[loss], this.#level[loss]);
      return;
    }
    this.#keyed[loss] = this.#level[loss];
    for (const other of this.#book) {
      if (other.known && !other.inFlight && other !== seen) this.#place(other.watched.page, other);
    }
  }

  #place(page: number, seen: Seen): void {
    if (!seen.known) return this.#queue.set(page, seen.at);
    const { watched } = seen;
    const loss = lossOf(seen);
    this.#placedFor[page] = this.#level[loss];
    // A page whose chance of being stale cannot reach the level still comes in the end, by its certainty.
    const level = this.#level[loss] / watched.weight;
    const wait = this.#book.hazards.waitUntil(
      page,
      seen.age,
      loss,
      loss === 'staleness' ? Math.min(level, 0.999) : level,
    );
    this.#queue.set(page, seen.at + Math.max(wait, watched.spacingSeconds));
  }
}

function lossOf({ watched }: Seen): 'obsolescence' | 'staleness' {
  return watched.loss ?? 'obsolescence';
}
