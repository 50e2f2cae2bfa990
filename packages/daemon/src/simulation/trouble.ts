/**
 * Days of operation in trouble, from one seed: the daemon's own loop, observer and store in virtual time, on a web and a disk
 * that fail, under a user who meddles, on a machine that sleeps or whose clock is set, killed at random points and started again. Each seed has
 * rules, sizes and a budget of its own. Answers what was wrong: nothing, it is hoped.
 */
import { isIP } from 'node:net';
import { exponential, integer, policies, random, type Random } from '@revisit/core';
import { detector } from '../daemon.ts';
import { Desk } from '../desk.ts';
import { Loop } from '../loop.ts';
import type { LoopParts } from '../loop-parts.ts';
import type { SiteRules } from '../observe/gate.ts';
import { createObserver } from '../observe/observe.ts';

import type { Store } from '../store/port.ts';
import type { Clock } from '../values/clock.ts';
import type { Observer } from '../values/observation.ts';
import type { Probe } from '../values/probe.ts';
import { faultyStore } from './faulty-store.ts';
import { FaultyWeb } from './faulty-web.ts';
import { RestlessUser } from './restless-user.ts';
import { Starvation } from './starvation.ts';
import { UnfinishedLooks } from './unfinished-looks.ts';
import { wrongAfterwards } from './trouble-checks.ts';
import { VirtualClock } from './virtual-clock.ts';
import type { Process } from './witness.ts';

export interface TroubleOptions {
  readonly seed: number;
  readonly days: number;
  readonly store: Store;
  readonly policy?: string;
}

export interface TroubleReport {
  readonly wrong: readonly string[];
  readonly requests: number;
  readonly restarts: number;
  readonly changes: number;
}

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);
/** At the end the web is fine for this long: more than the longest back-off, and quiet hours behind it. */
const calmHours = 18;
/** How long a disk is full, and how long it is not, on average. */
const fullMs = hourMs;
const freeMs = 40 * hourMs;
const dayMs = 24 * hourMs;
/** A page whose looks fail is asked for again within six hours, and those of a site that was closed come back within one. */
const failingMs = 7 * hourMs;
/** So many times as long as each page waits on average some page may: they change at rates that differ 24-fold, and waits go with the root of that, 4.9. */
const patience = 5;
const quietHours = { from: 1, until: 4 };
/** Worked out without a calendar, since every request asks. */
const quietUntilMs: NonNullable<SiteRules['quietUntilMs']> = (atMs) => {
  const intoDayMs = atMs % dayMs;
  const quiet = intoDayMs >= quietHours.from * hourMs && intoDayMs < quietHours.until * hourMs;
  return quiet ? atMs - intoDayMs + quietHours.until * hourMs : undefined;
};

type Place = Omit<ReturnType<typeof circumstances>, 'policy' | 'perHour' | 'robots' | 'clockIsSet'>;

/** What differs from seed to seed. */
function circumstances(luck: Random) {
  const sites = 2 + integer(luck, 3);
  const pagesPerSite = 1 + integer(luck, 3);
  // Every page is seen in the calm; mostly on a small budget, which makes many seeds cheap.
  const perHour = ((sites * pagesPerSite) / 5) * 4 ** luck() * (luck() < 0.1 ? 6 : 1);
  const rules: SiteRules = {
    spacingMs: 1_000 * (1 + integer(luck, 20)),
    connections: 1,
    ...(luck() < 0.6 ? { cap: { count: 3 + integer(luck, 6), periodMs: hourMs * (1 + integer(luck, 3)) } } : {}),
    ...(luck() < 0.3 ? { quietUntilMs } : {}),
  };
  // Some sites share a server, which has limits of its own.
  const servers = luck() < 0.4 ? 1 + integer(luck, 2) : 0;
  const serverRules: SiteRules = {
    spacingMs: 1_000 * (1 + integer(luck, 20)),
    connections: 1,
    ...(luck() < 0.5 ? { cap: { count: 5 + integer(luck, 10), periodMs: hourMs } } : {}),
  };
  const serverOf = (host: string): string | undefined =>
    servers > 0 ? `10.0.0.${Number(/\d+/.exec(host)![0]) % servers}` : undefined;
  const robots = 1 + integer(luck, 8);
  const policy = luck() < 0.2 ? 'uniform' : 'revisit';
  // By a clock that is wrong nobody keeps quiet hours, and what the user did when nobody could say.
  const clockIsSet = !rules.quietUntilMs && luck() < 0.3;
  return { sites, pagesPerSite, rules, serverRules, serverOf, policy, perHour, robots, clockIsSet };
}

