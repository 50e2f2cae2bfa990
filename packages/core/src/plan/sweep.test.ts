import { describe, expect, test } from 'vitest';
import { integer, random } from '../simulate/random.ts';
import { greedyPriority, planSweep, playSweep, type SweepPlan, type SweepProblem } from './sweep.ts';

/** Sites that are slow for eight hours of the day, each at its own. */
function worldOf(sites: number, pages: number, robots: number, spacingSeconds = 0): SweepProblem {
  return {
    sites: Array.from({ length: sites }, (_, s) => ({
      pages,
      spacingSeconds,
      breadth: 1,
      hourly: Array.from({ length: 48 }, (_, hour) => ((hour + s) % 24 < 8 ? 6 : 0.6)),
    })),
    robots,
    intoHourSeconds: 0,
  };
}

/** What must be true of any sweep, checked from its starts alone. */
function wrongWith(problem: SweepProblem, plan: SweepPlan): string[] {
  const wrong: string[] = [];
  const done = problem.sites.map(() => 0);
  const last = problem.sites.map(() => -Infinity);
  const ends: { at: number; site: number }[] = [];
  plan.order.forEach((s, k) => {
    const site = problem.sites[s]!;
    const start = plan.startSeconds[k]!;
    const busy = ends.filter((end) => end.at > start + 1e-9);
    if (busy.length >= problem.robots) wrong.push(`too many robots at ${start}`);
    if (busy.filter((end) => end.site === s).length >= site.breadth) wrong.push(`site ${s} busy at ${start}`);
    if (start - last[s]! < site.spacingSeconds - 1e-9) wrong.push(`site ${s} rushed at ${start}`);
    last[s] = start;
    done[s]!++;
    const hour = Math.floor((problem.intoHourSeconds + start) / 3600);
    ends.push({ at: start + site.hourly[Math.min(hour, site.hourly.length - 1)]!, site: s });
    if (ends.length > 200) ends.splice(0, ends.length, ...ends.filter((end) => end.at > start));
  });
  problem.sites.forEach((site, s) => done[s] !== site.pages && wrong.push(`site ${s}: ${done[s]} of ${site.pages}`));
  return wrong;
}

describe('a sweep', () => {
  test('is polite and complete on random worlds, and not slower than the greedy', () => {
    const next = random(1);
    for (let trial = 0; trial < 30; trial++) {
      const problem: SweepProblem = {
        sites: Array.from({ length: 1 + integer(next, 8) }, () => ({
          pages: integer(next, 60),
          spacingSeconds: 20 * next(),
          breadth: 1 + integer(next, 2),
          hourly: Array.from({ length: 1 + integer(next, 6) }, () => 0.1 + 200 * next() ** 3),
        })),
        robots: 1 + integer(next, 5),
        intoHourSeconds: 3600 * next(),
        ...(next() < 0.3 && { looksPerSecond: 0.05 + next() }),
      };
      const plan = planSweep(problem);
      expect(wrongWith(problem, plan)).toEqual([]);
      const greedy = playSweep(problem, greedyPriority(problem), 'greedy');
      expect(plan.finishSeconds).toBeLessThanOrEqual(greedy.finishSeconds);
    }
  });

  test('uses the hours at which sites are fast: a tenth sooner than the greedy', () => {
    for (const spacing of [0, 1]) {
      const problem = worldOf(24, 600, 4, spacing);
      const plan = planSweep(problem);
      const given = playSweep(problem, (site) => site, 'given');
      const greedy = playSweep(problem, greedyPriority(problem), 'greedy');
      expect(plan.finishSeconds).toBeLessThan(0.9 * greedy.finishSeconds);
      expect(plan.finishSeconds).toBeLessThan(0.75 * given.finishSeconds);
    }
  });

  test('nothing to do, one page', () => {
    expect(planSweep({ sites: [], robots: 2, intoHourSeconds: 0 }).finishSeconds).toBe(0);
    const one = { pages: 1, spacingSeconds: 5, breadth: 1, hourly: [3] };
    expect(planSweep({ sites: [one], robots: 2, intoHourSeconds: 100 })).toMatchObject({ finishSeconds: 3 });
  });
});

test('a budget that makes a sweep of years costs no more to plan than one of weeks', () => {
  let asked = 0;
  const counted = (problem: SweepProblem): SweepProblem => ({
    ...problem,
    sites: problem.sites.map((site) => ({
      ...site,
      hourly: new Proxy([...site.hourly], {
        get: (hours, key) => {
          if (typeof key === 'string' && /^\d/.test(key)) asked++;
          return Reflect.get(hours, key) as unknown;
        },
      }),
    })),
  });
  const costs = [336, 30_000].map((hours) => {
    asked = 0;
    const problem = { ...worldOf(10, 30, 4), looksPerSecond: 300 / (hours * 3600) };
    const plan = planSweep(counted(problem));
    expect(wrongWith(problem, plan)).toEqual([]);
    expect(plan.finishSeconds / 3600).toBeCloseTo(hours * (299 / 300), 0);
    return asked;
  });
  expect(costs[1]).toBeLessThan(costs[0]!);
});
