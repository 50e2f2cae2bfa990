/** What a look may tell beyond that the page changed. */
export interface Told {
  /** The moment of the latest change, where a server says it. */
  readonly changedAt?: number | undefined;
  /** Who says it has been right before. */
  readonly proven?: boolean | undefined;
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

/**
 * How many of them all voices share. Times without a number are known of the past only: what pages have in common is learned as looks
 * without times will see it.
 */
export function sharedNumber(told: Told): number {
  return told.times && told.count === undefined ? 0 : toldNumber(told);
}

/**
 * The moments in (from, to] of which the week may learn, where `mass` changes were expected: all of them, or the last, where there
 * was hardly more than one. Of a server that says when it wrote its answer the hours before our looks would be busy ones.
 */
export function toldTimes({ times, changedAt, proven }: Told, from: number, to: number, mass: number): Told['times'] {
  if (times || !proven || changedAt === undefined || mass > massOfOne) return times;
  return changedAt > from && changedAt <= to ? Float64Array.of(changedAt) : undefined;
}

/** Where so many changes are expected of a gap in which there was one, there were 1.27 on average. */
const massOfOne = 0.5;
