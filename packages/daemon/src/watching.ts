/**
 * Which pages are watched: each has its entry in the collection, its place with the policy and in the market, and its site's
 * limits at the gate. All of it comes and goes together.
 */
import { kindOfName } from '@revisit/core';
import type { CollectionMarket } from './plan/collection-market.ts';
import type { Collection, Entry } from './collection/collection.ts';
import type { Departures } from './dispatch/departures.ts';
import type { Discovery } from './collection/discovery.ts';
import type { Lifetimes } from './dispatch/lifetimes.ts';
import type { LoopParts } from './loop-parts.ts';
import { PageAimsBook } from './collection/page-aims.ts';
import { atNewUrl, type WatchedPage } from './values/look.ts';

type WatchingParts = Pick<LoopParts, 'accepts' | 'clock' | 'collectionOf' | 'needs' | 'policy' | 'websub'>;

interface Ways {
  readonly collection: Collection;
  readonly discovery: Discovery;
  readonly lifetimes: Lifetimes;
  readonly departures: Departures;
  readonly market: CollectionMarket;
  /** Whether a look at the page was asked for, and what it finds is not taken in yet. */
  readonly isUnderWay: (id: string) => boolean;
}

export class Watching {
  readonly #parts: WatchingParts;
  readonly #ways: Ways;
  readonly #aims = new PageAimsBook();
  #sitesSpaced = 0;

  constructor(parts: WatchingParts, ways: Ways) {
    this.#parts = parts;
    this.#ways = ways;
  }

  /** A page that is new, or was edited; false when it is another's. */
  watch(watched: WatchedPage): boolean {
    const known = this.#ways.collection.byId(watched.page.id);
    const newest = known ? this.#newest(known, watched) : watched;
    const { departures } = this.#ways;
    const asked = known !== undefined && departures.isAsked(known);
    const hurried = known !== undefined && departures.isHurried(known);
    const comes = known?.page.url === watched.page.url && this.#ways.isUnderWay(watched.page.id);
    this.unwatch(watched.page.id);
    const entry = this.#open(newest, true, this.#parts.clock.nowMs(), false);
    // Somebody may wait for a look that was asked for before the page was edited.
    if (asked && entry && !entry.page.paused) departures.ask(entry, hurried);
    // Whoever adds a page has others read it again, and its first look may be on its way by then: it is not asked for twice.
    else if (entry && comes) departures.awaits(entry);
    // A page that rests takes nothing from the others.
    if (entry && !entry.page.paused) this.#ways.market.watched(entry, this.#parts.clock.nowMs() / 1000);
    return entry !== undefined;
  }

  /** Looks are kept a moment after they are made: of a page that is watched, what is known here is ahead of the store. */
  #newest(known: Entry, { page, state }: WatchedPage): WatchedPage {
    if (state.looks > known.state.looks) return { page, state };
    const model = (known.page.paused ? undefined : this.#parts.policy.save?.(known.index)) ?? state.model;
    const ours = model ? { ...known.state, model } : known.state;
    return { page, state: page.url === known.page.url ? ours : atNewUrl(ours) };
  }

  /**
   * A page of the store, at the start. All that is loaded enters the market together, once what belongs to no page is known
   * again; a site is spaced with the first of its pages, and by what its robots.txt said once all are there.
   */
  load(watched: WatchedPage, nowMs: number, clockSetLately: boolean): void {
    const entry = this.#open(watched, false, nowMs, clockSetLately);
    if (entry) this.#sitesSpaced = Math.max(this.#sitesSpaced, entry.site + 1);
  }

  /** All pages of the store are here: whose names begin alike is told once, not anew with each that comes. */
  loaded(): void {
    const { policy } = this.#parts;
    this.#ways.collection.everyAlike((index, alike) => policy.regrouped?.(index, alike));
  }

  #open(watched: WatchedPage, alone: boolean, nowMs: number, clockSetLately: boolean): Entry | undefined {
    const { policy } = this.#parts;
    const { collection, discovery, departures } = this.#ways;
    if (this.#parts.accepts && !this.#parts.accepts(watched.page.site)) return undefined;
    const rules = this.#parts.collectionOf?.(watched.page);
    const aims = this.#aims.of(watched.page, rules, this.#parts.needs?.(watched.page));
    const entry = collection.add(watched, aims);
    if (alone) for (const other of collection.regrouped) policy.regrouped?.(other, collection.alike(other));
    discovery.watched(watched);
    if (alone || entry.site >= this.#sitesSpaced) departures.doors.space(watched.page.site);
    const { model, lastLookMs: saidMs } = watched.state;
    // A look of the future was made before the clock was set back: to wait for it would be to wait for as long as it was wrong.
    // One of the past may have been a moment ago where the clock was set forward.
    const lastLookMs = saidMs === undefined || (saidMs < nowMs && !clockSetLately) ? saidMs : nowMs;
    if (lastLookMs !== undefined) departures.doors.recall(watched.page.site, lastLookMs);
    if (watched.page.paused) return entry;
    const nowSeconds = nowMs / 1000;
    const { index: page, site, folder, groups } = entry;
    const { spacingSeconds = 0 } = watched.page;
    policy.watch(
      {
        page,
        site,
        folder,
        groups,
        content: kindOfName(watched.page.url),
        ...(alone ? { alike: collection.alike(page) } : {}),
        ...(rules ? { collection: rules.collection } : {}),
        spacingSeconds,
        ...aims,
      },
      nowSeconds,
    );
    if (watched.state.status === 'new' && lastLookMs === undefined) departures.unseen(watched.page.id);
    // What another policy learned of the page is of no use to this one.
    const restored = model !== undefined && policy.restore?.(page, model, nowSeconds) === true;
    if (!restored && lastLookMs !== undefined) {
      policy.started(page, lastLookMs / 1000);
      policy.looked(page, lastLookMs / 1000, { kind: 'first' });
    }
    return entry;
  }

  unwatch(id: string): void {
    const { collection, discovery, lifetimes, departures, market } = this.#ways;
    const entry = collection.remove(id);
    if (!entry) return;
    discovery.unwatched(entry.page);
    lifetimes.forget(entry);
    this.#parts.websub?.released(id);
    departures.forget(entry);
    const nowSeconds = this.#parts.clock.nowMs() / 1000;
    if (!entry.page.paused) this.#parts.policy.forget(entry.index, nowSeconds);
    market.unwatched(entry, nowSeconds);
  }

  /** A look that was asked for and not kept: due again at once, or when the own spacing of a page that has been looked at allows. */
  dueAgain(id: string, atMs: number): void {
    const entry = this.#ways.collection.byId(id);
    if (!entry || entry.page.paused) return;
    if (entry.page.spacingSeconds === undefined || entry.state.lastLookMs === undefined)
      this.#ways.departures.ask(entry);
    else this.#parts.policy.looked(entry.index, atMs / 1000, { kind: 'failed' });
  }
}
