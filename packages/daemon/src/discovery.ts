/**
 * What answers reveal about other pages, taken into the collection: new pages within a watched scope, pages that retire,
 * and hints that a watched page has changed.
 *
 * A page with `options.discover` is a root: what it lists within its scope is watched from then on, and what those pages
 * list in turn up to the scope's depth. Sitemaps and feeds cost no depth. A body is read once under the same settings
 * (`reading.ts`). Pages found by the root's first look, or because its settings were changed, are its beginning; pages found later
 * are news, told with their first copy (`verdict` does that). A found page that the server has said is gone for a week, or that
 * robots.txt forbids, retires: it stays, paused, with all its versions, and takes no place.
 *
 * A date in a sitemap or feed that is newer than our copy is a hint. How much it is worth is learned for each index: the share
 * of its hints after which the next look found a change.
 */
import type { Collection, Entry } from './collection.ts';
import type { Listed } from './observe/discover/listed.ts';
import { reveal } from './observe/discover/reveal.ts';
import { isCut, isOfBody, isUnder, readingText } from './reading.ts';
import type { ReadScope, Scope } from './values/scope.ts';
import { isFile, isWithin, readScope } from './values/scope.ts';
import type { NewPage } from './store/port.ts';
import type { PageState, WatchedPage } from './values/look.ts';
import type { Outcome } from './values/observation.ts';
import type { Page } from './values/page.ts';
import { siteOf } from './values/url.ts';

/** What `options.discovered` of a found page holds. */
export interface Origin {
  /** The root's page id. */
  readonly from: string;
  readonly depth: number;
  /** Found by the root's first look: there before we came, and no news. */
  readonly beginning?: boolean;
  /** A part of a sitemap, read for what it lists. */
  readonly index?: boolean;
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

export interface Findings {
  readonly pages: readonly NewPage[];
  /** Pages that had retired and are listed again. */
  readonly back: readonly Page[];
  /** The page itself is a picture or the like, and found by itself: it is to rest. */
  readonly isFile?: true;
  /** Watched pages that an index says have changed, and how much its word is worth. */
  readonly hints: readonly { readonly entry: Entry; readonly chance: number }[];
  /** How the page was read, to be kept with it (`reading.ts`); undefined where it is not read for what it lists. */
  readonly reading?: string;
}

type Fetched = Extract<Outcome, { kind: 'fetched' }>;

const nothing: Findings = { pages: [], back: [], hints: [] };
const dayMs = 86_400_000;
/** A page may be gone for a while by mistake; after a week it is meant. */
const retireAfterMs = 7 * dayMs;
/** One that was never there may be listed a while before it is. */
const retireUnseenAfterMs = dayMs;
/** A page that was gone for so long is not asked for again for this share of that. */
const returnShare = 0.25;
/** Two hints believed and two not, before anything is known. */
const doubt = 2;
/** Hints that wait for a look; more are not kept, and count for nothing. */
const openHintsMax = 100_000;

/** For each page that may be watched, so many are remembered that no longer are; beyond that the longest gone are forgotten. */
const retiredShare = 10;
/** Forgetting is for many at once: it looks through all that is watched. */
const forgetShare = 0.1;
/** Links that robots.txt forbids are passed over, so many of a page; each is held against all its rules. */
const forbiddenMax = 5_000;

interface Counts {
  watched: number;
  retired: number;
}

interface Trust {
  right: number;
  wrong: number;
}

export class Discovery {
  readonly #collection: Collection;
  readonly #allows: (url: string) => boolean | undefined;
  /** Pages that were found, by root. */
  readonly #found = new Map<string, Counts>();
  readonly #trust = new Map<string, Trust>();
  /** Hints given and not yet put to the test: page id to the index and the date it named. */
  readonly #open = new Map<string, { readonly index: string; readonly modifiedMs: number }>();

  /** `allows`: what robots.txt says of a URL, as far as that is known here. */
  constructor(collection: Collection, allows: (url: string) => boolean | undefined = () => undefined) {
    this.#collection = collection;
    this.#allows = allows;
  }

  /** Counts a page that is watched because of a root. */
  watched(page: Page): void {
    this.#count(page, 1);
  }

