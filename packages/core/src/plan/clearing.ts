/**
 * The best assignment of one plan to each page when plans share capacities, as a linear programme by columns:
 *
 *   max Σ value(plan) · x(plan)   such that   Σ x(plans of a page) = its count,   Σ x(plans that use row r) ≤ capacity(r),   x ≥ 0.
 *
 * A row is an instant, a day or a site's instant; a plan is the rows it uses. Columns are not listed: a page's best plan at
 * the current prices is the only one that can enter (each page is a market of one). The programme is solved by the
 * simplex method with generalised upper bounds (Dantzig and Van Slyke 1967): a page's `key` plan stands for its
 * convexity row, so that the basis to invert has the size of the capacities, whatever the number of pages.
 *
 * Invariants: `x` of all basic columns and keys ≥ 0; prices make the reduced value of basic columns 0. It ends when no page
 * has a better plan than its key at the prices and no price is negative; then Σ best + Σ capacity · price is the optimum.
 * A pivot costs O(rows²) and one search for a best plan. Numerically delicate: ties in the ratio test; capacities are
 * raised by about 1e-7 each, by different amounts, and the solution is read from the basis without them. The inverse is made
 * anew every 100 pivots.
 */

export interface Plan {
  /** The rows used, ascending. */
  readonly rows: Int32Array;
  readonly value: number;
}

export interface Market {
  readonly pages: number;
  readonly capacity: ArrayLike<number>;
  /** How many pages this one stands for; 1 where it is not said. */
  count?(page: number): number;
  /**
   * The plan with the greatest value − Σ price of its rows, all prices as given (infinite ones too, and negative ones
   * unless `anySign` is false).
   */
  best(page: number, price: Float64Array, anySign?: boolean): Plan;
}

export interface Cleared {
  readonly kind: 'cleared' | 'out-of-steps';
  readonly price: Float64Array;
  /** The prices of the same basis without what `adjust` did to it. */
  readonly plain: Float64Array;
  /** The basic plans of each page and their shares, which add up to its count. */
  readonly shares: readonly { readonly plan: Plan; readonly share: number }[][];
  /** An upper bound on the value of any assignment, fractional ones too; the optimum of the programme when cleared. */
  readonly bound: number;
  /** Pivots made. */
  readonly steps: number;
}

interface Basic {
  /** −1 for a slack. */
  readonly page: number;
  readonly plan: Plan;
  /** What the plan is worth to its page before prices, with bonuses and fixed looks; prices ask for it at every pivot. */
  readonly worth: number;
}

const tolerance = 1e-11;

/** `start` must keep within capacities; `adjust` changes the prices a page sees (bonuses for ties, fixed looks). */
export function clear(
  market: Market,
  start: readonly Plan[],
  adjust: (page: number, price: Float64Array) => Float64Array,
  pivotsMax: number,
): Cleared {
  const basis = new Basis(market, start, adjust);
  let clean = 0;
  let page = 0;
  let steps = 0;
  // A whole round of pages without a better plan is the proof.
  while (market.pages > 0 && clean <= market.pages && steps < pivotsMax) {
    if (basis.freeCapacity() || basis.improve(page)) {
      clean = 0;
      steps++;
    } else clean++;
    page = page + 1 < market.pages ? page + 1 : 0;
  }
  return basis.solution(steps, steps >= pivotsMax);
}

class Basis {
  readonly #market: Market;
  readonly #adjust: (page: number, price: Float64Array) => Float64Array;
  readonly #rows: number;
  readonly #key: Plan[];
  readonly #keyWorth: number[];
  readonly #basic: Basic[];
  readonly #inverse: Float64Array[];
  readonly #capacity: Float64Array;
  #x: Float64Array;
  #price: Float64Array;
  #sinceInversion = 0;
  #scale: number;

  constructor(market: Market, start: readonly Plan[], adjust: (page: number, price: Float64Array) => Float64Array) {
    this.#market = market;
    this.#adjust = adjust;
    this.#rows = market.capacity.length;
    this.#key = [...start];
    this.#keyWorth = start.map((plan, page) => this.#worth(page, plan));
    this.#basic = Array.from({ length: this.#rows }, (_, row) => slack(row));
    this.#inverse = Array.from({ length: this.#rows }, (_, row) => unit(this.#rows, row));
    // The golden ratio spreads the raises so that no two sums of a few of them are alike.
    this.#capacity = Float64Array.from(
      { length: this.#rows },
      (_, row) => market.capacity[row] + 1e-7 * (1 + ((row * 0.6180339887498949) % 1)),
    );
    this.#scale = Math.max(1e-300, ...start.map((plan) => Math.abs(plan.value)));
    this.#x = new Float64Array(this.#rows);
    this.#price = new Float64Array(this.#rows);
    this.#evaluate();
  }

