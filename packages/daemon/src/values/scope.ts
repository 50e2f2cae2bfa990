/**
 * What belongs to a watched collection: settings a person writes at a page (`options.discover`), checked once, and the
 * question whether a URL is in.
 *
 * `within` is `folder` (below the page's own folder), `site` (the same registrable domain) or `anywhere`. Patterns are
 * addresses with `*` for anything; one without scheme is matched against the path. A URL is in when it is within, some
 * include matches (or there is none), and no exclude does.
 */
import type { Fault } from './fault.ts';
import { fault } from './fault.ts';
import { siteOf } from './url.ts';

export interface Scope {
  readonly within: 'folder' | 'site' | 'anywhere';
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** How many links away from the page; sitemaps and feeds count as no distance. */
  readonly depthMax: number;
  /** How many pages may be watched at once because of this one. */
  readonly pagesMax: number;
}

/** A collection that someone starts without saying more; large enough for a site, small enough for a mistake. */
const usual: Scope = { within: 'folder', include: [], exclude: [], depthMax: 1, pagesMax: 1000 };
/** Patterns are tried on every link. */
const patternsMax = 100;

export type ReadScope =
  | { readonly kind: 'scope'; readonly scope: Scope }
  | { readonly kind: 'wrong'; readonly fault: Fault }
  | { readonly kind: 'none' };

/** Reads `options.discover` of a page: absent or false for none, true for the usual, or an object. */
export function readScope(value: unknown): ReadScope {
  if (value === undefined || value === false || value === null) return { kind: 'none' };
  if (value === true) return { kind: 'scope', scope: usual };
  const wrong = (field: string, given: unknown, allowed: string): ReadScope => ({
    kind: 'wrong',
    fault: fault('discover-wrong', `discover${field} is ${JSON.stringify(given)}; allowed is ${allowed}`),
  });
  if (typeof value !== 'object') return wrong('', value, 'true, false or an object');
  const known = ['within', 'include', 'exclude', 'depth', 'pages'];
  const {
    within = usual.within,
    include = [],
    exclude = [],
    depth = usual.depthMax,
    pages = usual.pagesMax,
    ...rest
  } = value as Record<string, unknown>;
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined) return wrong(`.${unknown}`, rest[unknown], `one of ${known.join(', ')}`);
  if (within !== 'folder' && within !== 'site' && within !== 'anywhere')
    return wrong('.within', within, 'folder, site or anywhere');
  const isPatterns = (list: unknown): list is string[] =>
    Array.isArray(list) && list.length <= patternsMax && list.every((item) => typeof item === 'string' && item !== '');
  if (!isPatterns(include)) return wrong('.include', include, `a list of at most ${patternsMax} patterns`);
  if (!isPatterns(exclude)) return wrong('.exclude', exclude, `a list of at most ${patternsMax} patterns`);
  const isCount = (number: unknown, min: number, max: number): number is number =>
    Number.isInteger(number) && (number as number) >= min && (number as number) <= max;
  if (!isCount(depth, 0, 100)) return wrong('.depth', depth, 'a whole number from 0 to 100');
  if (!isCount(pages, 1, 1_000_000)) return wrong('.pages', pages, 'a whole number from 1 to 1000000');
  return { kind: 'scope', scope: { within, include, exclude, depthMax: depth, pagesMax: pages } };
}

/** What pages lead to and nobody reads as a page: pictures, sound, films, fonts, archives and programs. */
const fileEndings =
  /\.(apng|avif|bmp|gif|heic|ico|jpe?g|png|svg|tiff?|webp|aac|avi|flac|flv|m4[av]|mkv|mov|mp[34]|mpe?g|og[agv]|opus|wav|web[am]|wm[av]|eot|otf|ttf|woff2?|7z|apk|bz2|deb|dmg|exe|gz|iso|jar|msi|rar|rpm|tar|tgz|xz|zip)$/i;
const fileTypes = /^(image|audio|video|font)\//;

/** Whether that is such a file, by its name or by what its server says; one whose ending an include names is wanted all the same. */
export function isFile(scope: Scope, url: string, mediaType?: string): boolean {
  const ending = fileEndings.exec(new URL(url).pathname)?.[0].toLowerCase();
  if (ending === undefined) return mediaType !== undefined && fileTypes.test(mediaType);
  return !scope.include.some((pattern) => pattern.toLowerCase().endsWith(ending));
}

export function isWithin(scope: Scope, indexUrl: string, url: string): boolean {
  const index = new URL(indexUrl);
  const candidate = new URL(url);
  if (scope.within === 'site' && siteOf(candidate.hostname) !== siteOf(index.hostname)) return false;
  if (scope.within === 'folder') {
    const folder = index.pathname.slice(0, index.pathname.lastIndexOf('/') + 1);
    if (candidate.host !== index.host || !candidate.pathname.startsWith(folder)) return false;
  }
  const isIncluded = scope.include.length === 0 || matchesAny(scope.include, candidate);
  return isIncluded && !isExcluded(scope, url);
}

export const isExcluded = (scope: Scope, url: string): boolean => matchesAny(scope.exclude, new URL(url));

function matchesAny(patterns: readonly string[], { href, pathname, search }: URL): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, pattern.includes('://') ? href : pathname + search));
}

/** Stars mean anything, and everything else itself; pieces are sought leftmost, so it costs one pass. */
export function matchesPattern(pattern: string, text: string): boolean {
  const pieces = pattern.split(/\*+/);
  if (pieces.length === 1) return text === pattern;
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
