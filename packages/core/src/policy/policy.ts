/**
 * A policy decides which page to look at and when, from nothing but what a monitor sees. The daemon and the simulator hold
 * policies through this one interface, so what is compared in the lab is what runs in production.
 *
 * Times are seconds since the epoch. Pages and sites are dense indices handed out by the host and reused after `forget`.
 * Every method is O(1) or O(log pages); a policy never reads a clock: `now` is passed in and never goes back.
 */
import type { UsualTime } from '../learn/clock.ts';
import type { Life, Urgency } from '../loss/utility.ts';
import type { ContentKind } from '../model/content-kind.ts';
import type { GroupKeys } from '../model/kin.ts';

export interface Watched {
  readonly page: number;
  readonly site: number;
  /** Pages of one folder of a site tend to change together; a dense index, unique over all sites. */
  readonly folder: number;
  /** All groups whose pages may change together, narrowest first (name stem, folder, folder above, …); dense indices. */
  readonly groups?: readonly number[];
  /** Groups of pages whose names begin alike, at most two, narrowest first; numbered as `groups` are. */
  readonly alike?: readonly number[];
  /** What kind of thing it is, as far as its name says. */
  readonly content?: ContentKind;
  /** The collection it belongs to, a dense index, where collections have policies of their own. */
  readonly collection?: number;
  /** How much a change of this page matters, relative to 1. */
  readonly weight: number;
  /** How much each hour of the week counts for it, Monday 00:00 UTC first, 1 on average; pages of one week share the array. */
  readonly importance?: ArrayLike<number>;
  /** The least time between two looks at this page, 0 where there is none. */
  readonly spacingSeconds: number;
  /** How long the page shows a change, and how a change is worth less the later it is captured; in hours. */
  readonly life?: Life;
  readonly urgency?: Urgency;
  /** What being out of date costs: the time changes wait, or being out of date at all. */
  readonly loss?: 'obsolescence' | 'staleness';
}

/** What one look revealed about the page. */
export interface Finding {
  /** `failed` tells nothing about the page; the look still cost a request. */
  readonly kind: 'first' | 'changed' | 'unchanged' | 'failed';
  /** How many changes the look revealed, where items are told apart (feeds, lists); at least 1 when changed. */
  readonly count?: number;
  /** When the last change happened as the server says (Last-Modified); how far that is believed is the policy's affair. */
  readonly modifiedAt?: number;
  /** The same by somebody whose dates have proven true (a feed, a sitemap): it goes before what the server says. */
  readonly changedAt?: number;
  /** When each of the changes happened, earliest first, where all are known; then there are no others. Where looks do so for good, `count` is given too. */
  readonly times?: Float64Array;
  /** What kind of thing the page is, as its server says. */
  readonly content?: ContentKind;
  /** How many looks it is the last of, where whoever looked tells only of what is new. */
  readonly looks?: number;
  /** How long fetching the page took. */
  readonly seconds?: number;
}

export interface Choice {
  readonly page: number;
  /** The moment at which the policy wants the look; a look is due when `at <= now`. */
  readonly at: number;
}

export interface Belief {
  /** The probability that our copy is what the page shows now. */
  readonly current: number;
  /** How often the page changes, in changes per day over the time that it has been watched, and a 95 % interval: what people are shown. */
  readonly ratePerDay: number;
  readonly rateInterval: readonly [number, number];
  /** Changes per day to be expected from now on, which plans go by; `ratePerDay` where a policy does not tell the two apart. */
  readonly expectedPerDay?: number;
  /** When it usually changes, where it keeps to a moment of the day or of another cycle. */
  readonly usualTime?: UsualTime;
}

/** The rate by which plans go. */
export const expectedPerDay = (belief: Pick<Belief, 'ratePerDay' | 'expectedPerDay'>): number =>
  belief.expectedPerDay ?? belief.ratePerDay;

/** What looks cost, as the market of the whole collection has it. */
export interface MarketPrices {
  /** What one more look saves, in weighted change-seconds, where no limit of a site binds; undefined where the budget is
   * divided among collections, each of which finds its own. */
  readonly price?: number;
  /** Looks a second that are left for pages of such sites. */
  readonly looksPerSecond: number;
  /** ln of how far the price moved because pages or limits of sites changed, not because pages are believed to change otherwise. */
  readonly moved: number;
  /** Sites whose limits bind. */
  readonly dear: ReadonlyMap<number, DearSite>;
}

export interface DearSite {
  /** What one more look there saves. */
  readonly price: number;
  /** The same over the price elsewhere. */
  readonly factor: number;
  /** Looks a second that the site allows. */
  readonly looksPerSecond: number;
}

export interface Policy {
  readonly name: string;
  /** Looks that say when each change happened (`Finding.times`), over all pages in order of time, teach it more than `taught`. */
  readonly hearsTimes?: boolean;
  watch(page: Watched, now: number): void;
  forget(page: number, now: number): void;
  /** Other pages came or went, and the page's name begins like others now. */
  regrouped?(page: number, alike: readonly number[]): void;
  /** The request budget from now on. */
  setBudget(looksPerSecond: number, now: number): void;
  /** Told now and then by a host that keeps a market; a policy that ignores it goes by its own. */
  setPrices?(prices: MarketPrices, now: number): void;
  /**
   * The page that is to be looked at next and when, among pages not in flight; undefined when there is none. A host that lets those it
   * was given stand in line says since when the budget has kept somebody waiting there all the time.
   */
  next(now: number, waitingSince?: number): Choice | undefined;
  /** When `next` has nothing to offer: the time at which it may have. */
  asksAgainAt?(): number;
  /** The page is being looked at: `next` does not offer it again until `looked`. */
  started(page: number, now: number): void;
  looked(page: number, at: number, finding: Finding): void;
  /** The page's whole history is known for (from, to]: these are its change times. Stands for looks in that span. */
  taught?(page: number, changes: Float64Array, from: number, to: number): void;
  /** Something outside a look speaks for a change of this page (a feed item, a sitemap date, a sibling's notice). */
  hinted?(page: number, now: number, chance: number): void;
  /** When the page is next wanted, as far as can be said now; Infinity when never. */
  due(page: number, now: number): number;
  belief(page: number, now: number): Belief;
  /** How fast the page, or pages as a whole, is believed to change in each hour of the week, Monday 00:00 UTC first, 1 on average. */
  weekShape?(page?: number): ArrayLike<number> | undefined;
  /** What the policy has learned of the page, at most 64 bytes, and back again (after `watch`, before the first look). */
  save?(page: number): Uint8Array;
  /** False when the bytes are another policy's and nothing was taken from them. */
  restore?(page: number, saved: Uint8Array, now: number): boolean;
  /** What has been learned that belongs to no single page (sites, shapes, prices), and back again once all pages are watched. */
  saveAll?(keys: GroupKeys): Uint8Array;
  restoreAll?(saved: Uint8Array, now: number, keys: GroupKeys): void;
}