  /** Lets a row with a negative price be used less. */
  freeCapacity(): boolean {
    let row = -1;
    let least = -tolerance * this.#scale;
    for (let r = 0; r < this.#rows; r++) {
      if (this.#price[r] < least) {
        least = this.#price[r];
        row = r;
      }
    }
    if (row < 0) return false;
    const column = Float64Array.from(this.#inverse, (line) => line[row]);
    this.#enter(slack(row), column);
    return true;
  }

  /** Brings in the page's best plan at the prices when it beats its key. */
  improve(page: number): boolean {
    const seen = this.#adjust(page, this.#price);
    const plan = this.#market.best(page, seen);
    const key = this.#key[page];
    const gain = net(plan, seen) - net(key, seen);
    this.#scale = Math.max(this.#scale, Math.abs(plan.value));
    if (!(gain > tolerance * this.#scale)) return false;
    this.#enter({ page, plan, worth: this.#worth(page, plan) }, this.#column(plan, key));
    return true;
  }

  /** The inverse times (plan − key). */
  #column(plan: Plan, key: Plan): Float64Array {
    return Float64Array.from(this.#inverse, (line) => {
      let sum = 0;
      for (const row of plan.rows) sum += line[row];
      for (const row of key.rows) sum -= line[row];
      return sum;
    });
  }

  #enter(entering: Basic, direction: Float64Array): void {
    const { page } = entering;
    // How fast the key of each page with basic plans loses, and what it has.
    const loss = new Map<number, number>();
    const has = new Map<number, number>();
    if (page >= 0) {
      loss.set(page, 1);
      has.set(page, this.#count(page));
    }
    for (let pos = 0; pos < this.#rows; pos++) {
      const owner = this.#basic[pos].page;
      if (owner < 0) continue;
      loss.set(owner, (loss.get(owner) ?? 0) - direction[pos]);
      has.set(owner, (has.get(owner) ?? this.#count(owner)) - this.#x[pos]);
    }
    let step = Infinity;
    let pivot = 0;
    let leaving = -1;
    let leavingKey = -1;
    const smallest = 1e-9;
    for (let pos = 0; pos < this.#rows; pos++) {
      const rate = direction[pos];
      if (rate <= smallest) continue;
      const ratio = Math.max(0, this.#x[pos]) / rate;
      if (ratio < step - 1e-14 || (ratio <= step + 1e-14 && rate > pivot)) {
        [step, pivot, leaving, leavingKey] = [ratio, rate, pos, -1];
      }
    }
    for (const [owner, rate] of loss) {
      if (rate <= smallest) continue;
      const ratio = Math.max(0, has.get(owner) ?? 0) / rate;
      if (ratio < step - 1e-14 || (ratio <= step + 1e-14 && rate > pivot)) {
        [step, pivot, leaving, leavingKey] = [ratio, rate, -1, owner];
      }
    }
    if (leavingKey >= 0) this.#replaceKey(leavingKey, entering);
    else if (leaving >= 0) this.#pivot(leaving, entering, direction);
    if (++this.#sinceInversion >= 100) this.#invert();
    this.#evaluate();
  }

  #replaceKey(owner: number, entering: Basic): void {
    const positions = this.#basic.flatMap((basic, pos) => (basic.page === owner ? [pos] : []));
    if (positions.length === 0) {
      // Only the entering plan's own page can lose its key with nothing else to stand for it.
      this.#key[owner] = entering.plan;
      this.#keyWorth[owner] = entering.worth;
      return;
    }
    const [pos] = positions;
    const line = this.#inverse[pos];
    for (const other of positions.slice(1)) addTo(line, this.#inverse[other], 1);
    for (let r = 0; r < this.#rows; r++) line[r] = -line[r];
    const old = { page: owner, plan: this.#key[owner], worth: this.#keyWorth[owner] };
    this.#key[owner] = this.#basic[pos].plan;
    this.#keyWorth[owner] = this.#basic[pos].worth;
    this.#basic[pos] = old;
    const direction =
      entering.page < 0
        ? Float64Array.from(this.#inverse, (l) => l[entering.plan.rows[0]])
        : this.#column(entering.plan, this.#key[entering.page]);
    this.#pivot(pos, entering, direction);
  }

  #pivot(pos: number, entering: Basic, direction: Float64Array): void {
    const line = this.#inverse[pos];
    const scale = 1 / direction[pos];
    for (let r = 0; r < this.#rows; r++) line[r] *= scale;
    for (let other = 0; other < this.#rows; other++) {
      if (other !== pos && direction[other] !== 0) addTo(this.#inverse[other], line, -direction[other]);
    }
    this.#basic[pos] = entering;
  }

  /** Shares and prices from the inverse. */
  #evaluate(): void {
    const free = this.#residual(this.#capacity);
    this.#x = Float64Array.from(this.#inverse, (line) => dot(line, free));
    this.#price = this.#pricesOf(({ page, worth }) => worth - this.#keyWorth[page]);
  }

  /** From how much more than its page's key each basic plan is worth. */
  #pricesOf(overKey: (basic: Basic) => number): Float64Array {
    const price = new Float64Array(this.#rows);
    for (let pos = 0; pos < this.#rows; pos++) {
      const basic = this.#basic[pos];
      if (basic.page < 0) continue;
      const worth = overKey(basic);
      if (worth !== 0) addTo(price, this.#inverse[pos], worth);
    }
    return price;
  }

  #worth(page: number, plan: Plan): number {
    const nothing = new Float64Array(this.#rows);
    return net(plan, this.#adjust(page, nothing));
  }

  #count(page: number): number {
    return this.#market.count?.(page) ?? 1;
  }

  #residual(capacity: ArrayLike<number>): Float64Array {
    const free = Float64Array.from(capacity);
    this.#key.forEach((plan, page) => {
      for (const row of plan.rows) free[row] -= this.#count(page);
    });
    return free;
  }

  #invert(): void {
    this.#sinceInversion = 0;
    const size = this.#rows;
    const matrix = Array.from({ length: size }, () => new Float64Array(size));
    this.#basic.forEach(({ page, plan }, pos) => {
      for (const row of plan.rows) matrix[row][pos] += 1;
      if (page >= 0) for (const row of this.#key[page].rows) matrix[row][pos] -= 1;
    });
    const inverse = Array.from({ length: size }, (_, row) => unit(size, row));
    for (let c = 0; c < size; c++) {
      let best = c;
      for (let r = c + 1; r < size; r++) if (Math.abs(matrix[r][c]) > Math.abs(matrix[best][c])) best = r;
      [matrix[c], matrix[best]] = [matrix[best], matrix[c]];
      [inverse[c], inverse[best]] = [inverse[best], inverse[c]];
      const scale = 1 / matrix[c][c];
      for (let k = 0; k < size; k++) {
        matrix[c][k] *= scale;
        inverse[c][k] *= scale;
      }
      for (let r = 0; r < size; r++) {
        const factor = matrix[r][c];
        if (r === c || factor === 0) continue;
        addTo(matrix[r], matrix[c], -factor);
        addTo(inverse[r], inverse[c], -factor);
      }
    }
    for (let r = 0; r < size; r++) this.#inverse[r].set(inverse[r]);
  }

  solution(steps: number, early: boolean): Cleared {
    const x = Float64Array.from(this.#inverse, (line) => dot(line, this.#residual(this.#market.capacity)));
    const shares = this.#key.map((plan, page) => [{ plan, share: this.#count(page) }]);
    for (let pos = 0; pos < this.#rows; pos++) {
      const { page, plan } = this.#basic[pos];
      if (page < 0) continue;
      shares[page][0].share -= x[pos];
      shares[page].push({ plan, share: x[pos] });
    }
    const price = this.#price.map((p) => Math.max(0, p));
    let bound = 0;
    for (let r = 0; r < this.#rows; r++) bound += price[r] * this.#market.capacity[r];
    for (let page = 0; page < this.#market.pages; page++) {
      const seen = this.#adjust(page, price);
      bound += this.#count(page) * net(this.#market.best(page, seen), seen);
    }
    // What is left of 0 after rounding is 0.
    const least = 1e-12 * this.#scale;
    const plain = this.#pricesOf(({ page, plan }) => plan.value - this.#key[page].value).map((p) =>
      p > least ? p : 0,
    );
    return { kind: early ? 'out-of-steps' : 'cleared', price, plain, shares, bound, steps };
  }
}

function slack(row: number): Basic {
  return { page: -1, plan: { rows: Int32Array.of(row), value: 0 }, worth: 0 };
}

function unit(size: number, at: number): Float64Array {
  const line = new Float64Array(size);
  line[at] = 1;
  return line;
}

/** The value of a plan less the prices of its rows. */
export function net(plan: Plan, price: ArrayLike<number>): number {
  let sum = plan.value;
  for (const row of plan.rows) sum -= price[row];
  return sum;
}

function addTo(line: Float64Array, other: Float64Array, factor: number): void {
  for (let r = 0; r < line.length; r++) line[r] += factor * other[r];
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let r = 0; r < a.length; r++) sum += a[r] * b[r];
  return sum;
}
