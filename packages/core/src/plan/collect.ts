/**
 * WIC (Pandey, Dhamdhere and Olston 2004, Algorithm 1): which C pages to look at in each instant, so that the utility of
 * the changes captured,
 *
 *   Σ_pages Σ_looks g(previous look, look),   g(s, f) = weight · Σ_{k=s+1…f} π_k · urgency(f − k) · life(k, f),
 *
 * is as great as can be had instant by instant: the C pages with the greatest g(previous look, now). Invariant: `value` of
 * a page is g(its last look, now). Within 1 + a of the optimum, a the greatest urgency(t+1) ⁄ urgency(t) (Theorem 1), and
 * optimal for a = 0.
 *
 * Online: probabilities are needed one instant ahead (`wic(...).step`). Cost O(pages) an instant for the laws of §2.3 plus
 * O(C log C); see running-gains.ts. Ties go to the lowest page; like the paper's, the algorithm takes C pages even when
 * fewer have something to offer. With capacities per site it takes the best that fit, the greedy of a laminar matroid.
 */
import { type Collected, isSparse } from '../loss/capture.ts';
import {
  type Feed,
  type Rule,
  type Running,
  type Valued,
  constantGains,
  countGains,
  factorGains,
  rowGains,
  ruleOf,
  tableGains,
  windowGains,
  worthOf,
} from './running-gains.ts';
import { top } from './top.ts';

export interface CollectProblem {
  readonly instants: number;
  /** Looks in each instant over all pages. */
  readonly capacity: number;
  readonly pages: readonly Collected[];
  /** Looks in each instant at each site's pages; pages name their site. */
  readonly siteCapacity?: ArrayLike<number>;
}

export interface Collection {
  /** For each instant the pages looked at, ascending. */
  readonly schedule: readonly Int32Array[];
  /** Expected, over the epoch. */
  readonly utility: number;
}

/** The algorithm itself, one instant at a time. */
export interface Collector {
  /** The next instant, with the probability that each page changes at it. Returns the pages to look at, ascending. */
  step(chance: ArrayLike<number>): Int32Array;
  /** The same where most pages cannot change: only those that can. */
  stepSparse(pages: ArrayLike<number>, chance: ArrayLike<number>, count: number): Int32Array;
  /** What the looks of all steps are expected to have captured. */
  readonly utility: number;
}

interface Places {
  readonly groups: readonly Running[];
  readonly groupOf: Uint8Array;
  readonly localOf: Int32Array;
}

interface Sites {
  readonly of: (page: number) => number;
  readonly capacity: ArrayLike<number>;
}

function place(
  pages: readonly Valued[],
  rule: (page: number) => Rule,
  make: Record<Rule, (ids: Int32Array) => Running>,
): Places {
  const names: Rule[] = [];
  const sizes: number[] = [];
  const groupOf = new Uint8Array(pages.length);
  const localOf = new Int32Array(pages.length);
  for (let page = 0; page < pages.length; page++) {
    const name = rule(page);
    let group = names.indexOf(name);
    if (group < 0) {
      group = names.push(name) - 1;
      sizes.push(0);
    }
    groupOf[page] = group;
    localOf[page] = sizes[group]++;
  }
  const members = sizes.map((size) => new Int32Array(size));
  for (let page = 0; page < pages.length; page++) members[groupOf[page]][localOf[page]] = page;
  const groups = names.map((name, group) => make[name](members[group]));
  return { groups, groupOf, localOf };
}

function makers(
  pages: readonly Valued[],
  constants: readonly Collected[],
  instants: number,
): Record<Rule, (ids: Int32Array) => Running> {
  return {
    constant: (ids) => constantGains(ids, constants, instants),
    table: (ids) => tableGains(ids, constants, instants),
    factor: (ids) => factorGains(ids, pages),
    window: (ids) => windowGains(ids, pages, instants),
    count: (ids) => countGains(ids, pages),
    rows: (ids) => rowGains(ids, pages, instants),
  };
}

/** Chooses and resets: the second half of a step. */
function chooser(places: Places, pages: number, capacity: number, sites: Sites | undefined, fill = true) {
  const { groups } = places;
  const best = top(capacity, pages);
  const order = sites ? new Int32Array(pages) : undefined;
  return (): { chosen: Int32Array; gain: number } => {
    let gain = 0;
    const take = (g: number, i: number): number => {
      gain += worthOf(groups[g], i);
      groups[g].look(i);
      return groups[g].pages[i];
    };
    if (sites && order) {
      for (const { awake } of groups) awake?.all();
      const fitting = bestThatFit(places, capacity, sites, order);
      const chosen = fill ? fitting : fitting.filter((page) => worthIn(places, page) > 0);
      for (const page of chosen) take(places.groupOf[page], places.localOf[page]);
      return { chosen, gain };
    }
    let count = best.pick(groups);
    // Pages with nothing to offer are taken last.
    if (!fill) while (count > 0 && worthOf(groups[best.group[count - 1]], best.local[count - 1]) === 0) count--;
    const chosen = new Int32Array(count);
    for (let n = 0; n < count; n++) chosen[n] = take(best.group[n], best.local[n]);
    return { chosen: chosen.sort(), gain };
  };
}

function worthIn({ groups, groupOf, localOf }: Places, page: number): number {
  return worthOf(groups[groupOf[page]], localOf[page]);
}

