/**
 * The plan of the running collection, as people ask for it: the looks that are coming, what a look is worth, how far the plan
 * can be from the best there is, and what another budget would buy. Read from the market that the loop keeps.
 */
import type { StandingMarket } from '@revisit/core';
import type { Entry } from '../collection/collection.ts';
import type { Loop } from '../loop.ts';

export interface ComingProbe {
  readonly atMs: number;
  readonly pageId: string;
  readonly url: string;
  readonly site: string;
  /** Null before the first look: until then it is only a guess. */
  readonly ratePerDay: number | null;
  /** The chance that our copy is current now; null while there is none. */
  readonly current: number | null;
}

export interface StandingPlan {
  readonly pages: number;
  /** Those of them that nobody has looked at yet: the plan guesses how often they change. */
  readonly unseen: number;
  readonly budgetPerHour: number;
  /** Soonest first. */
  readonly probes: readonly ComingProbe[];
  /** What one look saves at the margin: hours of delay, summed over changes by weight. */
  readonly priceHours: number;
  /** How long a change waits to be seen, on average over changes by weight; null when nothing is known to change. */
  readonly meanDelayHours: number | null;
  /** No plan of looks made ahead could do better on this budget, if the pages change as believed. */
  readonly meanDelayHoursBound: number | null;
  /** How far the market's plan is from that bound at most, as a share of it. */
  readonly gap: number;
  /** The same delay at the distances between looks that the policy has set for each page now; null before its first looks. */
  readonly policyDelayHours: number | null;
  /** Sites that could use more looks than their politeness allows, dearest first. */
  readonly dearSites: readonly { readonly site: string; readonly priceHours: number }[];
  /** What the delays are means over: changes by weight, as they are believed to come. */
  readonly changesPerHour: number;
  /** The same of the pages whose distances between looks the policy has set. */
  readonly seenChangesPerHour: number;
}

export interface BudgetPoint {
  readonly probesPerHour: number;
  readonly meanDelayHours: number | null;
  readonly priceHours: number;
}

export interface BudgetView {
  readonly budgetPerHour: number;
  readonly now: BudgetPoint;
  /** One more look an hour. */
  readonly oneMore: BudgetPoint & { readonly soonerMinutes: number | null };
  readonly curve: readonly BudgetPoint[];
  /** What the delays are means over. */
  readonly changesPerHour: number;
}

interface Request {
  /** The first of the pages that share it. */
  readonly entry: Entry;
  readonly dueMs: number;
}

interface Requests {
  /** Soonest first. */
  readonly requests: readonly Request[];
  readonly unseen: number;
  readonly policyDelayHours: number | null;
  readonly seenChangesPerHour: number;
}

/** The requests that are wanted, and how long changes wait at the distances kept now. */
function requestsOf(loop: Loop, nowMs: number): Requests {
  const { policy, collection } = loop;
  const { market } = loop.market;
  // A policy that has just begun, or whose price has moved, works its times out when it is asked for the next look.
  policy.next(nowMs / 1000);
  const requests: Request[] = [];
  let unseen = 0;
  let waiting = 0;
  let changes = 0;
  for (const entry of collection) {
    if (!market.has(entry.index)) continue;
    const scale = market.scaleOf(entry.index);
    let dueMs = Infinity;
    for (const { index, page } of collection.sharing(entry))
      if (!page.paused) dueMs = Math.min(dueMs, policy.due(index, nowMs / 1000) * 1000);
    const { lastLookMs } = entry.state;
    if (lastLookMs === undefined) unseen++;
    // What nobody has seen is looked at at once, whatever the policy makes of it; so is what stands in line.
    if (lastLookMs === undefined || loop.isInLine(entry)) dueMs = nowMs;
    if (dueMs === Infinity) continue;
    requests.push({ entry, dueMs });
    if (lastLookMs === undefined) continue;
    // Of a page last looked at then and due then, changes wait half the distance between, on average, unless they fade.
    waiting += market.lossOf(entry.index, (Math.max(dueMs, nowMs) - lastLookMs) / 1000);
    changes += scale;
  }
  requests.sort((a, b) => a.dueMs - b.dueMs || a.entry.index - b.entry.index);
  const policyDelayHours = changes > 0 ? hours(waiting / changes) : null;
  return { requests, unseen, policyDelayHours, seenChangesPerHour: 3600 * changes };
}

const hours = (seconds: number): number => seconds / 3600;

