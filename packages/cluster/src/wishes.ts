/**
 * Looks that a person or a hub wants, over a change of hands. What was asked for stands in line in the memory of whoever looks after
 * the page, and that process may be killed, or lose the page's shard, before the probe leaves; so each wish is in the store until its look
 * is, and whoever holds the shard asks for what is wished for and not on its way.
 */
import type { PostgresStore } from './store/postgres.ts';

/** The part of the daemon's loop that is asked for looks. */
export interface AskedLoop<Entry = unknown> {
  readonly collection: { byId(id: string): Entry | undefined };
  isInLine(entry: Entry): boolean;
  underWay(): { readonly asked: ReadonlySet<string>; readonly unkept: ReadonlySet<string> };
  probeNow(id: string, hurried?: boolean): boolean;
}

export class Wishes {
  readonly #store: Pick<PostgresStore, 'wishesOf'>;
  readonly #ready: ReadonlySet<number>;

  /** `ready`: the shards that are looked after here. */
  constructor(store: Pick<PostgresStore, 'wishesOf'>, ready: ReadonlySet<number>) {
    this.#store = store;
    this.#ready = ready;
  }

  /** Asks for what nobody here has asked for yet. */
  async takeUp<Entry>(loop: AskedLoop<Entry>): Promise<void> {
    // Before the reading: a look that was kept since then had its wish when it was read.
    const before = loop.underWay();
    const wishes = await this.#store.wishesOf([...this.#ready]);
    if (wishes.length === 0) return;
    const now = loop.underWay();
    for (const { id, hurried } of wishes) {
      const entry = loop.collection.byId(id);
      // What left before the wish is seen to when its look is kept and the wish is still there.
      const coming = [before, now].some(({ asked, unkept }) => asked.has(id) || unkept.has(id));
      if (entry && !coming && !loop.isInLine(entry)) loop.probeNow(id, hurried);
    }
  }
}
