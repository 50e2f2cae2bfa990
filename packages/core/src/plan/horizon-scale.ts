/**
 * The n-day plan for very many pages: D(p) = Σ_pages min over strategies of (cost + Σ prices of its days) − capacity · Σ p
 * bounds the optimum from below for every p ≥ 0, and its slope on a day is observations wanted less capacity. With
 * many pages that is nearly smooth, so Newton's method finds the prices: first falling prices by bisection, then steps with
 * slopes measured on a sample and steered by all pages. Plans at the prices then fit but for a few
 * pages, and those with the least to lose plan again within what is left.
 */
import type { Cleared } from './clearing.ts';
import type { HorizonPlan, Kinds } from './horizon.ts';
import { costIndex } from './horizon-costs.ts';
import { leastFirst } from './least-first.ts';
import { priceBoundByDescent } from './price-descent.ts';

// Enough for slopes within one per cent.
const sampleMax = 8_000;
const newtonSample = 16;
const newtonAll = 6;
const clearWithin = 1e-3;
// Where pages are few or many of them alike D has edges that Newton's steps do not see.
const polishMax = 600;
const polishFewMax = 4_000;
const fewKinds = 20;
// Steps of all searches together: about a second.
const polishWork = 600_000_000;
// Fewer steps than this move nothing, and so many pages that no more are left have no gap worth closing.
const polishLeast = 50;

/** What may still be done to whole plans; the bound and the prices are not its business. */
export type Repair = (plan: HorizonPlan) => HorizonPlan;

/** `cleared` where there are few enough kinds for the programme itself. */
export function planAtScale(
  kinds: Kinds,
  days: number,
  capacity: number,
  repair: Repair,
  cleared?: Cleared,
): HorizonPlan {
  const all = new Planner(kinds, days, Float64Array.from(kinds.count), capacity);
  if (cleared?.kind === 'cleared') {
    const bound = all.evaluate(cleared.price, new Float64Array(days));
    return repair(all.fit(cleared.price, bound, cleared));
  }
  const most = kinds.count.length <= fewKinds ? polishFewMax : polishMax;
  const rounds = Math.min(most, Math.floor(polishWork / (kinds.count.length * days * days)));
  // Enough steps of descent make Newton's superfluous, which cost a search for every day each.
  if (rounds === most) {
    const price = all.fallingPrice();
    const plan = all.fit(price, all.evaluate(price, new Float64Array(days)));
    return all.polish(repair(plan), rounds, repair);
  }
  const sample = all.sample(sampleMax);
  const { price } = sample.climb(sample.fallingPrice(), newtonSample, sample);
  const found = all.climb(price, newtonAll, sample);
  const plan = repair(all.fit(found.price, found.bound));
  return rounds < polishLeast ? plan : all.polish(plan, rounds, repair);
}

class Planner {
  readonly #kinds: Kinds;
  readonly #days: number;
  readonly #count: Float64Array;
  readonly #capacity: number;
  readonly #list: Int32Array | undefined;
  readonly #index: Int32Array;
  readonly #value: Float64Array;
  readonly #from: Int32Array;

  constructor(kinds: Kinds, days: number, count: Float64Array, capacity: number, list?: Int32Array) {
    this.#kinds = kinds;
    this.#days = days;
    this.#count = count;
    this.#capacity = capacity;
    this.#list = list;
    this.#value = new Float64Array(days + 2);
    this.#from = new Int32Array(days + 2);
    this.#index = new Int32Array(days + 1);
    for (let e = 0; e < days; e++) this.#index[e] = costIndex(days, e, e + 1);
  }

