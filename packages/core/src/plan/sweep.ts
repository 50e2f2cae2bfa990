/**
 * The order of a sweep: every page once, by several robots, on sites that are slow at different hours.
 *
 *   minimise the time at which the last page is there, when a page of site s asked for in hour h takes a_s(h), at most
 *   `robots` are under way, and a site gets its next request `spacing` after the last and none while `breadth` are under way
 *
 * This is VLSP with several robots, spacing and thousands of equal tasks a site, so sites, not pages, are planned. A sweep
 * is played out with a priority over sites by hour; a robot that is free takes the site of best priority whose gate is open
 * (a robot never waits while it could work: an early page is never a loss to the others). Tried are: shortest answer
 * first (the greedy), shortest relative to the site's own usual, longest remaining work first, and prices: with a price
 * π_h on an hour's robot time each site puts its pages into the hours that are cheapest at a_s(h)·(1 + π_h); prices rise
 * where more is wanted than the robots have, and a site goes first where its hour is cheap against the dearest it must
 * use (the dual of the hourly assignment). The best of all that were played out is taken, so it is never worse than the
 * greedy in the times it was given.
 *
 * Cost: O(pages·log sites + hours·sites) a play, up to eight plays; prices O(rounds · sites · hours·log hours). Hours are those until the
 * sweep ends, `hoursMost` of them at most: a budget of one request an hour makes a sweep of years.
 */

export interface SweepSite {
  readonly pages: number;
  readonly spacingSeconds: number;
  /** Requests that may be under way at once. */
  readonly breadth: number;
  /** Expected seconds of an answer by hour from the start of the first hour; the last value holds for later hours. */
  readonly hourly: readonly number[];
}

export interface SweepProblem {
  readonly sites: readonly SweepSite[];
  readonly robots: number;
  /** Seconds of the first hour that have passed when the sweep starts. */
  readonly intoHourSeconds: number;
  /** Requests that may start per second, all sites together. */
  readonly looksPerSecond?: number;
}

export interface SweepPlan {
  /** The site of each request, in the order in which they go out. */
  readonly order: Int32Array;
  /** When each goes out, in seconds from the start. */
  readonly startSeconds: Float64Array;
  readonly finishSeconds: number;
  /** Which priority was the best. */
  readonly by: string;
}

/** Lower goes first; asked once an hour. `left` is the number of pages the site still has. */
export type SweepPriority = (site: number, hour: number, left: number) => number;

/** Two weeks: what a site is like is known by hour of week, and a budget so small leaves the robots idle, whatever the hour. */
const hoursMost = 336;

export function planSweep(problem: SweepProblem): SweepPlan {
  let best = playSweep(problem, greedyPriority(problem), 'shortest first');
  const consider = (by: string, priority: SweepPriority): void => {
    const plan = playSweep(problem, priority, by);
    if (plan.finishSeconds < best.finishSeconds) best = plan;
  };
  consider('longest work first', (site, hour, left) => -left * paceOf(problem.sites[site]!, hour));
  // The horizon matters to the others: it is the best finish so far, made smaller round by round.
  for (const share of [1, 0.9, 0.8]) {
    const horizon = Math.max(1, Math.ceil((problem.intoHourSeconds + share * best.finishSeconds) / 3600));
    consider('relatively fast first', relativePriority(problem, horizon));
    // Within one hour every price is the same, and so is the order; a shorter horizon only repeats it.
    if (horizon === 1 || horizon > hoursMost) break;
    consider('prices', pricedPriority(problem, horizon));
  }
  return best;
}

function secondsIn(site: SweepSite, hour: number): number {
  return site.hourly[Math.min(hour, site.hourly.length - 1)]!;
}

/** Seconds a page of the site takes when the site is asked as fast as it may be. */
function paceOf(site: SweepSite, hour: number): number {
  return Math.max(site.spacingSeconds, secondsIn(site, hour) / site.breadth);
}

export function greedyPriority(problem: SweepProblem): SweepPriority {
  return (site, hour) => secondsIn(problem.sites[site]!, hour);
}

