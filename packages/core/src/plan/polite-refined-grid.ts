/**
 * The grids between which the continuous problem is caught (polite-continuous.ts says why they do): one to find a schedule
 * on, with steps that keep the spacing or more, and one to bound it from below, with steps that ask for the spacing or less
 * and a bonus ε for each look, by which a look between grid points can be better than one on them.
 */
import type { SharedPieces } from '../time/profile.ts';

export interface ScheduleGrid {
  readonly times: Float64Array;
  readonly stepsMin: number;
}

export interface BoundGrid extends ScheduleGrid {
  readonly bonus: Float64Array;
}

/** Lengths that agree to this share of the horizon are taken as equal. */
const rounding = 1e-9;

export function scheduleGrid(pieces: SharedPieces, spacing: number, probes: number, steps: number): ScheduleGrid {
  if (spacing === 0) return { times: timesWithBreaks(pieces.breaks, steps), stepsMin: 1 };
  const horizon = pieces.breaks[pieces.breaks.length - 1];
  const base = commonStep(pieces.breaks, steps);
  if (base > 0) {
    const { step, stepsMin } = stepNear(base, spacing, horizon / steps, Math.ceil);
    const times = evenTimes(horizon, step);
    if (Math.floor((times.length - 1) / stepsMin) >= probes) return { times, stepsMin };
  }
  // So many looks that they fit only at their spacing, or breaks without a common step: the spacing sets the grid.
  const stepsMin = Math.max(1, Math.round((steps * spacing) / horizon));
  return { times: evenTimes(horizon, spacing / stepsMin), stepsMin };
}

/** `growth`: whether the loss of a gap continued to negative lengths grows like exp(λγ) (staleness) or not (obsolescence). */
export function boundGrid(pieces: SharedPieces, spacing: number, steps: number, growth: boolean): BoundGrid {
  const horizon = pieces.breaks[pieces.breaks.length - 1];
  const base = spacing > 0 ? commonStep(pieces.breaks, steps) : 0;
  if (base > 0) {
    const { step, stepsMin } = stepNear(base, spacing, horizon / steps, Math.floor);
    if (stepsMin > 0) {
      const times = evenTimes(horizon, step);
      return { times, stepsMin, bonus: bonuses(times, pieces, stepsMin, growth) };
    }
  }
  const times = timesWithBreaks(pieces.breaks, steps);
  return { times, stepsMin: 1, bonus: bonuses(times, pieces, 0, growth) };
}

/**
 * A step of at most `widest` that divides the base and of which some multiple, rounded up or down, is nearest to the
 * spacing. Among twice as many candidates as there are steps in the base, the best misses by far less than a step.
 */
function stepNear(
  base: number,
  spacing: number,
  widest: number,
  round: (x: number) => number,
): { readonly step: number; readonly stepsMin: number } {
  const first = Math.max(1, Math.ceil(base / widest - rounding));
  let best = { step: base / first, stepsMin: 0, miss: Infinity };
  for (let parts = first; parts <= 2 * first + 8; parts++) {
    const step = base / parts;
    const exact = spacing / step;
    const stepsMin = Math.abs(exact - Math.round(exact)) < 1e-7 ? Math.round(exact) : round(exact);
    const miss = Math.abs(stepsMin * step - spacing);
    if (stepsMin > 0 && miss < best.miss - rounding * spacing) best = { step, stepsMin, miss };
  }
  return best;
}

/** The largest step of which all breaks are multiples, up to rounding; 0 when it is finer than the grid may become. */
function commonStep(breaks: Float64Array, steps: number): number {
  const horizon = breaks[breaks.length - 1];
  let step = horizon;
  for (const length of breaks.subarray(1)) {
    let [a, b] = [step, length % step];
    if (b > step / 2) b = step - b;
    while (b > rounding * horizon) [a, b] = [b, Math.abs(a - Math.round(a / b) * b)];
    step = a;
    if (step * steps * 4 < horizon) return 0;
  }
  return horizon / Math.round(horizon / step);
}

/** Multiples of the step counted from the horizon's end, so that the last look keeps its spacing; 0 is always a point. */
function evenTimes(horizon: number, step: number): Float64Array {
  const count = Math.floor(horizon / step + rounding);
  const times = Float64Array.from({ length: count + 1 }, (_, i) => horizon - (count - i) * step);
  times[0] = 0;
  return times;
}

function timesWithBreaks(breaks: Float64Array, steps: number): Float64Array {
  const horizon = breaks[breaks.length - 1] - breaks[0];
  const times: number[] = [breaks[0]];
  for (let k = 0; k + 1 < breaks.length; k++) {
    const width = breaks[k + 1] - breaks[k];
    const cells = Math.max(1, Math.ceil((width / horizon) * steps - rounding));
    for (let i = 1; i < cells; i++) times.push(breaks[k] + (i * width) / cells);
    times.push(breaks[k + 1]);
  }
  return Float64Array.from(times);
}

function bonuses(times: Float64Array, pieces: SharedPieces, stepsMin: number, growth: boolean): Float64Array {
  const cells = times.length - 1;
  const rate = new Float64Array(cells);
  const weight = new Float64Array(cells);
  for (let i = 0, k = 0; i < cells; i++) {
    const middle = (times[i] + times[i + 1]) / 2;
    while (k + 2 < pieces.breaks.length && pieces.breaks[k + 1] <= middle) k++;
    rate[i] = pieces.first[k];
    weight[i] = pieces.second[k];
  }
  const cell = new Float64Array(cells);
  for (let i = 0; i < cells; i++) {
    const step = times[i + 1] - times[i];
    const own = rate[i] * weight[i];
    // Beyond exp(500) the bound is worthless anyway, and 0·∞ must not be met.
    cell[i] = (own * (growth ? Math.exp(Math.min(rate[i] * step, 500)) : 1) * step * step) / 4;
    if (stepsMin === 0 || i < stepsMin) continue;
    const before = i - stepsMin;
    const norm = Math.max(rate[before] * weight[before], own) + rate[before] * weight[i];
    cell[i] = Math.max(cell[i], (own / 8 + norm / 4) * step * step);
  }
  return Float64Array.from(times, (_, j) => Math.max(j > 0 ? cell[j - 1] : 0, j < cells ? cell[j] : 0));
}