  unwatched(page: Page): void {
    this.#count(page, -1);
    this.#open.delete(page.id);
  }

  #count(page: Page, by: number): void {
    const origin = originOf(page);
    if (!origin) return;
    const counts = this.#found.get(origin.from) ?? { watched: 0, retired: 0 };
    counts[origin.retired ? 'retired' : 'watched'] += by;
    this.#found.set(origin.from, counts);
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

  /** The root of a page that is read for what it lists; undefined for all others. */
  #lists(entry: WatchedPage): Root | undefined {
    const { options } = entry.page;
    if (options['discover'] === undefined && options['discovered'] === undefined) return undefined;
    const root = this.#rootOf(entry.page);
    const origin = root && originOf(entry.page);
    return !origin || origin.index || origin.depth < root.scope.depthMax ? root : undefined;
  }

  #room(root: Root): number {
    return root.scope.pagesMax - (this.#found.get(root.page.id)?.watched ?? 0);
  }

  /** What a page says about others: one that changed, is seen for the first time, or is wanted (`wants`). */
  read(entry: Entry, fetched: Fetched, url: string, nowMs: number, first: boolean): Findings {
    const root = this.#rootOf(entry.page);
    const mayList = /xml|json|gzip|octet-stream|rss|atom/.test(fetched.mediaType ?? 'xml') || root !== undefined;
    if (!mayList) return nothing;
    const origin = originOf(entry.page);
    if (root && origin && isFile(root.scope, entry.page.url, fetched.mediaType)) return { ...nothing, isFile: true };
    const revealed = reveal(fetched, url);
    const hints = revealed.kind === 'links' ? [] : this.#hints(entry, revealed.listed, nowMs);
    if (!root) return { pages: [], back: [], hints };
    const depth = (origin?.depth ?? 0) + (revealed.kind === 'links' ? 1 : 0);
    const { pages, cut } =
      depth > root.scope.depthMax
        ? nothingNew
        : this.#newPages(
            root,
            revealed.listed,
            depth,
            nowMs,
            first ? isEarly(entry, root, nowMs) : wasThere(entry, root, fetched.body),
          );
    const reading = this.#lists(entry) && readingText({ kind: revealed.kind, cut }, root.discover, fetched.body);
    const back = this.#listedAgain(revealed.listed, this.#room(root) - pages.length, nowMs);
    return { pages, back, hints, ...(reading === undefined ? {} : { reading }) };
  }

  #listedAgain(listed: readonly Listed[], room: number, nowMs: number): readonly Page[] {
    const back: Page[] = [];
    for (const { url } of listed) {
      if (back.length >= room) break;
      const entries = this.#collection.withUrl(url).filter((entry) => this.#mayReturn(entry, nowMs));
      back.push(...entries.map(({ page }) => page));
    }
    return back;
  }

  /** Lists may name for years what is not there: the longer a page has been gone, the longer it is not asked for again. */
  #mayReturn({ page, state }: Entry, nowMs: number): boolean {
    const retired = page.paused ? originOf(page)?.retired : undefined;
    if (retired === undefined || retired === 'file') return false;
    const lookedMs = state.lastLookMs ?? page.addedAtMs;
    const goneMs = lookedMs - (state.lastSeenMs ?? page.addedAtMs);
    if (retired === 'forbidden') return this.#allows(page.url) ?? nowMs - lookedMs > dayMs;
    return nowMs - lookedMs > goneMs * returnShare;
  }

  #rootOf(page: Page): Root | undefined {
    const origin = originOf(page);
    const root = origin ? this.#collection.byId(origin.from)?.page : page;
    if (!root || root.paused) return undefined;
    const { discover } = root.options;
    const scope = scopeOf(discover);
    return scope && { page: root, scope, discover };
  }

  #newPages(root: Root, listed: readonly Listed[], depth: number, nowMs: number, beginning: boolean): NewPages {
    let room = this.#room(root);
    let forbidden = 0;
    const pages: NewPage[] = [];
    for (const { url, title, isIndex } of listed) {
      if (this.#collection.watches(url) || !isInside(root, url, isIndex === true)) continue;
      if (room <= 0) return { pages, cut: true };
      if (this.#allows(url) === false) {
        if (++forbidden > forbiddenMax) break;
        continue;
      }
      const discovered: Origin = {
        from: root.page.id,
        depth,
        ...(beginning ? { beginning } : {}),
        ...(isIndex ? { index: true } : {}),
      };
      pages.push(newPage(root.page, url, title, { discovered }, nowMs));
      room--;
    }
    return { pages, cut: false };
  }

  #hints(index: Entry, listed: readonly Listed[], nowMs: number): Findings['hints'] {
    const hints: { entry: Entry; chance: number }[] = [];
    const trust = this.#trust.get(index.page.id) ?? { right: 0, wrong: 0 };
    const chance = (trust.right + doubt) / (trust.right + trust.wrong + 2 * doubt);
    for (const { url, modifiedMs } of listed) {
      if (modifiedMs === undefined || modifiedMs > nowMs) continue;
      for (const entry of this.#collection.withUrl(url)) {
        const { lastSeenMs } = entry.state;
        if (entry === index || lastSeenMs === undefined || modifiedMs <= lastSeenMs) continue;
        if (this.#open.get(entry.page.id)?.modifiedMs === modifiedMs || this.#open.size >= openHintsMax) continue;
        this.#open.set(entry.page.id, { index: index.page.id, modifiedMs });
        hints.push({ entry, chance });
      }
    }
    return hints;
  }

  /** A look puts a hint to the test. */
  looked(entry: Entry, changed: boolean): void {
    const hint = this.#open.get(entry.page.id);
    if (!hint) return;
    this.#open.delete(entry.page.id);
    const trust = this.#trust.get(hint.index) ?? { right: 0, wrong: 0 };
    if (changed) trust.right++;
    else trust.wrong++;
    // What was long ago counts less and less: an index may get better, or be left to itself.
    if (trust.right + trust.wrong > 100) {
      trust.right /= 2;
      trust.wrong /= 2;
    }
    this.#trust.set(hint.index, trust);
  }

  /** Why a found page is to rest: it has been gone, or may not be visited, for so long that it will not come back. */
  retires(page: Page, state: PageState, nowMs: number): Retired | undefined {
    const isForbidden = state.fault?.code === 'robots-disallowed';
    if ((state.status !== 'gone' && !isForbidden) || !originOf(page)) return undefined;
    const retired = isForbidden ? 'forbidden' : true;
    const restMs = state.version > 0 ? retireAfterMs : isForbidden ? 0 : retireUnseenAfterMs;
    return nowMs - (state.lastSeenMs ?? page.addedAtMs) >= restMs ? retired : undefined;
  }

  /** The settings of a page that retires, or comes back. */
  static rest(page: Page, retired: Retired | undefined): Pick<Page, 'paused' | 'options'> {
    const { retired: _retired, ...origin } = originOf(page)!;
    const discovered = retired === undefined ? origin : { ...origin, retired };
    return { paused: retired !== undefined, options: { ...page.options, discovered } };
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

  get hasLearned(): boolean {
    return this.#trust.size > 0;
  }

  save(): Uint8Array {
    return new TextEncoder().encode(JSON.stringify([...this.#trust]));
  }

  restore(saved: Uint8Array): void {
    const entries = JSON.parse(new TextDecoder().decode(saved)) as [string, Trust][];
    for (const [index, trust] of entries) this.#trust.set(index, trust);
  }
}

/** The root's own first look, and those of pages that were there then, show what was there before. */
function isEarly({ page }: Entry, root: Root, nowMs: number): boolean {
  const origin = originOf(page);
  return !origin || origin.beginning === true || nowMs - root.page.addedAtMs < dayMs;
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

interface NewPages {
  readonly pages: readonly NewPage[];
  /** There was no room for all. */
  readonly cut: boolean;
}

const nothingNew: NewPages = { pages: [], cut: false };

function isInside(root: Root, url: string, isIndex: boolean): boolean {
  // The parts of a sitemap need not match what is wanted of pages, but they belong to the site.
  if (isIndex) return siteOf(new URL(url).hostname) === root.page.site;
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
