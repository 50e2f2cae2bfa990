/**
 * Two pages at a time plan again, jointly and exactly, in the rows that all others leave to them, until no two can gain:
 *
 *   max over their looks of  Σ worth(last look, look)   such that no row is used above its capacity.
 *
 * What a gap between looks is worth adds up over gaps, so the future depends on the last look of each page alone. A look more
 * never harms here, so in every row open to them at least one of the two looks: one last look is always the present row, and
 * a state is the other. O(k²) for k open rows, which with full capacities are those that the two hold already.
 *
 * It closes what plans at prices leave: pages that are alike are indifferent at the prices, and who takes which row is decided
 * one page at a time. Never worse than what it is given.
 */
export interface Gaps {
  readonly pages: number;
  readonly instants: number;
  /** By row: the instants, then those of each limited site. */
  readonly capacity: ArrayLike<number>;
  /** Where the rows of the page's site begin; −1 where it has none. */
  readonly siteRowOf: (page: number) => number;
  /** What looking next at f is worth when the last look was at e, 0 ≤ e < f ≤ instants; f = instants + 1 is never looking again. */
  readonly worth: (page: number, e: number, f: number) => number;
}

/** `looks[page]` are instants from 1, ascending, and are replaced; returns what was gained. Steps are elementary ones. */
export function exchangePairs(gaps: Gaps, looks: number[][], stepsMax: number): { gained: number; steps: number } {
  return new Exchange(gaps, looks).run(stepsMax);
}

const one = 1;
const other = 2;
const both = 4;

class Exchange {
  readonly #gaps: Gaps;
  readonly #looks: number[][];
  readonly #left: Int32Array;
  readonly #value: Float64Array;
  /** Open rows, from 1; `at[0]` is the start. */
  readonly #at: Int32Array;
  readonly #open: Uint8Array;
  /** Values with the first page seen last now, by the other's last row, and the other way round. */
  #first: Float64Array;
  #second: Float64Array;
  readonly #cameFirst: Int32Array;
  readonly #cameSecond: Int32Array;
  readonly #cameBoth: Int32Array;

  constructor(gaps: Gaps, looks: number[][]) {
    this.#gaps = gaps;
    this.#looks = looks;
    const size = gaps.instants + 2;
    this.#left = Int32Array.from(gaps.capacity);
    this.#at = new Int32Array(size);
    this.#open = new Uint8Array(size);
    this.#first = new Float64Array(size);
    this.#second = new Float64Array(size);
    this.#cameFirst = new Int32Array(size);
    this.#cameSecond = new Int32Array(size);
    this.#cameBoth = new Int32Array(size);
    this.#value = Float64Array.from(looks, (list, page) => this.#worthOf(page, list));
    looks.forEach((_, page) => this.#use(page, -1));
  }

  run(stepsMax: number): { gained: number; steps: number } {
    const { pages } = this.#gaps;
    const changed = new Int32Array(pages).fill(1);
    let gained = 0;
    let steps = 0;
    for (let round = 1, since = 0; steps < stepsMax; round++) {
      let moved = false;
      for (let a = 0; a < pages && steps < stepsMax; a++) {
        for (let b = a + 1; b < pages && steps < stepsMax; b++) {
          // Both as they were when they were last tried.
          if (changed[a] <= since && changed[b] <= since) continue;
          const { gain, rows } = this.#pair(a, b);
          steps += this.#gaps.instants + rows * rows;
          if (gain === 0) continue;
          gained += gain;
          changed[a] = changed[b] = round + 1;
          moved = true;
        }
      }
      if (!moved) break;
      since = round;
    }
    return { gained, steps };
  }

  #worthOf(page: number, looks: readonly number[]): number {
    let sum = 0;
    let last = 0;
    for (const look of looks) {
      sum += this.#gaps.worth(page, last, look);
      last = look;
    }
    return sum + this.#gaps.worth(page, last, this.#gaps.instants + 1);
  }

