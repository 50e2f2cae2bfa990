/** `sequence`: in which order to fetch when each site is fast at some hours and slow at others. */
import {
  lengthsOf,
  sequenceByCoupons,
  sequenceByPerfectMatching,
  sequenceTwoSpeed,
} from '../plan/sequence-approximate.ts';
import { sequenceByMatching } from '../plan/sequence-matching.ts';
import { type FleetProblem, planFleet } from '../plan/sequence-robots.ts';
import { planSequence, sequenceLowerBound } from '../plan/sequence-search.ts';
import { type Sequence, sequenceTable, type SequenceTable } from '../plan/sequence.ts';
import { random } from '../simulate/random.ts';
import { choiceAt, type Fields, listAt, numberAt, numbersAt, onlyKeys, Refusal } from './read.ts';
import type { Solver } from './solve.ts';

const methods = ['best', 'matching', 'two-speed', 'coupon', 'perfect'] as const;
const fleetFields = ['robots', 'sites', 'spacing', 'release', 'deadline'];

/** Cells of the table; each takes eight bytes twice. */
const cellsMax = 5e7;
/** Ends of tasks must stay whole numbers of 32 bits. */
const lengthMax = 1e5;

export const solveSequence: Solver = (problem) => {
  onlyKeys(problem, '', ['kind', 'lengths', 'method', 'seed', ...fleetFields]);
  const table = tableAt(problem['lengths']);
  const method = choiceAt(problem['method'], 'method', methods, 'best');
  const next = random(numberAt(problem['seed'] ?? 1, 'seed', { whole: true, min: 0 }));
  const fleet = fleetFields.find((field) => problem[field] !== undefined);
  if (fleet !== undefined) {
    if (method !== 'best')
      throw new Refusal(fleet, problem[fleet], `method "${method}" plans one robot without constraints`);
    return { ...planFleet(fleetAt(problem, table), next) };
  }
  if (method === 'best') {
    const { start, finish, optimal, lowerBound } = planSequence(table, next);
    return { start, finish, optimal, lowerBound };
  }
  return certified(table, byMethod(table, method, next), method === 'matching');
};

function byMethod(
  table: SequenceTable,
  method: Exclude<(typeof methods)[number], 'best'>,
  next: () => number,
): Sequence {
  const lengths = lengthsOf(table);
  switch (method) {
    case 'matching':
      if (lengths.at(-1)! > 2)
        throw new Refusal('method', method, `lengths 1 and 2 are expected, not ${lengths.at(-1)}`);
      return sequenceByMatching(table);
    case 'two-speed':
      if (lengths.length > 2) {
        throw new Refusal('method', method, `at most two different lengths are expected, not ${lengths.length}`);
      }
      return sequenceTwoSpeed(table);
    case 'coupon':
      return sequenceByCoupons(table, next);
    case 'perfect':
      return sequenceByPerfectMatching(table);
  }
}

function certified(table: SequenceTable, { start, finish }: Sequence, exact: boolean): Record<string, unknown> {
  const lowerBound = exact ? finish : sequenceLowerBound(table);
  return { start, finish, optimal: finish === lowerBound, lowerBound };
}

function tableAt(value: unknown): SequenceTable {
  const rows = listAt(value, 'lengths', 1);
  const columns = listAt(rows[0], 'lengths[0]', 1).length;
  numberAt(rows.length * columns, 'lengths (rows × columns)', { max: cellsMax });
  return sequenceTable(
    rows.map((row, task) => {
      const lengths = numbersAt(row, `lengths[${task}]`, { whole: true, min: 1, max: lengthMax });
      if (lengths.length !== columns) {
        throw new Refusal(`lengths[${task}]`, row, `${columns} lengths are expected, as in the first row`);
      }
      return lengths;
    }),
  );
}

function fleetAt(problem: Fields, table: SequenceTable): FleetProblem {
  const perTask = (field: string, min: number): number[] | undefined => {
    if (problem[field] === undefined) return undefined;
    const values = numbersAt(problem[field], field, { whole: true, min, max: 1e9 });
    if (values.length !== table.tasks) {
      throw new Refusal(field, problem[field], `one for each of the ${table.tasks} tasks is expected`);
    }
    return values;
  };
  const [site, release, deadline] = [perTask('sites', 0), perTask('release', 1), perTask('deadline', 1)];
  const spacing = numberAt(problem['spacing'] ?? 0, 'spacing', { whole: true, min: 0, max: 1e6 });
  if (spacing > 0 && !site) throw new Refusal('sites', undefined, 'with a spacing, the site of each task is expected');
  return {
    table,
    robots: numberAt(problem['robots'] ?? 1, 'robots', { whole: true, min: 1, max: 1e4 }),
    spacing,
    ...(site && { site }),
    ...(release && { release }),
    ...(deadline && { deadline }),
  };
}
