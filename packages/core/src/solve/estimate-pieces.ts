/** The pieces of an estimated profile as asked for, and the profile as it is answered. */
import { type EstimatedIntensity, equalCells } from '../learn/intensity.ts';
import { profileTrouble } from '../time/profile.ts';
import { type Fields, Refusal, isFields, numberAt, numbersAt, onlyKeys } from './read.ts';

export interface AskedPieces {
  /** Given pieces, cells out of which the data choose them, or cells over which the rate goes smoothly. */
  readonly kind: 'given' | 'chosen' | 'smooth';
  readonly breaks: ArrayLike<number>;
  readonly period: number | undefined;
}

// Half hours of a week; a cut of a circle costs the cube of it.
const gridMax = 336;

/** `breaks` and `period` of a problem whose times go from one to another: a list, {"grid": n} (perhaps smooth), or nothing for one piece. */
export function piecesAt(problem: Fields, from: number, to: number): AskedPieces {
  const period = problem['period'] === undefined ? undefined : numberAt(problem['period'], 'period', { above: 0 });
  const given = problem['breaks'];
  const begin = period === undefined ? from : 0;
  const length = period ?? to - from;
  if (isFields(given)) {
    onlyKeys(given, 'breaks', ['grid', 'smooth']);
    const cells = numberAt(given['grid'], 'breaks.grid', { whole: true, min: 1, max: gridMax });
    const { smooth = false } = given;
    if (typeof smooth !== 'boolean') throw new Refusal('breaks.smooth', smooth, 'true or false is expected');
    return { kind: smooth ? 'smooth' : 'chosen', breaks: equalCells(begin, length, cells), period };
  }
  const breaks = given === undefined ? [begin, begin + length] : numbersAt(given, 'breaks', {}, 2);
  const trouble = profileTrouble(breaks, new Float64Array(breaks.length - 1), period);
  if (trouble) throw new Refusal(trouble.field, problem[trouble.field], trouble.allowed);
  if (period === undefined && (breaks[0] > from || breaks[breaks.length - 1] < to))
    throw new Refusal('breaks', given, `breaks from ${from} to ${to}, or a period, are expected`);
  return { kind: 'given', breaks, period };
}

export function profileAnswer({ profile, intervals }: EstimatedIntensity): Record<string, unknown> {
  const { breaks, values, period } = profile;
  return {
    profile: {
      breaks: Array.from(breaks),
      values: Array.from(values),
      ...(period === undefined ? {} : { period }),
    },
    // JSON knows no infinity: null where nothing bounds a value from above.
    interval: intervals.map(([low, high]) => [low, Number.isFinite(high) ? high : null]),
  };
}
