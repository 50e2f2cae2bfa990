/**
 * What the daemon asks of whatever keeps its state. SQLite and PostgreSQL stand behind it; one contract suite holds for
 * both. Writes that can fail for reasons outside (full disk, lost server) answer with an outcome instead of throwing.
 */
import type { Change } from '../values/change.ts';
import type { Fault } from '../values/fault.ts';
import type { Look, LookKind, WatchedPage } from '../values/look.ts';
import type { NewPageSettings } from '../values/page.ts';
import type { Outbox } from '../values/outbox.ts';
import type { Probe } from '../values/probe.ts';
import type { Retention } from '../values/retention.ts';
import type { SearchHit, SearchQuery } from './search.ts';

export type Kept<Value> =
  | { readonly kind: 'kept'; readonly value: Value }
  | { readonly kind: 'failed'; readonly fault: Fault };

export interface NewPage extends NewPageSettings {
  readonly addedAtMs: number;
}

export interface PageQuery {
  /** Pages behind this place, in the order in which they were added. */
  readonly after?: number;
  readonly limit: number;
  readonly site?: string;
  readonly tag?: string;
  /** Words that the URL or title contains. */
  readonly text?: string;
}

/** A page of a list; its place outlives it, so that a list goes on where it was whatever was removed meanwhile. */
export interface ListedPage extends WatchedPage {
  readonly place: number;
}

export interface Version {
  readonly number: number;
  readonly atMs: number;
  readonly hash: string;
  readonly format: string;
  readonly bytes: number;
  /** Whether the whole page was kept beside the projection. */
  readonly raw: boolean;
}

export interface LookEntry {
  readonly atMs: number;
  readonly kind: LookKind;
  readonly durationMs: number;
  readonly bytesReceived: number;
}

export interface SiteHour {
  /** 0 to 167. */
  readonly hour: number;
  readonly looks: number;
  /** Of which so many failed, and so many were not to be made: by robots.txt, or as the site asked to be left alone. */
  readonly failures: number;
  readonly refused: number;
  readonly changes: number;
  readonly meanMs: number;
}

export interface Counts {
  readonly pages: number;
  readonly changes: number;
  readonly looks: number;
}

/** A page that was to be added, as it is then. */
export interface Added {
  readonly page: WatchedPage;
  readonly created: boolean;
}

/** Looks that were made elsewhere before the pages came here; it may be asked more than once, and the last time counts. */
export type Past = (added: readonly Added[]) => readonly Look[];

/** Remembers under `key` which pages were added, as `Edit` does; with `StoreFailed` it refuses them. */
export interface Journal {
  readonly key: string;
  readonly value: (ids: readonly string[], before: Uint8Array | undefined) => Uint8Array;
}

/** Somebody wants a page to be looked at. */
export interface Wish {
  readonly id: string;
  readonly atMs: number;
  /** A person waits for it. */
  readonly hurried: boolean;
}

export type Edit<Value> = (before: Uint8Array | undefined) => { readonly after?: Uint8Array; readonly value: Value };

export interface Store {
  /**
   * Adds what is new; a page with the same URL and selection is the same page and comes back as it is. What a journal makes
   * of the ids that are new is remembered in the same transaction, and so is the pages' past.
   */
  addPages(pages: readonly NewPage[], journal?: Journal, past?: Past): Promise<Kept<readonly Added[]>>;
  /** Replaces the settings of pages that exist; unknown ids are left out of the answer. */
  updatePages(
    changes: readonly { readonly id: string; readonly settings: Partial<NewPageSettings> }[],
  ): Promise<Kept<readonly WatchedPage[]>>;
  /** Replaces what detection remembers of a page, by its user's word. */
  setDetectState(id: string, detectState: string): Promise<Kept<undefined>>;
  /** Returns the ids that were there. */
  removePages(ids: readonly string[]): Promise<Kept<readonly string[]>>;
  page(id: string): Promise<WatchedPage | undefined>;
  pages(query: PageQuery): Promise<readonly ListedPage[]>;
  /**
   * Every page, in the order in which they were added, a batch at a time; as a plan needs them, so perhaps without the hash and
   * what detection remembers.
   */
  everyPage(): AsyncIterable<readonly WatchedPage[]>;

  /** These probes go out now; remembered so that a killed process knows what it had asked for. */
  dispatched(probes: readonly Probe[]): Promise<Kept<undefined>>;
  /** Probes that went out and never came back, oldest first. */
  unfinished(): Promise<readonly Probe[]>;
  /** These probes are done with, whatever became of them. */
  finished(probeIds: readonly string[]): Promise<Kept<undefined>>;
  /**
   * A person or a hub wants these pages to be looked at: remembered until a look at them is kept whose probe left after that. Answers
   * those of the pages that there are.
   */
  wish(pageIds: readonly string[], atMs: number, hurried: boolean): Promise<Kept<readonly string[]>>;
  /** The oldest first. */
  wishes(): Promise<readonly Wish[]>;
  /**
   * Keeps looks with their versions and changes in one transaction and returns the changes as they stand in the log. A
   * state without a hash or without what detection remembers leaves those as they are.
   */
  commit(looks: readonly Look[]): Promise<Kept<readonly Change[]>>;

  changes(query: {
    readonly after: number;
    readonly limit: number;
    readonly pageId?: string;
  }): Promise<readonly Change[]>;
  /** The newest first. */
  latestChanges(query: {
    readonly before?: number;
    readonly limit: number;
    readonly pageId?: string;
  }): Promise<readonly Change[]>;
  versions(pageId: string): Promise<readonly Version[]>;
  versionText(pageId: string, number: number): Promise<string | undefined>;
  /** Where a thread of this process can open the same store with SQLite; undefined where it cannot. */
  readonly file?: string | undefined;
  /** The page as it came, where that was asked to be kept. */
  versionRaw(pageId: string, number: number): Promise<string | undefined>;
  search(query: SearchQuery): Promise<readonly SearchHit[]>;
  /** Messages on their way; planned by `commit` in the same transaction as what they tell. */
  readonly outbox: Outbox;
  /** The kinds of each page's last looks, oldest first. */
  activity(pageIds: readonly string[], limit: number): Promise<ReadonlyMap<string, readonly LookKind[]>>;
  /** How a site answered in each hour of the week (from Monday 00:00 UTC) since a moment; hours without a look are left out. */
  siteHours(site: string, sinceMs: number): Promise<readonly SiteHour[]>;
  /** The newest first. */
  looks(pageId: string, limit: number): Promise<readonly LookEntry[]>;
  counts(): Promise<Counts>;

  /**
   * Lets go of versions and looks that the rules no longer keep; answers how many versions went. `ownOf` reads the rules that a page has of its
   * own (`options.keep`), which replace the others.
   */
  retain(retention: Retention, nowMs: number, ownOf?: (keep: unknown) => Retention | undefined): Promise<Kept<number>>;

  /** Small things that belong to no page: what a policy learned of sites, the budget's state, cursors. */
  remember(key: string, value: Uint8Array): Promise<Kept<undefined>>;
  recall(key: string): Promise<Uint8Array | undefined>;
  /**
   * Remembers what `edit` makes of what is remembered; nobody else changes it in between, in no process on this store. Without an
   * `after` all stays as it is. It may be made more than once, and the last time counts.
   */
  revise<Value>(key: string, edit: Edit<Value>): Promise<Kept<Value>>;
  close(): Promise<void>;
}
