/** Learning and simulation: how fast the lab runs, and how fast rates are estimated from censored looks. */
import {
  RevisitPolicy,
  type Split,
  estimateRate,
  exponential,
  kinOf,
  probesAllowed,
  random,
  replay,
  scoreProbes,
  splitTrace,
  traceOf,
} from '@revisit/core';
import type { Bench, Measurement } from '../house/bench.ts';

const day = 86_400;

/** A year of 10,000 Poisson pages in folders of ten. Training begins with the first event, which is every page's birth: all take part. */
export function simulatedYear(): Split {
  const next = random(1);
  const events: [string, number][] = [];
  for (let page = 0; page < 10_000; page++) {
    const mean = day * 10 ** (0.5 + 2 * next());
    for (let at = 0; at < 365 * day; at += exponential(next, mean))
      events.push([`site/f${page % 1000}/p${page}`, Math.floor(at)]);
  }
  return splitTrace(traceOf(events), 183 * day, 182 * day);
}

/** A year of looks at one a page and day. */
function simulateYear(): Measurement {
  const split = simulatedYear();
  const allowed = probesAllowed(split, { kind: 'per-page-day', looks: 1 });
  const started = performance.now();
  const run = replay(split, new RevisitPolicy(), {
    allowed,
    told: 1,
    kin: kinOf(split.names),
    learn: 'probes',
    spacingSeconds: 0,
  });
  const seconds = (performance.now() - started) / 1000;
  const { meanDelayHours } = scoreProbes(split, run.log);
  return {
    what: `revisit over ${split.names.length} pages × 1 year at 1 look a page and day (${run.trainProbes + run.log.length} looks)`,
    ours: `${seconds.toFixed(1)} s`,
    rival: '60 s',
    ratio: `mean delay ${meanDelayHours.toFixed(1)} h, uniform 12.0 h`,
    holds: seconds < 60,
  };
}

function estimateMillion(): Measurement {
  const next = random(2);
  const started = performance.now();
  let inside = 0;
  for (let page = 0; page < 1_000_000; page++) {
    const changedGaps: number[] = [];
    let freeTime = 0;
    for (let look = 0; look < 30; look++) {
      const gap = 0.5 + next();
      if (next() < -Math.expm1(-0.3 * gap)) changedGaps.push(gap);
      else freeTime += gap;
    }
    const { interval } = estimateRate({ changedGaps, freeTime, exact: 0 });
    if (interval[0] <= 0.3 && interval[1] >= 0.3) inside++;
  }
  const seconds = (performance.now() - started) / 1000;
  return {
    what: 'rates of 1,000,000 pages from 30 looks each, with 95 % intervals',
    ours: `${seconds.toFixed(1)} s`,
    rival: '60 s',
    ratio: `${((100 * inside) / 1_000_000).toFixed(1)} % of intervals hold the truth`,
    holds: seconds < 60,
  };
}

export const bench: Bench = (say) => {
  say('a simulated year');
  const year = simulateYear();
  say('a million estimates');
  return Promise.resolve([year, estimateMillion()]);
};
