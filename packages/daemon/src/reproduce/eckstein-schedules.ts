/** The paper's sources, made from Tables 2 and 3, and the schedules of its four policies for them. */
import {
  type Loss,
  type Profile,
  type Random,
  type WeeklySource,
  dbWorld,
  exponential,
  firstArrivalSchedule,
  integral,
  microNet,
  obsolescence,
  planPolite,
  poisson,
  reach,
  thresholdSchedule,
  uniformSchedule,
} from '@revisit/core';
import type { Series } from './item.ts';

export const horizon = 28;
export const steps = 672;
export const sources: Readonly<Record<'DBWorld' | 'MicroNet', WeeklySource>> = { DBWorld: dbWorld, MicroNet: microNet };
export type SourceName = keyof typeof sources;
export const names = Object.keys(sources) as SourceName[];

export const lossOf = (name: SourceName, ratio: number): Loss =>
  obsolescence(sources[name].intensity, sources[name].importance(ratio), 0, horizon);

/** Changes of the source over a span of days, drawn from its intensity. */
export function draw(intensity: Profile, from: number, to: number, luck: Random): number[] {
  const events: number[] = [];
  for (let t = reach(intensity, from, exponential(luck, 1)); t < to; t = reach(intensity, t, exponential(luck, 1)))
    events.push(t);
  return events;
}

/** What these changes cost with these looks: the integral of a from each change to the look that finds it. */
export function actualCost(events: readonly number[], looks: ArrayLike<number>, importance: Profile): number {
  let [cost, i] = [0, 0];
  for (const event of events) {
    while (i < looks.length && looks[i]! < event) i++;
    if (i < looks.length) cost += integral(importance, event, looks[i]!);
  }
  return cost;
}

export type PolicyName = 'DOE' | 'threshold' | 'first arrival' | 'uniform';
export interface Scheduled {
  readonly n: number;
  readonly looks: Readonly<Record<PolicyName, Float64Array>>;
}

/** The paper's procedure: a threshold gives n, first arrival is brought to the same n, and the others get it too. */
export function schedules(name: SourceName, ratio: number): Scheduled[] {
  const loss = lossOf(name, ratio);
  const model = poisson(sources[name].intensity);
  const made = new Map<number, Scheduled>();
  const whole = loss.gap(0, horizon);
  for (let power = 0; power < 34; power++) {
    const threshold = thresholdSchedule(loss, (whole / 4) * 0.8 ** power, 0, 400);
    const n = threshold.length;
    if (n < 3 || n > 120 || made.has(n)) continue;
    const arrival = firstArrivalWith(n, (chance) => firstArrivalSchedule(model, chance, horizon, 0, 400));
    if (!arrival) continue;
    const plan = planPolite(loss, n, 0, steps);
    if (plan.kind === 'infeasible') continue;
    made.set(n, {
      n,
      looks: { DOE: plan.probes, threshold, 'first arrival': arrival, uniform: uniformSchedule(horizon, n) },
    });
  }
  return [...made.values()].sort((a, b) => a.n - b.n);
}

/** The chance at which first arrival makes exactly n looks; some n it jumps over. */
function firstArrivalWith(n: number, make: (chance: number) => Float64Array): Float64Array | undefined {
  let [low, high] = [1e-6, 1 - 1e-12];
  for (let turn = 0; turn < 80; turn++) {
    const chance = turn < 40 ? (low + high) / 2 : 1 - Math.sqrt((1 - low) * (1 - high));
    const looks = make(chance);
    if (looks.length === n) return looks;
    if (looks.length > n) low = chance;
    else high = chance;
  }
  return undefined;
}

export const policyNames: readonly PolicyName[] = ['DOE', 'threshold', 'first arrival', 'uniform'];

export function curves(rows: readonly Scheduled[], cost: (row: Scheduled, policy: PolicyName) => number): Series[] {
  return policyNames.map((policy) => ({
    name: policy,
    points: rows.map((row) => [row.n, cost(row, policy)] as const),
  }));
}

/** In how many of the rows the first policy is no dearer than every other. */
export function wins(series: readonly Series[], slack = 1e-9): number {
  const [first, ...others] = series;
  return first!.points.filter(([, y], i) => others.every((other) => y <= other.points[i]![1] * (1 + slack))).length;
}

/** Pairs (p₁, p₂) on whole hours that are better than their eight neighbours, with the last look at the end. */
export function minimaWithThreeLooks(loss: Loss): number {
  const hours = Math.round(horizon * 24);
  const at = (i: number): number => (i * horizon) / hours;
  const first = Float64Array.from({ length: hours + 1 }, (_, i) => loss.gap(0, at(i)));
  const last = Float64Array.from({ length: hours + 1 }, (_, i) => loss.gap(at(i), horizon));
  const rows = Array.from({ length: hours + 1 }, (_, i) =>
    Float64Array.from({ length: hours + 1 }, (_unused, j) =>
      j < i ? Infinity : first[i]! + loss.gap(at(i), at(j)) + last[j]!,
    ),
  );
  const around = [-1, 0, 1];
  let count = 0;
  for (let i = 1; i < hours; i++)
    for (let j = i + 1; j < hours; j++) {
      const here = rows[i]![j]!;
      if (around.every((di) => around.every((dj) => (di === 0 && dj === 0) || here < rows[i + di]![j + dj]!))) count++;
    }
  return count;
}
