/**
 * Laws of change, as streams of times in seconds since the epoch. Each is known exactly: its mean rate, and its shape over the
 * week where it has one. Everything follows from the random numbers passed in.
 */
import { type Profile, type Random, daySeconds, exponential, profile, reach, scaled, weekSeconds } from '@revisit/core';

export type Times = Iterator<number, undefined>;

/** Epoch time 0 was a Thursday; weeks here begin on Monday 00:00 UTC. */
const monday = 4 * daySeconds;

/** One value for each hour of the week, brought to a mean of 1. */
function hourly(value: (day: number, hour: number) => number): Profile {
  const values = Array.from({ length: 168 }, (_, i) => value(Math.floor(i / 24), i % 24));
  const mean = values.reduce((sum, one) => sum + one, 0) / 168;
  const breaks = Array.from({ length: 169 }, (_, i) => monday + i * 3600);
  return profile(
    breaks,
    values.map((one) => one / mean),
    weekSeconds,
  );
}

export const shapes = {
  flat: hourly(() => 1),
  office: hourly((day, hour) => (day < 5 ? (hour >= 8 && hour < 18 ? 12 : 1) : 0.4)),
  evening: hourly((_day, hour) => (hour >= 17 && hour < 23 ? 8 : 0.5)),
  night: hourly((_day, hour) => (hour >= 1 && hour < 4 ? 14 : 0.3)),
} satisfies Record<string, Profile>;

export type ShapeName = keyof typeof shapes;

/** Changes independent of each other, at a rate that follows the shape. */
export function* poissonTimes(
  shape: ShapeName,
  ratePerDay: number,
  from: number,
  random: Random,
): Generator<number, undefined> {
  const intensity = scaled(shapes[shape], ratePerDay / daySeconds);
  for (let t = from; ; yield t) t = reach(intensity, t, exponential(random, 1));
}

export interface Bursts {
  readonly burstsPerDay: number;
  /** How many more changes follow a first one, on average, and how far apart they are. */
  readonly followers: number;
  readonly apartSeconds: number;
}

/** A first change now and then, and others soon after it. */
export function* burstTimes(
  { burstsPerDay, followers, apartSeconds }: Bursts,
  from: number,
  random: Random,
): Generator<number, undefined> {
  const more = followers / (1 + followers);
  for (let t = from; ;) {
    t += exponential(random, daySeconds / burstsPerDay);
    yield t;
    while (random() < more) yield (t += exponential(random, apartSeconds));
  }
}

/** Each release of a site touches a page with this chance: pages of one site change together. `releases` is the site's own stream. */
export function* releaseTimes(releases: Times, share: number, random: Random): Generator<number, undefined> {
  for (let next = releases.next(); !next.done; next = releases.next()) if (random() < share) yield next.value;
}
