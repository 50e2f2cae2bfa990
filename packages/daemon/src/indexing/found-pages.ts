/** Takes what answers say about other pages into the collection: found pages come in, retire, come back and are forgotten. */
import type { Collection, Entry } from '../collection/collection.ts';
import type { Discovery } from '../collection/discovery.ts';
import { type Retired, rest, retires } from '../collection/origin.ts';
import type { Keeping } from './keeping.ts';
import type { Detected, Fetched, LoopParts } from '../loop-parts.ts';
import type { NewPage } from '../store/port.ts';
import type { Look, WatchedPage } from '../values/look.ts';
import type { Observation } from '../values/observation.ts';
import type { Page } from '../values/page.ts';

type Parts = Pick<LoopParts, 'clock' | 'store' | 'policy' | 'log'>;

interface Into {
  readonly collection: Collection;
  readonly discovery: Discovery;
  readonly keeping: Keeping;
}

interface Around {
  readonly watch: (watched: WatchedPage) => void;
  readonly release: (id: string) => Promise<void>;
}

/** How many other pages a look revealed, how many changes of others it hinted at, and how the page was read for them. */
export interface Read {
  readonly pages: number;
  readonly hinted: number;
  /** When the page's own entries changed since the last look, in seconds, as it dates them. */
  readonly times?: Float64Array;
  readonly reading: string | undefined;
}

export const nothingRevealed: Read = { pages: 0, hinted: 0, reading: undefined };

export class FoundPages {
  readonly #parts: Parts;
  readonly #into: Into;
  readonly #around: Around;

  constructor(parts: Parts, into: Into, around: Around) {
    this.#parts = parts;
    this.#into = into;
    this.#around = around;
  }

  /** Takes in what the answer says about other pages; undefined when nothing is to be kept of it, or the loop stops first. */
  async discover(
    entry: Entry,
    fetched: Fetched,
    observation: Observation,
    look: Look,
    revealed: Detected['revealed'],
  ): Promise<Read | undefined> {
    const { clock, policy, log } = this.#parts;
    const nowMs = clock.nowMs();
    const url = observation.finalUrl ?? observation.probe.url;
    const { sitemaps } = observation;
    const at = { url, nowMs, first: look.kind === 'first', sitemaps, revealed };
    const read = this.#into.discovery.read(entry, fetched, at);
    const { pages, back, hints, times, reading, full, misread } = read;
    // Nothing is kept of it, and its place is free.
    if (read.isFile && (await this.#setResting([{ page: entry.page, retired: 'file' }]))) return undefined;
    if (full)
      log('warn', 'the page has found as many others as it may; what else it lists is left out', {
        url: full.url,
        pages: full.pagesMax,
      });
    if (misread) log('warn', 'a sitemap could not be read, or in part only', { ...misread });
    for (const hint of hints) policy.hinted?.(hint.entry.index, nowMs / 1000, hint.chance);
    if (back.length > 0) await this.#setResting(back.map((page) => ({ page, retired: undefined })));
    const hinted = hints.reduce((sum, { chance }) => sum + chance, 0);
    const added = await this.#add(pages);
    return added === undefined ? undefined : { pages: added, hinted, reading, ...(times ? { times } : {}) };
  }

  /** Sitemaps that robots.txt names, of a root of which nothing is to be read. */
  async takeNamed(entry: Entry, sitemaps: readonly string[]): Promise<Read | undefined> {
    const pages = this.#into.discovery.named(entry, sitemaps, this.#parts.clock.nowMs());
    const added = await this.#add(pages);
    return added === undefined ? undefined : { ...nothingRevealed, pages: added };
  }

  /** How many came in; undefined when the loop stops first. */
  async #add(pages: readonly NewPage[]): Promise<number | undefined> {
    if (pages.length === 0) return 0;
    const { store } = this.#parts;
    let kept = await store.addPages(pages);
    // What the page reveals is read once, with its look: it waits for the store as that does.
    while (kept.kind === 'failed') {
      if (!(await this.#into.keeping.awaitStore(kept.fault))) return undefined;
      kept = await store.addPages(pages);
    }
    for (const { page, created } of kept.value) if (created) this.#around.watch(page);
    return kept.value.length;
  }

  /** Pages that were found and are gone for good, or may not be visited, rest from now on, with all their versions. */
  async retire(looks: readonly Look[]): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    const resting = looks.flatMap((look) => {
      if (look.kind !== 'gone' && look.kind !== 'refused') return [];
      const page = this.#into.collection.byId(look.pageId)?.page;
      const retired = page && !page.paused ? retires(page, look.state, nowMs) : undefined;
      return page && retired !== undefined ? [{ page, retired }] : [];
    });
    if (resting.length > 0) await this.#setResting(resting);
  }

  /** Pages that retire, or come back; false when that could not be kept. */
  async #setResting(
    pages: readonly { readonly page: Page; readonly retired: Retired | undefined }[],
  ): Promise<boolean> {
    const changes = pages.map(({ page, retired }) => ({ id: page.id, settings: rest(page, retired) }));
    const kept = await this.#parts.store.updatePages(changes);
    if (kept.kind === 'failed') return false;
    for (const watched of kept.value) this.#around.watch(watched);
    for (const { page } of pages) await this.#forget(this.#into.discovery.surplus(page));
    return true;
  }

  /** What retired long ago, with all its versions: there is an end to what is remembered. */
  async #forget(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#around.release(id);
    if (ids.length > 0) await this.#parts.store.removePages(ids);
  }
}
