/**
 * Lists of pages in any order, from what the running daemon holds in memory: a hundred thousand pages are filtered and
 * ordered in tens of milliseconds, and a list that is scrolled through is made once.
 */
import type { Belief } from '@revisit/core';
import type { Entry } from '../collection/collection.ts';
import type { Desk } from '../desk.ts';
import type { WatchedPage } from '../values/look.ts';

export interface PageFilter {
  readonly site?: string;
  readonly tag?: string;
  readonly text?: string;
  readonly status?: string;
}

export const pageOrders = ['added', 'changed', 'looked', 'next', 'current', 'rate', 'title', 'trouble'] as const;
export type PageOrder = (typeof pageOrders)[number];

/** Beside the page's own states: what its user or the last look made of it. */
export const pageFilters = ['new', 'present', 'gone', 'unreadable', 'paused', 'trouble'] as const;

export function fits({ page, state }: WatchedPage, filter: PageFilter): boolean {
  if (filter.site !== undefined && page.site !== filter.site) return false;
  if (filter.tag !== undefined && !page.tags.includes(filter.tag)) return false;
  if (
    filter.status === 'paused'
      ? !page.paused
      : filter.status === 'trouble'
        ? !state.fault
        : filter.status !== undefined && state.status !== filter.status
  )
    return false;
  if (filter.text === undefined || filter.text === '') return true;
  const text = filter.text.toLowerCase();
  return page.url.toLowerCase().includes(text) || (page.title ?? state.seenTitle ?? '').toLowerCase().includes(text);
}

const titleOf = ({ page, state }: WatchedPage): string =>
  (page.title ?? state.seenTitle ?? page.url.replace(/^https?:\/\//, '')).toLowerCase();

/** As answers have it: what is believed of a page that nobody has seen is a guess. */
const seenBelief = (entry: Entry | undefined, desk: Desk): Belief | undefined =>
  entry && entry.state.version > 0 ? desk.belief(entry) : undefined;

/** Smallest first; what has no value comes last. */
const keys = {
  changed: ({ state }: WatchedPage) => -(state.lastChangeMs ?? 0),
  looked: ({ state }: WatchedPage) => -(state.lastLookMs ?? 0),
  trouble: ({ state }: WatchedPage) => (state.fault ? -state.failures - 1 : 0),
};

/** Likewise, by what only the daemon knows that looks after the page. */
const plannedKeys = {
  next: (entry: Entry | undefined, desk: Desk) => (entry && desk.dueMs(entry)) ?? Infinity,
  current: (entry: Entry | undefined, desk: Desk) => seenBelief(entry, desk)?.current ?? 2,
  rate: (entry: Entry | undefined, desk: Desk) => -(seenBelief(entry, desk)?.ratePerDay ?? 0),
};
export type PlannedOrder = keyof typeof plannedKeys;

const isPlanned = (order: PageOrder): order is PlannedOrder => Object.hasOwn(plannedKeys, order);

/** How long a list serves further parts of itself. */
const keepMs = 3_000;
/** As many of the others' pages are put in order with ours at least, and at most: those after them come last. */
const othersMin = 1_000;
const othersMax = 20_000;

/** The first pages of a process in an order that it alone knows, each with the number that it is ordered by. */
export function firstOf(
  entries: Iterable<Entry>,
  desk: Desk,
  filter: PageFilter,
  order: PlannedOrder,
  limit: number,
): readonly (readonly [string, number])[] {
  const found = [...entries].filter((entry) => fits(entry, filter));
  const key = (entry: Entry): number => plannedKeys[order](entry, desk);
  return byNumber(found, key)
    .part(0, limit)
    .map((entry) => [entry.page.id, key(entry)] as const);
}

interface Listed<T extends WatchedPage = WatchedPage> {
  readonly total: number;
  part(skip: number, limit: number): readonly T[];
}

export class PageLists {
  readonly #desk: Desk;
  #last: { readonly query: string; readonly atMs: number; readonly list: Listed } | undefined;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  async part(
    filter: PageFilter,
    order: PageOrder,
    skip: number,
    limit: number,
  ): Promise<{ readonly pages: readonly WatchedPage[]; readonly total: number }> {
    // A page that was added, removed or edited makes a kept list wrong at once.
    const others = Math.min(othersMax, Math.max(othersMin, 2 ** Math.ceil(Math.log2(skip + limit))));
    const query = JSON.stringify([filter, order, this.#desk.revision, others]);
    const atMs = this.#desk.clock.nowMs();
    if (this.#last?.query !== query || atMs - this.#last.atMs >= keepMs)
      this.#last = { query, atMs, list: await this.#list(filter, order, others) };
    const { list } = this.#last;
    return { pages: list.part(skip, limit), total: list.total };
  }

  /** All that fit, in the order in which they were added. */
  async all(filter: PageFilter): Promise<readonly (Entry | WatchedPage)[]> {
    const found: (Entry | WatchedPage)[] = [];
    for await (const batch of this.#desk.everyPage())
      for (const watched of batch) if (fits(watched, filter)) found.push(watched);
    return found;
  }

  async #list(filter: PageFilter, order: PageOrder, others: number): Promise<Listed> {
    const found = await this.all(filter);
    if (order === 'title') return asTheyCame(byTitle(found));
    if (order === 'added') return asTheyCame(found);
    if (!isPlanned(order)) return byNumber(found, keys[order]);
    const told = await this.#others(filter, order, others);
    const key = plannedKeys[order];
    return byNumber(
      found,
      (watched) => told.get(watched.page.id) ?? key('index' in watched ? watched : undefined, this.#desk),
    );
  }

  /** What the others order their first pages by. */
  async #others(filter: PageFilter, order: PlannedOrder, limit: number): Promise<ReadonlyMap<string, number>> {
    const { answers = [] } =
      (await this.#desk.elsewhere?.ask({ kind: 'first', given: { filter, order, limit } })) ?? {};
    return new Map((answers as ReturnType<typeof firstOf>[]).flat());
  }
}

const asTheyCame = (pages: readonly WatchedPage[]): Listed => ({
  total: pages.length,
  part: (skip, limit) => pages.slice(skip, skip + limit),
});

/** Equals stay as they came. */
function byTitle(pages: readonly WatchedPage[]): readonly WatchedPage[] {
  const titled = pages.map((watched) => ({ watched, title: titleOf(watched) }));
  titled.sort((a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : 0));
  return titled.map(({ watched }) => watched);
}

/**
 * Pages by a number, smallest first, equals as they came. Only the numbers are sorted, which an engine does ten times faster
 * than by a comparison of ours; a part of the list is the pages between its first number and its last.
 */
function byNumber<T extends WatchedPage>(pages: readonly T[], key: (page: T) => number): Listed<T> {
  const numbers = new Float64Array(pages.length);
  for (const [i, page] of pages.entries()) numbers[i] = key(page) || 0; // NaN would be in no part
  const sorted = numbers.toSorted();
  return {
    total: pages.length,
    part(skip, limit) {
      if (skip >= pages.length || limit <= 0) return [];
      const least = sorted[skip]!;
      const most = sorted[Math.min(pages.length, skip + limit) - 1]!;
      const within: number[] = [];
      let before = 0;
      for (let i = 0; i < numbers.length; i++) {
        const number = numbers[i]!;
        if (number < least) before++;
        else if (number <= most) within.push(i);
      }
      within.sort((a, b) => numbers[a]! - numbers[b]! || a - b);
      return within.slice(skip - before, skip - before + limit).map((i) => pages[i]!);
    },
  };
}
