/**
 * Looks that were under way when a process was killed, or that somebody had asked for, are due again in the next: of each of their
 * sites, it asks for one of their pages before any other. Nothing is said of sites with a page that nobody has seen, or was seen in what is now the future, as such
 * pages take turns with all others, nor once somebody has meddled.
 */
import type { Store } from '../store/port.ts';
import type { Probe } from '../values/probe.ts';

interface Life {
  /** By the process's own clock. */
  readonly nowMs: number;
  /** How often somebody has meddled so far. */
  readonly meddled: () => number;
}

export class UnfinishedLooks {
  readonly wrong: string[] = [];
  readonly #store: Store;
  /** The pages that come first, by site. */
  readonly #first = new Map<string, ReadonlySet<string>>();
  #isMeddledWith: () => boolean = () => false;

  constructor(store: Store) {
    this.#store = store;
  }

  /** A process is to begin; the one before it is dead. */
  async begin({ nowMs, meddled }: Life): Promise<void> {
    const before = meddled();
    this.#isMeddledWith = () => meddled() !== before;
    this.#first.clear();
    const all = await this.#store.pages({ limit: 1_000 });
    const wished = new Set((await this.#store.wishes()).map(({ id }) => id));
    // Nobody looks at a page that rests, unless somebody has asked for it.
    const pages = all.filter(({ page }) => !page.paused || wished.has(page.id));
    const watched = new Set(pages.map(({ page }) => page.id));
    const asked = pages.flatMap(({ page: { id, site } }) => (wished.has(id) ? [{ site, pageIds: [id] }] : []));
    for (const { site, pageIds } of [...(await this.#store.unfinished()), ...asked]) {
      const isSeen = ({ page, state }: (typeof pages)[number]) =>
        page.site !== site || (state.lastLookMs ?? nowMs) < nowMs;
      const ids = pageIds.filter((id) => watched.has(id));
      if (ids.length > 0 && pages.every(isSeen))
        this.#first.set(site, new Set([...(this.#first.get(site) ?? []), ...ids]));
    }
  }

  /** A probe goes out. */
  left({ site, url, pageIds }: Probe): void {
    const first = this.#first.get(site);
    if (!first || !this.#first.delete(site) || this.#isMeddledWith()) return;
    if (!pageIds.some((id) => first.has(id)))
      this.wrong.push(
        `${url} was asked for before a page of ${site} that was under way or asked for when the last process was killed`,
      );
  }
}
