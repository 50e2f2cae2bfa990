/**
 * A piecewise-constant function of time, p(t) = values[i] on [breaks[i], breaks[i+1]), repeated every `period` where one is
 * given and 0 outside its breaks where none is. Change intensities, importance and their products are profiles, so every
 * integral and every inverse of an integral below is exact up to rounding.
 *
 * Numerically delicate: far from the first break whole periods are counted as integers and only the remainders are
 * subtracted, so that the integral over an hour is as exact in the year 2100 as at time 0.
 */

export interface Profile {
  /** Ascending; one more than there are values. */
  readonly breaks: Float64Array;
  readonly values: Float64Array;
  /** The length after which it repeats (then the last break minus the first), or undefined. */
  readonly period: number | undefined;
  /** The integral from the first break to each break. */
  readonly cumulative: Float64Array;
  /** The common width of all pieces, or 0 where widths differ: equal pieces are found without searching. */
  readonly width: number;
}

export function profile(breaks: ArrayLike<number>, values: ArrayLike<number>, period?: number): Profile {
  const trouble = profileTrouble(breaks, values, period);
  if (trouble !== undefined) throw new RangeError(`${trouble.field} of a profile: ${trouble.allowed}`);
  const b = Float64Array.from(breaks);
  const v = Float64Array.from(values);
  const cumulative = new Float64Array(b.length);
  for (let i = 0; i < v.length; i++) cumulative[i + 1] = cumulative[i] + v[i] * (b[i + 1] - b[i]);
  const first = b[1] - b[0];
  const even = v.every((_, i) => Math.abs(b[i] - (b[0] + i * first)) <= 1e-12 * (Math.abs(b[i]) + first));
  return { breaks: b, values: v, period, cumulative, width: even ? first : 0 };
}

/** What is wrong with the parts of a would-be profile, in words for a person; undefined when nothing is. */
export function profileTrouble(
  breaks: ArrayLike<number>,
  values: ArrayLike<number>,
  period?: number,
): { readonly field: 'breaks' | 'values' | 'period'; readonly allowed: string } | undefined {
  const b = breaks;
  let ascending = b.length >= 2;
  for (let i = 0; i < b.length && ascending; i++) ascending = Number.isFinite(b[i]) && (i === 0 || b[i] > b[i - 1]);
  if (!ascending) return { field: 'breaks', allowed: 'at least two ascending finite numbers are expected' };
  if (values.length !== b.length - 1)
    return { field: 'values', allowed: `one value less than there are breaks (${b.length - 1}) is expected` };
  for (let i = 0; i < values.length; i++)
    if (!(Number.isFinite(values[i]) && values[i] >= 0))
      return { field: 'values', allowed: 'finite numbers of at least 0 are expected' };
  const span = b[b.length - 1] - b[0];
  if (period !== undefined && !(Math.abs(period - span) <= 1e-9 * span))
    return { field: 'period', allowed: `the distance from the first break to the last (${span}) is expected` };
  return undefined;
}

export function constant(value: number): Profile {
  return profile([0, 1], [value], 1);
}

export function isConstant(p: Profile): boolean {
  return p.period !== undefined && p.values.every((v) => v === p.values[0]);
}

function spanOf(p: Profile): number {
  return p.breaks[p.breaks.length - 1] - p.breaks[0];
}

function totalOf(p: Profile): number {
  return p.cumulative[p.cumulative.length - 1];
}

/** How many whole periods lie between the first break and t; 0 for a profile that does not repeat. */
function turn(p: Profile, t: number): number {
  return p.period === undefined ? 0 : Math.floor((t - p.breaks[0]) / p.period);
}