/** With capacities per site: down the list of all pages, taking whatever still fits. */
function bestThatFit(places: Places, capacity: number, sites: Sites, order: Int32Array): Int32Array {
  const value = (page: number) => worthIn(places, page);
  for (let page = 0; page < order.length; page++) order[page] = page;
  order.sort((a, b) => value(b) - value(a) || a - b);
  // Values within a part in 10¹² of each other are one run, taken by page.
  for (let from = 0, to = 0; from < order.length; from = to) {
    const least = value(order[from]) * (1 - 1e-12);
    while (to < order.length && value(order[to]) >= least) to++;
    order.subarray(from, to).sort();
  }
  const used = new Map<number, number>();
  const chosen: number[] = [];
  for (let n = 0; n < order.length && chosen.length < capacity; n++) {
    const site = sites.of(order[n]);
    const already = used.get(site) ?? 0;
    if (already >= sites.capacity[site]) continue;
    used.set(site, already + 1);
    chosen.push(order[n]);
  }
  return Int32Array.from(chosen).sort();
}

function sitesOf(
  pages: readonly { readonly site?: number }[],
  siteCapacity: ArrayLike<number> | undefined,
): Sites | undefined {
  return siteCapacity && { of: (page) => pages[page].site ?? 0, capacity: siteCapacity };
}

/** WIC for probabilities that arrive an instant ahead. Windows longer than `instantsMax` are as good as endless. */
export function wic(
  pages: readonly (Valued & { readonly site?: number })[],
  capacity: number,
  instantsMax: number,
  siteCapacity?: ArrayLike<number>,
): Collector {
  const places = place(pages, (page) => ruleOf(pages[page], 'dense'), makers(pages, [], instantsMax));
  const choose = chooser(places, pages.length, capacity, sitesOf(pages, siteCapacity));
  let utility = 0;
  const change = (page: number, chance: number) => {
    if (chance > 0) places.groups[places.groupOf[page]].change(places.localOf[page], chance);
  };
  const finish = (): Int32Array => {
    const { chosen, gain } = choose();
    utility += gain;
    return chosen;
  };
  return {
    step: (chance) => {
      for (const group of places.groups) group.advance();
      for (let page = 0; page < pages.length; page++) change(page, chance[page]);
      return finish();
    },
    stepSparse: (changing, chance, count) => {
      for (const group of places.groups) group.advance();
      for (let n = 0; n < count; n++) change(changing[n], chance[n]);
      return finish();
    },
    get utility() {
      return utility;
    },
  };
}

function feedOf(page: Collected): Feed {
  if (typeof page.change === 'number') return 'constant';
  return isSparse(page.change) ? 'sparse' : 'dense';
}

interface Event {
  readonly page: Int32Array;
  readonly chance: Float64Array;
  /** Where each instant's events begin. */
  readonly start: Int32Array;
}

/** The sparse pages' changes by instant. */
function eventsOf(pages: readonly Collected[], instants: number): Event {
  const start = new Int32Array(instants + 2);
  const visit = (each: (page: number, instant: number, chance: number) => void) => {
    for (let page = 0; page < pages.length; page++) {
      const { change } = pages[page];
      if (!isSparse(change)) continue;
      for (let e = 0; e < change.at.length; e++) {
        const chance = change.probability?.[e] ?? 1;
        if (chance > 0 && change.at[e] >= 1 && change.at[e] <= instants) each(page, change.at[e], chance);
      }
    }
  };
  visit((_, instant) => start[instant + 1]++);
  for (let j = 1; j <= instants + 1; j++) start[j] += start[j - 1];
  const page = new Int32Array(start[instants + 1]);
  const chance = new Float64Array(start[instants + 1]);
  const next = start.slice();
  visit((which, instant, probability) => {
    page[next[instant]] = which;
    chance[next[instant]++] = probability;
  });
  return { page, chance, start };
}

/** Algorithm 1 over a whole epoch; without `fill` its looks that capture nothing are left out. */
export function collect({ instants, capacity, pages, siteCapacity }: CollectProblem, fill = true): Collection {
  const places = place(pages, (page) => ruleOf(pages[page], feedOf(pages[page])), makers(pages, pages, instants));
  const choose = chooser(places, pages.length, capacity, sitesOf(pages, siteCapacity), fill);
  const events = eventsOf(pages, instants);
  const fed: number[] = [];
  for (let page = 0; page < pages.length; page++) {
    const feed = feedOf(pages[page]);
    if (feed === 'dense' || (feed === 'constant' && ruleOf(pages[page], feed) === 'count')) fed.push(page);
  }
  const change = (page: number, chance: number) =>
    places.groups[places.groupOf[page]].change(places.localOf[page], chance);
  const schedule: Int32Array[] = [];
  let utility = 0;
  for (let j = 1; j <= instants; j++) {
    for (const group of places.groups) group.advance();
    for (let e = events.start[j]; e < events.start[j + 1]; e++) change(events.page[e], events.chance[e]);
    for (const page of fed) {
      const given = pages[page].change as number | readonly number[];
      const chance = typeof given === 'number' ? given : given[j - 1];
      if (chance > 0) change(page, chance);
    }
    const { chosen, gain } = choose();
    schedule.push(chosen);
    utility += gain;
  }
  return { schedule, utility };
}
