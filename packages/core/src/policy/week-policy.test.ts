import { describe, expect, test } from 'vitest';
import { WeekCounts } from '../learn/week-counts.ts';
import { obsolescence } from '../loss/obsolescence.ts';
import { kinOf } from '../model/kin.ts';
import { exponential, random } from '../simulate/random.ts';
import { calibrate } from '../simulate/calibrate.ts';
import { replay } from '../simulate/replay.ts';
import { scoreProbes } from '../simulate/score.ts';
import { splitTrace } from '../simulate/split.ts';
import { traceOf } from '../simulate/trace.ts';
import { constant, profile, valueAt } from '../time/profile.ts';
import { weekSeconds } from '../time/week.ts';
import { policies } from './catalog.ts';
import { whenCostReaches } from './week-policy.ts';

const day = 86_400;
/** A Monday, 00:00 UTC. */
const monday = 4 * day;

/** Pages that change on weekdays between 8 and 18 only. */
function workTrace(pages: number, days: number, perDay: number) {
  const next = random(3);
  const events: [string, number][] = [];
  for (let page = 0; page < pages; page++) {
    events.push([`site${page % 3}/${page}`, monday]);
    for (let at = monday; at < monday + days * day; at += exponential(next, (day * 10) / 24 / 3 / perDay)) {
      const second = (at - monday) % weekSeconds;
      const hour = (second % day) / 3_600;
      if (second < 5 * day && hour >= 8 && hour < 18) events.push([`site${page % 3}/${page}`, Math.floor(at)]);
    }
  }
  events.push(['site0/0', monday + days * day]);
  return traceOf(events);
}

describe('week policies', () => {
  test('on pages that keep office hours, doe finds changes sooner than uniform with as many looks', () => {
    const trace = workTrace(12, 70, 1);
    const split = splitTrace(trace, 49 * day, 21 * day);
    if ('kind' in split) throw new Error('split');
    const allowed = 12 * 21 * 4;
    const kin = kinOf(split.names);
    const delays = ['uniform', 'doe', 'threshold', 'first-arrival'].map((name) => {
      const entry = policies[name]!;
      const run = (told: number) =>
        replay(split, entry.create(1), { allowed, told, kin, learn: 'events', spacingSeconds: 0 });
      const { replay: best } = calibrate(allowed, run, { start: 1, rises: true });
      expect(best.log.length).toBeGreaterThan(0.97 * allowed);
      return scoreProbes(split, best.log).meanDelayHours;
    });
    const [uniform, doe, threshold, arrival] = delays as [number, number, number, number];
    expect(doe).toBeLessThan(0.8 * uniform);
    expect(doe).toBeLessThan(1.02 * threshold);
    expect(doe).toBeLessThan(1.02 * arrival);
  });

  test('a week is learned from change times, and from looks', () => {
    const counts = new WeekCounts();
    const times = Float64Array.from({ length: 400 }, (_, i) => monday + i * day + 10 * 3_600 + 60);
    counts.teach(times, monday, monday + 400 * day);
    const taught = counts.shape();
    expect(valueAt(taught, monday + 10.5 * 3_600)).toBeGreaterThan(4);
    expect(valueAt(taught, monday + 3 * 3_600)).toBeLessThan(0.8);
    const seen = new WeekCounts();
    for (let i = 0; i < 5_000; i++) seen.look(monday + i * 7_200, monday + (i + 1) * 7_200, i % 12 === 5, 1 / day);
    expect(seen.changes).toBeGreaterThan(400);
    const shape = seen.shape();
    expect(valueAt(shape, monday + 11 * 3_600)).toBeGreaterThan(3 * valueAt(shape, monday + 3 * 3_600));
  });

  test('the threshold is met exactly', () => {
    const week = profile([0, day, 3 * day, weekSeconds], [2, 0, 1], weekSeconds);
    const loss = obsolescence(week, constant(1), 0, 60 * weekSeconds);
    for (const [last, amount] of [
      [0, 1e5],
      [1.5 * day, 1e7],
      [2 * day, 5e11],
      [5 * day, 3e9],
    ] as const) {
      const at = whenCostReaches(week, last, amount);
      expect(loss.gap(last, at) / amount).toBeCloseTo(1, 6);
    }
    expect(whenCostReaches(constant(1), 5, 2)).toBe(7);
  });
});
