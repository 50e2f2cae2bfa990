/**
 * The watched pages in memory, as the loop needs them: each page, site and folder has a dense index, by which policies and
 * gates know it. Indices of removed pages are used again; those of sites and folders stay.
 */
import { groupKeys } from '@revisit/core';
import type { PageState, WatchedPage } from './values/look.ts';
import type { Page } from './values/page.ts';

export interface Entry {
  page: Page;
  state: PageState;
  readonly index: number;
  readonly site: number;
  readonly folder: number;
  /** Groups whose pages may change together, narrowest first: name stem, folders, the site. */
  readonly groups: readonly number[];
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

  find(name: string): number | undefined {
    return this.#indices.get(name);
  }

  name(index: number): string {
    return this.#names[index]!;
  }
}

/** The URL up to its last slash: pages below it tend to change together. */
function folderOf(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** Beyond these levels, the narrowest, only the site itself says more. */
const levelsMax = 3;

function kinKeys({ url, site }: Page): string[] {
  const path = url.replace(/^[a-z]+:\/\//i, '').replace(/[?#].*$/s, '');
  // The widest of a name's groups holds every page there is; in a collection of many sites that is the site's place.
  const keys = groupKeys(path).slice(0, -1);
  return [...keys.slice(0, levelsMax), `site ${site}`];
}

const noTags: Page['tags'] = [];
const noOptions: Page['options'] = {};
const noValidators: PageState['validators'] = {};
const plainSelects = new Map<string, Page['select']>();

/** The same page, with what most pages have in common held once: a third of what a page takes. */
function lean(page: Page, site: string): Page {
  let { select } = page;
  if (!('expression' in select)) {
    if (!plainSelects.has(select.kind)) plainSelects.set(select.kind, select);
    select = plainSelects.get(select.kind)!;
  }
  return {
    ...page,
    site,
    select,
    tags: page.tags.length === 0 ? noTags : page.tags,
    options: Object.keys(page.options).length === 0 ? noOptions : page.options,
  };
}

function leanState(state: PageState): PageState {
  const { etag, lastModified } = state.validators;
  return etag === undefined && lastModified === undefined ? { ...state, validators: noValidators } : state;
}

export class Collection {
  readonly #entries: (Entry | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #byId = new Map<string, number>();
  /** One index, or several where pages share the URL: a million arrays of one would cost as much as the pages. */
  readonly #byUrl = new Map<string, number | number[]>();
  readonly sites = new Names();
  readonly #folders = new Names();

  get size(): number {
    return this.#byId.size;
  }

  add(watched: WatchedPage): Entry {
    const index = this.#free.pop() ?? this.#entries.length;
    const site = this.sites.index(watched.page.site);
    const page = lean(watched.page, this.sites.name(site));
    const entry: Entry = {
      page,
      state: leanState(watched.state),
      index,
      site,
      folder: this.#folders.index(folderOf(page.url)),
      groups: kinKeys(page).map((key) => this.#folders.index(key)),
    };
    this.#entries[index] = entry;
    this.#byId.set(page.id, index);
    const sharing = this.#indicesOf(page.url);
    this.#byUrl.set(page.url, sharing.length === 0 ? index : [...sharing, index]);
    return entry;
  }

  #indicesOf(url: string): readonly number[] {
    const found = this.#byUrl.get(url);
    return found === undefined ? [] : typeof found === 'number' ? [found] : found;
  }

  remove(id: string): Entry | undefined {
    const index = this.#byId.get(id);
    if (index === undefined) return undefined;
    const entry = this.#entries[index]!;
    this.#byId.delete(id);
    this.#entries[index] = undefined;
    this.#free.push(index);
    const sharing = this.#indicesOf(entry.page.url).filter((other) => other !== index);
    if (sharing.length > 0) this.#byUrl.set(entry.page.url, sharing.length === 1 ? sharing[0]! : sharing);
    else this.#byUrl.delete(entry.page.url);
    return entry;
  }

  at(index: number): Entry | undefined {
    return this.#entries[index];
  }

  byId(id: string): Entry | undefined {
    const index = this.#byId.get(id);
    return index === undefined ? undefined : this.#entries[index];
  }

  watches(url: string): boolean {
    return this.#byUrl.has(url);
  }

  withUrl(url: string): readonly Entry[] {
    return this.#indicesOf(url).map((index) => this.#entries[index]!);
  }

  /** Pages that one request serves: they share the URL and ask for it in the same way. */
  sharing(entry: Entry): readonly Entry[] {
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
