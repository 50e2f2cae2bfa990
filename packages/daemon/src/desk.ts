/**
 * What people and programs can ask of a collection, whether a daemon runs or only its data folder is there. The loop is
 * present when one runs; without it, pages are kept for the next start.
 */
import type { Belief } from '@revisit/core';
import type { Outlook } from './api/bodies.ts';
import { Previews } from './previews.ts';
import { AskedSweeps } from './dispatch/asked-sweeps.ts';
import type { Entry } from './collection/collection.ts';
import type { Loop } from './loop.ts';
import { type Coming, comingLooks } from './dispatch/coming-looks.ts';
import { Lab } from './lab/lab.ts';
import { TraceShelf } from './lab/trace-shelf.ts';
import type { LoopParts } from './loop-parts.ts';
import { noiseOf, withNoiseWatched } from './detect/shown.ts';
import type { NoisePart } from './detect/noise.ts';
import type { Wait } from './dispatch/page-waits.ts';
import { priceOfLook } from './plan/standing-plan.ts';
import type { Journal, Kept, Past, Store } from './store/port.ts';
import type { Send } from './tell/courier.ts';
import { Telling } from './telling.ts';
import type { Clock } from './values/clock.ts';
import type { Elsewhere } from './values/elsewhere.ts';
import type { WatchedPage } from './values/look.ts';
import type { ObserverReport } from './values/observer-report.ts';
import type { RobotReport } from './values/robot-report.ts';
import type { NewPageSettings } from './values/page.ts';
import type { WebSub } from './websub.ts';

/** Where only the data folder is there, messages wait for the next daemon. */
const nobodySends: Send = () =>
  Promise.resolve({ kind: 'refused', fault: { code: 'not-running', sentence: 'No daemon runs on this data folder.' } });

export class Desk {
  readonly store: Store;
  readonly clock: Clock;
  readonly loop: Loop | undefined;
  readonly log: LoopParts['log'];
  /** Counts changes to what is watched, so that whoever keeps a list of it knows when it is old. */
  revision = 0;
  /** Observers elsewhere; none unless this is a coordinator of a cluster. */
  observers: () => readonly ObserverReport[] = () => [];
  /** Robots elsewhere that were heard of late; undefined where this process is its own. */
  robots: () => readonly RobotReport[] | undefined = () => undefined;
  /** Whether robots can be asked; they are this process itself unless it is a coordinator. */
  linked: () => boolean = () => true;
  /** The other coordinators, where there are any. */
  elsewhere: Elsewhere | undefined;
  readonly sweeps = new AskedSweeps();
  readonly previews = new Previews();
  readonly lab: Lab;
  /** Traces for the lab, where there is a folder for them. */
  readonly traces: TraceShelf | undefined;
  /** Hubs that tell of changes, where they can reach this daemon. */
  websub: WebSub | undefined;
  /** Subscriptions, and in a running daemon what carries their messages. */
  readonly telling: Telling;

  /** `folder`: where files of this collection are kept beside the store; undefined where there is no such place. */
  constructor(store: Store, clock: Clock, log: LoopParts['log'], loop?: Loop, telling?: Telling, folder?: string) {
    this.store = store;
    this.clock = clock;
    this.log = log;
    this.loop = loop;
    this.lab = new Lab(clock);
    this.traces = folder === undefined ? undefined : new TraceShelf(folder);
    this.telling = telling ?? new Telling(store, clock, nobodySends, log);
  }

  /** `addedAtMs`: since when each was watched elsewhere, for pages that move in with their past. */
  async add(
    pages: readonly NewPageSettings[],
    addedAtMs: readonly (number | undefined)[] = [],
    ...moving: [journal?: Journal, past?: Past]
  ): ReturnType<Store['addPages']> {
    const now = this.clock.nowMs();
    const kept = await this.store.addPages(
      pages.map((page, i) => ({ ...page, addedAtMs: addedAtMs[i] ?? now })),
      ...moving,
    );
    this.revision++;
    if (kept.kind === 'kept') for (const { page, created } of kept.value) if (created) this.loop?.watch(page);
    return kept;
  }

  async update(id: string, settings: Partial<NewPageSettings>): Promise<Kept<WatchedPage | undefined>> {
    const kept = await this.updateMany([{ id, settings }]);
    return kept.kind === 'failed' ? kept : { kind: 'kept', value: kept.value[0] };
  }

  async updateMany(
    changes: readonly { readonly id: string; readonly settings: Partial<NewPageSettings> }[],
  ): Promise<Kept<readonly WatchedPage[]>> {
    const kept = await this.store.updatePages(changes);
    this.revision++;
    if (kept.kind === 'kept') for (const watched of kept.value) this.loop?.watch(watched);
    return kept;
  }

  async remove(ids: readonly string[]): Promise<Kept<readonly string[]>> {
    for (const id of ids) await this.loop?.release(id);
    const kept = await this.store.removePages(ids);
    this.revision++;
    if (kept.kind === 'failed') await this.#watchAgain(ids);
    return kept;
  }

