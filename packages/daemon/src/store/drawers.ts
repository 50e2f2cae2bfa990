/**
 * A long list in the store's memory, in drawers by the hash of some key: whoever needs one thing of it reads and writes a few
 * kilobytes.
 */
import { createHash } from 'node:crypto';
import type { Kept, Store } from './port.ts';

export class Drawers<Item> {
  readonly #store: Pick<Store, 'recall' | 'revise'>;
  readonly #name: string;
  readonly count: number;

  constructor(store: Pick<Store, 'recall' | 'revise'>, name: string, count: number) {
    this.#store = store;
    this.#name = name;
    this.count = count;
  }

  drawerOf(key: string): number {
    return createHash('sha256').update(key).digest().readUInt32BE() % this.count;
  }

  async read(drawer: number): Promise<readonly Item[]> {
    return itemsIn(await this.#store.recall(this.#keyOf(drawer)));
  }

  /** What is done with the drawer is done by nobody else meanwhile. Without an `after` all stays as it is. */
  edit<Value>(
    drawer: number,
    edit: (items: readonly Item[]) => { readonly after?: readonly Item[]; readonly value: Value },
  ): Promise<Kept<Value>> {
    return this.#store.revise(this.#keyOf(drawer), (before) => {
      const { after, value } = edit(itemsIn(before));
      return after ? { after: Buffer.from(JSON.stringify(after)), value } : { value };
    });
  }

  #keyOf(drawer: number): string {
    return `${this.#name}:${drawer}`;
  }
}

function itemsIn<Item>(saved: Uint8Array | undefined): Item[] {
  return saved ? (JSON.parse(Buffer.from(saved).toString()) as Item[]) : [];
}
