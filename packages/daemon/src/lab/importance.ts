/** How much a moment counts: a step function of the week, Monday 00:00 UTC first. */

export interface Importance {
  readonly at: (t: number) => number;
  /** Integral from the epoch, in seconds of importance 1. */
  readonly integral: (t: number) => number;
}

const hour = 3600;
/** From Monday 00:00 UTC, 5 January 1970. */
const firstMonday = 4 * 86_400;

type Given = Readonly<Record<string, unknown>>;

/** What a profile in hours must be, in the order in which it is looked at: the field, what is allowed, and whether it is so. */
const demands: readonly (readonly [string, string, (given: Given) => boolean])[] = [
  ['period', '168 (hours of the week) or 24 (of the day) is expected', ({ period }) => period === 168 || period === 24],
  ['breaks', 'a list of hours that rise is expected', ({ breaks }) => isNumbers(breaks) && rises(breaks)],
  ['breaks', 'the first is 0, the last the period', ({ breaks, period }) => endsAt(breaks as number[], period)],
  ['values', 'a list of numbers of at least 0 is expected', ({ values }) => isNumbers(values)],
  ['values', 'one fewer than breaks is expected', ({ breaks, values }) => lengthOf(breaks) === lengthOf(values) + 1],
  // Where nothing counts there is nothing to plan for.
  ['values', 'one above 0 at least is expected', ({ values }) => (values as number[]).some((value) => value > 0)],
];

const lengthOf = (list: unknown): number => (list as readonly unknown[]).length;
const isNumbers = (list: unknown): list is readonly number[] =>
  Array.isArray(list) && list.every((entry) => typeof entry === 'number' && Number.isFinite(entry) && entry >= 0);
const rises = (list: readonly number[]): boolean => list.every((entry, i) => i === 0 || entry > list[i - 1]!);
const endsAt = (list: readonly number[], end: unknown): boolean => list[0] === 0 && list.at(-1) === end;
/** Of what was given, so much is said again. */
const charactersMax = 60;

/** From `{breaks, values, period}` in hours of the week (period 168) or of the day (period 24); or what is wrong with it. */
export function readImportance(given: Given): Importance | string {
  for (const [field, expected, isSo] of demands)
    if (!isSo(given))
      return `${field} is ${(JSON.stringify(given[field]) ?? 'missing').slice(0, charactersMax)}; ${expected}`;
  return importanceOf(given['breaks'] as number[], given['values'] as number[], given['period'] as number);
}

function importanceOf(breaks: readonly number[], values: readonly number[], period: number): Importance {
  const sums = [0];
  for (const [i, value] of values.entries()) sums.push(sums[i]! + value * (breaks[i + 1]! - breaks[i]!));
  const place = (t: number): { readonly turns: number; readonly into: number; readonly i: number } => {
    const hours = (t - firstMonday) / hour;
    const turns = Math.floor(hours / period);
    const into = hours - turns * period;
    let i = values.length - 1;
    while (i > 0 && breaks[i]! > into) i--;
    return { turns, into, i };
  };
  return {
    at: (t) => values[place(t).i]!,
    integral: (t) => {
      const { turns, into, i } = place(t);
      return hour * (turns * sums.at(-1)! + sums[i]! + values[i]! * (into - breaks[i]!));
    },
  };
}
