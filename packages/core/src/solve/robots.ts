/** `robots`: how many robots keep the indexing queue neither starved nor overflowing, fixed or by queue length. */
import { planRobotsByQueue, type RobotKind } from '../plan/robots-dynamic.ts';
import { planRobotsForService, type ServiceTime } from '../plan/robots-service.ts';
import {
  planRobotSwitching,
  switchingWork,
  switchingWorkMax,
  type SwitchingPlan,
  type SwitchingProblem,
} from '../plan/robots-switching.ts';
import { combinationsMax, combinationsOf, planUnequalRobots } from '../plan/robots-unequal.ts';
import { bestLoad, bestLoadBounds, planRobots, robotsForLargeBuffer, type RobotsProblem } from '../plan/robots.ts';
import { choiceAt, type Fields, fieldsAt, isFields, listAt, numberAt, numbersAt, onlyKeys, Refusal } from './read.ts';
import type { Solver } from './solve.ts';

const fields = [
  'kind',
  'arrival',
  'service',
  'buffer',
  'starvationWeight',
  'serviceTime',
  'mode',
  'robotsMin',
  'robotsMax',
  'switchCost',
  'recall',
  'kinds',
];

/** Queues longer than this behave like endless ones; the rule (10) does not look at K at all. */
const bufferMax = 1e7;

export const solveRobots: Solver = (problem) => {
  onlyKeys(problem, '', fields);
  const mode = choiceAt(problem['mode'], 'mode', ['static', 'dynamic'], 'static');
  const queue = {
    service: numberAt(problem['service'], 'service', { above: 0 }),
    buffer: numberAt(problem['buffer'], 'buffer', { whole: true, min: 2, max: bufferMax }),
    // Beyond these powers of ten the best load itself leaves the range of numbers.
    starvationWeight: numberAt(problem['starvationWeight'], 'starvationWeight', { min: 1e-300, max: 1e300 }),
  };
  const serviceTime = serviceTimeAt(problem['serviceTime']);
  if (problem['kinds'] !== undefined) return unequal(problem, queue, mode, serviceTime);
  const robots: RobotsProblem = { ...queue, arrival: numberAt(problem['arrival'], 'arrival', { min: 0 }) };
  if (mode === 'static') {
    refuseKeys(problem, ['robotsMin', 'robotsMax', 'switchCost', 'recall'], 'it belongs to mode "dynamic"');
    return fixed(robots, serviceTime);
  }
  exponentialOnly(serviceTime, problem['serviceTime']);
  return dynamic(problem, robots);
};

function fixed(problem: RobotsProblem, serviceTime: ServiceTime): Record<string, unknown> {
  if (serviceTime.kind !== 'exponential') return { ...planRobotsForService(problem, serviceTime) };
  const [lower, upper] = bestLoadBounds(problem.starvationWeight, problem.buffer);
  return {
    ...planRobots(problem),
    bestLoad: bestLoad(problem.starvationWeight, problem.buffer),
    loadBounds: [lower, upper],
    ...(problem.arrival > 0 && { robotsLargeBuffer: robotsForLargeBuffer(problem) }),
  };
}

function dynamic(problem: Fields, robots: RobotsProblem): Record<string, unknown> {
  const robotsMin = numberAt(problem['robotsMin'] ?? 0, 'robotsMin', { whole: true, min: 0, max: 1e6 });
  // Robots beyond twice what the indexer can take only shorten periods in which the queue is empty anyway.
  const usual =
    robots.arrival === 0 ? 0 : Math.max(planRobots(robots).robots, 2 * Math.ceil(robots.service / robots.arrival));
  const robotsMax = numberAt(problem['robotsMax'] ?? Math.max(robotsMin, Math.min(usual, 1e6)), 'robotsMax', {
    whole: true,
    min: robotsMin,
    max: 1e6,
  });
  const switchCost = numberAt(problem['switchCost'] ?? 0, 'switchCost', { min: 0 });
  const recall = choiceAt(problem['recall'], 'recall', ['instant', 'draining'], 'instant');
  if (robots.arrival > 0 && robotsMax > 0 && (switchCost > 0 || recall === 'draining')) {
    return switching({ ...robots, robotsMin, robotsMax, switchCost, recall });
  }
  const { running, ...plan } = planRobotsByQueue({
    ...robots,
    kinds: [{ arrival: robots.arrival, count: robotsMax, countMin: robotsMin }],
  });
  return { robots: running[0], ...plan };
}

function switching(problem: SwitchingProblem): Record<string, unknown> {
  if (switchingWork(problem) > switchingWorkMax) {
    throw new Refusal(
      'robotsMax',
      problem.robotsMax,
      `with a switchCost or draining robots, (buffer + 1)·(robotsMax + 1)³ may be at most ${switchingWorkMax}`,
    );
  }
  const plan = planRobotSwitching(problem);
  const [raiseTo, lowerTo] = band(plan, problem.robotsMax);
  const cost = problem.starvationWeight * plan.starvation + plan.loss;
  const { load, starvation, loss, switchesPerTime } = plan;
  return { robots: raiseTo, raiseTo, lowerTo, load, cost, starvation, loss, switchesPerTime };
}

