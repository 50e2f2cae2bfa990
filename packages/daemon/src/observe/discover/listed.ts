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
