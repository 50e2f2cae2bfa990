/**
 * What a check leaves for later: pages whose site is shut for longer than somebody waits who wants to know what has changed. One site
 * in quiet hours, or one that asks to be left alone for a month, would otherwise keep a check from ending, and every later one
 * from the folder.
 */
import type { Wait } from './page-waits.ts';

/** Cron comes again soon, and what is due stays due: nothing is waited for that is further away, not even the budget. */
const dueMsMax = 60_000;
/** Who wants every page seen once waits as long as the budget takes, and for sites that are widely spaced. */
const allMsMax = 600_000;

export interface Patience {
  readonly siteMs: number;
  readonly budgetMs: number;
}

export const patienceOf = (all: boolean): Patience =>
  all ? { siteMs: allMsMax, budgetMs: Infinity } : { siteMs: dueMsMax, budgetMs: dueMsMax };

/** So many pages, and what they wait for. */
export interface Later extends Wait {
  readonly pages: number;
}

/** Those that wait for the same, until the first of them may go. */
export function gatheredLater(waits: Iterable<Later>): readonly Later[] {
  const found = new Map<string, Later>();
  for (const wait of waits) {
    const { pages, untilMs } = found.get(wait.why) ?? { pages: 0, untilMs: Infinity };
    found.set(wait.why, { ...wait, pages: pages + wait.pages, untilMs: Math.min(untilMs, wait.untilMs) });
  }
  return [...found.values()].sort((a, b) => b.pages - a.pages);
}
