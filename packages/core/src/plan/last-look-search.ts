/**
 * The plan of a few pages over many instants (or days), one after the other: a state is each page's last look, since that is all
 * the future depends on, and of two ways into one state only the cheaper is kept. Looking never costs, so every instant is full.
 *
 * At prices per instant each page's future costs at least its cheapest way from its last look, so
 *
 *   cost so far + Σ_pages way(last look) − capacity · Σ prices of the instants to come
 *
 * bounds whatever can follow from a state; states that cannot beat the best plan known are dropped for good. An instant at which
 * more states are left than there is time for goes on with the most promising, and the least bound among those left behind is
 * still a bound: the search is exact when nobody was left behind, and says how far off it may be otherwise.
 *
 * Cost: O(states · choices of an instant) an instant; exact for three pages and a year of days or six and two months.
 */
export interface LastLooks {
  readonly pages: number;
  readonly instants: number;
  readonly capacity: number;
  /** What instant d costs a page last seen at e < d that is not looked at, and one that is (a gain is a negative cost). */
  readonly unseen: (page: number, e: number, d: number) => number;
  readonly seen: (page: number, e: number, d: number) => number;
  /** The instant to remember in place of e, where the two lead to the same future. */
  readonly same?: (page: number, e: number) => number;
}

/** The best known so far; `looks[page · instants + instant]`, instants from 0. */
export interface KnownPlan {
  readonly looks: Uint8Array;
  readonly cost: number;
  readonly lowerBound: number;
  readonly prices: Float64Array;
}

// With more pages than this the states of an instant are too many to tell apart.
export const searchPagesMax = 12;
// Choices of an instant beyond which even few states take long.
export const choicesMax = 260;

const statesLeast = 20;
const statesMost = 6_000;

/** How many ways there are to look at `capacity` of `pages` at one instant. */
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

/** `stepsMax` bounds states × choices × pages; a million take about half a second. */
export function searchLastLooks(problem: LastLooks, known: KnownPlan, stepsMax: number): KnownPlan {
  const { pages, instants, capacity } = problem;
  if (stepsMax < statesLeast * choicesOf(pages, capacity) * pages * instants) return known;
  return new Search(problem, known, stepsMax).run();
}

class Search {
  readonly #problem: LastLooks;
  readonly #known: KnownPlan;
  readonly #choices: readonly (readonly number[])[];
  readonly #statesMax: number;
  /** Least cost of page i after instant d at the prices, when its last look was at e: [i][d · (instants + 1) + e]. */
  readonly #future: readonly Float64Array[];
  /** Capacity times the prices of the instants after each. */
  readonly #paid: Float64Array;

  constructor(problem: LastLooks, known: KnownPlan, stepsMax: number) {
    const { pages, instants, capacity } = problem;
    this.#problem = problem;
    this.#known = known;
    this.#choices = subsets(pages, Math.min(capacity, pages));
    const each = Math.floor(stepsMax / (this.#choices.length * pages * instants));
    this.#statesMax = Math.max(statesLeast, Math.min(statesMost, each));
    this.#future = Array.from({ length: pages }, (_, page) => this.#futureOf(page));
    this.#paid = new Float64Array(instants + 2);
    for (let d = instants; d >= 1; d--) this.#paid[d - 1] = this.#paid[d] + capacity * known.prices[d - 1];
  }

  #futureOf(page: number): Float64Array {
    const { instants, unseen, seen } = this.#problem;
    const row = instants + 1;
    const future = new Float64Array((instants + 1) * row);
    for (let d = instants - 1; d >= 0; d--) {
      const looked = this.#known.prices[d] + future[(d + 1) * row + d + 1];
      for (let e = 0; e <= d; e++) {
        future[d * row + e] = Math.min(
          seen(page, e, d + 1) + looked,
          unseen(page, e, d + 1) + future[(d + 1) * row + e],
        );
      }
    }
    return future;
  }

  run(): KnownPlan {
    const { pages, instants } = this.#problem;
    let states: Uint16Array[] = [new Uint16Array(pages)];
    let costs = [0];
    let leftBehind = Infinity;
    const layers: Layer[] = [];
    const worth = this.#known.cost - 1e-12 * Math.abs(this.#known.cost);
    for (let d = 1; d <= instants && states.length > 0; d++) {
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
    const { pages, unseen, seen, same } = this.#problem;
    const reached = new Map<string, number>();
    const all: { state: Uint16Array; cost: number; bound: number; parent: number; choice: number }[] = [];
    const saved = new Float64Array(pages);
    states.forEach((state, parent) => {
      let idle = costs[parent];
      for (let page = 0; page < pages; page++) {
        const cost = unseen(page, state[page], d);
        saved[page] = cost - seen(page, state[page], d);
        idle += cost;
      }
      this.#choices.forEach((choice, which) => {
        let cost = idle;
        for (const page of choice) cost -= saved[page];
        const after = state.slice();
        for (const page of choice) after[page] = same ? same(page, d) : d;
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
    const { pages, instants } = this.#problem;
    let sum = -this.#paid[d];
    for (let page = 0; page < pages; page++) sum += this.#future[page][d * (instants + 1) + state[page]];
    return sum;
  }

  #looks(layers: readonly Layer[], last: number): Uint8Array {
    const { pages, instants } = this.#problem;
    const looks = new Uint8Array(pages * instants);
    for (let d = instants, n = last; d >= 1; d--) {
      const { parent, choice } = layers[d - 1];
      for (const page of this.#choices[choice[n]]) looks[page * instants + d - 1] = 1;
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
