/**
 * Prices where no programme is needed to find them: where only the moment counts instants do not know of each other, and where
 * nothing can be looked at there is no other look. What one more look in an instant is worth is then the gain of the best page
 * that is not looked at in it.
 */
import { gainsFrom, momentsOf } from '../loss/capture.ts';
import type { CollectProblem } from './collect.ts';

export function pricesOfInstants(problem: CollectProblem, schedule: readonly Int32Array[]): Float64Array {
  const { pages, instants, capacity, siteCapacity } = problem;
  const looked = pages.map((): Set<number> | undefined => undefined);
  const siteFull = new Set<number>();
  schedule.forEach((list, index) => {
    const used = new Map<number, number>();
    for (const page of list) {
      (looked[page] ??= new Set()).add(index + 1);
      const site = pages[page].site ?? 0;
      used.set(site, (used.get(site) ?? 0) + 1);
    }
    for (let site = 0; site < (siteCapacity?.length ?? 0); site++) {
      if ((used.get(site) ?? 0) >= (siteCapacity?.[site] ?? 0)) siteFull.add(site * instants + index);
    }
  });
  const price = new Float64Array(instants);
  const row = new Float64Array(instants + 1);
  pages.forEach((page, n) => {
    row.fill(0);
    gainsFrom(page, momentsOf(page.change, instants), 0, row);
    for (let f = 1; f <= instants; f++) {
      // Room that is left over is worth nothing.
      if (row[f] <= price[f - 1] || schedule[f - 1].length < capacity || looked[n]?.has(f)) continue;
      if (!siteFull.has((page.site ?? 0) * instants + f - 1)) price[f - 1] = row[f];
    }
  });
  return price;
}
