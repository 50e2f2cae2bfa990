/**
 * What people and programs can ask of a collection, whether a daemon runs or only its data folder is there. The loop is
 * present when one runs; without it, pages are kept for the next start.
 */
import type { Outlook } from './api/bodies.ts';
import type { LoopParts, Loop } from './loop.ts';
import type { Kept, Store } from './store/port.ts';
import type { Clock } from './values/clock.ts';
import type { WatchedPage } from './values/look.ts';
import type { NewPageSettings } from './values/page.ts';

export class Desk {
  readonly store: Store;
  readonly clock: Clock;
  readonly loop: Loop | undefined;
  readonly log: LoopParts['log'];

  constructor(store: Store, clock: Clock, log: LoopParts['log'], loop?: Loop) {
    this.store = store;
    this.clock = clock;
    this.log = log;
    this.loop = loop;
  }

  /** `addedAtMs`: since when each was watched elsewhere, for pages that move in. */
  async add(
    pages: readonly NewPageSettings[],
    addedAtMs: readonly (number | undefined)[] = [],
  ): ReturnType<Store['addPages']> {
    const now = this.clock.nowMs();
    const kept = await this.store.addPages(pages.map((page, i) => ({ ...page, addedAtMs: addedAtMs[i] ?? now })));
    if (kept.kind === 'kept') for (const { page, created } of kept.value) if (created) this.loop?.watch(page);
    return kept;
  }

  async update(id: string, settings: Partial<NewPageSettings>): Promise<Kept<WatchedPage | undefined>> {
    const kept = await this.store.updatePages([{ id, settings }]);
    if (kept.kind === 'failed') return kept;
    const watched = kept.value[0];
    if (watched) this.loop?.watch(watched);
    return { kind: 'kept', value: watched };
  }

  async remove(ids: readonly string[]): Promise<Kept<readonly string[]>> {
    const kept = await this.store.removePages(ids);
    if (kept.kind === 'kept') for (const id of kept.value) this.loop?.unwatch(id);
    return kept;
  }

  /** What the running policy believes of the page. */
  outlook(id: string): Outlook | undefined {
    const entry = this.loop?.collection.byId(id);
    if (!this.loop || !entry || entry.page.paused) return undefined;
    const now = this.clock.nowMs() / 1000;
    return { belief: this.loop.policy.belief(entry.index, now), dueMs: this.loop.policy.due(entry.index, now) * 1000 };
  }
}