  /** They are still there. */
  async #watchAgain(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const watched = this.loop && (await this.store.page(id));
      if (watched) this.loop.watch(watched);
    }
  }

  /** Every page with its state as of now, in batches; from memory where a daemon runs, after which come those of others. */
  async *everyPage(): AsyncIterable<Iterable<Entry | WatchedPage>> {
    // Before: which pages are whose may be another matter once these have been read.
    const others = this.elsewhere?.pages();
    if (this.loop) yield this.loop.collection;
    else yield* this.store.everyPage();
    if (others) yield* others;
  }

  /** Looks as soon as politeness allows, here or wherever the pages are looked after; answers those that there are. */
  async probeNow(ids: readonly string[]): Promise<Kept<readonly string[]>> {
    // Kept before anybody is asked to look: a look that leaves earlier would not count as the one that was wished for.
    const wished = await this.store.wish(ids, this.clock.nowMs(), true);
    if (wished.kind === 'failed') return wished;
    const others = wished.value.filter((id) => !this.loop?.probeNow(id));
    if (others.length > 0) this.elsewhere?.probeNow(others);
    return wished;
  }

  /** A hub says that the page has changed; false where its word cannot be kept. */
  async hubTold(id: string): Promise<boolean> {
    const wished = await this.store.wish([id], this.clock.nowMs(), false);
    if (wished.kind === 'failed') return false;
    this.loop?.probeSoon(id);
    return true;
  }

  /** The user's word on a noisy part of a page; undefined when there is no such part. */
  async setNoise(id: string, partId: string, ignored: boolean): Promise<readonly NoisePart[] | undefined> {
    const watched = await this.store.page(id);
    const detectState = watched && withNoiseWatched(watched.state.detectState, partId, !ignored);
    if (!watched || detectState === undefined) return undefined;
    await this.store.setDetectState(id, detectState);
    this.loop?.setDetectState(id, detectState);
    return noiseOf(detectState);
  }

  /** What the running policy believes of the page. */
  outlook(id: string): Outlook | undefined {
    const entry = this.loop?.collection.byId(id);
    const belief = entry && this.belief(entry);
    if (!belief) return undefined;
    const wait = this.#wait(entry);
    const found = this.loop?.foundBy(entry);
    return {
      belief,
      dueMs: wait?.untilMs ?? this.#plannedMs(entry),
      ...(wait ? { wait } : {}),
      ...(found ? { found } : {}),
    };
  }

  /** The same of an entry at hand: a list of a hundred thousand pages has no time to find each by its id. */
  belief({ index, page }: Entry): Belief | undefined {
    return page.paused ? undefined : this.loop?.policy.belief(index, this.clock.nowMs() / 1000);
  }

  /** When it is next looked at, Infinity when never; undefined where nobody looks. */
  dueMs(entry: Entry): number | undefined {
    if (!this.loop || entry.page.paused) return undefined;
    return this.#wait(entry)?.untilMs ?? this.#plannedMs(entry);
  }

  /** When the policy wants it; Infinity once it is asked for, or where it is not wanted. */
  #plannedMs({ index }: Entry): number {
    return this.loop!.policy.due(index, this.clock.nowMs() / 1000) * 1000;
  }

  /** The chance that the copy is still current when the policy wants to look again, of a page that keeps times of its own. */
  #currentThen(entry: Entry, belief: Belief): number | undefined {
    const dueMs = this.#plannedMs(entry);
    if (!belief.usualTime || !Number.isFinite(dueMs)) return undefined;
    return this.loop!.policy.belief(entry.index, Math.max(dueMs, this.clock.nowMs()) / 1000).current;
  }

  /** What puts its next look off. */
  #wait(entry: Entry): Wait | undefined {
    const nowMs = this.clock.nowMs();
    const atMs = this.loop!.isInLine(entry) ? nowMs : Math.max(nowMs, this.#plannedMs(entry));
    return this.loop!.wait(entry, atMs);
  }

  /** The coming looks at a page and why then; undefined where none is planned. */
  coming(id: string, limit: number): Coming | undefined {
    const outlook = this.outlook(id);
    const entry = this.loop?.collection.byId(id);
    if (!this.loop || !outlook || !entry) return undefined;
    const nowMs = this.clock.nowMs();
    const priceHours = priceOfLook(this.loop, nowMs, entry.site);
    return comingLooks(
      {
        nowMs,
        belief: outlook.belief,
        dueMs: this.#plannedMs(entry),
        currentThen: this.#currentThen(entry, outlook.belief),
        wait: outlook.wait,
        lastLookMs: entry.state.lastLookMs,
        looks: entry.state.looks,
        changes: entry.state.changes,
        week: this.weekOf(id),
        weight: entry.aims.weight,
        spacingSeconds: entry.page.spacingSeconds,
        priceHours,
        waiting: this.loop.counts().waiting,
        looksPerSecond: this.loop.settings.looksPerSecond,
      },
      limit,
    );
  }

  /** How fast the page is believed to change in each hour of the week, 1 on average; undefined where nothing is learned. */
  weekOf(id: string): number[] | undefined {
    const entry = this.loop?.collection.byId(id);
    if (!this.loop || !entry) return undefined;
    const shape = this.loop.policy.weekShape?.(entry.index);
    return shape && Array.from(shape);
  }
}