/** The longest that a page may wait, by what the budget and the caps leave each, without the time in which it may not be looked at. */
function patienceMs({ sites, pagesPerSite, rules, serverRules, serverOf }: Place, perHour: number): number {
  const perPageMs = (pages: number, { count, periodMs }: NonNullable<SiteRules['cap']>) => (pages * periodMs) / count;
  const byBudget = (sites * pagesPerSite * hourMs) / perHour;
  const bySite = rules.cap ? perPageMs(pagesPerSite, rules.cap) : 0;
  const byServer = serverOf('site0') && serverRules.cap ? perPageMs(sites * pagesPerSite, serverRules.cap) : 0;
  return failingMs + patience * Math.max(byBudget, bySite, byServer);
}

export async function liveInTrouble(options: TroubleOptions): Promise<TroubleReport> {
  const luck = random(options.seed);
  const clock = new VirtualClock(startMs);
  const endMs = startMs + options.days * 24 * hourMs;
  const calmMs = endMs - calmHours * hourMs;
  const lastSetMs = calmMs - 20 * hourMs;
  const { policy, perHour, robots, clockIsSet, ...place } = circumstances(luck);
  const { rules, serverOf, serverRules } = place;
  const requestsPerMs = perHour / hourMs;
  const settings = { looksPerSecond: perHour / 3600, spacingMs: rules.spacingMs, robots, queueMax: 64 };
  const isFull = (atMs: number): boolean => full.some(([fromMs, toMs]) => fromMs <= atMs && atMs < toMs);
  const web = new FaultyWeb({ clock, random: luck, ...place, requestsPerMs, robots, startMs, isFull, calmMs, endMs });
  const user = new RestlessUser({ clock, random: luck, urls: web.urls, calmMs });
  await user.begin(options.store);
  const watching = { clock, store: options.store, web, isFull, quietUntilMs: rules.quietUntilMs, endMs };
  const starvation = new Starvation({ ...watching, boundMs: patienceMs(place, perHour) });
  const full = fullTimes(luck, calmMs);
  void starvation.watch();
  const unfinished = new UnfinishedLooks(options.store);
  const wrong: string[] = [];
  let restarts = 0;
  let offMs = 0;
  while (clock.nowMs() < endMs) {
    const process: Process = { alive: true };
    const set = clockIsSet ? nextSetting(luck, offMs, clock.nowMs() < lastSetMs) : { byMs: 0, seen: true };
    offMs += set.byMs;
    const processClock = offMs === 0 ? clock : wrongBy(offMs, clock);
    const { store, knownDown } = faultyStore(options.store, { clock, random: luck, process, isFull });
    const observer = createObserver({
      clock: processClock,
      random: luck,
      userAgent: 'Revisit',
      allowNetworks: ['10.0.0.0/8'],
      spacingMs: rules.spacingMs,
      siteRules: (site) => (isIP(site) ? serverRules : rules),
      resolve: (host) => Promise.resolve([serverOf(host) ?? []].flat().map((address) => ({ address, family: 4 }))),
      fetchPage: web.connection(process, offMs),
    });
    let goesOut: (probe: Probe) => void = () => {};
    const watched: Observer = {
      ...observer,
      observe: async (probe) => {
        if (knownDown()) wrong.push(`${probe.url} was asked for while nothing could be kept`);
        unfinished.left(probe);
        goesOut(probe);
        const seen = await observer.observe(probe);
        if (seen.requests > 0) starvation.looked(probe.pageIds);
        return seen;
      },
    };
    const loop = new Loop(
      {
        clock: processClock,
        random: luck,
        store,
        observer: watched,
        policy: policies[options.policy ?? policy]!.create(options.seed),
        siteRules: () => rules,
        detect: slowly(detector(store), clock, luck),
        log: () => {},
      },
      settings,
    );
    web.witness.restarted();
    await unfinished.begin({ nowMs: processClock.nowMs(), meddled: () => user.meddled });
    void loop.load(set.seen ? set.byMs : 0).then(() => {
      void loop.run(new AbortController().signal);
      if (!clockIsSet) void user.sitAt(loop, store, process);
    });
    const killMs = clock.nowMs() + 1 + integer(luck, lifeHours(luck()) * hourMs);
    if (luck() < 0.1 && killMs < calmMs - 10 * hourMs) {
      await clock.runUntil(clock.nowMs() + integer(luck, killMs - clock.nowMs()));
      clock.suspend(integer(luck, 9 * hourMs));
      await clock.runUntil(clock.nowMs() + integer(luck, hourMs));
    } else await clock.runUntil(killMs < calmMs ? killMs : endMs);
    if (luck() < 0.3 && clock.nowMs() < calmMs - 2 * hourMs) {
      // Somebody asks for a page, and the process is killed while its look is under way, or has not left.
      const ids = (await options.store.pages({ limit: 1_000 })).map(({ page }) => page.id);
      const id = ids[integer(luck, ids.length)]!;
      const out = new Promise<void>((resolve) => (goesOut = ({ pageIds }) => void (pageIds.includes(id) && resolve())));
      user.meddled++;
      const asked = new Desk(store, processClock, () => {}, loop).probeNow([id]);
      await clock.runUntil(clock.nowMs() + (luck() < 0.5 ? hourMs : 500), Promise.all([asked, out]));
      await clock.runUntil(clock.nowMs() + integer(luck, 400));
    }
    process.alive = false;
    process.diedMs = clock.nowMs();
    loop.die();
    restarts++;
  }
  wrong.push(
    ...web.witness.violations,
    ...starvation.starved,
    ...unfinished.wrong,
    ...(await wrongAfterwards(options.store, web, { calmMs, clockIsSet })),
  );
  return {
    wrong,
    requests: web.witness.requests,
    restarts,
    changes: (await options.store.counts()).changes,
  };
}

