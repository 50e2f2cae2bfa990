/**
 * Brewington's greedy observation (§2.3.1) for pages that are watched for ever: the budget gives a moment for each look, and
 * the look goes to the page that has lost most: the greatest Z, expected time out of date, or for pages with the loss
 * `staleness` the greatest probability of being out of date, each times its weight. Ages and reset rates are learned from
 * looks (age-hazard.ts).
 *
 * Which page has lost most at a given moment changes with time; kept instead is when each page will have lost as much as
 * pages looked at lately had (`level`), and the first to get there is next. A level that has risen makes times too early:
 * they are worked out again when their page comes first. One that has fallen makes them too late: then all are.
 */
import { AgeHazards } from '../learn/age-hazard.ts';
import { DueQueue } from '../time/due-queue.ts';
import type { Belief, Choice, Finding, Policy, Watched } from './policy.ts';

// An age for pages of which nothing is known.
const unknownAge = 86_400;
// The level follows the last hundred or so looks.
const levelMemory = 0.01;
// A budget that was not used is not hoarded beyond so many looks.
const looksInHandMax = 10;

interface Seen {
  readonly watched: Watched;
  /** When last looked at, and how old the page was then. */
  at: number;
  age: number;
  known: boolean;
  inFlight: boolean;
  /** The level that its place in the queue was worked out for. */
  level: number;
}

export class AgePolicy implements Policy {
  readonly name = 'brewington';
  readonly #hazards = new AgeHazards();
  readonly #queue = new DueQueue();
  readonly #pages: (Seen | undefined)[] = [];
  readonly #level = { obsolescence: 3600, staleness: 0.5 };
  readonly #keyed = { obsolescence: 3600, staleness: 0.5 };
  #gap = Infinity;
  /** The moment of the next look. */
  #slot = -Infinity;

  watch(watched: Watched, now: number): void {
    this.#hazards.open(watched.page);
    this.#pages[watched.page] = { watched, at: now, age: unknownAge, known: false, inFlight: false, level: 0 };
    this.#queue.set(watched.page, now);
  }

  forget(page: number): void {
    this.#pages[page] = undefined;
    this.#queue.remove(page);
  }

  setBudget(looksPerSecond: number): void {
    this.#gap = looksPerSecond > 0 ? 1 / looksPerSecond : Infinity;
  }

  next(now: number): Choice | undefined {
    for (;;) {
      const page = this.#queue.first();
      if (page < 0 || this.#gap === Infinity) return undefined;
      const seen = this.#pages[page]!;
      const level = this.#levelOf(seen.watched);
      if (seen.known && seen.level < 0.98 * level) this.#place(page, seen);
      else return { page, at: Math.max(this.#slot, seen.known ? seen.at + seen.watched.spacingSeconds : now) };
    }
  }

  started(page: number, now: number): void {
    const seen = this.#pages[page];
    if (!seen) return;
    seen.inFlight = true;
    this.#queue.remove(page);
    this.#slot = Math.max(this.#slot, now - looksInHandMax * this.#gap) + this.#gap;
  }

  looked(page: number, at: number, finding: Finding): void {
    const seen = this.#pages[page];
    if (!seen) return;
    seen.inFlight = false;
    if (finding.kind !== 'failed') this.#learn(page, seen, at, finding);
    this.#place(page, seen);
  }

  taught(page: number, changes: Float64Array, from: number, to: number): void {
    const seen = this.#pages[page];
    if (!seen) return;
    let last = from;
    for (const change of changes) {
      if (last > from) this.#hazards.add(page, 0, change - last, true);
      last = change;
    }
    const age = last > from ? to - last : to - from;
    this.#hazards.add(page, 0, age, false);
    Object.assign(seen, { at: to, age, known: true });
    this.#place(page, seen);
  }

  due(page: number): number {
    return this.#queue.timeOf(page);
  }

  belief(page: number, now: number): Belief {
    const seen = this.#pages[page];
    if (!seen) return { current: 0, ratePerDay: 0, rateInterval: [0, Infinity] };
    const wait = Math.max(0, now - seen.at);
    const ratePerDay = 86_400 * this.#hazards.rateAt(page, seen.age + wait);
    return { current: this.#hazards.unchanged(page, seen.age, wait), ratePerDay, rateInterval: [0, Infinity] };
  }

  #lossOf(watched: Watched): 'obsolescence' | 'staleness' {
    return watched.loss ?? 'obsolescence';
  }

  #levelOf(watched: Watched): number {
    return this.#level[this.#lossOf(watched)];
  }

  #learn(page: number, seen: Seen, at: number, finding: Finding): void {
    const wait = Math.max(0, at - seen.at);
    if (finding.kind === 'first' || !seen.known) {
      seen.age = finding.modifiedAt === undefined ? unknownAge : Math.max(0, at - finding.modifiedAt);
    } else if (finding.kind === 'unchanged') {
      this.#hazards.add(page, seen.age, seen.age + wait, false);
      seen.age += wait;
    } else {
      const date = finding.modifiedAt;
      const changedAt = date !== undefined && date > seen.at && date <= at ? date : (seen.at + at) / 2;
      this.#hazards.add(page, seen.age, seen.age + changedAt - seen.at, true);
      this.#hazards.add(page, 0, at - changedAt, false);
      seen.age = at - changedAt;
    }
    if (seen.known) this.#follow(seen, wait, page);
    seen.at = at;
    seen.known = true;
  }

  /** What this look was worth moves the level; a level that fell far asks for all places anew. */
  #follow(seen: Seen, wait: number, page: number): void {
    const loss = this.#lossOf(seen.watched);
    const stale = 1 - this.#hazards.unchanged(page, seen.age, wait);
    const worth = seen.watched.weight * (loss === 'staleness' ? stale : (stale * wait) / 2);
    this.#level[loss] += levelMemory * (Math.max(worth, 1e-6) - this.#level[loss]);
    if (this.#level[loss] > 0.8 * this.#keyed[loss]) {
      this.#keyed[loss] = Math.max(this.#keyed[loss], this.#level[loss]);
      return;
    }
    this.#keyed[loss] = this.#level[loss];
    for (let other = 0; other < this.#pages.length; other++) {
      const one = this.#pages[other];
      if (one && one.known && !one.inFlight && other !== page) this.#place(other, one);
    }
  }

  #place(page: number, seen: Seen): void {
    if (!seen.known) return this.#queue.set(page, seen.at);
    const { watched } = seen;
    seen.level = this.#levelOf(watched);
    // A page whose chance of being stale cannot reach the level still comes in the end, by its certainty.
    const level = seen.level / watched.weight;
    const loss = this.#lossOf(watched);
    const wait = this.#hazards.waitUntil(page, seen.age, loss, loss === 'staleness' ? Math.min(level, 0.999) : level);
    this.#queue.set(page, seen.at + Math.max(wait, watched.spacingSeconds));
  }
}
