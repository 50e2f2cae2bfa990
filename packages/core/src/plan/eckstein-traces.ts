/**
 * The two sources of Eckstein, Gal and Reiner (Tables 2 and 3) as they fitted them: changes a day by the time of the week,
 * from Monday 00:00, and the importance of work hours (eq. 1) for a preference ratio. Times are days.
 */
import { type Profile, profile } from '../time/profile.ts';

export interface WeeklySource {
  readonly intensity: Profile;
  /** a₁ during work hours on weekdays, 1 otherwise. */
  importance(ratio: number): Profile;
}

/** Rates of a weekday from each hour on, and of Saturday and Sunday. */
function weekly(
  hours: readonly number[],
  rates: readonly number[],
  weekend: readonly [number, number],
  work: readonly [number, number],
): WeeklySource {
  const breaks: number[] = [];
  for (let day = 0; day < 5; day++) breaks.push(...hours.map((hour) => day + hour / 24));
  const weekdays = Array.from({ length: 5 }, () => rates).flat();
  const workdays: number[] = [0];
  for (let day = 0; day < 5; day++) workdays.push(day + work[0] / 24, day + work[1] / 24);
  return {
    intensity: profile([...breaks, 5, 6, 7], [...weekdays, ...weekend], 7),
    importance: (ratio) => profile([...workdays, 7], [...Array.from({ length: 5 }, () => [1, ratio]).flat(), 1], 7),
  };
}

export const dbWorld = weekly([0, 3, 6, 9, 18, 21], [2.4, 5.96, 6.04, 7.5, 3.03, 2.41], [1.5, 1.15], [9, 18]);
export const microNet = weekly([0, 9, 19], [0.25, 2.6, 0.14], [0.08, 0.08], [9, 19]);
