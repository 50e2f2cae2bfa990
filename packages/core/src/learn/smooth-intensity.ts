/**
 * Change intensity that goes smoothly over the hours of a week, from events and from looks that found a change or not.
 *
 * The rate of a cell is the local maximum of likelihood (Tibshirani and Hastie 1987): with K a bell of the distance between cells,
 *   rate i = sum over j of K(i - j) changes j / sum over j of K(i - j) time j.
 * A change known only to lie in a gap is spread over it as the rates expect it, and rates and spread are found in turn (expectation
 * maximisation with a smoothing step, Silverman et al. 1990). The width of the bell is the one under which each change is likeliest
 * when it is left out itself, among widths from less than a cell to all cells alike.
 *
 * Intervals are those of a Poisson number as large as the changes under the bell are worth, (sum K n)² / sum K² n; they take the width for
 * given. Cost: O(cells × width) a round, up to some hundred rounds a width where changes lie in gaps, one where all are known.
 * Delicate: a bell that has seen changes and no time without one would rise for ever; its width is not tried.
 */
import { type Cells, type LooksOutcome, type SeenLooks, byCell, ratesOfCells, spread } from './intensity-from-looks.ts';
import { laidOut, poissonInterval } from './intensity.ts';

/** Widths are a factor of the root of two apart, from half a cell on. */
const widthMin = 0.5;
const widthStep = Math.SQRT2;
/** So many widths from its middle a bell ends. */
const reach = 3;
const roundsMax = 200;

export function smoothIntensity(looks: SeenLooks, borders: ArrayLike<number>, period?: number): LooksOutcome {
  const cells = byCell(looks, borders, period);
  const count = cells.time.length;
  let best: Smooth | undefined;
  for (let width = widthMin; width <= 2 * count; width *= widthStep) {
    // The widest is no bell any more: all cells are alike.
    const bell = bellOf(2 * width > count ? Infinity : width, count, period !== undefined);
    const now = bounded(cells, bell) ? fitted(cells, bell) : undefined;
    if (now && (!best || now.score > best.score)) best = now;
  }
  if (!best) return { kind: 'unbounded', cell: 0 };
  const own = Int32Array.from({ length: count }, (_, i) => i);
  return { kind: 'estimated', ...laidOut(own, borders, best.rates, intervalsOf(cells, best), period) };
}

interface Smooth {
  readonly bell: Bell;
  readonly rates: Float64Array;
  /** Changes of each cell. */
  readonly changes: Float64Array;
  /** The ln-likelihood of every change by the rates that the others make. */
  readonly score: number;
}

/** How much a cell counts for another, by their distance; and, in a circle, both ways round. */
interface Bell {
  readonly weights: Float64Array;
  readonly circle: boolean;
}

function bellOf(width: number, count: number, circle: boolean): Bell {
  const farthest = Math.min(Math.floor(reach * width), circle ? Math.floor(count / 2) : count - 1);
  return { weights: Float64Array.from({ length: farthest + 1 }, (_, d) => Math.exp(-0.5 * (d / width) ** 2)), circle };
}

const weightBetween = ({ weights, circle }: Bell, i: number, j: number, count: number): number => {
  const apart = Math.abs(i - j);
  return weights[circle ? Math.min(apart, count - apart) : apart] ?? 0;
};

/** The sums of values under the bell at each cell; with its weights squared where asked. */
function under({ weights, circle }: Bell, values: Float64Array, squared = false): Float64Array {
  const count = values.length;
  const sums = new Float64Array(count);
  for (let d = 0; d < weights.length; d++) {
    const weight = squared ? weights[d] ** 2 : weights[d];
    // In a circle of an even number the cell opposite is met once.
    const once = d === 0 || (circle && 2 * d === count);
    for (let i = 0; i < count; i++) {
      if (circle || i + d < count) sums[i] += weight * values[(i + d) % count];
      if (!once && (circle || i >= d)) sums[i] += weight * values[(i - d + count) % count];
    }
  }
  return sums;
}

function bounded(cells: Cells, bell: Bell): boolean {
  const free = under(bell, cells.free);
  return under(bell, cells.time).every((time, i) => free[i] > 0 || !(time > 0));
}

function fitted(cells: Cells, bell: Bell): Smooth {
  const time = under(bell, cells.time);
  let rates = ratesOfCells(cells);
  let changes = spread(cells, rates);
  for (let round = 0; round < roundsMax; round++) {
    const next = under(bell, changes).map((n, i) => (time[i] > 0 ? n / time[i] : 0));
    const moved = next.some((rate, i) => Math.abs(rate - rates[i]) > 1e-6 * rate);
    rates = next;
    if (!moved || cells.start.length === 1) break;
    changes = spread(cells, rates);
  }
  return { bell, rates, changes, score: leftOut(cells, bell, rates, time) };
}

/** Every change by the rates that are left without it. */
function leftOut(
  { known, free, start, cell, spent }: Cells,
  bell: Bell,
  rates: Float64Array,
  time: Float64Array,
): number {
  const count = rates.length;
  let score = 0;
  for (let i = 0; i < count; i++) {
    score -= rates[i] * free[i];
    if (known[i] > 0) score += known[i] * Math.log(Math.max(0, rates[i] - bell.weights[0] / time[i]));
  }
  for (let g = 0; g + 1 < start.length; g++) {
    let mass = 0;
    for (let a = start[g]; a < start[g + 1]; a++) mass += rates[cell[a]] * spent[a];
    const found = mass > 0 ? 1 / -Math.expm1(-mass) : 0;
    let others = 0;
    for (let a = start[g]; a < start[g + 1]; a++) {
      let own = 0;
      for (let b = start[g]; b < start[g + 1]; b++)
        own += weightBetween(bell, cell[a], cell[b], count) * rates[cell[b]] * spent[b] * found;
      others += Math.max(0, rates[cell[a]] - own / time[cell[a]]) * spent[a];
    }
    score += Math.log(-Math.expm1(-others));
  }
  return score;
}

function intervalsOf(cells: Cells, { bell, rates, changes }: Smooth): (readonly [number, number])[] {
  const time = under(bell, cells.time);
  const sums = under(bell, changes);
  const squares = under(bell, changes, true);
  return Array.from(rates, (rate, i): readonly [number, number] => {
    if (!(time[i] > 0)) return [0, Infinity];
    const worth = squares[i] > 0 ? sums[i] ** 2 / squares[i] : 0;
    const [low, high] = poissonInterval(worth);
    return worth > 0 ? [(rate * low) / worth, (rate * high) / worth] : [0, high / time[i]];
  });
}
