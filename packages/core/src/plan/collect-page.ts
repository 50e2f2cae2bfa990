/**
 * One page's best looks at given prices per instant: the longest path over gaps,
 *
 *   max over s₀ = 0 < s₁ < s₂ < …  of  Σ g(s_{m−1}, s_m) − price(s_m).
 *
 * Looks that fall between the same two possible changes lead to the same future, so a state is the number of possible
 * changes already behind, and only the best look of each stretch is kept: exact for every life and urgency and for every
 * sign of the prices. Within a stretch nothing new comes, so a gain that does not rise with delay makes every look
 * worthless that costs as much as an earlier one: only the falling staircase of prices is walked, and left as soon as
 * even a free look could not win. About O(changes²) a page where urgency has a factor per instant, O(changes · N) else; pages
 * that change in many instants and lose by delay go through a queue, O(N log N) (collect-queue.ts).
 */
import {
  type Collected,
  type Moments,
  type InstantUrgency,
  addGainOf,
  changesToForget,
  cutoffOf,
  decayOf,
  gainsFrom,
  isByChange,
  momentsOf,
  urgencyAfter,
} from '../loss/capture.ts';
import { type Gain, factorGain, looksByQueue, queueWorkspace, tableGain } from './collect-queue.ts';

export interface Path {
  /** Instants, ascending. */
  readonly looks: number[];
  /** Σ g, before prices. */
  readonly gain: number;
}

export type Search = (page: number) => Path;

export interface PageMarket {
  readonly moments: readonly Moments[];
  /** The number of the page's possible changes up to each instant, from instant 0 on. */
  statesOf(page: number): Int32Array;
  /** The search at these prices, `price[f − 1]` for f = 1…N; `anySign` when some may be negative. */
  at(price: Float64Array, anySign: boolean): Search;
  /** g(s, f) of a page that has `captured` changes behind it, for f from the next possible change on. */
  gain(page: number, captured: number, f: number): number;
  /** Whether an earlier look never captures less of any change: then a look more never harms. */
  readonly falling: boolean;
  /** About how many elementary steps a search for every page takes. */
  readonly steps: number;
}

// 120 MB of remembered gains; above it they are made anew in each search.
const rememberedMax = 15_000_000;

// From about so many changes on the queue is faster than trying every pair of them.
const queuedMin = 24;

export function pageMarket(pages: readonly Collected[], instants: number): PageMarket {
  const moments = pages.map((page) => momentsOf(page.change, instants));
  const powers = new Map<number, Float64Array>();
  const laws = pages.map((page) => lawOf(page, instants, powers));
  let cells = 0;
  moments.forEach(({ at }, page) => (cells += laws[page].power ? 0 : at.length * (instants + 1)));
  const remember = cells <= rememberedMax;
  const rowsOf = rowMaker(pages, moments, remember, instants);
  const statesOf = stateMaker(moments, instants);
  const isQueued = (page: number): boolean => {
    const { falling, power } = laws[page];
    return falling && moments[page].at.length >= queuedMin && (power !== undefined || remember);
  };
  const queued = queues(pages, moments, laws, isQueued, rowsOf, statesOf);
  const queue = queueWorkspace(instants);
  const bits = Math.ceil(Math.log2(instants + 2));
  let steps = 0;
  moments.forEach(({ at }, page) => {
    if (isQueued(page)) steps += instants * bits + 1;
    else steps += at.length * (laws[page].power ? at.length + 8 : instants) + 1;
  });
  const work = workspace(instants, Math.max(1, ...moments.map(({ at }) => at.length + 1)));
  return {
    moments,
    statesOf,
    steps,
    falling: laws.every(({ falling }) => falling),
    at: (price, anySign) => {
      stairs(price, instants, work.lower);
      const paid = anySign && payments(price, instants, work.paidAfter);
      return (page) => {
        const between = queued(page);
        if (between) return looksByQueue(between, instants, price, queue);
        const { power } = laws[page];
        const { at } = moments[page];
        reset(work, at.length + 1, paid ? work.paidAfter[1] - work.paidAfter[at.length > 0 ? at[0] : instants + 1] : 0);
        if (power) relaxByPower(pages[page], moments[page], power, price, paid, work);
        else relaxByRows(moments[page], laws[page].falling, (state) => rowsOf(page, state), price, paid, work);
        return trace(at, price, paid, work);
      };
    },
    gain: (page, captured, f) => {
      const { power } = laws[page];
      const { at } = moments[page];
      const between = queued(page);
      if (between) return between(captured > 0 ? at[captured - 1] : 0, f);
      return power ? gainByPower(pages[page], moments[page], power, captured, f) : rowsOf(page, captured)[f];
    },
  };
}

