/** What an index (a sitemap, a feed, a page with links) says about another page. */
export interface Listed extends Stated {
  readonly url: string;
  readonly title?: string;
  /** Another index, to be read like this one: a part of a sitemap. */
  readonly isIndex?: boolean;
  /** A feed, which is such an index. */
  readonly isFeed?: boolean;
}

/** When the index says that the page last changed. */
export interface Stated {
  readonly modifiedMs?: number;
  /** It names a day, and that is its first moment. */
  readonly isDay?: true;
}

/** What an index was read for, and what of it could not be. */
export interface ListRead {
  readonly listed: readonly Listed[];
  readonly missed?: Missed;
}

export interface Missed {
  /** Entries that were passed over; there may be more where the rest could not be read. */
  readonly skipped: number;
  /** The first mistake. */
  readonly why: string;
}

/** The sitemap protocol's own limit for one file; no feed or page comes near. */
export const listedMax = 50_000;

/** A date as indexes write it: midnight is how many write a day. */
export function stated(date: string): Stated {
  const modifiedMs = Date.parse(date);
  if (Number.isNaN(modifiedMs)) return {};
  return /[T\s]\d?\d:\d\d/i.test(date) && !/[T\s]00:00(?![:\d.]*[1-9])/i.test(date)
    ? { modifiedMs }
    : { modifiedMs, isDay: true };
}
