/**
 * What answers reveal about other pages, taken into the collection: new pages within a watched scope, pages that retire,
 * and hints that a watched page has changed.
 *
 * A page with `options.discover` is a root: what it lists within its scope is watched from then on, and what those pages
 * list in turn up to the scope's depth. Sitemaps and feeds cost no depth. A body is read once under the same settings
 * (`reading.ts`). Pages found by the root's first look, or because its settings were changed, are its beginning; pages found later
 * are news, told with their first copy (`verdict` does that). A found page that the server has said is gone for a week retires: it
 * stays, paused, with all its versions.
 *
 * A date in a sitemap or feed that is newer than our copy is a hint. How much it is worth is learned for each index: the share
 * of its hints after which the next look found a change.
 */
import type { Collection, Entry } from './collection.ts';
import type { Listed } from './observe/discover/listed.ts';
import { reveal } from './observe/discover/reveal.ts';
import { isCut, isOfBody, isUnder, readingText } from './reading.ts';
import type { Scope } from './values/scope.ts';
import { isWithin, readScope } from './values/scope.ts';
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
  /** Gone for so long that it rests; it resumes when it is listed again. */
  readonly retired?: boolean;
}

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
/** Two hints believed and two not, before anything is known. */
const doubt = 2;
/** Hints that wait for a look; more are not kept, and count for nothing. */
const openHintsMax = 100_000;

interface Trust {
  right: number;
  wrong: number;
}

export class Discovery {
  readonly #collection: Collection;
  readonly #found = new Map<string, number>();
  readonly #trust = new Map<string, Trust>();
  /** Hints given and not yet put to the test: page id to the index and the date it named. */
  readonly #open = new Map<string, { readonly index: string; readonly modifiedMs: number }>();

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  /** Counts a page that is watched because of a root. */
  watched(page: Page): void {
    const origin = originOf(page);
    if (origin) this.#found.set(origin.from, (this.#found.get(origin.from) ?? 0) + 1);
  }

  unwatched(page: Page): void {
    const origin = originOf(page);
    if (origin) this.#found.set(origin.from, Math.max(0, (this.#found.get(origin.from) ?? 0) - 1));
    this.#open.delete(page.id);
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
    const root = this.#rootOf(entry);
    const origin = root && originOf(entry.page);
    return !origin || origin.index || origin.depth < root.scope.depthMax ? root : undefined;
  }

  #room(root: Root): number {
    return root.scope.pagesMax - (this.#found.get(root.page.id) ?? 0);
  }

  /** What a page says about others: one that changed, is seen for the first time, or is wanted (`wants`). */
  read(entry: Entry, fetched: Fetched, url: string, nowMs: number, first: boolean): Findings {
    const root = this.#rootOf(entry);
    const mayList = /xml|json|gzip|octet-stream|rss|atom/.test(fetched.mediaType ?? 'xml') || root !== undefined;
    if (!mayList) return nothing;
    const revealed = reveal(fetched, url);
    const hints = revealed.kind === 'links' ? [] : this.#hints(entry, revealed.listed, nowMs);
    if (!root) return { pages: [], back: [], hints };
    const depth = (originOf(entry.page)?.depth ?? 0) + (revealed.kind === 'links' ? 1 : 0);
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
    return { pages, back: this.#listedAgain(revealed.listed), hints, ...(reading === undefined ? {} : { reading }) };
  }

  #listedAgain(listed: readonly Listed[]): readonly Page[] {
    const entries = listed.flatMap(({ url }) => this.#collection.withUrl(url));
    return entries.filter(({ page }) => page.paused && originOf(page)?.retired).map(({ page }) => page);
  }

  #rootOf(entry: WatchedPage): Root | undefined {
    const origin = originOf(entry.page);
    const holder = origin ? this.#collection.byId(origin.from) : entry;
    if (!holder || holder.page.paused) return undefined;
    const { discover } = holder.page.options;
    const read = readScope(discover);
    return read.kind === 'scope' ? { page: holder.page, state: holder.state, scope: read.scope, discover } : undefined;
  }

  #newPages(root: Root, listed: readonly Listed[], depth: number, nowMs: number, beginning: boolean): NewPages {
    let room = this.#room(root);
    const pages: NewPage[] = [];
    for (const { url, title, isIndex } of listed) {
      if (this.#collection.watches(url) || !isInside(root, url, isIndex === true)) continue;
      if (room <= 0) return { pages, cut: true };
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

  /** A found page that has been gone for so long that it will not come back. */
  retires(page: Page, state: PageState, nowMs: number): boolean {
    if (state.status !== 'gone' || !originOf(page)) return false;
    return nowMs - (state.lastSeenMs ?? page.addedAtMs) > retireAfterMs;
  }

  /** The settings of a page that retires, or comes back. */
  static rest(page: Page, retired: boolean): Pick<Page, 'paused' | 'options'> {
    const { retired: _retired, ...origin } = originOf(page)!;
    return { paused: retired, options: { ...page.options, discovered: retired ? { ...origin, retired } : origin } };
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
  return originOf(page)?.beginning === true || root.state.version <= 1 || nowMs - root.page.addedAtMs < dayMs;
}

/** What other settings bring in, or a place that has become free, was listed before. */
function wasThere({ state: { revealed } }: Entry, { discover }: Root, body: Uint8Array): boolean {
  return revealed === undefined || !isUnder(revealed, discover) || isOfBody(revealed, body);
}

interface Root {
  readonly page: Page;
  readonly state: PageState;
  readonly scope: Scope;
  /** The scope as its user wrote it. */
  readonly discover: unknown;
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
  return isWithin(root.scope, root.page.url, url);
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
