/** How many robots this process could keep busy, and how many there are: processes, each with many requests at once. */
import { planRobots } from '@revisit/core';

/** What `revisit robot` does at once unless told otherwise. */
const robotBreadth = 64;
/** Room for looks that take longer than the mean. */
const spare = 1.25;

/** Those that were heard lately; a process without a cluster is its own. */
export function robotsThere(desk: Crewed): number {
  const crew = desk.robots();
  return crew ? crew.filter(({ there }) => there).length : desk.loop ? 1 : 0;
}

interface Crewed {
  readonly loop?: object | undefined;
  robots(): readonly { readonly there: boolean }[] | undefined;
}

/** What of the loop says how many robots it could keep busy. */
interface WantingLoop {
  readonly collection: { readonly size: number };
  readonly settings: { readonly looksPerSecond: number; readonly queueMax: number };
  counts(): { readonly pool: { readonly fetchMsMean: number; readonly indexMsMean: number } };
}

/** By Talim's rule, no more than the indexing queue can take without overflowing; and no more than the budget can use. */
export function robotsWanted({ loop }: { readonly loop?: WantingLoop | undefined }): number {
  if (!loop) return 0;
  const { pool } = loop.counts();
  const { looksPerSecond, queueMax } = loop.settings;
  if (!(pool.fetchMsMean > 0)) return loop.collection.size > 0 ? 1 : 0;
  const budgeted = (spare * looksPerSecond * pool.fetchMsMean) / 1000;
  const rates = { arrival: 1000 / pool.fetchMsMean, service: 1000 / Math.max(1e-3, pool.indexMsMean) };
  const ruled = planRobots({ ...rates, buffer: queueMax, starvationWeight: 1 }).robots;
  return Math.min(budgeted, ruled) / robotBreadth;
}
