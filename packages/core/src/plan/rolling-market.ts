/**
 * What to do now, when there is a plan for the next n rows (instants, days) with a capacity each and the plan is made anew at
 * every row: pages decouple at prices per row, each has its best path
 *
 *   V(e) = max( end(e),  max over f > e of  worth(e, f) − price(f) + V(f) ),   e = 0 the past, f = 1 now,
 *
 * and those look now that lose most by not doing so: worth(0, 1) + V(1) less the best that begins later. That order does not
 * depend on the price of now, so the capacity is kept whatever the prices are; right prices of later rows
 * make it the optimum's first row (plan ties aside), and with one row it is the greedy.
 *
 * Prices of a few pages are those of the linear programme (clearing.ts): with few, a page more or less is much, and prices that
 * merely move with what is wanted would swing. Of many pages they are the last plan's one row on, moved by what is wanted too
 * much or too little, O(n²) a page and move.
 */
import { type Plan, clear } from './clearing.ts';

/** Where worth(e, f) stands in a page's table, 0 ≤ e < f ≤ rows; the ends follow, then there are `tableCells`. */
export function tableIndex(rows: number, e: number, f: number): number {
  return e * rows - (e * (e - 1)) / 2 + (f - e - 1);
}

export function endIndex(rows: number, e: number): number {
  return (rows * (rows + 1)) / 2 + e;
}

export function tableCells(rows: number): number {
  return (rows * (rows + 1)) / 2 + rows + 1;
}

// Up to so many pages the programme takes milliseconds, unless the caller is in a hurry.
const exactPagesUsual = 200;
const pivotsMax = 2_000;

// Moves of prices: many for the first plan, a few where the last plan's are nearly right.
const movesFirst = 40;
const movesAfter = 6;
// The greatest move, as a factor, and how moves shrink within one plan.
const moveMost = 0.5;
const moveFade = 0.93;

export class RollingMarket {
  readonly rows: number;
  readonly cells: number;
  readonly #exactPagesMax: number;
  #price: Float64Array;
  #moves = movesFirst;
  readonly #value: Float64Array;
  readonly #next: Int32Array;
  readonly #from: Int32Array;

  constructor(rows: number, exactPagesMax = exactPagesUsual) {
    this.rows = rows;
    this.#exactPagesMax = exactPagesMax;
    this.cells = tableCells(rows);
    this.#price = new Float64Array(rows + 1);
    this.#value = new Float64Array(rows + 1);
    this.#next = new Int32Array(rows + 1);
    this.#from = Int32Array.from({ length: rows + 1 }, (_, e) => tableIndex(rows, e, e + 1) - e - 1);
  }

  /** What a look at each coming row costs, the present one first. */
  get prices(): Float64Array {
    return this.#price.slice(1);
  }

  /** Prices of an earlier plan to begin with. */
  set prices(price: Float64Array) {
    if (price.length !== this.rows || !price.every((one) => one >= 0 && one < Infinity)) return;
    this.#price.set(price, 1);
    this.#moves = movesAfter;
  }

  /** One row further on: the last row's price is the best guess for the one that has come into sight. */
  roll(): void {
    this.#price.copyWithin(1, 2);
  }

  /**
   * The pages to look at now, by falling regret and at most the first capacity: their places among the tables. Nobody looks who
   * would lose by it.
   */
  choose(tables: Float64Array, pages: number, capacity: Float64Array): Int32Array {
    const exact = this.rows > 1 && pages <= this.#exactPagesMax;
    // Prices of few pages are found from nothing each time: when nobody may look now they need not be.
    if (exact && capacity[0] < 1) return new Int32Array(0);
    const worthNow = (page: number) => tables[page * this.cells];
    const share = new Float64Array(pages);
    if (exact) this.#clear(tables, pages, capacity, share);
    else if (this.rows > 1) this.#move(tables, pages, capacity);
    const regret = new Float64Array(pages);
    const willing: number[] = [];
    const nothing = 1e-12 * this.#greatestWorth(tables, pages);
    for (let page = 0; page < pages; page++) {
      regret[page] = this.#regret(tables, page * this.cells);
      // Who may as well look now does: what is captured now is had sooner.
      const willingly = regret[page] > nothing || (regret[page] >= -nothing && worthNow(page) > nothing);
      if (willingly || share[page] > 1e-6) willing.push(page);
    }
    return Int32Array.from(
      willing
        .sort((a, b) => {
          if (Math.abs(share[a] - share[b]) > 1e-6) return share[b] - share[a];
          if (Math.abs(regret[a] - regret[b]) > nothing) return regret[b] - regret[a];
          return Math.abs(worthNow(a) - worthNow(b)) > nothing ? worthNow(b) - worthNow(a) : a - b;
        })
        .slice(0, capacity[0]),
    );
  }