/**
 * How the clock is set between two processes, by hours either way, and in the end right again. One that is set back may be so while
 * nobody runs who could see it; forward, that is a machine that was off.
 */
function nextSetting(luck: Random, offMs: number, trouble: boolean): { readonly byMs: number; readonly seen: boolean } {
  if (!trouble) return { byMs: -offMs, seen: true };
  if (luck() > 0.15) return { byMs: 0, seen: true };
  const byMs = Math.floor(exponential(luck, 12 * hourMs)) * (luck() < 0.5 ? -1 : 1);
  return { byMs, seen: byMs > 0 || luck() < 0.7 };
}

/** Up to so long a process lives: mostly hours, now and then minutes, and some die as they are born. */
const lifeHours = (roll: number): number => (roll < 0.05 ? 0.001 : roll < 0.2 ? 0.05 : 10);

const wrongBy = (offMs: number, clock: Clock): Clock => ({
  nowMs: () => clock.nowMs() + offMs,
  sleep: (ms, signal) => clock.sleep(ms, signal),
});

/** Some detections take their time, as those do that are made elsewhere. */
function slowly(detect: LoopParts['detect'], clock: VirtualClock, luck: Random): LoopParts['detect'] {
  return async (watched, fetched, at) => {
    if (luck() < 0.1) await clock.sleep(integer(luck, 300));
    return detect(watched, fetched, at);
  };
}

function fullTimes(luck: Random, calmMs: number): readonly (readonly [fromMs: number, toMs: number])[] {
  const times: [number, number][] = [];
  for (let atMs = startMs + exponential(luck, freeMs); atMs < calmMs;) {
    const endMs = Math.min(calmMs, atMs + exponential(luck, fullMs));
    times.push([atMs, endMs]);
    atMs = endMs + exponential(luck, freeMs);
  }
  return times;
}
