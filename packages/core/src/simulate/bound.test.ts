import { expect, test } from 'vitest';
import { kinOf } from '../model/kin.ts';
import { policies } from '../policy/catalog.ts';
import { boundEntry } from './bound.ts';
import { calibrate } from './calibrate.ts';
import { exponential, random } from './random.ts';
import { replay } from './replay.ts';
import { scoreProbes } from './score.ts';
import { probesAllowed, splitTrace } from './split.ts';
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

function scored(looksPerChange: number, loss?: 'staleness') {
  const split = turned();
  const allowed = probesAllowed(split, { kind: 'per-change', looks: looksPerChange });
  const run = (entry = policies['cho']!) =>
    scoreProbes(
      split,
      calibrate(
        allowed,
        (told) =>
          replay(split, entry.create(1), {
            allowed,
            told,
            kin: kinOf(split.names),
            learn: 'probes',
            spacingSeconds: 0,
          }),
        { start: 1, rises: true },
      ).replay.log,
    );
  return { learned: run(), bound: run(boundEntry(split, loss)), root: run(boundEntry(split)) };
}

test('the bound goes by the test’s rates, whatever was learned before', () => {
  const { learned, bound } = scored(10);
  expect(bound.probes).toBeGreaterThan(0.99 * learned.probes);
  expect(bound.meanDelayHours).toBeLessThan(0.8 * learned.meanDelayHours);
});

test('asked for fresh copies it keeps them fresher, and gives up delays for that', () => {
  const { bound, root } = scored(0.2, 'staleness');
  expect(bound.freshness).toBeGreaterThan(root.freshness + 0.05);
  expect(bound.meanDelayHours).toBeGreaterThan(root.meanDelayHours);
});
