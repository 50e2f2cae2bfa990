/**
 * What a page of a given week costs for ever: a page changes at rate × shape(t), the shape repeats every period P and has mean
 * 1, and a look costs ratio = price ⁄ (rate × weight). Then
 *
 *     f(ratio) = min over all ways to look for ever of   loss + ratio·looks   per unit of time
 *
 * is concave, its slope is the looks a unit of time that the best plan makes, and f − ratio·looks its loss. For an even page
 * f = √(2·ratio); the market needs no more of a page than this function (Brewington's meta-documents once more).
 *
 * f is caught between two sweeps of the polite problem on a window of several periods. V(t), the least priced cost of looks up to
 * one at t, grows by δ(t) = V(t + P) − V(t) in a period. Invariant: V(t + P) is the least over s of V(s + P) + gap(s, t) + ratio, so
 * a bound of δ that holds over a stretch as long as the longest gap holds for ever after: min δ ≤ P·f ≤ max δ on the grid. Looks
 * on the grid can be made, so max δ of the plain sweep is an upper bound, and so is what looks cost that return to their phase; with the bonus ε of polite-continuous.ts for each
 * look, min δ bounds every plan from below, on the grid or off it.
 *
 * Ratios lie on a grid of factors 2^¼, swept when first asked for. Between them the lower bound is the chord (f is concave), the
 * plan's
 * value goes by its share of √(2·ratio) and its looks by the slopes, so that both change evenly with the price. Gaps of many periods feel
 * the shape only through the phase at which they begin: with e(t) = Λ(t) − t a gap of length g from s costs g²/2 + g·(mean e −
 * e(s)) and terms that cancel from gap to gap, so f ≥ √(2·ratio) − D always, D being the greatest of e less its mean.
 * Gaps much shorter than the pieces feel the moment only: f ≥ √(2·ratio)·mean √shape − ratio·(breaks ⁄ P).
 */
import { obsolescence } from '../loss/obsolescence.ts';
import { type Profile, constant, isConstant, profile, sharedPieces } from '../time/profile.ts';
import { type Grid, predecessorsOf } from './monge-path.ts';

export interface SteadyCurve {
  /** No way of looking for ever costs less. */
  lower(ratio: number): number;
  /** Looks a unit of time of the plan at this ratio, and its loss. */
  looks(ratio: number): number;
  loss(ratio: number): number;
}

const sweepsPerDoubling = 4;
/** Grid points within a usual gap: the two bounds are then about 0.1 % apart. */
const pointsPerGap = 16;
/** Gaps of more periods than this, or of less than this many points a period can show, go by the formulas. */
const periodsMax = 8;
const pointsMax = 20_000;
/** After this many looks the beginning of the window is forgotten; gaps of about a period come to their phase more slowly. */
const looksBefore = { short: 12, about: 24 };
/** No gap of the best plan is longer than so many usual ones and a period. */
const gapsMost = 3;

/** A page that always changes alike. */
export const evenCurve: SteadyCurve = {
  lower: (ratio) => Math.sqrt(2 * ratio),
  looks: (ratio) => 1 / Math.sqrt(2 * ratio),
  loss: (ratio) => Math.sqrt(ratio / 2),
};

interface Swept {
  readonly lower: number;
  /** The upper bound over √(2·ratio). */
  readonly share: number;
}

/** The shape has a period and mean 1. */
export function steadyCurve(shape: Profile): SteadyCurve {
  const { period } = shape;
  if (period === undefined) throw new RangeError('a shape for ever has a period');
  if (isConstant(shape)) return evenCurve;
  const swept = new Map<number, Swept>();
  const stepOf = (gap: number): number => Math.log2((gap * gap) / 2) * sweepsPerDoubling;
  const stepMin = Math.ceil(stepOf((pointsPerGap * period) / pointsMax));
  const stepMax = Math.floor(stepOf(periodsMax * period));
  const ratioOf = (step: number): number => 2 ** (step / sweepsPerDoubling);
  const at = (step: number): Swept => {
    const within = Math.min(stepMax, Math.max(stepMin, step));
    let found = swept.get(within);
    if (!found) {
      found = sweep(shape, period, ratioOf(within));
      swept.set(within, found);
    }
    return found;
  };
  const ahead = furthestAhead(shape, period);
  const { roots, breaks } = pieceFacts(shape, period);
  const longest = Math.sqrt(2 * ratioOf(stepMax));

  const lower = (ratio: number): number => {
    const even = Math.sqrt(2 * ratio);
    const step = Math.log2(ratio) * sweepsPerDoubling;
    const late = Math.max(0, even - ahead);
    if (step >= stepMax) return late;
    if (step < stepMin) return Math.max(late, even * roots - ratio * breaks);
    const below = Math.floor(step);
    const [low, high] = [ratioOf(below), ratioOf(below + 1)];
    return Math.max(late, at(below).lower + ((ratio - low) / (high - low)) * (at(below + 1).lower - at(below).lower));
  };

  /** What the plan costs, priced. */
  const value = (ratio: number): number => {
    const even = Math.sqrt(2 * ratio);
    const step = Math.log2(ratio) * sweepsPerDoubling;
    if (step >= stepMax) return even - (1 - at(stepMax).share) * longest;
    if (step < stepMin) return even * (roots + (at(stepMin).share - roots) * Math.sqrt(ratio / ratioOf(stepMin)));
    const below = Math.floor(step);
    return even * (at(below).share + (step - below) * (at(below + 1).share - at(below).share));
  };
  /** The slope of the plan's cost from one ratio swept to the next, which is the looks in the middle. */
  const slopes = new Map<number, number>();
  const slope = (below: number): number => {
    let found = slopes.get(below);
    if (found === undefined) {
      const [low, high] = [ratioOf(below), ratioOf(below + 1)];
      found = (value(high) - value(low)) / (high - low);
      slopes.set(below, found);
    }
    return found;
  };
  const looks = (ratio: number): number => {
    const step = Math.log2(ratio) * sweepsPerDoubling - 0.5;
    const below = Math.floor(step);
    return slope(below) ** (1 - step + below) * slope(below + 1) ** (step - below);
  };
  return { lower, looks, loss: (ratio) => Math.max(0, value(ratio) - ratio * looks(ratio)) };
}