  #use(page: number, by: number): void {
    const site = this.#gaps.siteRowOf(page);
    for (const look of this.#looks[page]) {
      this.#left[look - 1] += by;
      if (site >= 0) this.#left[site + look - 1] += by;
    }
  }

  #pair(a: number, b: number): { gain: number; rows: number } {
    this.#use(a, 1);
    this.#use(b, 1);
    const rows = this.#openRows(a, b);
    const found = this.#best(a, b, rows);
    const before = this.#value[a] + this.#value[b];
    const gain = found.value - before;
    const isBetter = gain > 1e-12 * (Math.abs(before) + Math.abs(found.value));
    if (isBetter) this.#take(a, b, found.end, rows);
    this.#use(a, -1);
    this.#use(b, -1);
    return { gain: isBetter ? gain : 0, rows };
  }

  #openRows(a: number, b: number): number {
    const siteA = this.#gaps.siteRowOf(a);
    const siteB = this.#gaps.siteRowOf(b);
    let rows = 0;
    for (let t = 1; t <= this.#gaps.instants; t++) {
      const room = this.#left[t - 1];
      if (room <= 0) continue;
      const roomA = siteA < 0 ? room : this.#left[siteA + t - 1];
      const roomB = siteB < 0 ? room : this.#left[siteB + t - 1];
      if (roomA <= 0 && roomB <= 0) continue;
      this.#at[++rows] = t;
      const together = room >= 2 && roomA > 0 && roomB > 0 && (siteA !== siteB || roomA >= 2);
      this.#open[rows] = together ? both : (roomA > 0 ? one : 0) | (roomB > 0 ? other : 0);
    }
    return rows;
  }

  /** State `end`: y ≥ 0, the first page was seen last and the other in row y; below 0, the other was, and the first in row −1 − y. */
  #best(a: number, b: number, rows: number): { value: number; end: number } {
    this.#first[0] = 0;
    for (let n = 1; n <= rows; n++) this.#step(a, b, n);
    const at = this.#at;
    const never = this.#gaps.instants + 1;
    const { worth } = this.#gaps;
    let value = -Infinity;
    let end = 0;
    const lastA = worth(a, at[rows], never);
    const lastB = worth(b, at[rows], never);
    for (let y = 0; y <= rows; y++) {
      const here = this.#first[y] + lastA + (y === rows ? lastB : worth(b, at[y], never));
      if (here > value) [value, end] = [here, y];
    }
    for (let x = 0; x < rows; x++) {
      const here = this.#second[x] + worth(a, at[x], never) + lastB;
      if (here > value) [value, end] = [here, -1 - x];
    }
    return { value, end };
  }

  #step(a: number, b: number, n: number): void {
    const m = n - 1;
    const { worth } = this.#gaps;
    const at = this.#at;
    const first = this.#first;
    const second = this.#second;
    const now = at[n];
    const stepA = worth(a, at[m], now);
    const stepB = worth(b, at[m], now);
    let topA = -Infinity;
    let cameA = 0;
    for (let x = 0; x < m; x++) {
      const value = second[x] + worth(a, at[x], now);
      if (value > topA) [topA, cameA] = [value, -1 - x];
    }
    let topB = -Infinity;
    let cameB = 0;
    for (let y = 0; y <= m; y++) {
      const value = first[y] + worth(b, at[y], now);
      if (value > topB) [topB, cameB] = [value, y];
    }
    const open = this.#open[n];
    if (open === both) {
      const fromFirst = topB + stepA;
      const fromSecond = topA + stepB;
      first.fill(-Infinity, 0, n);
      second.fill(-Infinity, 0, n);
      first[n] = Math.max(fromFirst, fromSecond);
      this.#cameBoth[n] = fromFirst >= fromSecond ? cameB : cameA;
      return;
    }
    const stayed = first[m] + stepA;
    if (open & one) {
      for (let y = 0; y < m; y++) first[y] += stepA;
      first[m] = Math.max(stayed, topA);
      this.#cameFirst[n] = stayed >= topA ? m : cameA;
    } else first.fill(-Infinity, 0, n);
    first[n] = -Infinity;
    if (open & other) {
      for (let x = 0; x < m; x++) second[x] += stepB;
      second[m] = topB;
      this.#cameSecond[n] = cameB;
    } else second.fill(-Infinity, 0, n);
  }

  #take(a: number, b: number, end: number, rows: number): void {
    const looksA: number[] = [];
    const looksB: number[] = [];
    let state = end;
    for (let n = rows; n >= 1; n--) {
      const now = this.#at[n];
      if (state === n) {
        looksA.push(now);
        looksB.push(now);
        state = this.#cameBoth[n];
      } else if (state >= 0) {
        looksA.push(now);
        if (state === n - 1) state = this.#cameFirst[n];
      } else {
        looksB.push(now);
        if (-1 - state === n - 1) state = this.#cameSecond[n];
      }
    }
    this.#looks[a] = looksA.reverse();
    this.#looks[b] = looksB.reverse();
    this.#value[a] = this.#worthOf(a, this.#looks[a]);
    this.#value[b] = this.#worthOf(b, this.#looks[b]);
  }
}
