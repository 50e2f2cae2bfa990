import { describe, expect, test } from 'vitest';
import { integer, random } from '../simulate/random.ts';
import { dynamicRobotsPlan, planRobotsByQueue } from './robots-dynamic.ts';
import { planRobotSwitching, type SwitchingProblem } from './robots-switching.ts';
import { planUnequalRobots } from './robots-unequal.ts';
import { planRobots, queueShares } from './robots.ts';

/** Every list of choices, the last changing fastest. */
function* everyChoice(sizes: readonly number[]): Generator<number[]> {
  const total = sizes.reduce((product, size) => product * size, 1);
  for (let code = 0; code < total; code++) {
    let rest = code;
    yield sizes.map((size) => {
      const digit = rest % size;
      rest = (rest - digit) / size;
      return digit;
    });
  }
}

describe('switched by queue length', () => {
  test('never worse than the best fixed number, and fewer robots at longer queues', () => {
    for (const buffer of [2, 5, 10, 40]) {
      for (const starvationWeight of [0.2, 1, 5]) {
        const problem = { arrival: 1, service: 5.7, buffer, starvationWeight };
        const still = planRobots(problem);
        const kinds = [{ arrival: 1, count: Math.max(1, still.robots) }];
        const plan = planRobotsByQueue({ ...problem, kinds });
        expect(plan.cost).toBeLessThan(still.cost);
        for (let i = 1; i <= buffer; i++) expect(plan.running[0]![i]!).toBeLessThanOrEqual(plan.running[0]![i - 1]!);
      }
    }
  });

  test('a constant rule costs what the M/M/1/K queue costs', () => {
    const problem = { kinds: [{ arrival: 1, count: 6 }], service: 5.7, buffer: 9, starvationWeight: 2 };
    const plan = dynamicRobotsPlan(problem, [Array(10).fill(6)]);
    const shares = queueShares(6 / 5.7, 9);
    expect(plan.loss).toBeCloseTo(shares.loss, 12);
    expect(plan.starvation).toBeCloseTo(shares.starvation, 12);
  });

  test('near and far robots: no rule at all is better, all of them tried', () => {
    const next = random(11);
    for (let trial = 0; trial < 25; trial++) {
      const buffer = 3;
      const kinds = [
        { arrival: 0.3 + next(), count: 1 + integer(next, 2), countMin: integer(next, 2), runningCost: 0.1 * next() },
        { arrival: 0.1 + next() / 2, count: 1 + integer(next, 2), countMin: 0, runningCost: 0.1 * next() },
      ];
      const problem = { kinds, service: 1, buffer, starvationWeight: 0.2 + 3 * next() };
      const plan = planRobotsByQueue(problem);
      const sizes = kinds.flatMap((kind) => Array<number>(buffer + 1).fill(kind.count - kind.countMin + 1));
      let best = Infinity;
      for (const choice of everyChoice(sizes)) {
        const running = kinds.map((kind, j) =>
          choice.slice(j * (buffer + 1), (j + 1) * (buffer + 1)).map((digit) => kind.countMin + digit),
        );
        best = Math.min(best, dynamicRobotsPlan(problem, running).cost);
      }
      expect(plan.cost).toBeLessThanOrEqual(best * (1 + 1e-9));
    }
  });

  test('a long queue neither overflows nor takes long', () => {
    const plan = planRobotsByQueue({
      kinds: [{ arrival: 1, count: 12, countMin: 2 }],
      service: 5.7,
      buffer: 20_000,
      starvationWeight: 0.5,
    });
    expect(plan.cost).toBeLessThan(1e-12);
    expect(plan.load).toBeCloseTo(1, 9);
  });
});

describe('a fixed set of unequal robots', () => {
  test('one kind is the paper’s problem', () => {
    for (const starvationWeight of [0.5, 1, 2, 5]) {
      const problem = { service: 5.7, buffer: 8, starvationWeight };
      const plan = planUnequalRobots({ ...problem, kinds: [{ arrival: 1, count: 40 }] });
      expect(plan.running).toEqual([planRobots({ ...problem, arrival: 1 }).robots]);
    }
  });

  test('a slow robot fills the gap that fast ones leave', () => {
    const kinds = [
      { arrival: 1, count: 9 },
      { arrival: 0.2, count: 9 },
    ];
    const plan = planUnequalRobots({ kinds, service: 5.7, buffer: 8, starvationWeight: 1 });
    expect(Math.abs(plan.load - 1)).toBeLessThan(0.02);
    expect(plan.cost).toBeLessThan(planRobots({ arrival: 1, service: 5.7, buffer: 8, starvationWeight: 1 }).cost);
  });
});

const base: SwitchingProblem = {
  arrival: 1,
  service: 5.7,
  buffer: 10,
  starvationWeight: 0.5,
  robotsMin: 0,
  robotsMax: 12,
  switchCost: 0,
  recall: 'instant',
};

