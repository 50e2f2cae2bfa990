/**
 * The utility of capturing a change, after WIC (Pandey, Dhamdhere and Olston 2004, §2.2-2.3).
 *
 * A change made at instant k and captured at j is worth `weight · urgency(j − k)`, if the page still shows it:
 * `life(k, j)` is the probability of that. The gain of looking at f when the last look was at s is
 *
 *   g(s, f) = weight · Σ_{k = s+1…f} π_k · urgency(f − k) · life(k, f)
 *
 * Every planner that collects changes works with this function and nothing else. `gainsFrom` fills g(s, ·) for one s in
 * one pass. Where urgency × life does not rise with f, −g obeys the quadrangle inequality (see docs/collect.md).
 */

import { type Life, type Urgency, urgencyAt } from './utility.ts';

/** The laws of utility.ts by whole instants, and the user's own. */
export type InstantUrgency =
  | Urgency
  /** By delay; the last value holds for all greater delays. It may rise. */
  | { readonly kind: 'table'; readonly values: readonly number[] }
  /** As a function, for callers in code. */
  | { readonly kind: 'custom'; readonly at: (delay: number) => number };

/** Change probabilities at the instants 1…N: the same at all, one each, or only at some (ascending, from 1). */
export type Chances =
  | number
  | readonly number[]
  | Float64Array
  | { readonly at: ArrayLike<number>; readonly probability?: ArrayLike<number> };

export interface Collected {
  readonly weight: number;
  readonly change: Chances;
  readonly life: Life;
  readonly urgency: InstantUrgency;
  /** A dense index into per-site capacities, where there are any. */
  readonly site?: number;
}

export function urgencyAfter(urgency: InstantUrgency, delay: number): number {
  if (urgency.kind === 'table') return urgency.values[Math.min(delay, urgency.values.length - 1)];
  return urgency.kind === 'custom' ? urgency.at(delay) : urgencyAt(urgency, delay);
}

/**
 * The a of WIC's guarantee: greedy is within 1 + a of optimal. The paper takes the greatest urgency(t+1) ⁄ urgency(t), 0⁄0
 * as 0, which is right for urgencies that do not rise; its Lemma 2 needs the greatest urgency(u) ⁄ urgency(t) over all
 * u > t (with 1, 2, 4 the paper's a is 2, and greedy gets 1 of 4). Infinite when urgency rises from nothing.
 */
export function urgencyGrowth(urgency: InstantUrgency, instants: number): number {
  let growth = 0;
  let later = 0;
  for (let t = instants - 1; t >= 0; t--) {
    const now = urgencyAfter(urgency, t);
    if (later > 0) growth = Math.max(growth, later / now);
    later = Math.max(later, now);
  }
  return growth;
}

/** A factor per instant, where urgency has one. */
export function decayOf(urgency: InstantUrgency): number | undefined {
  if (urgency.kind === 'uniform') return 1;
  if (urgency.kind === 'decay') return urgency.rate;
  return urgency.kind === 'window' ? 1 : undefined;
}

/** The greatest delay that is worth anything by a window of life or urgency. */
export function cutoffOf(page: { readonly life: Life; readonly urgency: InstantUrgency }): number {
  const life = page.life.kind === 'window' ? page.life.width : Infinity;
  const urgency = page.urgency.kind === 'window' ? page.urgency.width : Infinity;
  return Math.min(life, urgency);
}

/** How many later changes it takes to wipe information out; Infinity when changes do not. */
export function changesToForget(life: Life): number {
  if (life.kind === 'overwrite') return 1;
  return life.kind === 'changes' ? life.count : Infinity;
}

export type SparseChances = Extract<Chances, { readonly at: ArrayLike<number> }>;

/** Arrays have a method of that name, so the question is who owns it. */
export function isSparse(change: Chances): change is SparseChances {
  return typeof change === 'object' && Object.hasOwn(change, 'at');
}

/** The instants (from 1) at which a page can change and their probabilities, zeros left out. */
export interface Moments {
  readonly at: Int32Array;
  readonly probability: Float64Array;
}

export function momentsOf(change: Chances, instants: number): Moments {
  const at: number[] = [];
  const probability: number[] = [];
  const put = (instant: number, chance: number) => {
    if (chance > 0 && instant >= 1 && instant <= instants) {
      at.push(instant);
      probability.push(chance);
    }
  };
  if (typeof change === 'number') {
    for (let j = 1; j <= instants; j++) put(j, change);
  } else if (isSparse(change)) {
    for (let e = 0; e < change.at.length; e++) put(change.at[e], change.probability?.[e] ?? 1);
  } else {
    for (let j = 1; j <= Math.min(instants, change.length); j++) put(j, change[j - 1]);
  }
  return { at: Int32Array.from(at), probability: Float64Array.from(probability) };
}