/** The piece that holds time t, where t lies within the breaks. */
function pieceAt(p: Profile, t: number): number {
  const last = p.values.length - 1;
  if (p.width > 0) {
    let i = Math.min(last, Math.max(0, Math.floor((t - p.breaks[0]) / p.width)));
    if (i < last && t >= p.breaks[i + 1]) i++;
    else if (i > 0 && t < p.breaks[i]) i--;
    return i;
  }
  let low = 0;
  let high = last;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (p.breaks[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The integral from the first break to t, for t within one span of the breaks (clamped outside). */
function within(p: Profile, t: number): number {
  if (t <= p.breaks[0]) return 0;
  if (t >= p.breaks[p.breaks.length - 1]) return totalOf(p);
  const i = pieceAt(p, t);
  return p.cumulative[i] + p.values[i] * (t - p.breaks[i]);
}

export function valueAt(p: Profile, t: number): number {
  const local = p.period === undefined ? t : t - turn(p, t) * p.period;
  if (p.period === undefined && (local < p.breaks[0] || local >= p.breaks[p.breaks.length - 1])) return 0;
  return p.values[pieceAt(p, local)];
}

/** The integral over (s, f]; negative when f < s. */
export function integral(p: Profile, s: number, f: number): number {
  if (p.period === undefined) return within(p, f) - within(p, s);
  if (p.values.length === 1) return p.values[0] * (f - s);
  const from = turn(p, s);
  const to = turn(p, f);
  const rest = within(p, f - to * p.period) - within(p, s - from * p.period);
  return (to - from) * totalOf(p) + rest;
}

/** The first time t ≥ start at which the integral over (start, t] reaches the amount; Infinity when it never does. */
export function reach(p: Profile, start: number, amount: number): number {
  if (amount <= 0) return start;
  if (p.values.length === 1 && p.period !== undefined) return p.values[0] > 0 ? start + amount / p.values[0] : Infinity;
  const total = totalOf(p);
  const from = turn(p, start);
  const offset = p.period === undefined ? 0 : from * p.period;
  let target = within(p, start - offset) + amount;
  if (p.period === undefined) return target > total ? Infinity : Math.max(start, level(p, target));
  if (!(total > 0)) return Infinity;
  // A target that is exactly a whole number of periods is reached within the last of them, not at the end of a dead tail.
  const turns = Math.ceil(target / total) - 1;
  target = Math.min(total, Math.max(0, target - turns * total));
  return Math.max(start, offset + turns * p.period + level(p, target));
}

/** The first time within one span at which the integral from the first break reaches the level, 0 < level ≤ total. */
function level(p: Profile, target: number): number {
  let low = 0;
  let high = p.values.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (p.cumulative[middle + 1] >= target) high = middle;
    else low = middle + 1;
  }
  const value = p.values[low];
  return value > 0 ? p.breaks[low] + (target - p.cumulative[low]) / value : p.breaks[low];
}

/** The mean over a period, or over the breaks. */
export function mean(p: Profile): number {
  return totalOf(p) / spanOf(p);
}

export function scaled(p: Profile, factor: number): Profile {
  return profile(
    p.breaks,
    p.values.map((v) => v * factor),
    p.period,
  );
}

/** The same function of time with its clock moved: q(t) = p(t − by). */
export function shifted(p: Profile, by: number): Profile {
  return profile(
    p.breaks.map((b) => b + by),
    p.values,
    p.period,
  );
}

/** The profile as pieces on a window, from its beginning to its end, zero where the profile says nothing. */
export interface Pieces {
  readonly breaks: Float64Array;
  readonly values: Float64Array;
}

export function piecesOn(p: Profile, from: number, to: number): Pieces {
  const breaks = breaksOn(p, from, to);
  return { breaks, values: valuesOn(p, breaks) };
}

/** The beginning of a window, the profile's breaks within it, and its end. */
function breaksOn(p: Profile, from: number, to: number): Float64Array {
  const period = p.period ?? 0;
  const firstTurn = turn(p, from);
  const lastTurn = turn(p, to);
  const cuts = new Float64Array((lastTurn - firstTurn + 1) * p.breaks.length + 2);
  let size = 1;
  cuts[0] = from;
  // Breaks are `turn · period + break`, with the same rounding every time, so that two profiles' equal breaks are equal.
  for (let k = firstTurn; k <= lastTurn; k++) {
    for (let i = 0; i < p.breaks.length; i++) {
      const cut = p.breaks[i] + k * period;
      if (cut > cuts[size - 1] && cut < to) cuts[size++] = cut;
    }
  }
  cuts[size++] = to;
  return cuts.slice(0, size);
}

/** The profile's value on each of the pieces between these breaks, in which it is constant. */
function valuesOn(p: Profile, breaks: Float64Array): Float64Array {
  const values = new Float64Array(breaks.length - 1);
  for (let i = 0; i < values.length; i++) values[i] = valueAt(p, (breaks[i] + breaks[i + 1]) / 2);
  return values;
}

/** Two profiles on the pieces of both, over a window. */
export interface SharedPieces {
  readonly breaks: Float64Array;
  readonly first: Float64Array;
  readonly second: Float64Array;
}

export function sharedPieces(p: Profile, q: Profile, from: number, to: number): SharedPieces {
  const ends = isConstant(q) ? new Float64Array([from, to]) : breaksOn(q, from, to);
  const own = isConstant(p) ? new Float64Array([from, to]) : breaksOn(p, from, to);
  const breaks = mergeAscending(own, ends);
  return { breaks, first: valuesOn(p, breaks), second: valuesOn(q, breaks) };
}

function mergeAscending(a: Float64Array, b: Float64Array): Float64Array {
  const all = new Float64Array(a.length + b.length);
  let size = 0;
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const next = j >= b.length || (i < a.length && a[i] <= b[j]) ? a[i++] : b[j++];
    if (size === 0 || next > all[size - 1]) all[size++] = next;
  }
  return all.slice(0, size);
}

/**
 * p(t)·q(t). Where both repeat, the product repeats after their common period; two periods whose ratio is no fraction of
 * small numbers have none, and the answer is undefined (take the product on a window with `sharedPieces` then).
 */
export function product(p: Profile, q: Profile): Profile | undefined {
  if (isConstant(p)) return scaled(q, p.values[0]);
  if (isConstant(q)) return scaled(p, q.values[0]);
  const period = p.period !== undefined && q.period !== undefined ? commonPeriod(p.period, q.period) : undefined;
  if (p.period !== undefined && q.period !== undefined && period === undefined) return undefined;
  const bounded = [p, q].filter((one) => one.period === undefined);
  const from = bounded.length > 0 ? Math.max(...bounded.map((one) => one.breaks[0])) : p.breaks[0];
  const ends = bounded.map((one) => one.breaks[one.breaks.length - 1]);
  const to = period === undefined ? Math.min(...ends) : from + period;
  if (!(to > from)) return profile([from, from + 1], [0]);
  const shared = sharedPieces(p, q, from, to);
  return profile(
    shared.breaks,
    shared.first.map((v, i) => v * shared.second[i]),
    period,
  );
}

/** Beyond this many turns of one profile within a common period the product would have more pieces than anyone needs. */
const turnsMax = 1_000;

function commonPeriod(a: number, b: number): number | undefined {
  for (let k = 1; k <= turnsMax; k++) {
    const turns = Math.round((k * a) / b);
    if (turns >= 1 && turns <= turnsMax && Math.abs(k * a - turns * b) <= 1e-9 * b) return k * a;
  }
  return undefined;
}
