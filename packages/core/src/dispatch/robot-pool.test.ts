import { describe, expect, test } from 'vitest';
import { exponential, random } from '../simulate/random.ts';
import { RobotPool, type RobotPoolSettings } from './robot-pool.ts';

/** Robots that always have work, an indexer with a finite queue; times in milliseconds. */
function play(settings: RobotPoolSettings, fetchMs: number, indexMs: number, pages: number, fixed?: number) {
  const next = random(7);
  const pool = new RobotPool(settings, 0);
  const ends: { at: number; from: number }[] = [];
  let [now, queue, indexedAt, indexStart, switches, arrived] = [0, 0, Infinity, 0, 0, 0];
  let target = pool.target;
  let most = 0;
  while (arrived < pages) {
    const allowed = fixed ?? pool.target;
    if (pool.target !== target) switches++;
    target = pool.target;
    while (ends.length < allowed) ends.push({ at: now + exponential(next, fetchMs), from: now });
    most = Math.max(most, ends.length);
    let first = -1;
    for (let k = 0; k < ends.length; k++) if (first < 0 || ends[k]!.at < ends[first]!.at) first = k;
    const end = ends[first];
    if (end && end.at <= indexedAt) {
      ends[first] = ends.at(-1)!;
      ends.pop();
      now = end.at;
      arrived++;
      const fits = queue < settings.queueMax;
      if (fits) queue++;
      if (indexedAt === Infinity) [indexStart, indexedAt] = [now, now + exponential(next, indexMs)];
      pool.arrived(queue, now - end.from, fits, now);
    } else {
      now = indexedAt;
      queue--;
      pool.indexed(queue, 1, now - indexStart, now);
      indexStart = now;
      indexedAt = queue > 0 ? now + exponential(next, indexMs) : Infinity;
    }
  }
  return { ...pool.state(now), lossShare: pool.state(now).overflowed / arrived, switches: switches / arrived, most };
}

const settings: RobotPoolSettings = { robotsMin: 1, robotsMax: 32, queueMax: 40, starvationWeight: 1 };

describe('the pool', () => {
  test('an indexer far faster than all robots: all of them run', () => {
    const end = play(settings, 500, 0.5, 5000);
    expect(end).toMatchObject({ robots: 32, overflowed: 0 });
  });

  test('a slow indexer: few losses and little starvation where a fixed number has one or the other', () => {
    const ours = play(settings, 500, 50, 10_000);
    const all = play(settings, 500, 50, 10_000, 32);
    const cost = (end: { starvedShare: number; lossShare: number }) => end.starvedShare + end.lossShare;
    expect(ours.lossShare).toBeLessThan(0.01);
    expect(ours.starvedShare).toBeLessThan(0.02);
    expect(all.lossShare).toBeGreaterThan(0.5);
    for (const fixed of [9, 10, 11]) {
      expect(cost(ours)).toBeLessThan(cost(play(settings, 500, 50, 10_000, fixed)));
    }
  });

  test('it does not flap', () => {
    expect(play(settings, 500, 50, 5_000).switches).toBeLessThan(0.6);
  });

  test('large queues and pools are planned in blocks and stay within their bounds', () => {
    const large = { robotsMin: 5, robotsMax: 500, queueMax: 4096, starvationWeight: 1 };
    const end = play(large, 500, 5, 20_000);
    expect(end.lossShare).toBeLessThan(0.02);
    expect(end.starvedShare).toBeLessThan(0.05);
    expect(end.most).toBeLessThanOrEqual(500);
    expect(end.robots).toBeGreaterThanOrEqual(5);
  });

  test('measures what it is told', () => {
    const pool = new RobotPool(settings, 1000);
    for (let i = 0; i < 10; i++) pool.arrived(1, 200, true, 2000);
    pool.indexed(0, 4, 40, 2500);
    expect(pool.state(3000)).toMatchObject({ fetchMsMean: 200, indexMsMean: 10, starvedShare: 0.75, robots: 32 });
  });
});