/**
 * Fills `gains[f]` with g(s, f) for every f from the first change after s to N, given the changes from `first` on (those
 * after s). O(N) steps for factors per instant, O(N · count) for change windows, O(changes · N) for free-form urgency.
 */
export function gainsFrom(page: Collected, moments: Moments, first: number, gains: Float64Array): void {
  const decay = decayOf(page.urgency);
  const forget = changesToForget(page.life);
  if (decay === undefined || isByChange(page)) byChange(page, moments, first, gains);
  else if (forget === Infinity) byFactor(page.weight, decay, false, moments, first, gains);
  else if (forget === 1) byFactor(page.weight, decay, true, moments, first, gains);
  else byCount(page.weight, decay, forget, moments, first, gains);
}

function byFactor(
  weight: number,
  decay: number,
  overwrite: boolean,
  { at, probability }: Moments,
  first: number,
  gains: Float64Array,
): void {
  const end = gains.length;
  let sum = 0;
  for (let e = first; e < at.length; e++) {
    const chance = probability[e];
    const until = e + 1 < at.length ? at[e + 1] : end;
    sum = (overwrite ? sum * (1 - chance) : sum) + weight * chance;
    for (let f = at[e]; f < until; f++) {
      gains[f] = sum;
      sum *= decay;
    }
  }
}

/** Mass by the number of later changes, one Poisson-binomial step for each change. */
function byCount(
  weight: number,
  decay: number,
  forget: number,
  { at, probability }: Moments,
  first: number,
  gains: Float64Array,
): void {
  const end = gains.length;
  const mass = new Float64Array(Math.min(forget, at.length - first + 1));
  for (let e = first; e < at.length; e++) {
    const chance = probability[e];
    const until = e + 1 < at.length ? at[e + 1] : end;
    for (let q = mass.length - 1; q > 0; q--) mass[q] = mass[q] * (1 - chance) + mass[q - 1] * chance;
    mass[0] = mass[0] * (1 - chance) + weight * chance;
    let sum = 0;
    for (const part of mass) sum += part;
    let factor = 1;
    for (let f = at[e]; f < until; f++) {
      gains[f] = sum * factor;
      factor *= decay;
    }
    for (let q = 0; q < mass.length; q++) mass[q] *= factor;
  }
}

/** Whether gains are sums over single changes: then `addGainOf` leads from the gains after one look to those after an earlier one. */
export function isByChange(page: Collected): boolean {
  return decayOf(page.urgency) === undefined || cutoffOf(page) < Infinity;
}

/** Each change by itself, the last first: exact for any urgency, and free of cancellation where windows close. */
function byChange(page: Collected, moments: Moments, first: number, gains: Float64Array): void {
  const { at } = moments;
  if (first < at.length) gains.fill(0, at[first]);
  for (let e = at.length - 1; e >= first; e--) addGainOf(page, moments, e, gains);
}

/** Adds what the change `e` alone is worth to `gains[f]`, for every f from it on. */
export function addGainOf(page: Collected, { at, probability }: Moments, e: number, gains: Float64Array): void {
  const forget = changesToForget(page.life);
  const alive = new Float64Array(forget === Infinity ? 1 : Math.min(forget, at.length - e));
  const worth = page.weight * probability[e];
  alive[0] = 1;
  let shown = 1;
  let later = e + 1;
  const last = Math.min(gains.length - 1, at[e] + cutoffOf(page));
  for (let f = at[e]; f <= last; f++) {
    if (later < at.length && at[later] === f) {
      if (forget !== Infinity) shown = oneMoreChange(alive, probability[later]);
      later++;
    }
    gains[f] += worth * shown * urgencyAfter(page.urgency, f - at[e]);
  }
}

/** One more change may have come: how likely each number of later ones still shows it, and their sum. */
export function oneMoreChange(alive: Float64Array, chance: number): number {
  let sum = 0;
  for (let q = alive.length - 1; q > 0; q--) {
    alive[q] = alive[q] * (1 - chance) + alive[q - 1] * chance;
    sum += alive[q];
  }
  alive[0] *= 1 - chance;
  return sum + alive[0];
}
