/**
 * The plan of the running collection, as people ask for it: the looks that are coming, what a look is worth, how far the plan
 * can be from the best there is, and what another budget would buy. Built from what the policy believes of each page now.
 */
import { type Standing, StandingMarket } from '@revisit/core';
import type { Entry } from './collection.ts';
import type { Loop } from './loop.ts';

const daySeconds = 86_400;

export interface ComingProbe {
  readonly atMs: number;
  readonly pageId: string;
  readonly url: string;
  readonly site: string;
  readonly ratePerDay: number;
  /** The chance that our copy is current now. */
  readonly current: number;
}

export interface StandingPlan {
  readonly pages: number;
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
}

/** Who speaks for a request: the first of the pages that share it. */
function speaks(loop: Loop, entry: Entry): boolean {
  return loop.collection.sharing(entry).find((other) => !other.page.paused) === entry;
}

function marketOf(loop: Loop, nowMs: number): StandingMarket {
  const market = new StandingMarket();
  const { spacingMs } = loop.settings;
  const scaleOf = ({ index, page }: Entry): number =>
    (page.weight * loop.policy.belief(index, nowMs / 1000).ratePerDay) / daySeconds;
  for (const entry of loop.collection) {
    if (entry.page.paused || !speaks(loop, entry)) continue;
    let scale = 0;
    for (const other of loop.collection.sharing(entry)) if (!other.page.paused) scale += scaleOf(other);
    market.set(entry.index, Number.isFinite(scale) ? scale : 0, entry.site, entry.page.spacingSeconds ?? 0);
    if (spacingMs > 0) market.setCap(entry.site, 1000 / spacingMs);
  }
  return market;
}

const hours = (seconds: number): number => seconds / 3600;

/** Weighted changes waiting, over weighted changes a second, is how long each waits. */
function delayHours(market: StandingMarket, loss: number): number | null {
  return market.scale > 0 && Number.isFinite(loss) ? hours(loss / market.scale) : null;
}

export function standingPlan(loop: Loop, nowMs: number, limit: number): StandingPlan {
  const market = marketOf(loop, nowMs);
  const standing = market.clear(loop.settings.looksPerSecond);
  return {
    pages: market.pages,
    budgetPerHour: loop.settings.looksPerSecond * 3600,
    probes: comingProbes(loop, nowMs, limit),
    priceHours: hours(standing.price),
    meanDelayHours: delayHours(market, standing.loss),
    meanDelayHoursBound: delayHours(market, standing.lowerBound),
    gap: standing.lowerBound > 0 ? standing.loss / standing.lowerBound - 1 : 0,
    policyDelayHours: policyDelayHours(loop, nowMs),
    dearSites: standing.dearSites
      .map(({ site, price }) => ({ site: loop.collection.sites.name(site), priceHours: hours(price) }))
      .sort((a, b) => b.priceHours - a.priceHours),
  };
}

/** A page last looked at then and due then waits half the distance between, on average. */
function policyDelayHours(loop: Loop, nowMs: number): number | null {
  let waiting = 0;
  let changes = 0;
  for (const { index, page, state } of loop.collection) {
    const dueMs = page.paused ? Infinity : loop.policy.due(index, nowMs / 1000) * 1000;
    if (state.lastLookMs === undefined || dueMs === Infinity) continue;
    const scale = page.weight * loop.policy.belief(index, nowMs / 1000).ratePerDay;
    waiting += (scale * (Math.max(dueMs, nowMs) - state.lastLookMs)) / 2;
    changes += scale;
  }
  return changes > 0 ? hours(waiting / changes / 1000) : null;
}

function comingProbes(loop: Loop, nowMs: number, limit: number): readonly ComingProbe[] {
  const due: { readonly entry: Entry; readonly at: number }[] = [];
  for (const entry of loop.collection) {
    if (entry.page.paused || !speaks(loop, entry)) continue;
    const at = Math.min(
      ...loop.collection.sharing(entry).map((other) => loop.policy.due(other.index, nowMs / 1000) * 1000),
    );
    if (at < Infinity) due.push({ entry, at });
  }
  due.sort((a, b) => a.at - b.at || a.entry.index - b.entry.index);
  return due.slice(0, limit).map(({ entry, at }) => {
    const { ratePerDay, current } = loop.policy.belief(entry.index, nowMs / 1000);
    const { id, url, site } = entry.page;
    return { atMs: Math.max(at, nowMs), pageId: id, url, site, ratePerDay, current };
  });
}

/** From a sixteenth of the budget to sixteen times as much, by factors of √2. */
const curveSteps = Array.from({ length: 17 }, (_, i) => 2 ** ((i - 8) / 2));

export function budgetView(loop: Loop, nowMs: number): BudgetView {
  const market = marketOf(loop, nowMs);
  const budget = loop.settings.looksPerSecond;
  const at = (looksPerSecond: number): BudgetPoint => {
    const standing: Standing = market.clear(looksPerSecond);
    const meanDelayHours = delayHours(market, standing.loss);
    return { probesPerHour: looksPerSecond * 3600, meanDelayHours, priceHours: hours(standing.price) };
  };
  const now = at(budget);
  const more = at(budget + 1 / 3600);
  const soonerMinutes =
    now.meanDelayHours === null || more.meanDelayHours === null
      ? null
      : 60 * (now.meanDelayHours - more.meanDelayHours);
  return {
    budgetPerHour: budget * 3600,
    now,
    oneMore: { ...more, soonerMinutes },
    curve: curveSteps.map((step) => at(budget * step)),
  };
}
