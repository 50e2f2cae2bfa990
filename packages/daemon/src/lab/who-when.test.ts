import { ProbeLog, scoreProbes, splitTrace, traceOf } from '@revisit/core';
import { expect, test } from 'vitest';
import { whoWhen } from './who-when.ts';

const day = 86_400;
const dayZero = 1000 * day;

test('without dates time is told from the first look, in days or within one of them', () => {
  const changes = Array.from({ length: 90 }, (_, i) => ['page', dayZero + i * day] as const);
  const split = splitTrace(traceOf(changes), 60 * day, 29 * day);
  const [days, hours] = [40, 4000].map((looks) => {
    const log = new ProbeLog();
    for (let i = 1; i <= looks; i++) log.add(0, split.testStart + Math.floor((i * 29 * day) / looks));
    const compared = [{ policy: 'uniform', score: scoreProbes(split, log), log, seconds: 0, knob: 1, runs: 1 }];
    return whoWhen(split, compared, dayZero)[0]!;
  });
  expect(days!.x).toBe('days since the first look');
  expect(days!.xRange).toEqual([60, 89]);
  const at = days!.series[1]!.points.map(([x]) => x);
  expect([at[0], at.at(-1)]).toEqual([61, 89]);
  expect(hours!.x).toMatch(/^hours, beginning [6-8]\d(\.\d+)? days since the first look$/);
  expect(hours!.xRange![0]).toBe(0);
});
