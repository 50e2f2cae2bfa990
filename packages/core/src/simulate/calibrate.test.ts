import { expect, test } from 'vitest';
import { calibrate } from './calibrate.ts';
import { ProbeLog } from './probe-log.ts';
import type { Replay } from './replay.ts';

const allowed = 10_000;

function wanting(wanted: number): Replay {
  const log = new ProbeLog();
  for (let i = 0; i < Math.min(allowed, wanted); i++) log.add(0, i);
  return { log, wanted, trainProbes: 0 };
}

test('a run that wants a few looks too many stands, one that would end hours early is run again', () => {
  expect(calibrate(allowed, () => wanting(allowed + 10), { start: 1, rises: true }).runs).toBe(1);
  const done = calibrate(allowed, (knob) => wanting(Math.round(1.002 * allowed * knob)), { start: 1, rises: true });
  expect(done.runs).toBe(2);
  expect(done.replay.wanted).toBeLessThanOrEqual(allowed);
  expect(done.replay.wanted).toBeGreaterThan(0.99 * allowed);
});

test('a rule that wants a little too much at any knob is taken as it is, not starved', () => {
  const heard = (knob: number): Replay => wanting(knob < 0.2 ? 500 : allowed + 20);
  const { replay } = calibrate(allowed, heard, { start: 1, rises: true });
  expect(replay.log.length).toBe(allowed);
});

test('a rule that jumps over the mark keeps the largest run below it', () => {
  const { replay } = calibrate(allowed, (scale) => wanting(scale > 1.5 ? 9000 : 12_000), { start: 1, rises: false });
  expect(replay.wanted).toBe(9000);
});

test('a rule that hardly hears its knob is followed as far as it takes', () => {
  const deaf = (scale: number): Replay =>
    wanting(Math.round(allowed * (scale < 8 ? 1.03 : scale < 20 ? 0.995 : 0.001)));
  const { replay, knob } = calibrate(allowed, deaf, { start: 1, rises: false });
  expect(replay.wanted).toBe(9950);
  expect(knob).toBeGreaterThan(8);
});

test('where any run below the mark would leave most unused, the least eager above it is cut off there', () => {
  const inStep = (pages: number) => (knob: number) => {
    const wanted = pages * Math.floor(2 * knob);
    const log = new ProbeLog();
    for (let i = 0; i < Math.min(2, wanted); i++) log.add(i, 0);
    return { log, wanted, trainProbes: 0 };
  };
  const { replay } = calibrate(2, inStep(7), { start: 1, rises: true });
  expect([replay.log.length, replay.wanted]).toEqual([2, 7]);
});