  /** Every so many-th kind, with a capacity to match. */
  sample(max: number): Planner {
    const size = this.#count.length;
    if (size <= max) return this;
    const stride = size / max;
    const list = Int32Array.from({ length: max }, (_, n) => Math.floor((n + 0.5) * stride));
    const share = list.reduce((sum, kind) => sum + this.#count[kind], 0) / this.#count.reduce((a, b) => a + b, 0);
    return new Planner(this.#kinds, this.#days, this.#count, this.#capacity * share, list);
  }

  /** The shortest path of one kind; leaves the way in `from`. */
  #path(kind: number, price: ArrayLike<number>): number {
    const days = this.#days;
    const value = this.#value;
    const from = this.#from;
    const { costs, offset, weight } = this.#kinds;
    const base = offset[kind];
    const heavy = weight[kind];
    // Forward from each day: looking next on f costs the gap's days in between, which stand side by side.
    const end = days + 1;
    value[0] = 0;
    value[1] = price[0];
    from[1] = 0;
    for (let f = 2; f <= end; f++) {
      value[f] = heavy * costs[base + f - 2] + (f < end ? price[f - 1] : 0);
      from[f] = 0;
    }
    for (let e = 1; e <= days; e++) {
      const here = value[e];
      const toll = e < days ? price[e] : 0;
      if (here + toll < value[e + 1]) {
        value[e + 1] = here + toll;
        from[e + 1] = e;
      }
      const row = base + this.#index[e] - e - 2;
      for (let f = e + 2; f < end; f++) {
        const cost = here + heavy * costs[row + f] + price[f - 1];
        if (cost < value[f]) {
          value[f] = cost;
          from[f] = e;
        }
      }
      if (e < days) {
        const cost = here + heavy * costs[row + end];
        if (cost < value[end]) {
          value[end] = cost;
          from[end] = e;
        }
      }
    }
    return value[days + 1];
  }

  /** D(p); `wanted` gets the observations wanted on each day. */
  evaluate(price: Float64Array, wanted: Float64Array): number {
    wanted.fill(0);
    let sum = 0;
    const size = this.#list?.length ?? this.#count.length;
    for (let n = 0; n < size; n++) {
      const kind = this.#list ? this.#list[n] : n;
      sum += this.#count[kind] * this.#path(kind, price);
      for (let f = this.#from[this.#days + 1]; f > 0; f = this.#from[f]) wanted[f - 1] += this.#count[kind];
    }
    for (let d = 0; d < this.#days; d++) sum -= this.#capacity * price[d];
    return sum;
  }

  /**
   * Prices that fall day by day to nothing after the last (an early look serves more days), at which observations over
   * all days are as many as there may be.
   */
  fallingPrice(): Float64Array {
    const wanted = new Float64Array(this.#days);
    const falling = (price: number) =>
      Float64Array.from({ length: this.#days }, (_, d) => price * (1 - d / (this.#days + 1)));
    const total = (price: number) => {
      this.evaluate(falling(price), wanted);
      return wanted.reduce((a, b) => a + b, 0);
    };
    let high = 1e-9;
    while (total(high) > this.#capacity * this.#days && high < 1e12) high *= 4;
    let low = 0;
    for (let n = 0; n < 30; n++) {
      const middle = (low + high) / 2;
      if (total(middle) > this.#capacity * this.#days) low = middle;
      else high = middle;
    }
    return falling(high);
  }

  /** Newton's steps with Levenberg and Marquardt's damping, slopes from `slopes`, every gain kept. */
  climb(start: Float64Array, steps: number, slopes: Planner): { price: Float64Array; bound: number } {
    const wanted = new Float64Array(this.#days);
    const there = new Float64Array(this.#days);
    let price = start;
    let bound = this.evaluate(price, wanted);
    let damping = 0.01;
    for (let n = 0; n < steps && damping < 1e4 && !this.#isClear(price, wanted); n++) {
      const jacobian = slopes.#slopes(price);
      let moved = false;
      for (let trial = 0; trial < 4 && !moved; trial++, damping *= moved ? 1 : 8) {
        const move = this.#move(price, wanted, jacobian, slopes.#capacity / this.#capacity, damping);
        const tried = price.map((p, d) => Math.max(0, p + move[d]));
        const value = this.evaluate(tried, there);
        if (!(value > bound)) continue;
        [price, bound, moved] = [tried, value, true];
        wanted.set(there);
        damping /= 4;
      }
    }
    return { price, bound };
  }

  /** So near to the capacities that moving the rest of the pages costs less than any bound could show. */
  #isClear(price: Float64Array, wanted: Float64Array): boolean {
    return price.every((p, d) => {
      const excess = wanted[d] / this.#capacity - 1;
      return excess < clearWithin && (excess > -clearWithin || p === 0);
    });
  }

  /** How the observations wanted on each day answer to each day's price, by differences. */
  #slopes(price: Float64Array): Float64Array[] {
    const days = this.#days;
    const step = Math.max(1e-12, (0.02 * price.reduce((a, b) => a + b, 0)) / days);
    const here = new Float64Array(days);
    const there = new Float64Array(days);
    this.evaluate(price, here);
    const slopes = Array.from({ length: days }, () => new Float64Array(days));
    for (let d = 0; d < days; d++) {
      const moved = Float64Array.from(price);
      moved[d] += step;
      this.evaluate(moved, there);
      for (let other = 0; other < days; other++) slopes[other][d] = (there[other] - here[other]) / step;
    }
    return slopes;
  }

  /** The step that would bring what is wanted to the capacity; days that are free and not wanted stay so. */
  #move(price: Float64Array, wanted: Float64Array, jacobian: Float64Array[], share: number, damping: number) {
    const days = this.#days;
    const usual = price.reduce((a, b) => a + b, 0) / days;
    const free = Array.from({ length: days }, (_, d) => d).filter((d) => price[d] > 0 || wanted[d] > this.#capacity);
    const least = (0.01 * this.#capacity) / Math.max(usual, 1e-9);
    const rows = free.map((d, r) =>
      Float64Array.from([
        ...free.map((other, c) => {
          const slope = jacobian[d][other] / share;
          return r === c ? Math.min(slope, -least) * (1 + damping) : slope;
        }),
        this.#capacity - wanted[d],
      ]),
    );
    const solution = solveLinear(rows);
    const move = new Float64Array(days);
    free.forEach((d, r) => (move[d] = solution[r]));
    return move;
  }

  /** Whole plans within the capacities, from prices. */
  fit(price: Float64Array, bound: number, cleared?: Cleared): HorizonPlan {
    const days = this.#days;
    const { kindOf } = this.#kinds;
    const looks = new Uint8Array(kindOf.length * days);
    const used = new Int32Array(days);
    const put = (page: number, kind: number, prices: ArrayLike<number>) => {
      this.#path(kind, prices);
      for (let d = 0; d < days; d++) {
        used[d] -= looks[page * days + d];
        looks[page * days + d] = 0;
      }
      for (let f = this.#from[days + 1]; f > 0; f = this.#from[f]) {
        looks[page * days + f - 1] = 1;
        used[f - 1]++;
      }
    };
    const within = (page: number) =>
      price.map((p, d) => (used[d] - looks[page * days + d] < this.#capacity ? p : Infinity));
    const rest = cleared ? deal(cleared, kindOf, days, looks, used) : undefined;
    if (rest) for (const page of rest) put(page, kindOf[page], within(page));
    else for (let page = 0; page < kindOf.length; page++) put(page, kindOf[page], price);
    for (const page of this.#leastRegret(price, looks, (d) => used[d] > this.#capacity)) {
      if (!used.some((count) => count > this.#capacity)) break;
      if (used.some((count, d) => count > this.#capacity && looks[page * days + d]))
        put(page, kindOf[page], within(page));
    }
    const room = (d: number) => used[d] < this.#capacity && price[d] > 0;
    const cheap = price.map((p, d) => (room(d) ? 0 : p));
    for (const page of this.#mostGain(price, cheap)) {
      if (!cheap.some((_, d) => room(d))) break;
      put(
        page,
        kindOf[page],
        within(page).map((p, d) => (room(d) ? 0 : p)),
      );
    }
    this.#fillUp(looks, used);
    const cost = this.#cost(looks);
    return { looks, cost, lowerBound: Math.min(bound, cost), prices: price };
  }

  /** Steps up the slope of D towards the plan's cost, and the plans of the best prices met on the way. */
  polish(plan: HorizonPlan, rounds: number, repair: Repair): HorizonPlan {
    let best = plan;
    let next = 0;
    const valueAt = (price: Float64Array, slope: Float64Array): number => {
      const value = this.evaluate(price, slope);
      for (let d = 0; d < this.#days; d++) slope[d] = this.#capacity - slope[d];
      return -value;
    };
    const { bound, price } = priceBoundByDescent(valueAt, plan.prices, -plan.cost, rounds, 1e-9, (tried, most, n) => {
      if (n >= next) {
        next = n + rounds / 6;
        const again = repair(this.fit(tried, -most));
        if (again.cost < best.cost) best = again;
      }
      return -best.cost;
    });
    const last = repair(this.fit(price, -bound));
    if (last.cost < best.cost) best = last;
    return { ...best, lowerBound: Math.min(best.cost, Math.max(plan.lowerBound, -bound)), prices: price };
  }

  /** Pages that look on a crowded day, those first that lose least by planning around all of them. */
  #leastRegret(price: Float64Array, looks: Uint8Array, crowded: (d: number) => boolean): Iterable<number> {
    const days = this.#days;
    const { kindOf } = this.#kinds;
    const without = price.map((p, d) => (crowded(d) ? Infinity : p));
    const pages: number[] = [];
    const regret = new Float64Array(kindOf.length);
    for (let page = 0; page < kindOf.length; page++) {
      let touched = false;
      for (let d = 0; d < days; d++) touched ||= looks[page * days + d] === 1 && without[d] === Infinity;
      if (!touched) continue;
      pages.push(page);
      regret[page] = this.#path(kindOf[page], without) - this.#path(kindOf[page], price);
    }
    return leastFirst(pages, regret, (a, b) => b - a);
  }

  #mostGain(price: Float64Array, cheap: Float64Array): Iterable<number> {
    const { kindOf } = this.#kinds;
    if (cheap.every((p, d) => p === price[d])) return [];
    const pages: number[] = [];
    const gain = new Float64Array(kindOf.length);
    for (let page = 0; page < kindOf.length; page++) {
      gain[page] = this.#path(kindOf[page], cheap) - this.#path(kindOf[page], price);
      if (gain[page] < 0) pages.push(page);
    }
    return leastFirst(pages, gain, (a, b) => a - b);
  }

  /** Room that is left over goes to the lowest pages: looking never costs. */
  #fillUp(looks: Uint8Array, used: Int32Array): void {
    const pages = this.#kinds.kindOf.length;
    for (let d = 0; d < this.#days; d++) {
      for (let page = 0; page < pages && used[d] < this.#capacity; page++) {
        if (looks[page * this.#days + d]) continue;
        looks[page * this.#days + d] = 1;
        used[d]++;
      }
    }
  }

  #cost(looks: Uint8Array): number {
    const days = this.#days;
    const { kindOf, weight, offset, costs } = this.#kinds;
    let total = 0;
    for (let page = 0; page < kindOf.length; page++) {
      const kind = kindOf[page];
      let last = 0;
      for (let d = 1; d <= days + 1; d++) {
        if (d <= days && !looks[page * days + d - 1]) continue;
        if (d > last + 1) total += weight[kind] * costs[offset[kind] + this.#index[last] + d - last - 2];
        last = d;
      }
    }
    return total;
  }
}

/** Gives each kind's pages the whole part of its shares; returns the pages that are left. */
function deal(cleared: Cleared, kindOf: Int32Array, days: number, looks: Uint8Array, used: Int32Array): number[] {
  const hands = cleared.shares.map((list) => list.map(({ plan, share }) => ({ plan, left: Math.floor(share + 1e-6) })));
  const rest: number[] = [];
  for (let page = 0; page < kindOf.length; page++) {
    const hand = hands[kindOf[page]].find(({ left }) => left > 0);
    if (!hand) {
      rest.push(page);
      continue;
    }
    hand.left--;
    for (const row of hand.plan.rows) {
      looks[page * days + row] = 1;
      used[row]++;
    }
  }
  return rest;
}

/** Gaussian elimination on rows with their right-hand side last; a row without pivot gives 0. */
function solveLinear(rows: Float64Array[]): Float64Array {
  const size = rows.length;
  for (let c = 0; c < size; c++) {
    let best = c;
    for (let r = c + 1; r < size; r++) if (Math.abs(rows[r][c]) > Math.abs(rows[best][c])) best = r;
    [rows[c], rows[best]] = [rows[best], rows[c]];
    if (Math.abs(rows[c][c]) < 1e-300) continue;
    for (let r = 0; r < size; r++) {
      if (r === c) continue;
      const factor = rows[r][c] / rows[c][c];
      if (factor !== 0) for (let k = c; k <= size; k++) rows[r][k] -= factor * rows[c][k];
    }
  }
  return Float64Array.from(rows, (row, r) => (Math.abs(row[r]) < 1e-300 ? 0 : row[size] / row[r]));
}
