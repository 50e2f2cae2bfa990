/**
 * Who is related to whom, read from names alone: the pages of one folder, of the folder above, pages whose last part has a stem
 * in common ("css-color-4" and "css-color-5"), and pages whose names just begin alike (name-tree.ts) may change together.
 * Which of these relations mean anything is learned.
 */
import { type ContentKind, kindOfName } from './content-kind.ts';
import { NameTree } from './name-tree.ts';

export interface Kin {
  /** The politeness domain of each page, a dense index. */
  readonly site: Int32Array;
  readonly sites: number;
  readonly siteNames: readonly string[];
  /** For each page the groups it belongs to, narrowest first, dense indices over all groups; groups of one are left out. */
  readonly groups: readonly (readonly number[])[];
  /** For each page the groups of names that begin alike, narrowest first; they say nothing of how often a page changes. */
  readonly alike: readonly (readonly number[])[];
  readonly groupNames: readonly string[];
  /** What kind of thing each page is, as far as its name says. */
  readonly content: readonly ContentKind[];
}

/** Names for groups that outlive their numbers: a process that starts anew knows the same groups by the same keys. */
export interface GroupKeys {
  /** A whole number below 2^53. */
  keyOf(group: number): number;
  /** Undefined for a key that no group has. */
  groupOf(key: number): number | undefined;
}

/** More levels than this add cost and no knowledge: the levels kept are the narrowest ones and the widest. */
const levelsMax = 4;

/** What joins the parts of a name. */
const joints = new Set(['-', '_', '@', '.', '~', ' ']);

/** The keys of the groups a name belongs to, narrowest first; the last one holds everything of the site. */
export function groupKeys(name: string): string[] {
  const slash = name.lastIndexOf('/', name.length - 2);
  const last = name.slice(slash + 1);
  const keys: string[] = [];
  for (let cut = last.length - 1; cut > 0; cut--) {
    if (joints.has(last[cut]!)) keys.push(`${name.slice(0, slash + 1 + cut)}*`);
  }
  for (let cut = slash; cut >= 0; cut = cut === 0 ? -1 : name.lastIndexOf('/', cut - 1)) {
    keys.push(name.slice(0, cut + 1));
  }
  keys.push('');
  return keys;
}

/** The site of a name: its first folder. */
export function sitePrefix(name: string): string {
  const slash = name.indexOf('/');
  return slash < 0 ? '' : name.slice(0, slash);
}

export function kinOf(names: readonly string[], siteOf: (name: string) => string = sitePrefix): Kin {
  const sites = new Map<string, number>();
  const site = Int32Array.from(names, (name) => denseIndex(sites, siteOf(name)));
  const sizes = new Map<string, number>();
  const keys = names.map(groupKeys);
  for (const list of keys) for (const key of list) sizes.set(key, (sizes.get(key) ?? 0) + 1);
  const known = new Map<string, number>();
  const groups = keys.map((list) => {
    let size = 1;
    const kept: string[] = [];
    // A wider group that holds nobody new says nothing new.
    for (const key of list) {
      if (sizes.get(key)! > size) {
        kept.push(key);
        size = sizes.get(key)!;
      }
    }
    const few = kept.length > levelsMax ? [...kept.slice(0, levelsMax - 1), kept[kept.length - 1]!] : kept;
    return few.map((key) => denseIndex(known, key));
  });
  const tree = new NameTree((page) => names[page]!);
  names.forEach((_, page) => tree.add(page));
  const alike: (readonly number[])[] = [];
  tree.everyLeaf((pages, keys) => {
    const own = keys.map((key) => denseIndex(known, key));
    for (const page of pages) alike[page] = own;
  });
  return {
    site,
    sites: sites.size,
    siteNames: [...sites.keys()],
    groups,
    alike,
    groupNames: [...known.keys()],
    content: names.map(kindOfName),
  };
}

function denseIndex(known: Map<string, number>, key: string): number {
  let index = known.get(key);
  if (index === undefined) {
    index = known.size;
    known.set(key, index);
  }
  return index;
}