function relativePriority(problem: SweepProblem, horizon: number): SweepPriority {
  const hours = Math.min(horizon, hoursMost);
  const usual = problem.sites.map((site) => {
    let sum = 0;
    for (let hour = 0; hour < hours; hour++) sum += secondsIn(site, hour);
    return sum / hours;
  });
  return (site, hour) => secondsIn(problem.sites[site]!, hour) / usual[site]!;
}

/** Rounds of price adjustment; prices settle to a few percent, which is better than the times are known. */
const priceRounds = 80;

function pricedPriority(problem: SweepProblem, horizon: number): SweepPriority {
  const prices = new Float64Array(horizon);
  const dearest = new Float64Array(problem.sites.length);
  const wanted = new Float64Array(horizon);
  for (let round = 1; round <= priceRounds; round++) {
    wanted.fill(0);
    problem.sites.forEach((site, s) => (dearest[s] = fillCheapest(site, problem, prices, wanted)));
    for (let hour = 0; hour < horizon; hour++) {
      const offered = problem.robots * hourSeconds(problem, hour);
      prices[hour] = Math.max(0, prices[hour]! + (1 / Math.sqrt(round)) * (wanted[hour]! / offered - 1));
    }
  }
  return (site, hour) => {
    const price = 1 + (prices[Math.min(hour, horizon - 1)] ?? 0);
    return (secondsIn(problem.sites[site]!, hour) * price) / dearest[site]!;
  };
}

function hourSeconds(problem: SweepProblem, hour: number): number {
  return hour === 0 ? 3600 - problem.intoHourSeconds : 3600;
}

/** Puts a site's pages into its cheapest hours, adds the robot time they take, and answers the dearest that it had to use. */
function fillCheapest(site: SweepSite, problem: SweepProblem, prices: Float64Array, wanted: Float64Array): number {
  const hours = Array.from(prices, (price, hour) => ({ hour, cost: secondsIn(site, hour) * (1 + price) }));
  hours.sort((a, b) => a.cost - b.cost || a.hour - b.hour);
  let left = site.pages;
  for (const { hour, cost } of hours) {
    const room = hourSeconds(problem, hour) / Math.max(1e-9, paceOf(site, hour));
    const taken = Math.min(left, room);
    wanted[hour]! += taken * secondsIn(site, hour);
    left -= taken;
    if (left <= 0) return Math.max(1e-9, cost);
  }
  return Math.max(1e-9, hours.at(-1)!.cost);
}

/** Plays a sweep out with expected times. */
export function playSweep(problem: SweepProblem, priority: SweepPriority, by: string): SweepPlan {
  const play = new Play(problem, priority);
  play.run();
  return { order: play.order, startSeconds: play.startSeconds, finishSeconds: play.finish, by };
}

class Play {
  readonly order: Int32Array;
  readonly startSeconds: Float64Array;
  finish = 0;
  readonly #problem: SweepProblem;
  readonly #priority: SweepPriority;
  readonly #left: number[];
  readonly #busy: number[];
  readonly #opensAt: number[];
  /** Sites whose gate is open, by priority; sites whose gate opens later, by time; requests under way, by their end. */
  #open: Heap;
  readonly #shut = new Heap();
  readonly #ends = new Heap();
  #hour = 0;
  #placed = 0;

  constructor(problem: SweepProblem, priority: SweepPriority) {
    this.#problem = problem;
    this.#priority = priority;
    this.#left = problem.sites.map((site) => site.pages);
    this.#busy = problem.sites.map(() => 0);
    this.#opensAt = problem.sites.map(() => 0);
    const pages = this.#left.reduce((sum, count) => sum + count, 0);
    this.order = new Int32Array(pages);
    this.startSeconds = new Float64Array(pages);
    this.#open = new Heap();
    this.#left.forEach((count, site) => count > 0 && this.#open.push(priority(site, 0, count), site));
  }