/** The hysteresis by queue length: fewer robots than `raiseTo` are raised to it, more than `lowerTo` lowered to it. */
function band(plan: SwitchingPlan, robotsMax: number): readonly [number[], number[]] {
  const lowerTo = plan.afterArrival.map((row) => {
    const stops = row.findIndex((to, n) => to < n);
    return stops < 0 ? robotsMax : stops - 1;
  });
  return [plan.afterDeparture.map((row) => row[0]!), lowerTo];
}

function unequal(
  problem: Fields,
  queue: Omit<RobotsProblem, 'arrival'>,
  mode: 'static' | 'dynamic',
  serviceTime: ServiceTime,
): Record<string, unknown> {
  refuseKeys(
    problem,
    ['arrival', 'robotsMin', 'robotsMax', 'switchCost', 'recall'],
    'with "kinds", each kind says its own',
  );
  exponentialOnly(serviceTime, problem['serviceTime']);
  const kinds = listAt(problem['kinds'], 'kinds', 1).map((entry, j) => kindAt(entry, `kinds[${j}]`));
  if (mode === 'dynamic') {
    const { running, ...plan } = planRobotsByQueue({ ...queue, kinds });
    const robots = running[0]!.map((_, i) => running.reduce((sum, counts) => sum + counts[i]!, 0));
    return { robots, running, ...plan };
  }
  if (combinationsOf(kinds) > combinationsMax) {
    throw new Refusal('kinds', problem['kinds'], `at most ${combinationsMax} combinations of counts are expected`);
  }
  const plan = planUnequalRobots({ ...queue, kinds });
  return { robots: plan.running.reduce((sum, count) => sum + count, 0), ...plan };
}

function kindAt(value: unknown, field: string): RobotKind {
  const kind = fieldsAt(value, field);
  onlyKeys(kind, field, ['arrival', 'count', 'countMin', 'runningCost']);
  const countMin = numberAt(kind['countMin'] ?? 0, `${field}.countMin`, { whole: true, min: 0, max: 1e6 });
  return {
    arrival: numberAt(kind['arrival'], `${field}.arrival`, { min: 0 }),
    count: numberAt(kind['count'], `${field}.count`, { whole: true, min: countMin, max: 1e6 }),
    countMin,
    runningCost: numberAt(kind['runningCost'] ?? 0, `${field}.runningCost`, { min: 0 }),
  };
}

function serviceTimeAt(value: unknown): ServiceTime {
  if (value === undefined || value === 'exponential') return { kind: 'exponential' };
  if (value === 'deterministic') return { kind: 'deterministic' };
  if (isFields(value) && Object.keys(value).length === 1) {
    if (value['erlang'] !== undefined) {
      return {
        kind: 'erlang',
        stages: numberAt(value['erlang'], 'serviceTime.erlang', { whole: true, min: 1, max: 1e6 }),
      };
    }
    if (value['hyperexponential'] !== undefined) return hyperexponentialAt(value['hyperexponential']);
    if (value['measured'] !== undefined) {
      const times = numbersAt(value['measured'], 'serviceTime.measured', { min: 0 }, 1);
      if (!times.some((time) => time > 0))
        throw new Refusal('serviceTime.measured', times, 'a time above 0 is expected');
      return { kind: 'measured', times };
    }
  }
  throw new Refusal(
    'serviceTime',
    value,
    '"exponential", "deterministic", {"erlang":k}, {"hyperexponential":[[p,rate],…]} or {"measured":[times]} is expected',
  );
}

function hyperexponentialAt(value: unknown): ServiceTime {
  const name = 'serviceTime.hyperexponential';
  const branches = listAt(value, name, 1).map((entry, i): readonly [number, number] => {
    const [share, rate, ...rest] = listAt(entry, `${name}[${i}]`, 2);
    if (rest.length > 0) throw new Refusal(`${name}[${i}]`, entry, '[probability, rate] is expected');
    return [numberAt(share, `${name}[${i}][0]`, { min: 0, max: 1 }), numberAt(rate, `${name}[${i}][1]`, { above: 0 })];
  });
  const sum = branches.reduce((total, [share]) => total + share, 0);
  if (Math.abs(sum - 1) > 1e-9)
    throw new Refusal(name, value, `probabilities that add up to 1 are expected, not to ${sum}`);
  return { kind: 'hyperexponential', branches };
}

function exponentialOnly(serviceTime: ServiceTime, value: unknown): void {
  if (serviceTime.kind === 'exponential') return;
  throw new Refusal(
    'serviceTime',
    value,
    'robots switched by queue length, or of several kinds, are planned for "exponential" service times only',
  );
}

function refuseKeys(problem: Fields, keys: readonly string[], why: string): void {
  for (const key of keys) if (problem[key] !== undefined) throw new Refusal(key, problem[key], why);
}
