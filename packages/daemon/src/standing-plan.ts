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

/** One pass over the collection: the market of its requests, and when each is due. */
interface Survey {
  readonly atMs: number;
  readonly size: number;
  readonly market: StandingMarket;
  /** One page for each request: the first of those that share it. */
  readonly requests: readonly { readonly entry: Entry; readonly dueMs: number }[];
  readonly policyDelayHours: number | null;
}

/** A survey of 100,000 pages takes a good part of a second; who asks again within this gets the same. */
const surveyFreshMs = 5_000;
const surveys = new WeakMap<Loop, Survey>();

function surveyOf(loop: Loop, nowMs: number): Survey {
  const known = surveys.get(loop);
  // A page more or less is news at once.
  if (known && nowMs - known.atMs < surveyFreshMs && known.size === loop.collection.size) return known;
  const survey = takeSurvey(loop, nowMs);
  surveys.set(loop, survey);
  return survey;
}

function takeSurvey(loop: Loop, nowMs: number): Survey {
  const { policy, collection } = loop;
  const { spacingMs } = loop.settings;
  const market = new StandingMarket();
  const requests: { entry: Entry; dueMs: number }[] = [];
  let waiting = 0;
  let changes = 0;
  for (const entry of collection) {
    if (entry.page.paused) continue;
    const sharing = collection.sharing(entry).filter(({ page }) => !page.paused);
    if (sharing[0] !== entry) continue;
    let scale = 0;
    let dueMs = Infinity;
    for (const { index, page, state } of sharing) {
      const own = page.weight * policy.belief(index, nowMs / 1000).ratePerDay;
      const ownDueMs = policy.due(index, nowMs / 1000) * 1000;
      scale += Number.isFinite(own) ? own / daySeconds : 0;
      dueMs = Math.min(dueMs, ownDueMs);
      if (state.lastLookMs === undefined || ownDueMs === Infinity || !Number.isFinite(own)) continue;
      // A page last looked at then and due then waits half the distance between, on average.
      waiting += (own * (Math.max(ownDueMs, nowMs) - state.lastLookMs)) / 2;
      changes += own;
    }
    market.set(entry.index, scale, entry.site, entry.page.spacingSeconds ?? 0);
    if (spacingMs > 0) market.setCap(entry.site, 1000 / spacingMs);
    if (dueMs < Infinity) requests.push({ entry, dueMs });
  }
  requests.sort((a, b) => a.dueMs - b.dueMs || a.entry.index - b.entry.index);
  const { size } = collection;
  return {
    atMs: nowMs,
    size,
    market,
    requests,
    policyDelayHours: changes > 0 ? hours(waiting / changes / 1000) : null,
  };
}

const hours = (seconds: number): number => seconds / 3600;

/** Weighted changes waiting, over weighted changes a second, is how long each waits. */
function delayHours(market: StandingMarket, loss: number): number | null {
  return market.scale > 0 && Number.isFinite(loss) ? hours(loss / market.scale) : null;
}

export function standingPlan(loop: Loop, nowMs: number, limit: number): StandingPlan {
  const survey = surveyOf(loop, nowMs);
  const { market } = survey;
  const standing = market.clear(loop.settings.looksPerSecond);
  return {
    pages: market.pages,
    budgetPerHour: loop.settings.looksPerSecond * 3600,
    probes: comingProbes(loop, survey, nowMs, limit),
    priceHours: hours(standing.price),
    meanDelayHours: delayHours(market, standing.loss),
    meanDelayHoursBound: delayHours(market, standing.lowerBound),
    gap: standing.lowerBound > 0 ? standing.loss / standing.lowerBound - 1 : 0,
    policyDelayHours: survey.policyDelayHours,
    dearSites: standing.dearSites
      .map(({ site, price }) => ({ site: loop.collection.sites.name(site), priceHours: hours(price) }))
      .sort((a, b) => b.priceHours - a.priceHours),
  };
}

function comingProbes(loop: Loop, { requests }: Survey, nowMs: number, limit: number): readonly ComingProbe[] {
  return requests.slice(0, limit).map(({ entry, dueMs }) => {
    const { ratePerDay, current } = loop.policy.belief(entry.index, nowMs / 1000);
    const { id, url, site } = entry.page;
    return { atMs: Math.max(dueMs, nowMs), pageId: id, url, site, ratePerDay, current };
  });
}

/** From a sixteenth of the budget to sixteen times as much, by factors of √2. */
const curveSteps = Array.from({ length: 17 }, (_, i) => 2 ** ((i - 8) / 2));

export function budgetView(loop: Loop, nowMs: number): BudgetView {
  const { market } = surveyOf(loop, nowMs);
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
