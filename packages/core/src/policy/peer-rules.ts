/** The peers' interval rules, as their sources had them in 2026. */
import type { IntervalRule, PageClock } from './interval-policy.ts';

const minute = 60;
const hour = 3600;
const day = 86_400;

const within = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

/** Nutch's AdaptiveFetchSchedule with its defaults. */
export const nutch: IntervalRule = {
  name: 'nutch',
  startSeconds: 30 * day,
  after(clock: PageClock, now: number, changed: boolean): number {
    let interval = clock.interval * (changed ? 1 - 0.2 : 1 + 0.4);
    if (changed) clock.changedAt = now;
    const sinceChange = now - clock.changedAt;
    if (sinceChange > interval) interval = sinceChange;
    clock.interval = within(interval, minute, 365 * day);
    return Math.max(minute, clock.interval - 0.3 * sinceChange);
  },
};

/** StormCrawler's AdaptiveScheduler. */
export const stormcrawler: IntervalRule = {
  name: 'stormcrawler',
  startSeconds: 1440 * minute,
  after(clock: PageClock, _now: number, changed: boolean): number {
    clock.interval = changed
      ? 0.5 * clock.interval + 0.5 * 60 * minute
      : Math.min(20_160 * minute, 1.5 * clock.interval);
    return clock.interval;
  },
};

/** Heritrix 1 and 2. */
export const heritrix: IntervalRule = {
  name: 'heritrix',
  startSeconds: day,
  after(clock: PageClock, _now: number, changed: boolean): number {
    clock.interval = within(changed ? clock.interval / 1.5 : clock.interval * 1.5, hour, 28 * day);
    return clock.interval;
  },
};

/** Miniflux with entry_frequency: entries of the last week decide. */
export const miniflux: IntervalRule = {
  name: 'miniflux',
  startSeconds: day,
  after(clock: PageClock, now: number, changed: boolean): number {
    if (changed) clock.recent.push(now);
    while (clock.recent.length > 0 && clock.recent[0]! <= now - 7 * day) clock.recent.shift();
    const entries = clock.recent.length;
    clock.interval = entries > 0 ? within((7 * day) / entries, 5 * minute, day) : day;
    return clock.interval;
  },
};
