import { expect, test } from 'vitest';
import { calibrate } from '../simulate/calibrate.ts';
import { kinOf } from '../model/kin.ts';
import { exponential, random } from '../simulate/random.ts';
import { replay } from '../simulate/replay.ts';
import { scoreProbes } from '../simulate/score.ts';
import { probesAllowed, splitTrace } from '../simulate/split.ts';
import { traceOf } from '../simulate/trace.ts';
import { policies } from './catalog.ts';
import { LookBook } from './look-book.ts';

const day = 86_400;

/** Pages alike, each changing once in `mean` seconds or so, of which little is learned before the test. */
function alike(mean: number) {
  const next = random(5);
  const events: [string, number][] = [];
  for (let page = 0; page < 200; page++)
    for (let at = next() * mean; at < 20 * mean; at += exponential(next, mean))
      events.push([`p${page}`, Math.floor(at)]);
  return splitTrace(traceOf(events), 4 * mean, 16 * mean);
}

/** In shares of the mean time between changes, at a look a change. */
function meanDelay(name: string, mean: number): number {
  const split = alike(mean);
  const allowed = probesAllowed(split, { kind: 'per-change', looks: 1 });
  const entry = policies[name]!;
  const run = (told: number) =>
    replay(split, entry.create(1), { allowed, told, kin: kinOf(split.names), learn: 'probes', spacingSeconds: 0 });
  const { log } = calibrate(allowed, run, { start: 1, rises: true }).replay;
  return (scoreProbes(split, log).meanDelayHours * 3600) / mean;
}

test('Cho gives up no more of pages that change every 200 days, whose first looks found a change, than of pages that change every hour', () => {
  const delays = [1 / 24, 5, 200].map((days) => meanDelay('cho', days * day) / meanDelay('uniform', days * day));
  for (const delay of delays) expect(delay / delays[0]!).toBeCloseTo(1, 1);
});

test('a page of which nothing is known changes as often as half of its pseudo-looks say, however long they are', () => {
  const book = new LookBook();
  book.open(0, 0);
  expect(book.rate(0)).toBeCloseTo(Math.LN2 / (day / 2), 12);
  book.assume(30 * day);
  expect(book.rate(0)).toBeCloseTo(Math.LN2 / (30 * day), 12);
});

test('what was saved with pseudo-looks of half a day in it is taken up without them', () => {
  const book = new LookBook();
  book.open(0, 0);
  for (let look = 1; look <= 40; look++) book.add(0, look * 5 * day, look % 4 === 0);
  const saved = book.save(0);
  const before = saved.slice();
  const view = new DataView(before.buffer);
  // The mark before, half a day more without change, and a gap of half a day with one.
  view.setUint8(0, 0x1b);
  view.setFloat32(9, view.getFloat32(9) + day / 2);
  view.setFloat32(25, day / 2);
  view.setFloat32(29, 1);
  const [now, then] = [saved, before].map((bytes) => {
    const other = new LookBook();
    other.open(0, 0);
    expect(other.restore(0, bytes, 200 * day)).toBe(true);
    return other.rate(0);
  });
  expect(now).toBeCloseTo(book.rate(0), 12);
  expect(then).toBeCloseTo(book.rate(0), 12);
});
