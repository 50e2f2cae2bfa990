/**
 * The watched pages in memory, as the loop needs them: each page, site and folder has a dense index, by which policies and
 * gates know it. Indices of removed pages are used again; those of sites and folders stay.
 */
import { NameTree, groupKeys } from '@revisit/core';
import { Groups } from './groups.ts';
import { type PageAims, plainAims } from './page-aims.ts';
import { PageLookup } from './page-lookup.ts';
import type { PageState, WatchedPage } from '../values/look.ts';
import type { Page } from '../values/page.ts';

export interface Entry {
  page: Page;
  state: PageState;
  readonly index: number;
  readonly site: number;
  readonly folder: number;
  /** Groups whose pages may change together, narrowest first: name stem, folders, the site. */
  readonly groups: readonly number[];
  /** What the plan goes by. */
  readonly aims: PageAims;
}

class Names {
  readonly #indices = new Map<string, number>();
  readonly #names: string[] = [];

  index(name: string): number {
    let index = this.#indices.get(name);
    if (index === undefined) {
      index = this.#names.push(name) - 1;
      this.#indices.set(name, index);
    }
    return index;
  }

  get size(): number {
    return this.#names.length;
  }

  has(name: string): boolean {
    return this.#indices.has(name);
  }

  name(index: number): string {
    return this.#names[index]!;
  }

  [Symbol.iterator](): IterableIterator<string> {
    return this.#names.values();
  }
}

/** Where what is asked of the page begins, or the end. */
function pathEnd(url: string): number {
  const query = url.indexOf('?');
  const fragment = url.indexOf('#');
  if (query < 0) return fragment < 0 ? url.length : fragment;
  return fragment < 0 ? query : Math.min(query, fragment);
}

/** The URL up to its last slash: pages below it tend to change together. */
const folderOf = (url: string): string => url.slice(0, url.lastIndexOf('/', pathEnd(url) - 1) + 1);

/** A name's extension tells no kin apart: what is before it would be a group of one. */
function nameOf(url: string): string {
  const end = pathEnd(url);
  const dot = url.lastIndexOf('.', end - 1);
  const isExtension = dot >= 0 && end - dot <= 6 && /^[a-z]\w*$/i.test(url.slice(dot + 1, end));
  return url.slice(url.indexOf('://') + 3, isExtension ? dot : end);
}

/** Beyond these levels, the narrowest, only the site itself says more. */
const levelsMax = 3;

function kinKeys({ url, site }: Page): string[] {
  // The widest of a name's groups holds every page there is; in a collection of many sites that is the site's place.
  const keys = groupKeys(nameOf(url)).slice(0, -1);
  return [...keys.slice(0, levelsMax), `site ${site}`];
}

const noTags: Page['tags'] = [];
const noOptions: Page['options'] = {};
const noValidators: PageState['validators'] = {};
const neverSeen: PageState = {
  status: 'new',
  version: 0,
  toldVersion: 0,
  validators: noValidators,
  failures: 0,
  looks: 0,
  changes: 0,
};
const plainSelects = new Map<string, Page['select']>();

/** The same page, with what most pages have in common held once: a third of what a page takes. */
function lean(page: Page, site: string): Page {
  let { select } = page;
  if (!('expression' in select)) {
    if (!plainSelects.has(select.kind)) plainSelects.set(select.kind, select);
    select = plainSelects.get(select.kind)!;
  }
  const { id, url, title, weight, urgency, life, loss, importance, spacingSeconds, headers, render, paused } = page;
  const tags = page.tags.length === 0 ? noTags : page.tags;
  const options = Object.keys(page.options).length === 0 ? noOptions : page.options;
  const { addedAtMs } = page;
  const plain = title ?? urgency ?? life ?? loss ?? importance ?? spacingSeconds ?? headers ?? render;
  // Written out, the object has room for exactly these; spread, it takes half as much again.
  if (plain === undefined) return { id, url, site, select, tags, weight, paused, options, addedAtMs };
  return { ...page, site, select, tags, options };
}

/**
 * The state as it is held in memory, likewise. What only a look needs stays in the store: the model, which the policy has
 * taken up and gives out anew; the hash of the text; and, but for pages that are looked at much, what detection remembers.
 */
export function leanState(state: PageState, warm: boolean): PageState {
  const { status, version, toldVersion, failures, looks, changes, lastLookMs, lastSeenMs, lastChangeMs } = state;
  const { fault, movedTo, seenTitle, detectState, revealed } = state;
  const { etag, lastModified } = state.validators;
  const validators = etag === undefined && lastModified === undefined ? noValidators : state.validators;
  if (warm && detectState !== undefined) {
    // Taking parts out of an object is slow, and a look without news leaves none to take out.
    if (state.model === undefined && state.hash === undefined)
      return validators === state.validators ? state : { ...state, validators };
    const { model: _model, hash: _hash, ...rest } = state;
    return { ...rest, validators };
  }
  if (lastLookMs === undefined && looks === 0 && status === 'new') return neverSeen;
  if (
    fault ||
    movedTo !== undefined ||
    seenTitle === undefined ||
    revealed !== undefined ||
    lastLookMs === undefined ||
    lastSeenMs === undefined
  ) {
    const { model: _model, hash: _hash, detectState: _detectState, ...rest } = state;
    return { ...rest, validators };
  }
  // Written out, each has room for exactly these; where both times are one, so is the number.
  const lean = {
    status,
    version,
    toldVersion,
    validators,
    failures,
    looks,
    changes,
    seenTitle,
    lastLookMs,
    lastSeenMs,
  };
  if (lastSeenMs === lastLookMs) lean.lastSeenMs = lastLookMs;
  return lastChangeMs === undefined ? lean : { ...lean, lastChangeMs };
}

