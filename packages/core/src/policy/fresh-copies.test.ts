/**
 * Asked for fresh copies, on made webs: less stale time than without the aim wherever that is to be had, and no more in bursts.
 * The bounds are what eight or ten webs of the kind come to and about three standard errors of four: single webs are about 0.025 apart.
 */
import { expect, test } from 'vitest';
import { kinOf } from '../model/kin.ts';
import { exponential, random } from '../simulate/random.ts';
import { replay } from '../simulate/replay.ts';
import { scoreProbes } from '../simulate/score.ts';
import { type Split, probesAllowed, splitTrace } from '../simulate/split.ts';
import { traceOf } from '../simulate/trace.ts';
import { type Aims, RevisitPolicy } from './revisit.ts';

const day = 86_400;
const monday = 1_700_438_400; // Monday 2023-11-20 00:00 UTC
const trainDays = 120;
const testDays = 120;
const end = monday + (trainDays + testDays) * day;

/** Changes of one page after `monday`, ascending. */
type Page = (next: () => number) => number[];

const poisson =
  (perDay: number): Page =>
  (next) => {
    const times: number[] = [];
    for (let at = monday; (at += exponential(next, day / perDay)) < end;) times.push(at);
    return times;
  };

/** Every twenty days up to four days in which twenty changes a day come. */
const longBursts: Page = (next) => {
  const times: number[] = [];
  for (let at = monday; (at += exponential(next, 20 * day)) < end;)
    for (const until = Math.min(end, at + 4 * day * next()); at < until; at += exponential(next, day / 20))
      times.push(at);
  return times;
};

function web(pages: readonly Page[], seed: number): Split {
  const next = random(seed);
  const events: [string, number][] = [['end/end', end]];
  pages.forEach((page, i) => {
    const name = `s${i % 5}/${Math.floor(1e9 * next()).toString(36)}x${i}`;
    events.push([name, monday], ...page(next).map((at): [string, number] => [name, Math.floor(at)]));
  });
  return splitTrace(traceOf(events), trainDays * day, testDays * day);
}

const alternating = (count: number, page: (i: number) => Page): Page[] =>
  Array.from({ length: count }, (_, i) => page(i));

/** Stale time with the aim over stale time without it, with as many probes: the geometric mean over made webs. */
function staleRatio(pages: readonly Page[], looksPerChange: number, worlds: number): number {
  let sum = 0;
  for (let world = 1; world <= worlds; world++) {
    const split = web(pages, world);
    const allowed = probesAllowed(split, { kind: 'per-change', looks: looksPerChange });
    const kin = kinOf(split.names);
    const stale = (aims: Aims): number => {
      const run = replay(split, new RevisitPolicy(aims), {
        allowed,
        told: 0.98,
        kin,
        learn: 'probes',
        spacingSeconds: 0,
      });
      expect(run.log.length).toBeGreaterThan(0.97 * allowed);
      return (1 - scoreProbes(split, run.log).freshness) * run.log.length;
    };
    sum += Math.log(stale({ loss: 'staleness' }) / stale({}));
  }
  return Math.exp(sum / worlds);
}

test('pages that change a hundred times as often as looks can follow are left alone', () => {
  // With all rates known it would be 0.61; of pages that have always changed nobody knows how often.
  // Ten made webs have 0.90; single ones are up to a tenth apart.
  const pages = alternating(50, (i) => poisson(i % 5 === 0 ? 30 : 0.3));
  expect(staleRatio(pages, 0.08, 4)).toBeLessThan(0.93);
});

test('where rates differ fifty times and there are three looks to ten changes, a tenth of the stale time is saved', () => {
  // With all rates known it would be 0.77.
  const pages = alternating(50, (i) => poisson(i % 5 === 0 ? 2.5 : 0.05));
  expect(staleRatio(pages, 0.3, 4)).toBeLessThan(0.94);
});

test('where rates differ a lot and there is a look to two changes, some is saved', () => {
  // With all rates known it would be 0.90.
  const pages = alternating(50, (i) => poisson(0.01 * 300 ** ((i + 0.5) / 50)));
  expect(staleRatio(pages, 0.5, 4)).toBeLessThan(0.985);
});

test('in bursts of days, of which a copy made in the middle is stale at once, nothing is lost by the aim', () => {
  const pages = alternating(50, (i) => (i % 2 === 0 ? longBursts : poisson(0.15)));
  expect(staleRatio(pages, 1, 4)).toBeLessThan(1.005);
});