  run(): void {
    const gap = this.#problem.looksPerSecond ? 1 / this.#problem.looksPerSecond : 0;
    let [now, allowed] = [0, 0];
    while (this.#placed < this.order.length) {
      this.#turnHour(now);
      while (this.#shut.top <= now) this.#reopen(this.#shut.pop(), now);
      while (this.#ends.top <= now) this.#end(this.#ends.pop(), now);
      if (allowed <= now && this.#ends.size < this.#problem.robots && this.#open.size > 0) {
        this.#start(this.#open.pop(), now);
        allowed = Math.max(allowed, now) + gap;
        continue;
      }
      const next = Math.min(this.#shut.top, this.#ends.top, allowed > now ? allowed : Infinity);
      if (next === Infinity) return;
      now = next;
    }
  }

  #start(site: number, now: number): void {
    const { spacingSeconds, breadth } = this.#problem.sites[site]!;
    const end = now + secondsIn(this.#problem.sites[site]!, this.#hour);
    this.order[this.#placed] = site;
    this.startSeconds[this.#placed++] = now;
    this.finish = Math.max(this.finish, end);
    this.#ends.push(end, site);
    this.#left[site]!--;
    this.#busy[site]!++;
    this.#opensAt[site] = now + spacingSeconds;
    if (this.#left[site]! > 0 && this.#busy[site]! < breadth) this.#shut.push(this.#opensAt[site], site);
  }

  #end(site: number, now: number): void {
    this.#busy[site]!--;
    // With breadth to spare the site is in one of the heaps already.
    if (this.#left[site]! <= 0 || this.#busy[site]! + 1 < this.#problem.sites[site]!.breadth) return;
    if (this.#opensAt[site]! > now) this.#shut.push(this.#opensAt[site]!, site);
    else this.#reopen(site, now);
  }

  #reopen(site: number, now: number): void {
    if (this.#left[site]! > 0 && this.#opensAt[site]! <= now) {
      this.#open.push(this.#priority(site, this.#hour, this.#left[site]!), site);
    }
  }

  #turnHour(now: number): void {
    const hour = Math.min(hoursMost, Math.floor((this.#problem.intoHourSeconds + now) / 3600));
    if (hour === this.#hour) return;
    this.#hour = hour;
    const sites = this.#open.drain();
    for (const site of sites) this.#open.push(this.#priority(site, hour, this.#left[site]!), site);
  }
}

/** A binary heap of sites by a number; among equals the lower site comes first. */
class Heap {
  // Side by side, and not as pairs: a sweep of thousands makes and moves tens of thousands of them.
  readonly #at: number[] = [];
  readonly #sites: number[] = [];

  get size(): number {
    return this.#at.length;
  }

  get top(): number {
    return this.#at.length === 0 ? Infinity : this.#at[0]!;
  }

  drain(): number[] {
    this.#at.length = 0;
    return this.#sites.splice(0);
  }

  push(at: number, site: number): void {
    this.#at.push(at);
    let i = this.#sites.push(site) - 1;
    for (let up = (i - 1) >> 1; i > 0 && isBefore(at, site, this.#at[up]!, this.#sites[up]!); up = (i - 1) >> 1) {
      this.#put(i, this.#at[up]!, this.#sites[up]!);
      i = up;
    }
    this.#put(i, at, site);
  }

  pop(): number {
    const first = this.#sites[0]!;
    const at = this.#at.pop()!;
    const site = this.#sites.pop()!;
    if (this.#at.length === 0) return first;
    let i = 0;
    for (let child = this.#firstChild(i); child >= 0; child = this.#firstChild(i)) {
      if (!isBefore(this.#at[child]!, this.#sites[child]!, at, site)) break;
      this.#put(i, this.#at[child]!, this.#sites[child]!);
      i = child;
    }
    this.#put(i, at, site);
    return first;
  }

  /** Whichever child goes first; -1 when there is none. */
  #firstChild(i: number): number {
    const at = this.#at;
    const sites = this.#sites;
    const left = 2 * i + 1;
    if (left >= at.length) return -1;
    const right = left + 1;
    return right < at.length && isBefore(at[right]!, sites[right]!, at[left]!, sites[left]!) ? right : left;
  }

  #put(i: number, at: number, site: number): void {
    this.#at[i] = at;
    this.#sites[i] = site;
  }
}

function isBefore(at: number, site: number, otherAt: number, otherSite: number): boolean {
  return at < otherAt || (at === otherAt && site < otherSite);
}
