/**
 * The weeks by which pages go: the collection's, and of sites in which enough was found one of their own, mixed with it (site-week.ts).
 *
 * A collection of one site has one week. A site's own is made when so many changes were found that it can begin to be told from the
 * collection's; until then, and as long as it has not made looks likelier, its pages go by the collection's.
 */
import type { GroupKeys } from '../model/kin.ts';
import { SiteWeek } from './site-week.ts';
import { WeekShape } from './week-shape.ts';

/** Looks that found a change before a site has a week of its own. */
const foundMin = 8;
/** Weeks of sites, 6 kilobytes each and 1 in what is saved every minute. Those in which changes were last found stay: where hardly
 * anything is found, hours say little. */
const sitesMost = 1024;

/** A week as a page goes by it. */
export type PageWeek = WeekShape | SiteWeek;

export class PageWeeks {
  readonly all = new WeekShape();
  /** By site, the one in which something was found last being the last. */
  private readonly own = new Map<number, SiteWeek>();
  /** Of each site: looks that found a change, as far as they count, and the widest group of its pages. */
  private found = new Uint8Array(0);
  private groups = new Int32Array(0);
  private sites = 0;
  /** How many weeks of sites have had to make room for others. */
  retired = 0;

  open(site: number, group = none): void {
    if (site >= this.found.length) this.reserve(Math.max(16, site + 1, 2 * this.found.length));
    if (this.groups[site] === unknown) this.sites++;
    this.groups[site] = group;
  }

  private reserve(sites: number): void {
    const found = new Uint8Array(sites);
    const groups = new Int32Array(sites).fill(unknown);
    found.set(this.found);
    groups.set(this.groups);
    this.found = found;
    this.groups = groups;
  }

  of(site: number): PageWeek {
    const own = this.own.size === 0 ? undefined : this.own.get(site);
    return own !== undefined && own.share > 0 ? own.refreshed() : this.all;
  }

  /** A look at a page of the site and this speed after the gap (from, to], in which `even` changes were due in even time and `found` came. */
  learn(
    site: number,
    speed: number,
    from: number,
    to: number,
    even: number,
    found: number,
    times?: Float64Array,
  ): void {
    if (!(to > from)) return;
    const own = this.own.get(site);
    own?.learn(speed, from, to, even, found, times);
    const shaped = this.all.between(from, to) / (to - from);
    this.all.learn(from, to, even, found, times);
    this.all.weigh(speed, even, even * shaped, found, times);
    if (!(found > 0) || this.sites < 2) return;
    if (own !== undefined) this.stay(site, own);
    else if (++this.found[site]! >= foundMin) this.stay(site, new SiteWeek(this.all));
  }

  private stay(site: number, own: SiteWeek): void {
    this.own.delete(site);
    this.own.set(site, own);
    if (this.own.size <= sitesMost) return;
    const [quietest, week] = this.own.entries().next().value!;
    week.retired = true;
    this.retired++;
    this.own.delete(quietest);
    this.found[quietest] = 0;
  }

  /** Sites whose pages go by a week of their own now. */
  *apart(): IterableIterator<number> {
    for (const [site, own] of this.own) if (own.share > 0) yield site;
  }

  /** The key of each site that has a week of its own, and what it saves; sites that share their widest group with others have no key. */
  save(keys: GroupKeys): (readonly [number, number[][]])[] {
    const sites = this.sitesByGroup();
    return [...this.own]
      .filter(([site]) => sites.get(this.groups[site]!) === site)
      .map(([site, own]) => [keys.keyOf(this.groups[site]!), own.save()] as const);
  }

  restore(saved: readonly (readonly [number, number[][]])[], keys: GroupKeys): void {
    const sites = this.sitesByGroup();
    for (const [key, state] of saved) {
      const site = sites.get(keys.groupOf(key) ?? unknown);
      if (site === undefined || site === unknown || !Array.isArray(state)) continue;
      const own = new SiteWeek(this.all);
      if (own.restore(state)) this.stay(site, own);
    }
  }

  /** The site that has a group to itself as its widest. */
  private sitesByGroup(): Map<number, number> {
    const sites = new Map<number, number>();
    this.groups.forEach((group, site) => {
      if (group >= 0) sites.set(group, sites.has(group) ? unknown : site);
    });
    return sites;
  }
}

/** Of a site no page of which has come, and of one whose pages are in no group. */
const unknown = -1;
const none = -2;
