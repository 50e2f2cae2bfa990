/**
 * The n-day plan of a few pages over many days, day by day: a state is the day of each page's last look, since that is all the
 * future depends on, and of two ways into one state only the cheaper is kept. Looking never costs, so every day is full.
 *
 * At prices per day each page's future costs at least its shortest path from its last look, so
 *
 *   cost so far + Σ_pages path(last look) − capacity · Σ prices of the days to come
 *
 * bounds whatever can follow from a state; states that cannot beat the best plan known are dropped for good. A day on which
 * more states are left than there is time for goes on with the most promising, and the least bound among those left behind is
 * still a bound: the search is exact when nobody was left behind, and says how far off it may be otherwise.
 *
 * Cost: O(states · choices of a day) a day; exact for three pages and a year or six and two months.
 */
import type { HorizonPlan, Kinds } from './horizon.ts';
import { costIndex } from './horizon-costs.ts';

// About so many extensions of states in all: seconds.
const workMax = 6_000_000;
const statesLeast = 200;
const statesMost = 6_000;
// Choices of a day beyond which even few states take long.
export const choicesMax = 260;

/** How many ways there are to look at `capacity` of `pages` on one day. */
export function choicesOf(pages: number, capacity: number): number {
  let ways = 1;
  for (let n = 0; n < Math.min(capacity, pages - capacity); n++) ways = (ways * (pages - n)) / (n + 1);
  return capacity >= pages ? 1 : ways;
}

interface Layer {
  readonly parent: Int32Array;
  /** Which choice led here. */
  readonly choice: Int32Array;
}

export function searchDays(kinds: Kinds, days: number, capacity: number, known: HorizonPlan): HorizonPlan {
  const search = new Search(kinds, days, capacity, known);
  return search.run();
}

class Search {
  readonly #kinds: Kinds;
  readonly #days: number;
  readonly #pages: number;
  readonly #known: HorizonPlan;
  readonly #choices: readonly (readonly number[])[];
  readonly #statesMax: number;
  /** Least cost of page i's days after day d at the prices, when its last look was on day e: [i][d · (days + 1) + e]. */
  readonly #future: readonly Float64Array[];
  /** Capacity times the prices of the days after each day. */
  readonly #paid: Float64Array;

  constructor(kinds: Kinds, days: number, capacity: number, known: HorizonPlan) {
    this.#kinds = kinds;
    this.#days = days;
    this.#pages = kinds.kindOf.length;
    this.#known = known;
    this.#choices = subsets(this.#pages, Math.min(capacity, this.#pages));
    const perDay = Math.floor(workMax / (this.#choices.length * this.#pages * days));
    this.#statesMax = Math.max(statesLeast, Math.min(statesMost, perDay));
    this.#future = Array.from({ length: this.#pages }, (_, page) => this.#futureOf(page));
    this.#paid = new Float64Array(days + 2);
    for (let d = days; d >= 1; d--) this.#paid[d - 1] = this.#paid[d] + capacity * known.prices[d - 1];
  }

  /** What day d costs a page that was last seen on day e. */
  #dayCost(page: number, e: number, d: number): number {
    const kind = this.#kinds.kindOf[page];
    const base = this.#kinds.offset[kind];
    const upTo = this.#kinds.costs[base + costIndex(this.#days, e, d)];
    const before = d - 1 > e ? this.#kinds.costs[base + costIndex(this.#days, e, d - 1)] : 0;
    return this.#kinds.weight[kind] * (upTo - before);
  }

  #futureOf(page: number): Float64Array {
    const days = this.#days;
    const row = days + 1;
    const future = new Float64Array((days + 1) * row);
    for (let d = days - 1; d >= 0; d--) {
      const looked = this.#known.prices[d] + future[(d + 1) * row + d + 1];
      for (let e = 0; e <= d; e++) {
        future[d * row + e] = Math.min(looked, this.#dayCost(page, e, d + 1) + future[(d + 1) * row + e]);
      }
    }
    return future;
  }

  run(): HorizonPlan {
    const days = this.#days;
    let states: Uint16Array[] = [new Uint16Array(this.#pages)];
    let costs = [0];
    let leftBehind = Infinity;
    const layers: Layer[] = [];
    const worth = this.#known.cost * (1 - 1e-12);
    for (let d = 1; d <= days && states.length > 0; d++) {
      const next = this.#step(states, costs, d, worth);
      if (next.leftBehind < leftBehind) leftBehind = next.leftBehind;
      layers.push(next.layer);
      states = next.states;
      costs = next.costs;
    }
    let best = -1;
    for (let n = 0; n < states.length; n++) if (best < 0 || costs[n] < costs[best]) best = n;
    const found = best >= 0 && costs[best] < this.#known.cost;
    const cost = found ? costs[best] : this.#known.cost;
    const lowerBound = Math.min(cost, Math.max(this.#known.lowerBound, leftBehind));
    return { ...this.#known, cost, lowerBound, ...(found ? { looks: this.#looks(layers, best) } : {}) };
  }

  #step(states: readonly Uint16Array[], costs: readonly number[], d: number, worth: number) {
    const reached = new Map<string, number>();
    const all: { state: Uint16Array; cost: number; bound: number; parent: number; choice: number }[] = [];
    const today = new Float64Array(this.#pages);
    states.forEach((state, parent) => {
      let idle = costs[parent];
      for (let page = 0; page < this.#pages; page++) idle += today[page] = this.#dayCost(page, state[page], d);
      this.#choices.forEach((choice, which) => {
        let cost = idle;
        for (const page of choice) cost -= today[page];
        const after = state.slice();
        for (const page of choice) after[page] = d;
        const name = String.fromCharCode(...after);
        const known = reached.get(name);
        if (known !== undefined) {
          if (cost < all[known].cost) {
            all[known].bound -= all[known].cost - cost;
            Object.assign(all[known], { cost, parent, choice: which });
          }
          return;
        }
        const bound = cost + this.#boundAfter(after, d);
        if (bound >= worth) return;
        reached.set(name, all.push({ state: after, cost, bound, parent, choice: which }) - 1);
      });
    });
    let leftBehind = Infinity;
    let kept = all;
    if (all.length > this.#statesMax) {
      all.sort((a, b) => a.bound - b.bound);
      leftBehind = all[this.#statesMax].bound;
      kept = all.slice(0, this.#statesMax);
    }
    return {
      states: kept.map(({ state }) => state),
      costs: kept.map(({ cost }) => cost),
      layer: { parent: Int32Array.from(kept, (one) => one.parent), choice: Int32Array.from(kept, (one) => one.choice) },
      leftBehind,
    };
  }

  #boundAfter(state: Uint16Array, d: number): number {
    let sum = -this.#paid[d];
    for (let page = 0; page < this.#pages; page++) sum += this.#future[page][d * (this.#days + 1) + state[page]];
    return sum;
  }

  #looks(layers: readonly Layer[], last: number): Uint8Array {
    const looks = new Uint8Array(this.#pages * this.#days);
    for (let d = this.#days, n = last; d >= 1; d--) {
      const { parent, choice } = layers[d - 1];
      for (const page of this.#choices[choice[n]]) looks[page * this.#days + d - 1] = 1;
      n = parent[n];
    }
    return looks;
  }
}

function subsets(pages: number, size: number): number[][] {
  if (size === 0) return [[]];
  if (pages === 0 || size > pages) return [];
  return [...subsets(pages - 1, size - 1).map((rest) => [...rest, pages - 1]), ...subsets(pages - 1, size)];
}