/** Pages whose detection is held in memory: those of an hour's looks, even of a fast daemon; 250 bytes each. */
const warmMax = 50_000;

export class Collection {
  readonly #entries: (Entry | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #byId = new PageLookup((index) => this.#entries[index]!.page.id);
  /** Pages with other selections may share a URL. */
  readonly #byUrl = new PageLookup((index) => this.#entries[index]!.page.url);
  /** Pages that have moved for good, by where they went: few have. */
  readonly #movedTo = new Map<string, Set<Entry>>();
  readonly sites = new Names();
  readonly groups = new Groups();
  readonly #names = new NameTree((index) => this.#entries[index]!.page.url);
  /** Pages of a folder mostly come one after the other, in the same groups. */
  #last: { readonly keys: readonly string[]; readonly groups: readonly number[] } = { keys: [], groups: [] };
  /** Set by `add`: pages whose names begin like others now, in other groups than before. */
  regrouped: readonly number[] = [];
  /** How many pages hold what detection remembers. */
  #warm = 0;

  get size(): number {
    return this.#byId.size;
  }

  /** Pages are numbered below this. */
  get end(): number {
    return this.#entries.length;
  }

  add(watched: WatchedPage, aims = plainAims): Entry {
    const index = this.#free.pop() ?? this.#entries.length;
    const site = this.sites.index(watched.page.site);
    const page = lean(watched.page, this.sites.name(site));
    const entry: Entry = {
      page,
      state: leanState(watched.state, false),
      index,
      site,
      folder: this.groups.number(folderOf(page.url)),
      groups: this.#kin(page),
      aims,
    };
    this.#entries[index] = entry;
    this.#byId.add(page.id, index);
    this.#byUrl.add(page.url, index);
    this.regrouped = this.#names.add(index);
    this.#move(entry, undefined, entry.state.movedTo);
    return entry;
  }

  /** The page as a look left it. */
  looked(entry: Entry, state: PageState): void {
    const was = entry.state.detectState !== undefined;
    const { movedTo } = entry.state;
    entry.state = leanState(state, was || this.#warm < warmMax);
    if (movedTo !== state.movedTo) this.#move(entry, movedTo, state.movedTo);
    const is = entry.state.detectState !== undefined;
    this.#warm += Number(is) - Number(was);
  }

  #move(entry: Entry, from: string | undefined, to: string | undefined): void {
    const before = from === undefined ? undefined : this.#movedTo.get(from);
    if (before?.delete(entry) && before.size === 0) this.#movedTo.delete(from!);
    if (to === undefined) return;
    const there = this.#movedTo.get(to);
    if (there) there.add(entry);
    else this.#movedTo.set(to, new Set([entry]));
  }

  remove(id: string): Entry | undefined {
    const index = this.#byId.first(id);
    if (index === undefined) return undefined;
    const entry = this.#entries[index]!;
    if (entry.state.detectState !== undefined) this.#warm--;
    this.#move(entry, entry.state.movedTo, undefined);
    this.#byId.remove(id, index);
    this.#byUrl.remove(entry.page.url, index);
    this.#names.remove(index);
    this.#entries[index] = undefined;
    this.#free.push(index);
    return entry;
  }

  /** The groups of names that begin like this page's. */
  alike(index: number): readonly number[] {
    return this.#numbers(this.#names.alike(index));
  }

  /** The same for all pages at once. */
  everyAlike(visit: (index: number, alike: readonly number[]) => void): void {
    this.#names.everyLeaf((pages, keys) => {
      const alike = this.#numbers(keys);
      for (const index of pages) visit(index, alike);
    });
  }

  #kin(page: Page): readonly number[] {
    const keys = kinKeys(page);
    const { keys: last } = this.#last;
    if (keys.length !== last.length || !keys.every((key, n) => key === last[n]))
      this.#last = { keys, groups: this.#numbers(keys) };
    return this.#last.groups;
  }

  #numbers(keys: readonly string[]): readonly number[] {
    return keys.map((key) => this.groups.number(key));
  }

  at(index: number): Entry | undefined {
    return this.#entries[index];
  }

  byId(id: string): Entry | undefined {
    const index = this.#byId.first(id);
    return index === undefined ? undefined : this.#entries[index];
  }

  watches(url: string): boolean {
    return this.#byUrl.first(url) !== undefined;
  }

  withUrl(url: string): readonly Entry[] {
    return this.#byUrl.all(url).map((index) => this.#entries[index]!);
  }

  /** Pages that have moved there for good. */
  movedTo(url: string): Iterable<Entry> {
    return this.#movedTo.get(url) ?? [];
  }

  get hasMoved(): boolean {
    return this.#movedTo.size > 0;
  }

  /** Pages that one request serves: they share the URL and ask for it in the same way. */
  sharing(entry: Entry): readonly Entry[] {
    // Most collections watch each URL once, and then nobody needs to be looked up.
    if (this.#byUrl.texts === this.#byUrl.size) return [entry];
    const way = askedAs(entry.page);
    return this.withUrl(entry.page.url).filter((other) => other === entry || askedAs(other.page) === way);
  }

  *[Symbol.iterator](): IterableIterator<Entry> {
    for (const entry of this.#entries) if (entry) yield entry;
  }
}

function askedAs(page: Page): string {
  return page.headers || page.render ? JSON.stringify([page.headers, page.render]) : '';
}
