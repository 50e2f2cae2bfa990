/**
 * What answers reveal about other pages, taken into the collection: new pages within a watched scope, pages that retire,
 * and hints that a watched page has changed.
 *
 * A page with `options.discover` is a root: what it lists within its scope is watched from then on, and what those pages
 * list in turn up to the scope's depth. Sitemaps and feeds cost no depth; those that its robots.txt and its pages name are watched
 * with it, for what they list. A body is read once under the same settings (`reading.ts`). Pages found by the root's first look, or because its settings were changed, are its beginning; pages found later
 * are news, told with their first copy (`verdict` does that). A found page that the server has said is gone for a week, or that
 * robots.txt forbids, retires: it stays, paused, with all its versions, and takes no place. Where a root has as many pages as it may,
 * what else it lists is left out until there is room again, and that is said (`left-out.ts`), as is a sitemap that cannot be read
 * (`misread.ts`).
 */
import type { Collection, Entry } from './collection.ts';
import { type Hint, IndexHints, ownTimes } from './index-hints.ts';
import { type Origin, mayReturn, originOf } from './origin.ts';
import { LeftOut } from './left-out.ts';
import { Misread } from './misread.ts';
import type { Listed, Missed } from '../observe/discover/listed.ts';
import { namedSitemaps, type ReadAs, reveal, type Revealed } from '../observe/discover/reveal.ts';
import { isCut, isMisread, isOfBody, isOfLinks, isUnder, readingText } from './reading.ts';
import type { ReadScope, Scope } from '../values/scope.ts';
import { isExcluded, isFile, isWithin, readScope } from '../values/scope.ts';
import type { NewPage } from '../store/port.ts';
import type { WatchedPage } from '../values/look.ts';
import type { Outcome } from '../values/observation.ts';
import type { Page } from '../values/page.ts';
import { siteOf } from '../values/url.ts';

export interface Findings {
  readonly pages: readonly NewPage[];
  /** Pages that had retired and are listed again. */
  readonly back: readonly Page[];
  /** The page itself is a picture or the like, and found by itself: it is to rest. */
  readonly isFile?: true;
  /** Watched pages that an index says have changed. */
  readonly hints: readonly Hint[];
  /** When its own entries changed since our last look, in seconds, as an index dates them. */
  readonly times?: Float64Array;
  /** How the page was read, to be kept with it (`reading.ts`); undefined where it is not read for what it lists. */
  readonly reading?: string;
  /** The root for which pages are left out for want of room, where none were before. */
  readonly full?: FullRoot;
  /** The page is a sitemap of which something could not be read, where all could be before. */
  readonly misread?: MisreadSitemap;
}

export interface MisreadSitemap extends Missed {
  readonly url: string;
  readonly read: number;
}

export interface FullRoot {
  readonly url: string;
  readonly pagesMax: number;
}

/** What a root has found. */
export interface Found {
  /** Watched because of it. */
  readonly pages: number;
  readonly pagesMax: number;
  /** It lists more, and there is no room for them. */
  readonly leftOut: boolean;
  /** A sitemap of which something could not be read. */
  readonly misread?: string;
}

/** How a page is read: where its body came from, when, whether it is its first, and which sitemaps its robots.txt names. */
export interface ReadAt {
  readonly url: string;
  readonly nowMs: number;
  readonly first: boolean;
  readonly sitemaps?: readonly string[] | undefined;
  /** What the body lists, where somebody has read it. */
  readonly revealed?: Revealed | undefined;
}

type Fetched = Extract<Outcome, { kind: 'fetched' }>;

const nothing: Findings = { pages: [], back: [], hints: [] };
const dayMs = 86_400_000;
/** For each page that may be watched, so many are remembered that no longer are; beyond that the longest gone are forgotten. */
const retiredShare = 10;
/** Forgetting is for many at once: it looks through all that is watched. */
const forgetShare = 0.1;
/** Links that robots.txt forbids are passed over, so many of a page; each is held against all its rules. */
const forbiddenMax = 5_000;

/** Sitemaps and feeds that a root finds by itself: a tenth of its pages, or these few. */
const indexesMaxOf = ({ pagesMax }: Scope): number => Math.max(20, pagesMax / 10);
/** A site names its own on its front page; there are blogs where every article has one of its comments. */
const feedsMax = 20;

interface Counts {
  watched: number;
  retired: number;
  /** Of the watched. */
  indexes: number;
  feeds: number;
}

const noCounts: Readonly<Counts> = { watched: 0, retired: 0, indexes: 0, feeds: 0 };

export class Discovery {
  readonly #collection: Collection;
  readonly #allows: (url: string) => boolean | undefined;
  /** Pages that were found, by root. */
  readonly #found = new Map<string, Counts>();
  readonly #leftOut = new LeftOut();
  readonly #misread = new Misread();
  readonly hints: IndexHints;