/** The gains of pages that are searched by a queue, made when they are first asked for. */
function queues(
  pages: readonly Collected[],
  moments: readonly Moments[],
  laws: readonly Law[],
  isQueued: (page: number) => boolean,
  rowsOf: (page: number, state: number) => Float64Array,
  statesOf: (page: number) => Int32Array,
): (page: number) => Gain | undefined {
  const made: (Gain | undefined)[] = [];
  const make = (page: number): Gain => {
    const { weight, life } = pages[page];
    const { power } = laws[page];
    if (power) return factorGain(weight, changesToForget(life) === 1, power, moments[page], statesOf(page));
    const rows = Array.from(moments[page].at, (_, n) => rowsOf(page, n));
    return tableGain(rows, statesOf(page));
  };
  return (page) => (isQueued(page) ? (made[page] ??= make(page)) : undefined);
}

function stateMaker(moments: readonly Moments[], instants: number): (page: number) => Int32Array {
  const made: (Int32Array | undefined)[] = [];
  const make = (page: number): Int32Array => {
    const state = new Int32Array(instants + 1);
    for (const instant of moments[page].at) state[instant]++;
    for (let f = 1; f <= instants; f++) state[f] += state[f - 1];
    return state;
  };
  return (page) => (made[page] ??= make(page));
}

interface Law {
  /** decay^t, where the gain of a stretch is its first value times that. */
  readonly power: Float64Array | undefined;
  readonly falling: boolean;
}

function lawOf(page: Collected, instants: number, powers: Map<number, Float64Array>): Law {
  const decay = decayOf(page.urgency);
  const simple = changesToForget(page.life) === 1 || changesToForget(page.life) === Infinity;
  if (decay === undefined || !simple || cutoffOf(page) < Infinity) {
    return { power: undefined, falling: isFalling(page.urgency, instants) };
  }
  let power = powers.get(decay);
  if (!power) {
    power = Float64Array.from({ length: instants + 1 }, (_, t) => decay ** t);
    powers.set(decay, power);
  }
  return { power, falling: true };
}

function isFalling(urgency: InstantUrgency, instants: number): boolean {
  if (urgency.kind !== 'table' && urgency.kind !== 'custom') return true;
  for (let t = 1; t < instants; t++) if (urgencyAfter(urgency, t) > urgencyAfter(urgency, t - 1)) return false;
  return true;
}

function rowMaker(
  pages: readonly Collected[],
  moments: readonly Moments[],
  remember: boolean,
  instants: number,
): (page: number, state: number) => Float64Array {
  const rows: (Float64Array | undefined)[][] = pages.map(() => []);
  const scratch = new Float64Array(instants + 1);
  /** From the next later row that is known, one change at a time: all rows of a page cost what one did. */
  const downTo = (page: number, state: number): void => {
    let from = state + 1;
    while (from < moments[page].at.length && !rows[page][from]) from++;
    for (let e = from - 1; e >= state; e--) {
      const row = rows[page][e + 1]?.slice() ?? new Float64Array(instants + 1);
      addGainOf(pages[page], moments[page], e, row);
      rows[page][e] = row;
    }
  };
  return (page, state) => {
    const known = rows[page][state];
    if (known) return known;
    if (remember && state < moments[page].at.length && isByChange(pages[page])) {
      downTo(page, state);
      return rows[page][state] ?? scratch;
    }
    const row = remember ? new Float64Array(instants + 1) : scratch;
    gainsFrom(pages[page], moments[page], state, row);
    if (remember) rows[page][state] = row;
    return row;
  };
}

interface Workspace {
  readonly instants: number;
  /** The next instant with a lower price. */
  readonly lower: Int32Array;
  /** What looks with a negative price pay, from f on: such a look is taken even where it captures nothing. */
  readonly paidAfter: Float64Array;
  readonly net: Float64Array;
  readonly look: Int32Array;
  readonly from: Int32Array;
  /** The gain of the look that leads to each state. */
  readonly gain: Float64Array;
}

function workspace(instants: number, states: number): Workspace {
  return {
    instants,
    lower: new Int32Array(instants + 2),
    paidAfter: new Float64Array(instants + 2),
    net: new Float64Array(states),
    look: new Int32Array(states),
    from: new Int32Array(states),
    gain: new Float64Array(states),
  };
}