function sweep(shape: Profile, period: number, ratio: number): Swept {
  const gap = Math.sqrt(2 * ratio);
  const reach = Math.ceil((gapsMost * gap) / period) + 1;
  const looksFirst = 4 * gap < period || gap > 2 * period ? looksBefore.short : looksBefore.about;
  const before = Math.ceil((looksFirst * gap) / period);
  const periods = before + reach + 1;
  const origin = shape.breaks[0];
  const pieces = sharedPieces(shape, constant(1), origin, origin + periods * period);
  const breaks = pieces.breaks.map((b) => b - origin);
  const loss = obsolescence(profile(breaks, pieces.first), constant(1), 0, periods * period);
  const phases = phasesOf(breaks, period, gap / pointsPerGap);
  const points = phases.length - 1;
  const times = new Float64Array(points * periods + 1);
  for (let i = 0; i < times.length; i++) times[i] = Math.floor(i / points) * period + phases[i % points];
  const values = new Float64Array(times.length);
  /** The least and the greatest growth in a period over the last stretch, and what a plan that comes round to its phase costs. */
  const growth = (grid: Grid): { least: number; greatest: number; round: number } => {
    const previous = predecessorsOf(grid)(ratio);
    for (let j = 1; j < times.length; j++) {
      const i = previous[j];
      values[j] = values[i] + loss.gap(times[i], times[j]) + ratio - (grid.bonus ? grid.bonus[j] : 0);
    }
    let [least, greatest] = [Infinity, 0];
    for (let j = (before + 1) * points; j < times.length; j++) {
      const grown = values[j] - values[j - points];
      least = Math.min(least, grown);
      greatest = Math.max(greatest, grown);
    }
    return { least, greatest, round: roundTrip(previous, values, points) };
  };
  const { greatest, round } = growth({ loss, times, stepsMin: 1 });
  const { least } = growth({ loss, times, stepsMin: 1, bonus: bonuses(times, pieces.first, breaks) });
  // Even looks at any phase cost √(2·ratio): the best plan costs no more.
  return { lower: Math.max(0, least / period), share: Math.min(1, Math.min(greatest, round) / period / gap) };
}

/** The priced cost a period of looks that return to a phase they had before, on the way back from the last; Infinity when none do. */
function roundTrip(previous: Int32Array, values: Float64Array, points: number): number {
  const seen = new Map<number, number>();
  let least = Infinity;
  for (let j = previous.length - 1; j > 0; j = previous[j]) {
    const later = seen.get(j % points);
    if (later === undefined) seen.set(j % points, j);
    else least = Math.min(least, ((values[later] - values[j]) * points) / (later - j));
  }
  return least;
}

/** ε of polite-continuous.ts for each point: λγ²/4, of the greater of its two cells. */
function bonuses(times: Float64Array, rates: Float64Array, breaks: Float64Array): Float64Array {
  const cells = new Float64Array(times.length);
  for (let i = 0, k = 0; i + 1 < times.length; i++) {
    while (k + 2 < breaks.length && breaks[k + 1] <= times[i]) k++;
    cells[i] = (rates[k] * (times[i + 1] - times[i]) ** 2) / 4;
  }
  return cells.map((own, i) => Math.max(own, i > 0 ? cells[i - 1] : 0));
}

/** The breaks within the first period and points between them, no farther apart than the step. */
export function phasesOf(breaks: Float64Array, period: number, step: number): Float64Array {
  const phases: number[] = [breaks[0]];
  for (let k = 0; k + 1 < breaks.length && breaks[k] < period; k++) {
    const end = Math.min(breaks[k + 1], period);
    const width = end - breaks[k];
    const cells = Math.max(1, Math.ceil(width / step - 1e-9));
    for (let i = 1; i <= cells; i++) phases.push(i === cells ? end : breaks[k] + (i * width) / cells);
  }
  phases[phases.length - 1] = period;
  return Float64Array.from(phases);
}

/** How far ∫shape gets ahead of its mean: the greatest of Λ(t) − t over a period, less its average. */
function furthestAhead(shape: Profile, period: number): number {
  let [ahead, most, sum] = [0, 0, 0];
  shape.values.forEach((value, i) => {
    const width = shape.breaks[i + 1] - shape.breaks[i];
    const after = ahead + (value - 1) * width;
    sum += ((ahead + after) / 2) * width;
    ahead = after;
    most = Math.max(most, ahead);
  });
  return most - sum / period;
}

function pieceFacts(shape: Profile, period: number): { readonly roots: number; readonly breaks: number } {
  let roots = 0;
  shape.values.forEach((value, i) => {
    roots += Math.sqrt(value) * (shape.breaks[i + 1] - shape.breaks[i]);
  });
  return { roots: roots / period, breaks: shape.values.length / period };
}