  /** `allows`: what robots.txt says of a URL, as far as that is known here. */
  constructor(collection: Collection, allows: (url: string) => boolean | undefined = () => undefined) {
    this.#collection = collection;
    this.#allows = allows;
    this.hints = new IndexHints(collection);
  }

  /** Counts a page that is watched because of a root. */
  watched({ page, state: { revealed } }: WatchedPage): void {
    this.#count(page, 1);
    // Of one that rests nobody knows what it would list now.
    if (revealed === undefined) return;
    this.#leftOut.note(page, !page.paused && isCut(revealed));
    this.#misread.note(page, !page.paused && isMisread(revealed));
  }

  unwatched(page: Page): void {
    this.#count(page, -1);
    this.#leftOut.note(page, false);
    this.#misread.note(page, false);
    this.hints.forget(page.id);
  }

  #count(page: Page, by: number): void {
    const origin = originOf(page);
    if (!origin) return;
    const counts = this.#found.get(origin.from) ?? { ...noCounts };
    this.#found.set(origin.from, counts);
    const rests = page.paused && origin.retired !== undefined;
    counts[rests ? 'retired' : 'watched'] += by;
    if (origin.index && !rests) counts.indexes += by;
    if (origin.feed && !rests) counts.feeds += by;
  }

  /** Whether the page is to be asked for in full: what it lists was not read under the settings of now, or found no place then. */
  isUnread(entry: WatchedPage): boolean {
    const root = this.#lists(entry);
    if (!root) return false;
    const { revealed } = entry.state;
    return revealed === undefined || !isUnder(revealed, root.discover) || (isCut(revealed) && this.#room(root) > 0);
  }

  /** Whether what the page lists is to be read from this body; most pages list nothing, and this is asked at every look. */
  wants(entry: WatchedPage, body: Uint8Array): boolean {
    const root = this.#lists(entry);
    if (!root) return false;
    return this.isUnread(entry) || !isOfBody(entry.state.revealed!, body);
  }

  /** Whether what the body lists will be asked for: in any case, or if the page has changed. */
  reads(entry: WatchedPage, fetched: Fetched): 'always' | 'news' | undefined {
    if (this.wants(entry, fetched.body)) return 'always';
    return mayList(fetched, this.#rootOf(entry.page)) ? 'news' : undefined;
  }

  /** What is known of a page before it is read for what it lists: its user says so, or robots.txt, or another sitemap. */
  readAs({ page }: WatchedPage): ReadAs {
    const origin = originOf(page);
    const isSitemap = origin ? origin.index === true && !origin.feed : this.#rootOf(page) !== undefined;
    return isSitemap ? { isSitemap } : {};
  }

  /** The root of a page that is read for what it lists; undefined for all others. */
  #lists(entry: WatchedPage): Root | undefined {
    const { options } = entry.page;
    if (options['discover'] === undefined && options['discovered'] === undefined) return undefined;
    const root = this.#rootOf(entry.page);
    const origin = root && originOf(entry.page);
    return !origin || origin.index || origin.depth < root.scope.depthMax ? root : undefined;
  }

  /** Undefined for a page that is no root. */
  foundBy(page: Page): Found | undefined {
    const root = originOf(page) ? undefined : this.#rootOf(page);
    if (!root) return undefined;
    const { pagesMax } = root.scope;
    // With room again, what was left out comes in when the page that lists it is next read.
    const leftOut = this.#room(root) <= 0 && this.#leftOut.has(page.id);
    const misread = this.#misread.of(page.id);
    return { pages: this.#countsOf(root).watched, pagesMax, leftOut, ...(misread === undefined ? {} : { misread }) };
  }

  #room(root: Root): number {
    return root.scope.pagesMax - this.#countsOf(root).watched;
  }

  #countsOf(root: Root): Readonly<Counts> {
    return this.#found.get(root.page.id) ?? noCounts;
  }

  /** What a page says about others: one that changed, is seen for the first time, or is wanted (`wants`). */
  read(entry: Entry, fetched: Fetched, { url, nowMs, first, sitemaps = [], revealed }: ReadAt): Findings {
    const root = this.#rootOf(entry.page);
    if (!mayList(fetched, root)) return nothing;
    const origin = originOf(entry.page);
    // Sitemaps come packed as well, and what names them says that they are no files.
    const mayBeFile = root && origin && !origin.index;
    if (mayBeFile && isFile(root.scope, entry.page.url, fetched.mediaType)) return { ...nothing, isFile: true };
    const found = revealed ?? reveal(fetched, url, this.readAs(entry));
    const { kind, listed, named = [] } = found;
    const isIndex = kind === 'sitemap' || kind === 'feed';
    const hints = isIndex ? this.hints.of(entry, listed, nowMs) : [];
    const times = isIndex && !first ? { times: ownTimes(listed, entry.state.lastSeenMs ?? Infinity, nowMs) } : {};
    if (!root) return { pages: [], back: [], hints, ...times };
    const lists = this.#lists(entry) !== undefined;
    const indexes = lists && kind === 'links' ? this.#newIndexes(entry, root, named, sitemaps, nowMs) : [];
    const beginning = first ? isEarly(entry, root, nowMs) : wasThere(entry, root, fetched.body);
    const depth = (origin?.depth ?? 0) + (kind === 'links' ? 1 : 0);
    const room = this.#room(root) - indexes.length;
    const { pages, cut } =
      depth > root.scope.depthMax
        ? nothingNew
        : this.#newPages(root, { listed, depth, beginning, room, indexRoom: this.#indexRoom(entry, root) }, nowMs);
    const back = this.#listedAgain(listed, room - pages.length, nowMs);
    const missed = missedOf(entry.page, found);
    const how = { kind, cut, misread: missed !== undefined };
    const reading = lists ? { reading: readingText(how, root.discover, fetched.body) } : {};
    const isFirstCut = lists && this.#leftOut.note(entry.page, cut);
    const full = isFirstCut ? { full: { url: root.page.url, pagesMax: root.scope.pagesMax } } : {};
    const isNewlyMisread = lists && this.#misread.note(entry.page, how.misread);
    const misread = isNewlyMisread ? { misread: { url: entry.page.url, read: listed.length, ...missed! } } : {};
    return { pages: [...indexes, ...pages], back, hints, ...times, ...reading, ...full, ...misread };
  }

  /** Sitemaps that a root's robots.txt names and nobody watches yet: that is known also where the root itself is as it was. */
  named(entry: Entry, sitemaps: readonly string[], nowMs: number): readonly NewPage[] {
    const { page, state } = entry;
    if (page.paused || originOf(page) || state.revealed === undefined || !isOfLinks(state.revealed)) return [];
    const root = this.#rootOf(page);
    return root ? this.#newIndexes(entry, root, [], sitemaps, nowMs) : [];
  }

  /** What pages and, for a root, robots.txt name lists mostly what has been there for long. */
  #newIndexes(
    entry: Entry,
    root: Root,
    named: readonly Listed[],
    sitemaps: readonly string[],
    nowMs: number,
  ): readonly NewPage[] {
    const origin = originOf(entry.page);
    const listed = [...(origin ? [] : namedSitemaps(sitemaps, root.page.url)), ...named];
    if (listed.length === 0) return [];
    const counts = this.#countsOf(root);
    const indexRoom = indexesMaxOf(root.scope) - counts.indexes;
    const feeds = listed.filter(({ url, isFeed }) => isFeed && !this.#collection.watches(url));
    const kept = listed.filter((one) => !one.isFeed || feeds.indexOf(one) < feedsMax - counts.feeds);
    const found = { listed: kept, depth: origin?.depth ?? 0, beginning: true, room: this.#room(root), indexRoom };
    return this.#newPages(root, found, nowMs).pages;
  }

  /** How many parts of a sitemap may come in; one that somebody wants watched as it is may have as many as pages. */
  #indexRoom({ page }: Entry, root: Root): number {
    return originOf(page) ? indexesMaxOf(root.scope) - this.#countsOf(root).indexes : Infinity;
  }

  #listedAgain(listed: readonly Listed[], room: number, nowMs: number): readonly Page[] {
    const back: Page[] = [];
    for (const { url } of listed) {
      if (back.length >= room) break;
      const entries = this.#collection.withUrl(url).filter((entry) => mayReturn(entry, this.#allows, nowMs));
      back.push(...entries.map(({ page }) => page));
    }
    return back;
  }

  #rootOf(page: Page): Root | undefined {
    const origin = originOf(page);
    const root = origin ? this.#collection.byId(origin.from)?.page : page;
    if (!root || root.paused) return undefined;
    const { discover } = root.options;
    const scope = scopeOf(discover);
    return scope && { page: root, scope, discover };
  }

  #newPages(root: Root, found: FoundList, nowMs: number): NewPages {
    const { listed, depth, beginning } = found;
    let { room, indexRoom } = found;
    let forbidden = 0;
    const pages: NewPage[] = [];
    for (const { url, title, isIndex, isFeed } of listed) {
      if (this.#collection.watches(url) || !isInside(root, url, isIndex === true)) continue;
      if (room <= 0) return { pages, cut: true };
      if (isIndex && indexRoom-- <= 0) continue;
      if (this.#allows(url) === false) {
        if (++forbidden > forbiddenMax) break;
        continue;
      }
      const discovered: Origin = {
        from: root.page.id,
        depth,
        ...(beginning ? { beginning } : {}),
        ...(isIndex ? { index: true } : {}),
        ...(isFeed ? { feed: true } : {}),
      };
      pages.push(newPage(root.page, url, title, { discovered }, nowMs));
      room--;
    }
    return { pages, cut: false };
  }

  /** Pages found by the same root as this one that retired so long ago that they are to be forgotten. */
  surplus(page: Page): readonly string[] {
    const root = this.#rootOf(page);
    const retired = root && this.#found.get(root.page.id)?.retired;
    const most = root ? root.scope.pagesMax * retiredShare : Infinity;
    if (retired === undefined || retired <= most) return [];
    const resting = [...this.#collection].filter((entry) => {
      const origin = originOf(entry.page);
      return origin?.retired && origin.from === root!.page.id;
    });
    const restsSinceMs = ({ page: { addedAtMs }, state }: Entry) => state.lastLookMs ?? addedAtMs;
    const count = Math.ceil(retired - most * (1 - forgetShare));
    const oldest = resting.sort((a, b) => restsSinceMs(a) - restsSinceMs(b));
    return oldest.slice(0, count).map((entry) => entry.page.id);
  }
}

