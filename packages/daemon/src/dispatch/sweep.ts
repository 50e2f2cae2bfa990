/**
 * Many pages at once, each to be looked at once: `check --all` and the first crawl of new pages. They leave in the order
 * the sequence planner gives them, from what was learned of each site's access times by hour of week.
 */
import { type AccessTimes, greedyPriority, planSweep, playSweep, type Random, type SweepProblem } from '@revisit/core';

export interface SweepStop {
  /** The page's index in the collection. */
  readonly page: number;
  readonly site: string;
}

export interface SweepContext {
  readonly access: AccessTimes;
  readonly nowMs: number;
  readonly robots: number;
  readonly looksPerSecond: number;
  readonly gate: (site: string) => { readonly spacingMs: number; readonly connections: number };
}

/** Puts the stops into the order in which they are to leave. */
export type SweepOrder = (stops: readonly SweepStop[], context: SweepContext) => readonly SweepStop[];

/** Hours for which access times are asked; in later hours sites are taken to be as in the last of them. */
const hoursAhead = 48;

/** Larger sweeps are planned in bundles of pages of one site, so that a plan takes a fraction of a second. */
const bundlesMost = 20_000;

interface Bundled {
  readonly problem: SweepProblem;
  readonly queues: readonly SweepStop[][];
  /** Pages that count as one. */
  readonly bundle: number;
}

function problemOf(stops: readonly SweepStop[], context: SweepContext): Bundled {
  const bundle = Math.max(1, Math.ceil(stops.length / bundlesMost));
  const bySite = new Map<string, SweepStop[]>();
  for (const stop of stops) {
    const pages = bySite.get(stop.site);
    if (pages) pages.push(stop);
    else bySite.set(stop.site, [stop]);
  }
  const nowSeconds = context.nowMs / 1000;
  const sites = [...bySite].map(([site, pages]) => {
    const { spacingMs, connections } = context.gate(site);
    const hourly = context.access.hourly(site, nowSeconds, hoursAhead).map((seconds) => seconds * bundle);
    const spacingSeconds = (spacingMs / 1000) * bundle;
    return { pages: Math.ceil(pages.length / bundle), spacingSeconds, breadth: connections, hourly };
  });
  const looksPerSecond = context.looksPerSecond / bundle;
  const problem = { sites, robots: context.robots, looksPerSecond, intoHourSeconds: nowSeconds % 3600 };
  return { problem, queues: [...bySite.values()], bundle };
}

function pagesOf(order: Int32Array, { queues, bundle }: Bundled): SweepStop[] {
  const taken = queues.map(() => 0);
  return Array.from(order).flatMap((site) => {
    taken[site]! += bundle;
    return queues[site]!.slice(taken[site]! - bundle, taken[site]!);
  });
}

export const plannedOrder: SweepOrder = (stops, context) => {
  const bundled = problemOf(stops, context);
  return pagesOf(planSweep(bundled.problem).order, bundled);
};

/** The site that answers fastest now goes first. */
export const greedyOrder: SweepOrder = (stops, context) => {
  const bundled = problemOf(stops, context);
  const { problem } = bundled;
  return pagesOf(playSweep(problem, greedyPriority(problem), 'greedy').order, bundled);
};

export const givenOrder: SweepOrder = (stops) => stops;

export const randomOrder =
  (random: Random): SweepOrder =>
  (stops) =>
    stops
      .map((stop) => ({ stop, key: random() }))
      .sort((a, b) => a.key - b.key)
      .map(({ stop }) => stop);

/** How many stops ahead are looked through for one whose site is free. */
const lookAhead = 512;

/** The order is thought over when an hour begins and when this share of what was left has gone. */
const replanShare = 0.1;
/** But not sooner: what is known of a site's speed does not change in seconds, and a fast sweep would do nothing but plan. */
const replanMsMin = 30_000;

/** The pages of a sweep that have not left yet, in order. */
export class SweepLine {
  #stops: SweepStop[] = [];
  #first = 0;
  #planned = { size: 0, atMs: 0 };

  get size(): number {
    return this.#stops.length - this.#first;
  }

  add(stops: readonly SweepStop[], order: SweepOrder, context: SweepContext): void {
    this.#plan([...this.#stops.slice(this.#first), ...stops], order, context);
  }

  /** Answers take longer or shorter than expected, so what is left is ordered anew now and then. */
  refresh(order: SweepOrder, context: () => SweepContext, nowMs: number): void {
    if (this.size === 0) return;
    const { size, atMs } = this.#planned;
    const sameHour = Math.floor(nowMs / 3_600_000) === Math.floor(atMs / 3_600_000);
    if (sameHour && (nowMs - atMs < replanMsMin || this.size > (1 - replanShare) * size)) return;
    this.#plan(this.#stops.slice(this.#first), order, context());
  }

  #plan(stops: readonly SweepStop[], order: SweepOrder, context: SweepContext): void {
    this.#stops = [...order(stops, context)];
    this.#first = 0;
    this.#planned = { size: stops.length, atMs: context.nowMs };
  }

  /** The first stop whose site is free, taken out of the line; undefined when none of the next few is. */
  take(free: (site: string) => boolean): SweepStop | undefined {
    const shut = new Set<string>();
    const end = Math.min(this.#stops.length, this.#first + lookAhead);
    for (let k = this.#first; k < end; k++) {
      const stop = this.#stops[k]!;
      if (shut.has(stop.site)) continue;
      if (free(stop.site)) {
        this.#stops.copyWithin(this.#first + 1, this.#first, k);
        this.#first++;
        return stop;
      }
      shut.add(stop.site);
    }
    return undefined;
  }

  /** The sites of the next few stops. */
  sitesAhead(): Set<string> {
    return new Set(this.#stops.slice(this.#first, this.#first + lookAhead).map(({ site }) => site));
  }
}
