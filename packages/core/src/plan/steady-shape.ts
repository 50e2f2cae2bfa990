/**
 * When to look next, for ever: a page changes at rate × shape(t), the shape and the importance repeat every period P, and a look
 * costs a price. Of all ways to go on after a look at s the best next look minimises, in the long run,
 *
 *     loss + ratio·looks   per unit of time,   ratio = price ⁄ (rate × weight),
 *
 * so it depends on s modulo P and on the ratio only: one table a ratio serves every page of the shape (Brewington's
 * meta-documents), and a page's next look is two lookups. This is what a policy needs that works with a global price.
 *
 * A table is one sweep of the polite problem (monge-path.ts) on a window of a period and as much more as makes the end of the
 * window forgotten; the sweep runs backwards in time, which exchanges the parts of intensity and importance: gap(s, f) =
 * ∫ λ(t)·A(t, f) dt = ∫ a(t)·Λ(s, t) dt. Ratios lie on a grid of factors 2^⅛, built when first asked for; the nearest is used,
 * not a mean of two: best times jump from one side of a busy hour to the other, and between them is the worst place to look.
 *
 * Without shape the answer is √(2·ratio) at all times. Much longer distances than a period do not feel the shape either,
 * and much shorter ones feel only the moment's value: there the formula is used.
 */
import { obsolescence } from '../loss/obsolescence.ts';
import { type Profile, isConstant, profile, reach, sharedPieces, valueAt } from '../time/profile.ts';
import { type Grid, predecessorsOf } from './monge-path.ts';
import { phasesOf } from './steady-curve.ts';

export interface SteadyShape {
  /** The best next look after one at `last`. Intensity and importance count as they are given, whatever their mean. */
  next(last: number, ratio: number): number;
}

/** Tables for each factor of two of the ratio: distances between looks are then right to about 2 %, the loss to a few ten-thousandths. */
const tablesPerDoubling = 8;
/** Grid points within a usual distance between looks: rounding to them costs a thousandth of the loss or less. */
const pointsPerGap = 24;
/** Distances longer than this many periods hardly feel the shape. */
const periodsMax = 8;
/** Finer grids than this many points a period are for distances of minutes within a week. */
const pointsMax = 40_000;
/** After this many looks the end of the window is forgotten. */
const looksAhead = 16;

interface Table {
  /** Ascending phases from 0 to the period, and the best next look after each, from the period's start. */
  readonly phases: Float64Array;
  readonly next: Float64Array;
}

export function steadyShape(shape: Profile, importance: Profile): SteadyShape {
  const period = Math.max(periodOf(shape), periodOf(importance));
  const origin = isConstant(shape) ? importance.breaks[0] : shape.breaks[0];
  const flat = isConstant(shape) && isConstant(importance);
  const usual = meanProduct(shape, importance, origin, period);
  const tables = new Map<number, Table>();
  const tableAt = (step: number): Table => {
    let table = tables.get(step);
    if (!table) {
      table = buildTable(shape, importance, origin, period, 2 ** (step / tablesPerDoubling), usual);
      tables.set(step, table);
    }
    return table;
  };

  const next = (last: number, ratio: number): number => {
    if (!(usual > 0) || ratio === Infinity) return Infinity;
    const gap = Math.sqrt((2 * ratio) / usual);
    if (flat || gap > periodsMax * period) return last + gap;
    if (gap * pointsMax < pointsPerGap * period) return soon(shape, importance, last, ratio);
    const turns = Math.floor((last - origin) / period);
    const phase = last - origin - turns * period;
    const table = tableAt(Math.round(Math.log2(ratio) * tablesPerDoubling));
    return Math.max(last, origin + turns * period + lookup(table, phase));
  };
  return { next };
}

function periodOf(p: Profile): number {
  if (p.period === undefined) throw new RangeError('a shape for ever has a period');
  return isConstant(p) ? 0 : p.period;
}

function meanProduct(shape: Profile, importance: Profile, from: number, period: number): number {
  const span = period > 0 ? period : 1;
  const { breaks, first, second } = sharedPieces(shape, importance, from, from + span);
  const mean = (values: Float64Array): number =>
    values.reduce((sum, value, i) => sum + value * (breaks[i + 1] - breaks[i]), 0) / span;
  return mean(first) * mean(second);
}

/** The next look where nothing varies before it: with the moment's values, once there are changes and they matter. */
function soon(shape: Profile, importance: Profile, last: number, ratio: number): number {
  const start = valueAt(shape, last) > 0 ? last : reach(shape, last, Number.MIN_VALUE);
  const product = valueAt(shape, start) * valueAt(importance, start);
  return product > 0 ? start + Math.sqrt((2 * ratio) / product) : reach(importance, start, Number.MIN_VALUE);
}

function buildTable(
  shape: Profile,
  importance: Profile,
  origin: number,
  period: number,
  ratio: number,
  usual: number,
): Table {
  const gap = Math.sqrt((2 * ratio) / usual);
  const periods = 1 + Math.ceil((looksAhead * gap) / period);
  const to = origin + periods * period;
  // Time runs backwards from the window's end: what is intensity becomes importance and the other way round.
  const { breaks, first, second } = sharedPieces(shape, importance, origin, to);
  const mirrored = Array.from(breaks, (b) => to - b).reverse();
  const loss = obsolescence(
    profile(mirrored, Array.from(second).reverse()),
    profile(mirrored, Array.from(first).reverse()),
    0,
    to - origin,
  );
  const phases = phasesOf(
    breaks.map((b) => b - origin),
    period,
    gap / pointsPerGap,
  );
  const times = new Float64Array((phases.length - 1) * periods + 1);
  for (let k = 0; k < periods; k++)
    for (let i = 0; i + 1 < phases.length; i++)
      times[times.length - 1 - (k * (phases.length - 1) + i)] = to - origin - k * period - phases[i];
  const grid: Grid = { loss, times, stepsMin: 1 };
  const previous = predecessorsOf(grid)(ratio);
  const next = Float64Array.from(phases, (_, i) => to - origin - times[previous[times.length - 1 - i]]);
  return { phases, next };
}

/** The next look after a phase; between grid points it moves evenly from one point's to the next one's. */
function lookup({ phases, next }: Table, phase: number): number {
  let low = 0;
  let high = phases.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (phases[middle] <= phase) low = middle;
    else high = middle - 1;
  }
  const share = (phase - phases[low]) / (phases[low + 1] - phases[low]);
  return next[low] + Math.min(1, Math.max(0, share)) * (next[low + 1] - next[low]);
}