const mayList = ({ mediaType = 'xml' }: Fetched, root: Root | undefined): boolean =>
  root !== undefined || /xml|json|gzip|octet-stream|rss|atom/.test(mediaType);

/** The root's own first look, and those of pages that were there then, show what was there before. */
function isEarly({ page }: Entry, root: Root, nowMs: number): boolean {
  const origin = originOf(page);
  return !origin || origin.beginning === true || nowMs - root.page.addedAtMs < dayMs;
}

/** What of a sitemap could not be read; where one was named and something else is there, all of it. */
function missedOf(page: Page, { kind, listed, named = [], missed }: Revealed): Missed | undefined {
  if (missed) return missed;
  const origin = originOf(page);
  const isOther = kind === 'nothing' || (kind === 'links' && listed.length + named.length === 0);
  return origin?.index && !origin.feed && isOther ? { skipped: 0, why: 'it is no sitemap' } : undefined;
}

/** What other settings bring in, or a place that has become free, was listed before. */
function wasThere({ state: { revealed } }: Entry, { discover }: Root, body: Uint8Array): boolean {
  return revealed === undefined || !isUnder(revealed, discover) || isOfBody(revealed, body);
}

interface Root {
  readonly page: Page;
  readonly scope: Scope;
  /** The scope as its user wrote it. */
  readonly discover: unknown;
}

