/** What an index (a sitemap, a feed, a page with links) says about another page. */
export interface Listed {
  readonly url: string;
  /** When the index says that the page last changed. */
  readonly modifiedMs?: number;
  readonly title?: string;
  /** Another index, to be read like this one: a part of a sitemap. */
  readonly isIndex?: boolean;
  /** A feed, which is such an index. */
  readonly isFeed?: boolean;
}

/** The sitemap protocol's own limit for one file; no feed or page comes near. */
export const listedMax = 50_000;
