/** How much a moment counts: a step function of the week, Monday 00:00 UTC first. */

export interface Importance {
  readonly at: (t: number) => number;
  /** Integral from the epoch, in seconds of importance 1. */
  readonly integral: (t: number) => number;
}

const hour = 3600;
/** From Monday 00:00 UTC, 5 January 1970. */
const firstMonday = 4 * 86_400;

/** From `{breaks, values, period}` in hours of the week (period 168) or of the day (period 24); undefined when it is none. */
export function readImportance(value: unknown): Importance | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { breaks, values, period } = value as { breaks?: unknown; values?: unknown; period?: unknown };
  const numbers = (list: unknown): list is number[] =>
    Array.isArray(list) && list.every((entry) => typeof entry === 'number' && Number.isFinite(entry) && entry >= 0);
  if (!numbers(breaks) || !numbers(values) || (period !== 168 && period !== 24)) return undefined;
  const rising = breaks.every((entry, i) => i === 0 || entry > breaks[i - 1]!);
  if (!rising || breaks.length !== values.length + 1 || breaks[0] !== 0 || breaks.at(-1) !== period) return undefined;
  // Where nothing counts there is nothing to plan for.
  return values.some((value) => value > 0) ? importanceOf(breaks, values, period) : undefined;
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
