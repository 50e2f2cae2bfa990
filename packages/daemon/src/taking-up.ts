/**
 * What a process takes up at its start: every stored page, what was learned, what politeness must not forget, and what an earlier
 * process asked for and did not keep. Where the clock was set since then, sites are left alone for as long as they would have been.
 */
import type { AccessTimes } from '@revisit/core';
import type { AskedBefore } from './dispatch/asked-before.ts';
import type { ClockBook } from './dispatch/clock-book.ts';
import type { CollectionMarket } from './plan/collection-market.ts';
import type { Collection } from './collection/collection.ts';
import type { Departures } from './dispatch/departures.ts';
import type { SiteDoors } from './dispatch/site-doors.ts';
import type { Discovery } from './collection/discovery.ts';
import type { Flights } from './dispatch/flights.ts';
import type { Keeping } from './indexing/keeping.ts';
import type { Lifetimes } from './dispatch/lifetimes.ts';
import type { LoopParts } from './loop-parts.ts';
import type { Kept } from './store/port.ts';
import { ofOurSettings, StoreFailed } from './values/fault.ts';
import type { Probe } from './values/probe.ts';
import type { Watching } from './watching.ts';

type TakingParts = Pick<LoopParts, 'clock' | 'observer' | 'policy' | 'store'>;

interface Ways {
  readonly access: AccessTimes;
  readonly askedBefore: AskedBefore;
  readonly clockBook: ClockBook;
  readonly collection: Collection;
  readonly departures: Departures;
  readonly discovery: Discovery;
  readonly flights: Flights;
  readonly keeping: Keeping;
  readonly lifetimes: Lifetimes;
  readonly market: CollectionMarket;
  readonly watching: Watching;
}

/** `seenMs`: how far the clock was set since the process before this one, where somebody saw it. */
export async function takeUp(parts: TakingParts, ways: Ways, seenMs: number): Promise<void> {
  const { store, policy, clock } = parts;
  const setByMs = await ways.clockBook.open(seenMs);
  const learned = await store.recall(`policy:${policy.name}`);
  const access = await store.recall('access-times');
  if (access) ways.access.restore(access);
  const unfinished = await store.unfinished();
  const asked = await ways.askedBefore.open(unfinished);
  let askedUntilMs = Math.max(-Infinity, ...asked.values());
  const ahead: string[] = [];
  const unasked: string[] = [];
  for await (const batch of store.everyPage()) {
    const nowMs = clock.nowMs();
    for (const watched of batch) {
      ways.watching.load(watched, nowMs, ways.clockBook.setLately);
      const { lastLookMs = -Infinity } = watched.state;
      if (lastLookMs > nowMs) ahead.push(watched.page.id);
      if (ofOurSettings.has(watched.state.fault?.code ?? '')) unasked.push(watched.page.id);
      askedUntilMs = Math.max(askedUntilMs, ways.clockBook.setLately ? nowMs : lastLookMs);
    }
  }
  parts.observer.askedUntil?.(Math.min(askedUntilMs, clock.nowMs()));
  ways.departures.begin(askedUntilMs);
  ways.watching.loaded();
  ways.departures.doors.recallAnswers(ways.access);
  const trusted = await store.recall('index-trust');
  if (trusted) ways.discovery.hints.restore(trusted);
  const lifetimes = await store.recall('lifetime-trust');
  if (lifetimes) ways.lifetimes.restore(lifetimes);
  await recallManners(parts, ways);
  for (const [site, atMs] of asked) if (ways.collection.sites.has(site)) ways.departures.doors.recall(site, atMs);
  if (learned) policy.restoreAll?.(learned, clock.nowMs() / 1000, ways.collection.groups);
  ways.market.survey(clock.nowMs() / 1000);
  takeOn(parts, ways, unfinished, (probe) => ways.askedBefore.isNoted(probe));
  await ways.keeping.keepFirst(() => handOn(parts, ways, { unfinished, setByMs }));
  // How long ago looks of the future were nobody knows any more: to count from now, at each start, would be to wait for ever.
  // What our settings kept from being asked for may be allowed by now.
  const entries = [...ahead, ...unasked].flatMap((id) => ways.collection.byId(id) ?? []);
  ways.departures.askInOrder(entries.filter(({ page }) => !page.paused));
  await takeUpWishes(parts, ways);
}

