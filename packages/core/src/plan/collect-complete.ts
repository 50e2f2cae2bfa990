/**
 * Completeness only, for changes that are known and keep (append × uniform, equal weights): a good schedule for large epochs, by
 * giving up as little as possible. Only a page's last look counts, and one that is to bring m changes must come at the m-th
 * or later; all these spans of time end with the epoch, so by Hall's theorem looks for them can be found if and only if
 *
 *   #{pages whose last look must come at t or later}  ≤  capacity · (N − t + 1)   for every t.
 *
 * From the end back: a page claims its last change; when there are more claims than looks left, one page gives up what it
 * claims at t or later and claims the change before. The page whose change before is the earliest goes, since it claims least
 * of what is still to come. That is not always the best choice (it is where looks are plenty); how far it is off, the bound by
 * prices says. O(changes · log pages): some milliseconds for 7,564 pages and 1,440 instants.
 */
import { type Collected, decayOf, isSparse } from '../loss/capture.ts';
import { DueQueue } from '../time/due-queue.ts';
import type { Collection, CollectProblem } from './collect.ts';

/** A schedule where the problem is of this kind; undefined otherwise. */
export function collectComplete({ instants, capacity, pages, siteCapacity }: CollectProblem): Collection | undefined {
  const weight = pages[0]?.weight;
  if (weight === undefined || siteCapacity || !pages.every((page) => page.weight === weight && keeps(page))) {
    return undefined;
  }
  const changes = pages.map(({ change }) => {
    const at = isSparse(change) ? Array.from(change.at) : [];
    return at.filter((instant) => instant >= 1 && instant <= instants);
  });
  const claimed = claims(changes, instants, capacity);
  const order = Array.from(claimed.keys())
    .filter((page) => claimed[page]! > 0)
    .sort((a, b) => changes[b]![claimed[b]! - 1]! - changes[a]![claimed[a]! - 1]! || a - b);
  const lists: number[][] = Array.from({ length: instants }, () => []);
  let utility = 0;
  order.forEach((page, place) => {
    const look = instants - Math.floor(place / capacity);
    lists[look - 1]!.push(page);
    utility += weight * changes[page]!.filter((instant) => instant <= look).length;
  });
  return { schedule: lists.map((list) => Int32Array.from(list).sort()), utility };
}

function keeps({ life, urgency, change }: Collected): boolean {
  if (life.kind !== 'append' || urgency.kind === 'window' || decayOf(urgency) !== 1 || !isSparse(change)) return false;
  const { probability } = change;
  return probability === undefined || Array.from(probability).every((chance) => chance === 1);
}

/** How many changes each page is to bring. */
function claims(changes: readonly (readonly number[])[], instants: number, capacity: number): Int32Array {
  const claimed = Int32Array.from(changes, (at) => at.length);
  const claimedAt: number[][] = Array.from({ length: instants + 1 }, () => []);
  changes.forEach((at, page) => {
    if (at.length > 0) claimedAt[at[at.length - 1]!]!.push(page);
  });
  /** Who holds a claim, by the instant of the change before. */
  const holders = new DueQueue();
  for (let t = instants; t >= 1; t--) {
    for (const page of claimedAt[t]!) holders.set(page, changes[page]![claimed[page]! - 2] ?? 0);
    while (holders.length > capacity * (instants - t + 1)) {
      const page = holders.first();
      holders.remove(page);
      while (claimed[page]! > 0 && changes[page]![claimed[page]! - 1]! >= t) claimed[page]!--;
      if (claimed[page]! > 0) claimedAt[changes[page]![claimed[page]! - 1]!]!.push(page);
    }
  }
  return claimed;
}
