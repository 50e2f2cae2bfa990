/**
 * Week profiles: what tends to happen at each local time of the week. Local time is told by a zone given as data, the
 * offset from UTC and the list of its changes, so that daylight saving is looked up once at the edge and core stays free
 * of calendars. Times are seconds since the epoch; a week begins on Monday at 00:00 local time.
 */
import { type Profile, integral, profile, valueAt } from './profile.ts';

export const daySeconds = 86_400;
export const weekSeconds = 7 * daySeconds;

/** The epoch was a Thursday: that many seconds after a Monday 00:00. */
const epochInWeek = 3 * daySeconds;

export interface Zone {
  /** Seconds to add to UTC for local time before the first transition. */
  readonly offsetSeconds: number;
  /** From `at` (UTC) on, `offsetSeconds` holds; ascending. */
  readonly transitions: readonly { readonly at: number; readonly offsetSeconds: number }[];
}

export const utc: Zone = { offsetSeconds: 0, transitions: [] };

export function offsetAt(zone: Zone, at: number): number {
  let low = 0;
  let high = zone.transitions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (zone.transitions[middle].at <= at) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? zone.offsetSeconds : zone.transitions[low - 1].offsetSeconds;
}

/** Seconds since Monday 00:00 local time, in [0, weekSeconds). */
export function secondOfWeek(zone: Zone, at: number): number {
  const local = at + offsetAt(zone, at) + epochInWeek;
  return local - Math.floor(local / weekSeconds) * weekSeconds;
}

/** A week given by local time (breaks from 0 to `weekSeconds`) as a function of UTC that repeats, for a fixed offset. */
export function weekAtOffset(week: Profile, offsetSeconds: number): Profile {
  const start = -epochInWeek - offsetSeconds;
  return profile(
    week.breaks.map((b) => b + start),
    week.values,
    weekSeconds,
  );
}

/**
 * The same on a window with the zone's transitions in it. Each stretch between transitions follows its own offset: the hour
 * that is skipped in spring is skipped here, the hour that is lived twice in autumn comes twice.
 */
export function weekOn(week: Profile, zone: Zone, from: number, to: number): Profile {
  const changes = zone.transitions.filter(({ at }) => at > from && at < to).map(({ at }) => at);
  const ends = [from, ...changes, to];
  const breaks: number[] = [from];
  const values: number[] = [];
  for (let k = 0; k + 1 < ends.length; k++) {
    const local = weekAtOffset(week, offsetAt(zone, ends[k]));
    for (let at = ends[k]; at < ends[k + 1];) {
      const next = Math.min(nextBreak(local, at), ends[k + 1]);
      values.push(valueAt(local, (at + next) / 2));
      breaks.push(next);
      at = next;
    }
  }
  return profile(breaks, values);
}

function nextBreak(week: Profile, at: number): number {
  const turn = Math.floor((at - week.breaks[0]) / weekSeconds) * weekSeconds;
  const local = at - turn;
  for (const b of week.breaks) if (b > local) return b + turn;
  return week.breaks[1] + turn + weekSeconds;
}

/** A week of mean 1 with the same shape; a week without anything in it becomes the flat one. */
export function weekShape(week: Profile): Profile {
  const total = integral(week, 0, weekSeconds);
  if (!(total > 0)) return profile([0, weekSeconds], [1], weekSeconds);
  return profile(
    week.breaks,
    week.values.map((v) => (v * weekSeconds) / total),
    weekSeconds,
  );
}
