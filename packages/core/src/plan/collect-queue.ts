/**
 * One page's best looks at given prices where it may change in very many instants:
 *
 *   V(f) = max over s < f of V(s) + g(s, f) − price(f),   V(0) = 0.
 *
 * A gain that does not rise with delay obeys the quadrangle inequality (docs/collect.md): once a later look s′ is the better one to
 * come from, it stays so for every greater f. So candidates wait in a queue, each with the first f from which it is
 * best, and a new one is put behind those it overtakes by bisection: O(N log N) a page in place of O(N²), for prices of
 * every sign.
 */
import type { Moments } from '../loss/capture.ts';
import type { Path } from './collect-page.ts';

export interface QueueWorkspace {
  readonly net: Float64Array;
  readonly from: Int32Array;
  readonly candidate: Int32Array;
  /** The first instant from which each candidate is best. */
  readonly start: Int32Array;
}

export function queueWorkspace(instants: number): QueueWorkspace {
  return {
    net: new Float64Array(instants + 1),
    from: new Int32Array(instants + 1),
    candidate: new Int32Array(instants + 1),
    start: new Int32Array(instants + 1),
  };
}

/** g(s, f) of one page. */
export type Gain = (s: number, f: number) => number;

/**
 * Gains of append and overwrite with a factor per instant, O(1) without a table: what is there at f less what is left of what was
 * there at s. `state[s]` counts the possible changes up to s; where none lies between, the gain is exactly nothing.
 */
export function factorGain(
  weight: number,
  isWiped: boolean,
  power: Float64Array,
  { at, probability }: Moments,
  state: Int32Array,
): Gain {
  const there = new Float64Array(state.length);
  /** The logarithm of what changes up to each instant leave of what was there before them. */
  const kept = new Float64Array(state.length);
  for (let f = 1, e = 0; f < state.length; f++) {
    const chance = at[e] === f ? probability[e++] : 0;
    kept[f] = kept[f - 1] + (isWiped && chance > 0 ? Math.max(certain, Math.log1p(-chance)) : 0);
    there[f] = there[f - 1] * power[1] * (isWiped ? 1 - chance : 1) + weight * chance;
  }
  if (!isWiped) return (s, f) => (state[s] < state[f] ? there[f] - power[f - s] * there[s] : 0);
  return (s, f) => (state[s] < state[f] ? there[f] - power[f - s] * Math.exp(kept[f] - kept[s]) * there[s] : 0);
}

// A certain change leaves nothing: e to this power is below the least number.
const certain = -800;

export function tableGain(rows: readonly Float64Array[], state: Int32Array): Gain {
  return (s, f) => (state[s] < state[f] ? rows[state[s]][f] : 0);
}

export function looksByQueue(gain: Gain, instants: number, price: Float64Array, work: QueueWorkspace): Path {
  const { net, from, candidate, start } = work;
  net[0] = 0;
  candidate[0] = 0;
  start[0] = 1;
  let front = 0;
  let back = 0;
  let best = 0;
  for (let f = 1; f <= instants; f++) {
    while (front < back && start[front + 1] <= f) front++;
    const s = candidate[front];
    net[f] = net[s] + gain(s, f) - price[f - 1];
    from[f] = s;
    if (net[f] > net[best]) best = f;
    if (net[f] === -Infinity || f === instants) continue;
    let first = f + 1;
    for (; back >= front; back--) {
      first = Math.max(start[back], f + 1);
      const before = candidate[back];
      if (net[f] + gain(f, first) > net[before] + gain(before, first)) continue;
      first = firstBetter(f, before, first, instants, gain, net);
      break;
    }
    if (back < front) first = f + 1;
    if (first > instants) continue;
    candidate[++back] = f;
    start[back] = first;
  }
  return traced(gain, from, best);
}

/** The first instant at which coming from `later` is better; beyond the last when there is none. */
function firstBetter(
  later: number,
  before: number,
  known: number,
  instants: number,
  gain: Gain,
  net: Float64Array,
): number {
  let low = known;
  let high = instants + 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (net[later] + gain(later, middle) > net[before] + gain(before, middle)) high = middle;
    else low = middle;
  }
  return high;
}

function traced(gain: Gain, from: Int32Array, last: number): Path {
  const looks: number[] = [];
  let sum = 0;
  for (let f = last; f > 0; f = from[f]) {
    looks.push(f);
    sum += gain(from[f], f);
  }
  return { looks: looks.reverse(), gain: sum };
}
