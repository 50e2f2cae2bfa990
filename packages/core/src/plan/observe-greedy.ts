/**
 * Tomorrow's observations by greed (Brewington §2.3.1): the `capacity` pages with the greatest probability of being out of
 * date (14), or the greatest expected time out of date (24), times their weight.
 *
 * Ties go to the page unseen longest, then to the lowest index: with that every page is observed again and again (§2.3.2,
 * "liveness"), for `stale` when weights are equal and every page does change in the end, for `days-stale` whatever the
 * weights, since Z grows without bound. With ties to the lowest index alone, pages that are certain to have changed would
 * starve one another.
 */
import { changedSince, stepsStale } from '../model/age-chain.ts';
import type { HorizonLoss, HorizonPage } from './horizon-costs.ts';

export function observeGreedily(pages: readonly HorizonPage[], capacity: number, loss: HorizonLoss): Int32Array {
  const cost = Float64Array.from(pages, ({ chain, age, since, weight, day = 0 }) => {
    const value = loss === 'stale' ? changedSince(chain, age, since, day) : stepsStale(chain, age, since, day);
    return weight * value;
  });
  const order = Int32Array.from(pages.keys()).sort(
    (a, b) => cost[b] - cost[a] || pages[b].since - pages[a].since || a - b,
  );
  return order.slice(0, capacity).sort();
}
