import { expect, test } from 'vitest';
import { kinOf } from '../model/kin.ts';
import type { Policy } from '../policy/policy.ts';
import { type Aims, RevisitPolicy } from '../policy/revisit.ts';
import { boundEntry } from './bound.ts';
import { calibrate } from './calibrate.ts';
import { exponential, random } from './random.ts';
import { replay } from './replay.ts';
import { scoreProbes } from './score.ts';
import { type Split, probesAllowed, splitTrace } from './split.ts';
import { traceOf } from './trace.ts';

const day = 86_400;

/** Pages that change places in the test: what was learned of them before misleads. */
function turned() {
  const next = random(7);
  const events: [string, number][] = [];
  for (let page = 0; page < 40; page++) {
    const [first, then] = page < 20 ? [0.2 * day, 20 * day] : [20 * day, 0.2 * day];
    for (let at = 0; at < 60 * day; at += exponential(next, first)) events.push([`p${page}`, Math.floor(at)]);
    for (let at = 60 * day; at < 100 * day; at += exponential(next, then)) events.push([`p${page}`, Math.floor(at)]);
  }
  return splitTrace(traceOf(events), 60 * day, 40 * day);
}

function scored(looksPerChange: number, aims: Aims = {}) {
  const split = turned();
  const allowed = probesAllowed(split, { kind: 'per-change', looks: looksPerChange });
  const run = (create: () => Policy) =>
    scoreProbes(
      split,
      calibrate(
        allowed,
        (told) =>
          replay(split, create(), { allowed, told, kin: kinOf(split.names), learn: 'probes', spacingSeconds: 0 }),
        { start: 1, rises: true },
      ).replay.log,
    );
  return { learned: run(() => new RevisitPolicy(aims)), bound: run(() => aimedAt(split, aims)) };
}

function aimedAt(split: Split, aims: Aims): Policy {
  const entry = boundEntry(split);
  if (entry.knob !== 'told') throw new Error('It is told its budget.');
  return entry.aimed!(aims);
}

test('the bound goes by the test’s rates, whatever was learned before', () => {
  const { learned, bound } = scored(10);
  expect(bound.probes).toBeGreaterThan(0.99 * learned.probes);
  expect(bound.meanDelayHours).toBeLessThan(0.9 * learned.meanDelayHours);
});

test('it is asked for what the others are asked for', () => {
  const { learned, bound } = scored(1, { loss: 'staleness' });
  expect(bound.freshness).toBeGreaterThan(learned.freshness + 0.02);
});
