/** Profiles from outside: a number, or `{"breaks":[0,…,b],"values":[…],"period":b}`. */
import { type Profile, constant, profile, profileTrouble } from '../time/profile.ts';
import { Refusal, isFields, numberAt, numbersAt, onlyKeys } from './read.ts';

export function profileAt(value: unknown, field: string): Profile {
  if (typeof value === 'number') return constant(numberAt(value, field, { min: 0 }));
  if (!isFields(value))
    throw new Refusal(field, value, 'a number or {"breaks":[…],"values":[…],"period":…} is expected');
  onlyKeys(value, field, ['breaks', 'values', 'period']);
  const breaks = numbersAt(value['breaks'], `${field}.breaks`, {}, 2);
  const values = numbersAt(value['values'], `${field}.values`, { min: 0 }, 1);
  const period = value['period'] === undefined ? undefined : numberAt(value['period'], `${field}.period`, { above: 0 });
  const trouble = profileTrouble(breaks, values, period);
  if (trouble) throw new Refusal(`${field}.${trouble.field}`, value[trouble.field], trouble.allowed);
  return profile(breaks, values, period);
}

/** A profile with more pieces than this within the horizon fills the memory before it says anything more. */
const piecesMax = 1_000_000;

/** The same, and it says something about all of [0, horizon]. */
export function profileCovering(value: unknown, field: string, horizon: number): Profile {
  const found = profileAt(value, field);
  const last = found.breaks[found.breaks.length - 1];
  if (found.period === undefined && (found.breaks[0] > 0 || last < horizon))
    throw new Refusal(
      `${field}.breaks`,
      Array.from(found.breaks),
      `breaks from 0 to the horizon (${horizon}), or a period, are expected`,
    );
  const pieces = found.period === undefined ? 0 : (horizon / found.period) * found.values.length;
  if (found.values.length > 1 && pieces > piecesMax)
    throw new Refusal(
      `${field}.period`,
      found.period,
      `at most ${piecesMax} pieces within the horizon (${horizon}) are expected; these would be ${Math.ceil(pieces)}`,
    );
  return found;
}
