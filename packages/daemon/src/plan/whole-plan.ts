/**
 * One plan and one budget from those of several processes, each of which plans its own pages with its part of the budget:
 *
 *   a delay      is the mean of theirs by the changes, by weight, that each expects
 *   a price      is the mean of theirs by their parts of the budget: one look more would be divided as all others are
 *   the bound    is the mean of theirs, like a delay: no plan is better that divides the budget as it is divided now
 */
import type { BudgetPoint, BudgetView, ComingProbe, StandingPlan } from './standing-plan.ts';

/** Undefined without any weight. */
function meanBy<Part>(
  parts: readonly Part[],
  value: (part: Part) => number | null,
  weight: (part: Part) => number,
): number | undefined {
  let [sum, weights] = [0, 0];
  for (const part of parts) {
    const own = value(part);
    if (own === null || !(weight(part) > 0)) continue;
    sum += weight(part) * own;
    weights += weight(part);
  }
  return weights > 0 ? sum / weights : undefined;
}

const total = <Part>(parts: readonly Part[], value: (part: Part) => number): number =>
  parts.reduce((sum, part) => sum + value(part), 0);

/** The soonest looks of all. */
function soonest(parts: readonly StandingPlan[], limit: number): readonly ComingProbe[] {
  return parts
    .flatMap(({ probes }) => probes)
    .sort((a, b) => a.atMs - b.atMs)
    .slice(0, limit);
}

export function wholePlan(parts: readonly StandingPlan[], limit: number): StandingPlan {
  const changes = (part: StandingPlan): number => part.changesPerHour;
  const meanDelayHours = meanBy(parts, (part) => part.meanDelayHours, changes) ?? null;
  const meanDelayHoursBound = meanBy(parts, (part) => part.meanDelayHoursBound, changes) ?? null;
  const bounded = meanDelayHours !== null && meanDelayHoursBound !== null && meanDelayHoursBound > 0;
  return {
    pages: total(parts, ({ pages }) => pages),
    unseen: total(parts, ({ unseen }) => unseen),
    budgetPerHour: total(parts, ({ budgetPerHour }) => budgetPerHour),
    probes: soonest(parts, limit),
    priceHours:
      meanBy(
        parts,
        (part) => part.priceHours,
        (part) => part.budgetPerHour,
      ) ?? 0,
    meanDelayHours,
    meanDelayHoursBound,
    gap: bounded ? meanDelayHours / meanDelayHoursBound - 1 : 0,
    policyDelayHours:
      meanBy(
        parts,
        (part) => part.policyDelayHours,
        (part) => part.seenChangesPerHour,
      ) ?? null,
    dearSites: parts.flatMap(({ dearSites }) => dearSites).sort((a, b) => b.priceHours - a.priceHours),
    changesPerHour: total(parts, changes),
    seenChangesPerHour: total(parts, (part) => part.seenChangesPerHour),
  };
}

export function wholeBudget(parts: readonly BudgetView[]): BudgetView {
  const point = (of: (part: BudgetView) => BudgetPoint): BudgetPoint => ({
    probesPerHour: total(parts, (part) => of(part).probesPerHour),
    meanDelayHours:
      meanBy(
        parts,
        (part) => of(part).meanDelayHours,
        (part) => part.changesPerHour,
      ) ?? null,
    priceHours:
      meanBy(
        parts,
        (part) => of(part).priceHours,
        (part) => of(part).probesPerHour,
      ) ?? 0,
  });
  const now = point((part) => part.now);
  const more = point((part) => part.oneMore);
  const soonerMinutes =
    now.meanDelayHours === null || more.meanDelayHours === null
      ? null
      : 60 * (now.meanDelayHours - more.meanDelayHours);
  return {
    budgetPerHour: total(parts, ({ budgetPerHour }) => budgetPerHour),
    now,
    oneMore: { ...more, soonerMinutes },
    curve: (parts[0]?.curve ?? []).map((_, i) => point((part) => part.curve[i]!)),
    changesPerHour: total(parts, ({ changesPerHour }) => changesPerHour),
  };
}