/** Weighted changes waiting, over weighted changes a second, is how long each waits. */
function delayHours(market: StandingMarket, loss: number): number | null {
  return market.scale > 0 && Number.isFinite(loss) ? hours(loss / market.scale) : null;
}

/** What one look at a page of the site saves at the margin, in hours of delay. */
export function priceOfLook(loop: Loop, nowMs: number, site: number): number {
  loop.market.tell(nowMs / 1000);
  const { price, dearSites } = loop.market.standing(loop.market.looksPerSecond);
  return hours(price + (dearSites.find((dear) => dear.site === site)?.price ?? 0));
}

export function standingPlan(loop: Loop, nowMs: number, limit: number): StandingPlan {
  const { market } = loop.market;
  loop.market.tell(nowMs / 1000);
  const standing = loop.market.standing(loop.market.looksPerSecond);
  const { requests, unseen, policyDelayHours, seenChangesPerHour } = requestsOf(loop, nowMs);
  return {
    pages: market.pages,
    unseen,
    budgetPerHour: loop.market.looksPerSecond * 3600,
    probes: comingProbes(loop, requests.slice(0, limit), nowMs),
    priceHours: hours(standing.price),
    meanDelayHours: delayHours(market, standing.loss),
    meanDelayHoursBound: delayHours(market, standing.lowerBound),
    gap: standing.lowerBound > 0 ? standing.loss / standing.lowerBound - 1 : 0,
    policyDelayHours,
    dearSites: standing.dearSites
      .map(({ site, price }) => ({ site: loop.collection.sites.name(site), priceHours: hours(price) }))
      .sort((a, b) => b.priceHours - a.priceHours),
    changesPerHour: 3600 * market.scale,
    seenChangesPerHour,
  };
}

function comingProbes(loop: Loop, requests: readonly Request[], nowMs: number): readonly ComingProbe[] {
  const { looksPerSecond } = loop.market;
  /** By site, and by the address that several share. */
  const freeMs = new Map<string, number>();
  const coming = requests.map(({ entry, dueMs }, ahead) => {
    const belief = loop.policy.belief(entry.index, nowMs / 1000);
    const ratePerDay = entry.state.lastLookMs === undefined ? null : belief.ratePerDay;
    const current = entry.state.version > 0 ? belief.current : null;
    const { id, url, site } = entry.page;
    // Whoever is due waits for the budget to serve those before, for its site, and for those with whom that shares a server.
    const servedMs = nowMs + (looksPerSecond > 0 ? (1000 * ahead) / looksPerSecond : 0);
    const { spacingMs, sharedServer } = loop.manners(site, url);
    const gates = [{ key: site, spacingMs }, ...(sharedServer ? [{ key: sharedServer.address, ...sharedServer }] : [])];
    const atMs = Math.max(dueMs, servedMs, ...gates.map(({ key }) => freeMs.get(key) ?? 0));
    for (const gate of gates) freeMs.set(gate.key, atMs + gate.spacingMs);
    return { atMs, pageId: id, url, site, ratePerDay, current };
  });
  return coming.sort((a, b) => a.atMs - b.atMs);
}

/** From a sixteenth of the budget to sixteen times as much, by factors of √2. */
const curveSteps = Array.from({ length: 17 }, (_, i) => 2 ** ((i - 8) / 2));

export function budgetView(loop: Loop, nowMs: number): BudgetView {
  const { market, looksPerSecond: budget } = loop.market;
  loop.market.tell(nowMs / 1000);
  const at = (looksPerSecond: number): BudgetPoint => {
    const standing = loop.market.standing(looksPerSecond);
    const meanDelayHours = delayHours(market, standing.loss);
    return { probesPerHour: looksPerSecond * 3600, meanDelayHours, priceHours: hours(standing.price) };
  };
  const now = at(budget);
  // Of several that share a budget each gets its part of the look.
  const share = loop.wholeBudget > 0 ? budget / loop.wholeBudget : 1;
  const more = at(budget + share / 3600);
  const soonerMinutes =
    now.meanDelayHours === null || more.meanDelayHours === null
      ? null
      : 60 * (now.meanDelayHours - more.meanDelayHours);
  return {
    budgetPerHour: budget * 3600,
    now,
    oneMore: { ...more, soonerMinutes },
    curve: curveSteps.map((step) => at(budget * step)),
    changesPerHour: 3600 * market.scale,
  };
}
