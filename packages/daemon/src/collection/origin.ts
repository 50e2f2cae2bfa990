/** How a page that nobody added came to be watched, why it may rest, and when it may come back. */
import type { PageState, WatchedPage } from '../values/look.ts';
import type { Page } from '../values/page.ts';

const dayMs = 86_400_000;
/** A page may be gone for a while by mistake; after a week it is meant. */
const retireAfterMs = 7 * dayMs;
/** One that was never there may be listed a while before it is. */
const retireUnseenAfterMs = dayMs;
/** A page that was gone for so long is not asked for again for this share of that. */
const returnShare = 0.25;

/** What `options.discovered` of a found page holds. */
export interface Origin {
  /** The root's page id. */
  readonly from: string;
  readonly depth: number;
  /** Found by the root's first look: there before we came, and no news. */
  readonly beginning?: boolean;
  /** A sitemap, a part of one or a feed, read for what it lists. */
  readonly index?: boolean;
  readonly feed?: boolean;
  /** It rests and takes no place; it may resume when it is listed again. */
  readonly retired?: Retired;
}

/** Why a found page rests: gone for a week (`true`), forbidden by robots.txt, or no page but a picture or the like. */
export type Retired = true | 'forbidden' | 'file';

export function originOf(page: Pick<Page, 'options'>): Origin | undefined {
  const value = page.options['discovered'];
  return typeof value === 'object' && value !== null && typeof (value as Origin).from === 'string'
    ? (value as Origin)
    : undefined;
}

/** Why a found page is to rest: it has been gone, or may not be visited, for so long that it will not come back. */
export function retires(page: Page, state: PageState, nowMs: number): Retired | undefined {
  const isForbidden = state.fault?.code === 'robots-disallowed';
  if ((state.status !== 'gone' && !isForbidden) || !originOf(page)) return undefined;
  const retired = isForbidden ? 'forbidden' : true;
  const restMs = state.version > 0 ? retireAfterMs : isForbidden ? 0 : retireUnseenAfterMs;
  return nowMs - (state.lastSeenMs ?? page.addedAtMs) >= restMs ? retired : undefined;
}

/** The settings of a page that retires, or comes back. */
export function rest(page: Page, retired: Retired | undefined): Pick<Page, 'paused' | 'options'> {
  const { retired: _retired, ...origin } = originOf(page)!;
  const discovered = retired === undefined ? origin : { ...origin, retired };
  return { paused: retired !== undefined, options: { ...page.options, discovered } };
}

/** Lists may name for years what is not there: the longer a page has been gone, the longer it is not asked for again. */
export function mayReturn(
  { page, state }: WatchedPage,
  allows: (url: string) => boolean | undefined,
  nowMs: number,
): boolean {
  const retired = page.paused ? originOf(page)?.retired : undefined;
  if (retired === undefined || retired === 'file') return false;
  const lookedMs = state.lastLookMs ?? page.addedAtMs;
  const goneMs = lookedMs - (state.lastSeenMs ?? page.addedAtMs);
  if (retired === 'forbidden') return allows(page.url) ?? nowMs - lookedMs > dayMs;
  return nowMs - lookedMs > goneMs * returnShare;
}
