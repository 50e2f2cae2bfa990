import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exponential, integer, random } from '../simulate/random.ts';
import { planRobotsForService, serviceShares, type ServiceTime } from './robots-service.ts';
import { planRobots, queueShares } from './robots.ts';

const hyper: ServiceTime = {
  kind: 'hyperexponential',
  branches: [
    [0.1, 0.1],
    [0.9, 10],
  ],
};
const laws: readonly ServiceTime[] = [
  { kind: 'exponential' },
  { kind: 'deterministic' },
  { kind: 'erlang', stages: 3 },
  hyper,
  { kind: 'measured', times: [1, 2, 3, 0.1, 0.2, 0.5, 7] },
];

/** The stationary law of the Markov chain over (length, stage) by power iteration: slow and independent. */
function sharesByPhases(load: number, buffer: number, stages: number): { starvation: number; loss: number } {
  const rate = stages;
  const size = 1 + buffer * stages;
  const at = (length: number, stage: number) => (length === 0 ? 0 : 1 + (length - 1) * stages + stage);
  const pace = load + rate;
  let law = new Float64Array(size).fill(1 / size);
  for (let round = 0; round < 60_000; round++) {
    const next = new Float64Array(size);
    next[at(1, 0)]! += (law[0]! * load) / pace;
    next[0]! += (law[0]! * rate) / pace;
    for (let length = 1; length <= buffer; length++) {
      for (let stage = 0; stage < stages; stage++) {
        const here = law[at(length, stage)]! / pace;
        next[at(Math.min(length + 1, buffer), stage)]! += here * load;
        const last = stage === stages - 1;
        next[last ? at(length - 1, 0) : at(length, stage + 1)]! += here * rate;
      }
    }
    law = next;
  }
  let loss = 0;
  for (let stage = 0; stage < stages; stage++) loss += law[at(buffer, stage)]!;
  return { starvation: law[0]!, loss };
}

/** The queue played out page by page. */
function sharesByPlay(load: number, buffer: number, time: () => number, pages: number) {
  const next = random(5);
  let [now, free, empty, lost] = [0, 0, 0, 0];
  const leaving: number[] = [];
  for (let page = 0; page < pages; page++) {
    now += exponential(next, 1 / load);
    while (leaving.length > 0 && leaving[0]! <= now) leaving.shift();
    if (leaving.length === buffer) lost++;
    else {
      empty += Math.max(0, now - free);
      free = Math.max(now, free) + time();
      leaving.push(free);
    }
  }
  return { starvation: empty / now, loss: lost / pages };
}

describe('shares', () => {
  test('exponential times give Proposition 1, digit by digit', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.01, max: 5, noNaN: true }), fc.integer({ min: 2, max: 500 }), (load, buffer) => {
        const exact = queueShares(load, buffer);
        const ours = serviceShares(load, buffer, { kind: 'exponential' });
        if (exact.loss > 1e-280) expect(ours.loss / exact.loss).toBeCloseTo(1, 9);
        if (exact.starvation > 1e-280) expect(ours.starvation / exact.starvation).toBeCloseTo(1, 9);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  test('Erlang times give the chain over lengths and stages', () => {
    for (const [load, buffer, stages] of [
      [0.7, 4, 2],
      [1, 6, 3],
      [1.6, 3, 4],
    ] as const) {
      const slow = sharesByPhases(load, buffer, stages);
      const ours = serviceShares(load, buffer, { kind: 'erlang', stages });
      expect(ours.starvation).toBeCloseTo(slow.starvation, 9);
      expect(ours.loss).toBeCloseTo(slow.loss, 9);
    }
  });

  test('constant, mixed and measured times give the queue played out', () => {
    const next = random(9);
    const times = [1, 2, 3, 0.1, 0.2, 0.5, 7];
    const mean = times.reduce((sum, value) => sum + value, 0) / times.length;
    const mixed = () => exponential(next, (next() < 0.1 ? 10 : 0.1) / 1.09);
    for (const [law, time] of [
      [{ kind: 'deterministic' }, () => 1],
      [hyper, mixed],
      [{ kind: 'measured', times }, () => times[integer(next, times.length)]! / mean],
    ] as const) {
      const played = sharesByPlay(1.1, 5, time, 400_000);
      const ours = serviceShares(1.1, 5, law);
      expect(Math.abs(ours.starvation - played.starvation)).toBeLessThan(0.01);
      expect(Math.abs(ours.loss - played.loss)).toBeLessThan(0.01);
    }
  });

  test('what is served is what is not lost, at every length and load', () => {
    for (const law of laws) {
      for (const buffer of [2, 7, 1000, 1e6]) {
        for (const load of [0, 1e-6, 0.3, 0.999, 1, 1.001, 3, 1e5]) {
          const { starvation, loss } = serviceShares(load, buffer, law);
          expect(load * (1 - loss)).toBeCloseTo(1 - starvation, 7);
        }
      }
    }
  });
});

describe('the number of robots', () => {
  test('exponential times give Talim’s number', () => {
    for (const buffer of [2, 5, 10, 100, 1e6]) {
      for (const starvationWeight of [0.1, 0.5, 1, 2, 5]) {
        const problem = { arrival: 1, service: 5.7, buffer, starvationWeight };
        expect(planRobotsForService(problem, { kind: 'exponential' }).robots).toBe(planRobots(problem).robots);
      }
    }
  });

  test('no number of robots is better, whatever the law', () => {
    for (const law of laws) {
      for (const buffer of [2, 20]) {
        for (const starvationWeight of [0.2, 1, 4]) {
          const plan = planRobotsForService({ arrival: 1, service: 5.7, buffer, starvationWeight }, law);
          for (let n = 0; n <= 60; n++) {
            const { starvation, loss } = serviceShares(n / 5.7, buffer, law);
            expect(plan.cost).toBeLessThanOrEqual(starvationWeight * starvation + loss + 1e-13);
          }
        }
      }
    }
  });

  test('robots that bring nothing', () => {
    const plan = planRobotsForService({ arrival: 0, service: 1, buffer: 4, starvationWeight: 3 }, hyper);
    expect(plan).toEqual({ robots: 0, load: 0, cost: 3, starvation: 1, loss: 0 });
  });
});
