/** What a look may tell beyond that the page changed. */
export interface Told {
  /** The moment of the latest change, where a server says it. */
  readonly changedAt?: number | undefined;
  /** How many changes there were. */
  readonly count?: number | undefined;
  /** When each of them happened, earliest first; at least one. */
  readonly times?: Float64Array | undefined;
}

/** A dump of many items at once is no promise of as many to come: a look that finds more counts for so many. */
const countMax = 100;

/** How many changes there were, 0 where it is known only that there were some: one that was found may hide others. */
export function toldNumber({ count = 1, times }: Told): number {
  return times?.length ?? (count > 1 ? Math.min(countMax, count) : 0);
}