/** By the object that says it: it is asked for at every look at what a root found. */
const scopes = new WeakMap<object, ReadScope>();

function scopeOf(discover: unknown): Scope | undefined {
  const held = typeof discover === 'object' && discover !== null ? discover : undefined;
  const read = (held && scopes.get(held)) ?? readScope(discover);
  if (held) scopes.set(held, read);
  return read.kind === 'scope' ? read.scope : undefined;
}

/** What a page lists: how far from the root, whether it was there before, and for how many there is room. */
interface FoundList {
  readonly listed: readonly Listed[];
  readonly depth: number;
  readonly beginning: boolean;
  readonly room: number;
  readonly indexRoom: number;
}

interface NewPages {
  readonly pages: readonly NewPage[];
  /** There was no room for all. */
  readonly cut: boolean;
}

const nothingNew: NewPages = { pages: [], cut: false };

function isInside(root: Root, url: string, isIndex: boolean): boolean {
  // The parts of a sitemap need not match what is wanted of pages, but they belong to the site.
  if (isIndex) return siteOf(new URL(url).hostname) === root.page.site && !isExcluded(root.scope, url);
  return isWithin(root.scope, root.page.url, url) && !isFile(root.scope, url);
}

function newPage(
  root: Page,
  url: string,
  title: string | undefined,
  options: Record<string, unknown>,
  nowMs: number,
): NewPage {
  const sameOrigin = new URL(url).origin === new URL(root.url).origin;
  return {
    url,
    site: siteOf(new URL(url).hostname),
    select: { kind: 'text' },
    tags: root.tags,
    weight: root.weight,
    paused: false,
    options,
    addedAtMs: nowMs,
    ...(title === undefined ? {} : { title }),
    ...(root.spacingSeconds === undefined ? {} : { spacingSeconds: root.spacingSeconds }),
    ...(root.render ? { render: true } : {}),
    // Credentials are for one origin.
    ...(root.headers && sameOrigin ? { headers: root.headers } : {}),
  };
}
