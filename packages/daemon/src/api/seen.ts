/** Which changes somebody has marked as seen: all up to a cursor, and single ones after it. */
import type { Kept, Store } from '../store/port.ts';

interface Marks {
  readonly upTo: number;
  readonly single: readonly number[];
}

const memoryKey = 'seen';
/** Single marks beyond this are forgotten from the oldest on; "all seen" clears them. */
const singlesMax = 20_000;

export class Seen {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Each time: another process on the same store may have marked more. */
  async #read(): Promise<Marked> {
    return markedIn(await this.#store.recall(memoryKey));
  }

  async has(): Promise<(sequence: number) => boolean> {
    const { upTo, single } = await this.#read();
    return (sequence) => sequence <= upTo || single.has(sequence);
  }

  async unseen(last: number): Promise<number> {
    const { upTo, single } = await this.#read();
    return Math.max(0, last - upTo - single.size);
  }

  async mark(given: {
    readonly upTo?: number;
    readonly cursors?: readonly number[];
    readonly seen: boolean;
  }): Promise<Kept<undefined>> {
    return this.#store.revise(memoryKey, (before) => {
      const { upTo, single: marks } = markedIn(before);
      let all = upTo;
      if (given.upTo !== undefined) all = given.seen ? Math.max(all, given.upTo) : Math.min(all, given.upTo);
      for (const cursor of given.cursors ?? [])
        if (given.seen) marks.add(cursor);
        else marks.delete(cursor);
      const left = [...marks].filter((sequence) => sequence > all).slice(-singlesMax);
      return { after: Buffer.from(JSON.stringify({ upTo: all, single: left })), value: undefined };
    });
  }
}

interface Marked {
  readonly upTo: number;
  readonly single: Set<number>;
}

function markedIn(saved: Uint8Array | undefined): Marked {
  const { upTo, single } = saved ? (JSON.parse(Buffer.from(saved).toString('utf8')) as Marks) : { upTo: 0, single: [] };
  return { upTo, single: new Set(single) };
}
