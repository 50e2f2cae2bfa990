/** Fetch order and robots: exact plans for thousands of tasks, rules for long queues. */
import {
  checkSequence,
  planRobotSwitching,
  planRobots,
  planSweep,
  random,
  sequenceByMatching,
  sequenceTable,
} from '@revisit/core';
import { oracleMatchingSize } from '../packages/core/src/plan/matching.oracle.ts';
import type { Bench, Measurement } from '../house/bench.ts';

function rowsOf(tasks: number, share: number, seed: number): number[][] {
  const next = random(seed);
  return Array.from({ length: tasks }, () => Array.from({ length: 2 * tasks }, () => (next() < share ? 1 : 2)));
}

function took<Value>(work: () => Value): [Value, number] {
  const start = performance.now();
  const value = work();
  return [value, performance.now() - start];
}

function matching(tasks: number, share: number): Measurement {
  const table = sequenceTable(rowsOf(tasks, share, 1));
  const [sequence, ms] = took(() => sequenceByMatching(table));
  const valid = checkSequence(table, sequence).length === 0;
  return {
    what: `VLSP {1,2}, ${tasks} tasks, ${share} of starts fast: optimum ${sequence.finish}`,
    ours: `${ms.toFixed(0)} ms`,
    rival: '1 s',
    holds: valid && ms < 1000,
  };
}

/** One graph of the search against a plain blossom algorithm on the same graph. */
function againstPlain(): Measurement {
  const tasks = 150;
  const rows = rowsOf(tasks, 1 / tasks, 2);
  const [{ finish }, ms] = took(() => sequenceByMatching(sequenceTable(rows)));
  const edges: [number, number][] = [];
  rows.forEach((row, t) => {
    for (let j = 0; j < finish; j++) if (row[j] === 1) edges.push([t, tasks + j]);
  });
  for (let j = 1; j < finish; j++) edges.push([tasks + j - 1, tasks + j]);
  const [size, plainMs] = took(() => oracleMatchingSize(tasks + finish, edges));
  return {
    what: `VLSP {1,2}, ${tasks} tasks, the whole search against one matching by plain blossoms`,
    ours: `${ms.toFixed(1)} ms`,
    rival: `${plainMs.toFixed(1)} ms`,
    ratio: (ms / plainMs).toFixed(2),
    holds: size >= tasks && ms < plainMs,
  };
}

export const bench: Bench = async (say) => {
  say('matching, queues and sweeps');
  const robots = took(() => planRobots({ arrival: 1, service: 5.7, buffer: 1e6, starvationWeight: 0.5 }))[1];
  const rule = took(() =>
    planRobotSwitching({
      arrival: 1,
      service: 8,
      buffer: 16,
      starvationWeight: 1,
      robotsMin: 0,
      robotsMax: 12,
      switchCost: 0.01,
      recall: 'draining',
    }),
  )[1];
  const sites = Array.from({ length: 1000 }, (_, s) => ({
    pages: 20,
    spacingSeconds: 2,
    breadth: 1,
    hourly: Array.from({ length: 48 }, (_, hour) => ((hour + s) % 24 < 8 ? 6 : 0.6)),
  }));
  const sweep = took(() => planSweep({ sites, robots: 64, intoHourSeconds: 0 }))[1];
  return [
    matching(1000, 0.001),
    matching(3000, 0.001),
    matching(3000, 0.01),
    againstPlain(),
    { what: 'robots, K = 1,000,000', ours: `${robots.toFixed(2)} ms`, rival: '10 ms', holds: robots < 10 },
    { what: 'rule of a pool, 16 × 12 blocks', ours: `${rule.toFixed(1)} ms`, rival: '100 ms', holds: rule < 100 },
    {
      what: 'sweep of 20,000 bundles on 1,000 sites',
      ours: `${sweep.toFixed(0)} ms`,
      rival: '5 s',
      holds: sweep < 5000,
    },
  ];
};