function stairs(price: Float64Array, instants: number, lower: Int32Array): void {
  for (let f = instants; f >= 1; f--) {
    let next = f + 1;
    while (next <= instants && price[next - 1] >= price[f - 1]) next = lower[next];
    lower[f] = next;
  }
}

function payments(price: Float64Array, instants: number, paidAfter: Float64Array): boolean {
  paidAfter[instants + 1] = 0;
  for (let f = instants; f >= 1; f--) paidAfter[f] = paidAfter[f + 1] + Math.max(0, -price[f - 1]);
  return paidAfter[1] > 0;
}

function reset(work: Workspace, states: number, first: number): void {
  work.net.fill(-Infinity, 0, states);
  work.net[0] = first;
}

function relaxByPower(
  page: Collected,
  { at, probability }: Moments,
  power: Float64Array,
  price: Float64Array,
  paid: boolean,
  work: Workspace,
): void {
  const { net, look, from, gain, lower, paidAfter } = work;
  const wipe = changesToForget(page.life) === 1;
  const changes = at.length;
  for (let state = 0; state < changes; state++) {
    const base = net[state];
    if (base === -Infinity) continue;
    let sum = 0;
    for (let next = state + 1; next <= changes; next++) {
      const first = at[next - 1];
      const until = next < changes ? at[next] : work.instants + 1;
      const chance = probability[next - 1];
      sum = (wipe ? sum * (1 - chance) : sum) + page.weight * chance;
      let top = net[next];
      const pay = paid ? paidAfter[first] - paidAfter[until] : 0;
      for (let f = first; f < until; f = lower[f]) {
        const here = sum * power[f - first];
        if (base + here + pay <= top) break;
        const value = base + here - price[f - 1] + (paid ? paidAfter[f + 1] - paidAfter[until] : 0);
        if (value > top) {
          top = value;
          net[next] = value;
          look[next] = f;
          from[next] = state;
          gain[next] = here;
        }
      }
      sum *= power[until - first];
    }
  }
}

function relaxByRows(
  { at }: Moments,
  falling: boolean,
  rowOf: (state: number) => Float64Array,
  price: Float64Array,
  paid: boolean,
  work: Workspace,
): void {
  const { net, look, from, gain, lower, paidAfter } = work;
  for (let state = 0; state < at.length; state++) {
    const base = net[state];
    if (base === -Infinity) continue;
    const row = rowOf(state);
    for (let next = state + 1; next <= at.length; next++) {
      const until = next < at.length ? at[next] : work.instants + 1;
      for (let f = at[next - 1]; f < until; f = falling ? lower[f] : f + 1) {
        const value = base + row[f] - price[f - 1] + (paid ? paidAfter[f + 1] - paidAfter[until] : 0);
        if (value > net[next]) {
          net[next] = value;
          look[next] = f;
          from[next] = state;
          gain[next] = row[f];
        }
      }
    }
  }
}

/** Back from the best last look; looks that only pay are put in between. */
function trace(at: Int32Array, price: Float64Array, paid: boolean, work: Workspace): Path {
  const looks: number[] = [];
  let total = 0;
  const payers = (first: number, state: number) => {
    const until = state < at.length ? at[state] : work.instants + 1;
    for (let f = until - 1; f >= first; f--) if (price[f - 1] < 0) looks.push(f);
  };
  // Stopping early cannot leave a negative price behind: a look there would capture too, and is a path of its own.
  let state = 0;
  for (let last = 1; last <= at.length; last++) if (work.net[last] > work.net[state]) state = last;
  while (state > 0) {
    if (paid) payers(work.look[state] + 1, state);
    looks.push(work.look[state]);
    total += work.gain[state];
    state = work.from[state];
  }
  if (paid) payers(1, 0);
  return { looks: looks.reverse(), gain: total };
}

function gainByPower(page: Collected, { at, probability }: Moments, power: Float64Array, captured: number, f: number) {
  const wipe = changesToForget(page.life) === 1;
  let sum = 0;
  for (let e = captured; e < at.length && at[e] <= f; e++) {
    if (e > captured) sum *= power[at[e] - at[e - 1]];
    sum = (wipe ? sum * (1 - probability[e]) : sum) + page.weight * probability[e];
    if (e + 1 >= at.length || at[e + 1] > f) return sum * power[f - at[e]];
  }
  return 0;
}
