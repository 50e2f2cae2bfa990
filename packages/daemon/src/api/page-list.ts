/**
 * Lists of pages in any order, from what the running daemon holds in memory: a hundred thousand pages are filtered and
 * sorted in tens of milliseconds, and a list that is scrolled through is sorted once.
 */
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

type Key = (watched: WatchedPage, desk: Desk) => number | string;

/** Smallest first; what has no value comes last. */
const keys: Readonly<Record<Exclude<PageOrder, 'added'>, Key>> = {
  changed: ({ state }) => -(state.lastChangeMs ?? 0),
  looked: ({ state }) => -(state.lastLookMs ?? 0),
  next: ({ page }, desk) => desk.outlook(page.id)?.dueMs ?? Infinity,
  current: ({ page, state }, desk) => (state.version > 0 ? desk.outlook(page.id)?.belief.current : undefined) ?? 2,
  rate: ({ page }, desk) => -(desk.outlook(page.id)?.belief.ratePerDay ?? 0),
  title: ({ page, state }) => (page.title ?? state.seenTitle ?? page.url.replace(/^https?:\/\//, '')).toLowerCase(),
  trouble: ({ state }) => (state.fault ? -state.failures - 1 : 0),
};

/** How long a sorted list serves further parts of itself. */
const keepMs = 3_000;

export class PageLists {
  readonly #desk: Desk;
  #last: { readonly query: string; readonly atMs: number; readonly pages: readonly WatchedPage[] } | undefined;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  async part(
    filter: PageFilter,
    order: PageOrder,
    skip: number,
    limit: number,
  ): Promise<{ readonly pages: readonly WatchedPage[]; readonly total: number }> {
    const pages = await this.all(filter, order);
    return { pages: pages.slice(skip, skip + limit), total: pages.length };
  }

  async all(filter: PageFilter, order: PageOrder): Promise<readonly WatchedPage[]> {
    // A page that was added, removed or edited makes a kept list wrong at once.
    const query = JSON.stringify([filter, order, this.#desk.revision]);
    const now = this.#desk.clock.nowMs();
    if (this.#last?.query === query && now - this.#last.atMs < keepMs) return this.#last.pages;
    const found: WatchedPage[] = [];
    for await (const watched of this.#desk.everyPage()) if (fits(watched, filter)) found.push(watched);
    const pages = order === 'added' ? found : sorted(found, keys[order], this.#desk);
    this.#last = { query, atMs: now, pages };
    return pages;
  }
}

function sorted(pages: readonly WatchedPage[], key: Key, desk: Desk): readonly WatchedPage[] {
  const keyed = pages.map((watched) => ({ watched, key: key(watched, desk) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ watched }) => watched);
}
