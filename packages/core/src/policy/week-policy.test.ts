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
import { WeekPolicy, whenCostReaches } from './week-policy.ts';

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

  test('what was learned survives a restart: the same rates, week and next looks', () => {
    for (const name of ['doe', 'threshold', 'first-arrival'] as const) {
      const next = random(5);
      const pages = Array.from({ length: 6 }, (_, page) => ({
        page,
        site: 0,
        folder: 0,
        weight: 1,
        spacingSeconds: 0,
      }));
      const before = new WeekPolicy(name);
      for (const page of pages) before.watch(page, monday);
      before.setBudget(24 / day);
      let now = monday;
      for (const { page } of pages) {
        before.started(page);
        before.looked(page, now, { kind: 'first' });
      }
      for (let look = 0; look < 400; look++) {
        const choice = before.next(now)!;
        now = Math.max(now, choice.at);
        before.started(choice.page);
        const hour = ((now - monday) % day) / 3_600;
        const changed = next() < (hour > 8 && hour < 18 ? 0.6 : 0.1) / (1 + choice.page);
        before.looked(choice.page, now, { kind: changed ? 'changed' : 'unchanged' });
      }
      // Rates are estimated after a change, and else every few looks: with one each they are all of this moment.
      now += 3_600;
      for (const { page } of pages) {
        before.started(page);
        before.looked(page, now, { kind: 'changed' });
      }
      const after = new WeekPolicy(name);
      for (const page of pages) {
        after.watch(page, now);
        const saved = before.save(page.page);
        expect(saved.length).toBeLessThanOrEqual(64);
        expect(after.restore(page.page, saved, now)).toBe(true);
      }
      after.restoreAll(before.saveAll());
      after.setBudget(24 / day);
      after.next(now);
      expect(after.weekShape()?.length).toBe(168);
      for (const { page } of pages) {
        const [was, is] = [before.belief(page, now), after.belief(page, now)];
        // Saved gaps are a few lengths.
        expect(Math.abs(is.ratePerDay / was.ratePerDay - 1)).toBeLessThan(0.001);
        expect(after.due(page)).toBeGreaterThanOrEqual(now);
      }
      // Nobody is due at once only because the process began anew.
      expect(pages.filter(({ page }) => after.due(page) <= now).length).toBeLessThanOrEqual(2);
      expect(after.restore(0, new Uint8Array(61), now)).toBe(false);
    }
  });
});
