/**
 * The grids between which the continuous problem is caught (polite-continuous.ts says why they do): one to find a schedule
 * on and one to bound it from below, with a bonus ε for each look, by which a look between grid points can be better than
 * one on them.
 *
 * With spacing δ both are made so that shifting by δ maps the grid onto itself: its points are all times whose remainder
 * by δ is one of a few, among them the remainders of every break and of the horizon. Then every break is a point, the spacing
 * is a whole number of points, and a cell and the one δ later are equally wide, whatever the breaks have in common.
 */
import type { SharedPieces } from '../time/profile.ts';

export interface ScheduleGrid {
  readonly times: Float64Array;
  readonly stepsMin: number;
}

export interface BoundGrid extends ScheduleGrid {
  readonly bonus: Float64Array;
  /** Whether the spacing that was asked for holds on it; where it does not, refining leaves a gap. */
  readonly spaced: boolean;
}

/** Lengths that agree to this share of the horizon are taken as equal. */
const rounding = 1e-9;

export function scheduleGrid(pieces: SharedPieces, spacing: number, steps: number): ScheduleGrid {
  if (spacing === 0) return { times: timesWithBreaks(pieces.breaks, steps), stepsMin: 1 };
  // So many remainders, or so small a spacing, that no grid holds them: then breaks lie between points.
  const horizon = pieces.breaks[pieces.breaks.length - 1];
  return shiftGrid(pieces.breaks, spacing, steps) ?? evenGrid(horizon, spacing, steps);
}

/** `growth`: whether the loss of a gap continued to negative lengths grows like exp(λγ) (staleness) or not (obsolescence). */
export function boundGrid(pieces: SharedPieces, spacing: number, steps: number, growth: boolean): BoundGrid {
  const spaced = spacing > 0 ? shiftGrid(pieces.breaks, spacing, steps) : undefined;
  if (spaced) return { ...spaced, bonus: bonuses(spaced.times, pieces, spaced.stepsMin, growth), spaced: true };
  // Without the spacing the bound is still true, though not as near where the spacing binds.
  const times = timesWithBreaks(pieces.breaks, steps);
  return { times, stepsMin: 1, bonus: bonuses(times, pieces, 0, growth), spaced: spacing === 0 };
}

/** Points that a grid may have beyond those asked for: remainders of many breaks at a small spacing. */
const pointsMost = 6_000_000;

function shiftGrid(breaks: Float64Array, spacing: number, steps: number): ScheduleGrid | undefined {
  const horizon = breaks[breaks.length - 1];
  const blocks = horizon / spacing;
  if (blocks > pointsMost) return undefined;
  const phases = remainders(breaks, spacing, Math.max(1, Math.ceil(steps / blocks)));
  if (phases.length * blocks > Math.max(pointsMost, 4 * steps)) return undefined;
  const times: number[] = [];
  const tiny = rounding * spacing;
  for (let block = 0; ; block++) {
    for (const phase of phases) {
      const at = block * spacing + phase;
      if (at >= horizon - tiny) {
        times.push(horizon);
        return { times: Float64Array.from(times), stepsMin: phases.length };
      }
      times.push(at);
    }
  }
}

/** The remainders of the breaks by the spacing, from 0, and others between them, so that each block has this many cells or more. */
function remainders(breaks: Float64Array, spacing: number, cells: number): readonly number[] {
  const tiny = rounding * spacing;
  const own = Array.from(breaks, (b) => b - Math.floor(b / spacing + rounding) * spacing).sort((a, b) => a - b);
  const phases: number[] = [0];
  for (const phase of [...own, spacing]) {
    const last = phases[phases.length - 1];
    // What is within rounding of the last one, or of the next block's first, is the same.
    if (phase - last <= tiny || (phase < spacing && spacing - phase <= tiny)) continue;
    const parts = Math.max(1, Math.ceil(((phase - last) / spacing) * cells - rounding));
    for (let i = 1; i <= parts; i++) phases.push(i === parts ? phase : last + (i * (phase - last)) / parts);
  }
  phases.pop();
  return phases;
}

/** Equal parts of the spacing, counted from the horizon's end, so that the last look keeps its distance. */
function evenGrid(horizon: number, spacing: number, steps: number): ScheduleGrid {
  const stepsMin = Math.max(1, Math.round((steps * spacing) / horizon));
  const step = Math.max(spacing, horizon / steps / 2) / stepsMin;
  const count = Math.max(1, Math.floor(horizon / step + rounding));
  const times = new Float64Array(count + 1);
  for (let i = 1; i <= count; i++) times[i] = horizon - (count - i) * step;
  return { times, stepsMin };
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
  // Far above any loss that can be added up, and small enough that bonuses can.
  const worthless = Number.MAX_VALUE / (64 * cells);
  for (let i = 0; i < cells; i++) {
    const step = times[i + 1] - times[i];
    const own = rate[i] * weight[i];
    // Beyond exp(500) the bound is worthless anyway, and 0·∞ must not be met.
    const wide = growth ? Math.exp(Math.min(rate[i] * step, 500)) : 1;
    cell[i] = Math.min((own * wide * step * step) / 4, worthless);
    if (stepsMin === 0 || i < stepsMin) continue;
    const before = i - stepsMin;
    const norm = Math.max(rate[before] * weight[before], own) + rate[before] * weight[i];
    cell[i] = Math.max(cell[i], (own / 8 + norm / 4) * step * step);
  }
  return Float64Array.from(times, (_, j) => Math.max(j > 0 ? cell[j - 1] : 0, j < cells ? cell[j] : 0));
}
