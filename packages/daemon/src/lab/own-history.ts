/** A collection's own changes as a trace, and how many looks it made of its own: what a budget is compared with. */
import { type Trace, traceOf } from '@revisit/core';
import type { Store } from '../store/port.ts';
import { historyOf } from './lab.ts';

export interface OwnHistory {
  readonly trace: Trace;
  /** Pages that are watched now, changed or not. */
  readonly watched: number;
  /**
   * Looks made at these sources in (from, to], in seconds. Of times whose looks have been let go, and of pages that were removed, as
   * many are reckoned as of the others.
   */
  looksIn(names: readonly string[], from: number, to: number): Promise<number>;
}

/** More looks at one page than anybody makes in the third of a history that is tested. */
const looksMax = 1_000_000;

/** Undefined when nothing has changed yet. */
export async function ownHistory(
  store: Pick<Store, 'latestChanges' | 'looks' | 'counts'>,
): Promise<OwnHistory | undefined> {
  const { names, events, pageIds } = await historyOf(store);
  if (events.length === 0) return undefined;
  const idsOf = new Map(names.map((name, i) => [name, pageIds[i]!]));
  return {
    trace: traceOf(events.map(([page, seconds]) => [names[page]!, Math.floor(seconds)] as const)),
    watched: (await store.counts()).pages,
    async looksIn(asked, from, to) {
      let made = 0;
      let known = 0;
      let earliest = Infinity;
      for (const name of asked) {
        let looks = 0;
        for (const id of idsOf.get(name) ?? []) {
          const times = (await store.looks(id, looksMax)).map(({ atMs }) => atMs / 1000);
          earliest = Math.min(earliest, times.at(-1) ?? Infinity);
          looks += times.length;
          made += times.filter((at) => at > from && at <= to).length;
        }
        if (looks > 0) known++;
      }
      if (known === 0 || earliest >= to) return 0;
      return (made * asked.length * (to - from)) / known / (to - Math.max(from, earliest));
    },
  };
}
