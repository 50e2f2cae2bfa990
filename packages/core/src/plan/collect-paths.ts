/** A schedule of collecting as each page's looks, and back. */
import type { Collected, Moments } from '../loss/capture.ts';
import type { CollectMarket } from './collect-market.ts';
import type { Path } from './collect-page.ts';
import type { Collection, CollectProblem } from './collect.ts';
import { lowestFirst } from './lowest-first.ts';

/** A page's looks with their gain, without those that capture nothing. */
export function pathOf(market: CollectMarket, page: number, looks: readonly number[]): Path {
  const { at } = market.inner.moments[page];
  const useful: number[] = [];
  let gain = 0;
  let captured = 0;
  for (const look of looks) {
    const from = captured;
    while (captured < at.length && at[captured] <= look) captured++;
    const more = captured > from ? market.inner.gain(page, from, look) : 0;
    if (more > 0) useful.push(look);
    gain += more;
  }
  return { looks: useful, gain };
}

export function pathsOf({ pages }: CollectProblem, market: CollectMarket, schedule: readonly Int32Array[]): Path[] {
  const looks: number[][] = pages.map(() => []);
  schedule.forEach((list, index) => list.forEach((page) => looks[page].push(index + 1)));
  return looks.map((list, page) => pathOf(market, page, list));
}

/** Makes schedules of paths; pages that are alike share their looks so that the lowest has the earliest. */
export function scheduler({ pages, instants }: CollectProblem, market: CollectMarket) {
  const { kindOf, kinds } = kindsOf(pages, market.inner.moments);
  return (paths: readonly Path[]): Collection => {
    const lists: number[][] = Array.from({ length: instants }, () => []);
    let utility = 0;
    lowestFirst(kindOf, kinds, (a, b) => earlier(paths[a].looks, paths[b].looks)).forEach((from, page) => {
      utility += paths[from].gain;
      for (const look of paths[from].looks) lists[look - 1].push(page);
    });
    return { schedule: lists.map((list) => Int32Array.from(list)), utility };
  };
}

/** Pages that are alike in everything have one number. */
function kindsOf(pages: readonly Collected[], moments: readonly Moments[]): { kindOf: Int32Array; kinds: number } {
  const kindOf = new Int32Array(pages.length);
  let kinds = 0;
  // All that could change written out would take gigabytes in large epochs: pages that begin and end alike are compared.
  const firsts = new Map<string, number[]>();
  const functions = new Map<unknown, number>();
  pages.forEach(({ weight, life, urgency, site }, page) => {
    const { at, probability } = moments[page];
    // What a function says is not known, only whether it is the same one.
    const law = urgency.kind === 'custom' ? (functions.get(urgency.at) ?? functions.size) : -1;
    if (urgency.kind === 'custom') functions.set(urgency.at, law);
    const name = JSON.stringify([weight, life, urgency, law, site, at.length, at[0], probability[0], at.at(-1)]);
    const candidates = firsts.get(name) ?? [];
    const alike = candidates.find((first) => isSame(moments[first], moments[page]));
    kindOf[page] = alike === undefined ? kinds++ : kindOf[alike];
    if (alike === undefined) candidates.push(page);
    firsts.set(name, candidates);
  });
  return { kindOf, kinds };
}

function isSame(a: Moments, b: Moments): boolean {
  return a.at.every((at, n) => at === b.at[n] && a.probability[n] === b.probability[n]);
}

/** By the first look in which they differ; a look comes before none. */
function earlier(a: readonly number[], b: readonly number[]): number {
  for (let n = 0; n < Math.max(a.length, b.length); n++) {
    const difference = (a[n] ?? Infinity) - (b[n] ?? Infinity);
    if (difference !== 0) return difference;
  }
  return 0;
}