/** What somebody asked an earlier process to look at, and has not been looked at since. */
async function takeUpWishes({ store, clock }: TakingParts, { collection, departures }: Ways): Promise<void> {
  const nowMs = clock.nowMs();
  for (const { id, atMs, hurried } of await store.wishes()) {
    const entry = collection.byId(id);
    if (entry) departures.ask(entry, hurried);
    // The clock was set back since then, and no look that is made now would be after it.
    if (atMs > nowMs) await store.wish([id], nowMs, hurried);
  }
}

interface TakenUp {
  readonly unfinished: readonly Probe[];
  readonly setByMs: number;
}

/**
 * What a process that follows this one before it has asked anything must know as well. How far the clock was set comes before all that
 * is told by it; when sites were asked is kept before the probes are forgotten that tell it.
 */
async function handOn(
  { store, clock, observer }: TakingParts,
  { askedBefore, clockBook }: Ways,
  { unfinished, setByMs }: TakenUp,
): Promise<Kept<unknown>> {
  const known = clockBook.isKept ? undefined : await clockBook.alive();
  if (known?.kind === 'failed') return known;
  if (unfinished.length > 0 && !observer.outlives) {
    const noted = await askedBefore.keep();
    if (noted.kind === 'failed') return noted;
    const over = await store.finished(unfinished.map(({ id }) => id));
    if (over.kind === 'failed') return over;
  }
  try {
    // What waits for a moment that comes once more does not wait for it twice.
    if (setByMs < 0) await store.outbox.hastenAll(clock.nowMs());
  } catch (error) {
    if (error instanceof StoreFailed) return { kind: 'failed', fault: error.fault };
    throw error;
  }
  return { kind: 'kept', value: undefined };
}

async function recallManners(
  { store, observer }: TakingParts,
  { clockBook, collection, departures: { doors } }: Ways,
): Promise<void> {
  doors.clockSetByMs = clockBook.totalMs;
  const delays = observer.restore?.(await store.recall('manners'), clockBook.totalMs);
  for (const [site, delayMs] of delays ?? []) if (collection.sites.has(site)) doors.space(site, delayMs);
  const servers = await store.recall('shared-servers');
  if (servers) doors.restoreServers(servers);
  await recallSites({ store, observer }, doors);
}

/** What sites have asked for: to be left alone for a while, and, where robots elsewhere read it, a Crawl-delay. */
export async function recallSites(
  { store, observer }: Pick<TakingParts, 'store' | 'observer'>,
  doors: SiteDoors,
): Promise<void> {
  const holds = await store.recall('site-holds');
  for (const closed of holds ? doors.restoreHolds(holds) : []) observer.leaveAlone?.(closed);
  const delays = observer.outlives ? await store.recall('crawl-delays') : undefined;
  if (delays) doors.restoreDelays(delays);
  const ledTo = observer.outlives ? await store.recall('led-to') : undefined;
  if (ledTo) doors.restoreLedTo(ledTo);
}

type Takers = Pick<Ways, 'departures' | 'flights' | 'watching'>;

/** Takes up what another process had asked for and not kept. */
export async function resume(parts: TakingParts, takers: Takers, unfinished: readonly Probe[]): Promise<void> {
  takeOn(parts, takers, unfinished, () => false);
  if (!parts.observer.outlives) await parts.store.finished(unfinished.map((probe) => probe.id));
}

function takeOn(
  { observer, clock }: TakingParts,
  { departures, flights, watching }: Takers,
  unfinished: readonly Probe[],
  isNoted: (probe: Probe) => boolean,
): void {
  for (const [place, probe] of unfinished.entries()) {
    departures.doors.space(probe.site);
    // A millisecond apart: their sites open in the order in which they had left.
    if (!isNoted(probe)) departures.doors.recall(probe.site, clock.nowMs() + place);
    if (!observer.outlives) for (const id of probe.pageIds) watching.dueAgain(id, probe.atMs);
    else flights.rejoin(probe);
  }
}