  /** The programme's prices, and of each page how much of it looks now in its solution. */
  #clear(tables: Float64Array, pages: number, capacity: Float64Array, share: Float64Array): void {
    const plan = (page: number): Plan => {
      const base = page * this.cells;
      const looks: number[] = [];
      let value = 0;
      let e = 0;
      for (let f = this.#next[0]; f <= this.rows; f = this.#next[f]) {
        value += tables[base + this.#from[e] + f];
        looks.push(f - 1);
        e = f;
      }
      return { rows: Int32Array.from(looks), value: value + tables[base + endIndex(this.rows, e)] };
    };
    const none = Array.from({ length: pages }, (_, page): Plan => {
      return { rows: new Int32Array(0), value: tables[page * this.cells + endIndex(this.rows, 0)] };
    });
    const market = {
      pages,
      capacity,
      best: (page: number, price: Float64Array): Plan => {
        this.#price.set(price, 1);
        this.#paths(tables, page * this.cells, 0);
        return plan(page);
      },
    };
    const { price, shares } = clear(market, none, (_, given) => given, pivotsMax);
    this.#price.set(price, 1);
    shares.forEach((list, page) => {
      for (const one of list) if (one.plan.rows[0] === 0) share[page] += one.share;
    });
  }

  #move(tables: Float64Array, pages: number, capacity: Float64Array): void {
    const wanted = new Float64Array(this.rows + 1);
    const usual = this.#greatestWorth(tables, pages);
    if (usual === 0) return;
    let reach = moveMost;
    for (let move = 0; move < this.#moves; move++, reach *= moveFade) {
      wanted.fill(0);
      for (let page = 0; page < pages; page++) this.#want(tables, page * this.cells, wanted);
      for (let row = 1; row <= this.rows; row++) {
        const room = Math.max(1e-9, capacity[row - 1]);
        const excess = Math.max(-1, Math.min(1, wanted[row] / room - 1));
        const price = Math.max(this.#price[row], excess > 0 ? 0.01 * usual : 0) * Math.exp(reach * excess);
        this.#price[row] = price < 1e-9 * usual ? 0 : price;
      }
    }
    this.#moves = movesAfter;
  }

  /** The greatest worth of a look now over all pages: the scale of prices. */
  #greatestWorth(tables: Float64Array, pages: number): number {
    let most = 0;
    for (let page = 0; page < pages; page++) {
      const base = page * this.cells;
      most = Math.max(most, Math.abs(tables[base + this.rows - 1]), Math.abs(tables[base + endIndex(this.rows, 0)]));
    }
    return most;
  }

  /** V for all e, and where each goes from there; rows + 1 stands for the end. */
  #paths(tables: Float64Array, base: number, least: number): void {
    const { rows } = this;
    for (let e = rows; e >= least; e--) {
      let best = tables[base + endIndex(rows, e)];
      let next = rows + 1;
      const from = base + this.#from[e];
      for (let f = e + 1; f <= rows; f++) {
        const value = tables[from + f] - this.#price[f] + this.#value[f];
        if (value > best) [best, next] = [value, f];
      }
      this.#value[e] = best;
      this.#next[e] = next;
    }
  }

  /** The row at which a page would look next at the prices; rows + 1 when at none of them. */
  nextRow(tables: Float64Array, page: number): number {
    this.#paths(tables, page * this.cells, 0);
    return this.#next[0];
  }

  #want(tables: Float64Array, base: number, wanted: Float64Array): void {
    this.#paths(tables, base, 0);
    for (let f = this.#next[0]; f <= this.rows; f = this.#next[f]) wanted[f]++;
  }

  #regret(tables: Float64Array, base: number): number {
    this.#paths(tables, base, 1);
    const now = tables[base] + this.#value[1];
    let later = tables[base + endIndex(this.rows, 0)];
    for (let f = 2; f <= this.rows; f++) {
      later = Math.max(later, tables[base + f - 1] - this.#price[f] + this.#value[f]);
    }
    return now - later;
  }
}