/** The rule played out, event by event. */
function play(problem: SwitchingProblem, plan: ReturnType<typeof planRobotSwitching>, events: number) {
  const next = random(3);
  let [queue, n, time, empty, lost, arrived, switched] = [0, problem.robotsMax, 0, 0, 0, 0, 0];
  for (let event = 0; event < events; event++) {
    const rate = n * problem.arrival + (queue > 0 ? problem.service : 0);
    const wait = -Math.log1p(-next()) / rate;
    time += wait;
    if (queue === 0) empty += wait;
    const arrival = next() * rate < n * problem.arrival;
    if (arrival) {
      arrived++;
      if (queue === problem.buffer) lost++;
      else queue++;
    } else queue--;
    const to = (arrival ? plan.afterArrival : plan.afterDeparture)[queue]![n]!;
    switched += Math.abs(to - n);
    n = to;
  }
  return { starvation: empty / time, loss: lost / arrived, switchesPerTime: switched / time };
}

describe('with a cost of switching', () => {
  test('free switching is the rule by queue length', () => {
    const plan = planRobotSwitching(base);
    const exact = planRobotsByQueue({ ...base, kinds: [{ arrival: 1, count: 12 }] });
    expect(plan.starvation).toBeCloseTo(exact.starvation, 7);
    expect(plan.loss).toBeCloseTo(0, 7);
  });

  test('the rule does what it says when it is played out', () => {
    for (const recall of ['instant', 'draining'] as const) {
      const problem = { ...base, switchCost: 0.1, recall };
      const plan = planRobotSwitching(problem);
      const played = play(problem, plan, 300_000);
      expect(played.starvation).toBeCloseTo(plan.starvation, 2);
      expect(played.loss).toBeCloseTo(plan.loss, 2);
      expect(played.switchesPerTime / plan.switchesPerTime).toBeCloseTo(1, 1);
    }
  });

  test('dearer switches are rarer and leave a wider band', () => {
    for (const recall of ['instant', 'draining'] as const) {
      const plans = [0.001, 0.01, 0.1, 1].map((switchCost) => planRobotSwitching({ ...base, switchCost, recall }));
      for (let i = 1; i < plans.length; i++) {
        expect(plans[i]!.switchesPerTime).toBeLessThan(plans[i - 1]!.switchesPerTime);
        expect(plans[i]!.gain).toBeGreaterThan(plans[i - 1]!.gain);
      }
    }
  });

  test('a robot under way is not called back', () => {
    const plan = planRobotSwitching({ ...base, recall: 'draining', switchCost: 0.01 });
    for (let queue = 0; queue <= base.buffer; queue++) {
      for (let n = 0; n <= base.robotsMax; n++) {
        expect(plan.afterArrival[queue]![n]!).toBeGreaterThanOrEqual(n - 1);
        expect(plan.afterDeparture[queue]![n]!).toBeGreaterThanOrEqual(n);
      }
    }
  });

  test('no rule is better, all of them tried', () => {
    const next = random(17);
    for (let trial = 0; trial < 3; trial++) {
      const problem: SwitchingProblem = {
        arrival: 0.4 + next(),
        service: 1,
        buffer: 2,
        starvationWeight: 0.3 + 2 * next(),
        robotsMin: 1,
        robotsMax: 2,
        switchCost: 0.3 * next(),
        recall: 'instant',
      };
      const gain = planRobotSwitching(problem).gain;
      let best = Infinity;
      for (const choice of everyChoice(Array<number>(6).fill(2))) best = Math.min(best, gainOf(problem, choice));
      expect(gain).toBeCloseTo(best, 5);
    }
  });
});

/** The long-run cost of a rule (queue 0…2, running 1…2) → running, by power iteration from both ends. */
function gainOf(problem: SwitchingProblem, choice: readonly number[]): number {
  const { arrival, service, starvationWeight, switchCost } = problem;
  const rule = (queue: number, n: number) => 1 + choice[queue * 2 + (n - 1)]!;
  let best = Infinity;
  for (const start of [1, 2]) {
    let law = new Map<string, number>([[`0,${start}`, 1]]);
    let gain = 0;
    const pace = 2 * arrival + service;
    for (let round = 0; round < 300; round++) {
      const after = new Map<string, number>();
      gain = 0;
      const add = (queue: number, n: number, weight: number) =>
        after.set(`${queue},${n}`, (after.get(`${queue},${n}`) ?? 0) + weight);
      for (const [state, weight] of law) {
        const [queue, n] = state.split(',').map(Number) as [number, number];
        const up = (n * arrival) / pace;
        const down = queue > 0 ? service / pace : 0;
        const full = queue === problem.buffer;
        const onUp = rule(full ? queue : queue + 1, n);
        add(full ? queue : queue + 1, onUp, weight * up);
        if (queue > 0) add(queue - 1, rule(queue - 1, n), weight * down);
        add(queue, n, weight * (1 - up - down));
        const switched = up * Math.abs(onUp - n) + (queue > 0 ? down * Math.abs(rule(queue - 1, n) - n) : 0);
        gain +=
          weight *
          ((queue === 0 ? starvationWeight : 0) + (pace * ((full ? up : 0) + switchCost * switched)) / service);
      }
      law = after;
    }
    best = Math.min(best, gain);
  }
  return best;
}
