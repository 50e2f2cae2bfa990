import { describe, expect, test } from 'vitest';
import { integer, random } from '../simulate/random.ts';
import { oracleMatchingSize } from './matching.oracle.ts';
import { sequenceByCoupons, sequenceByPerfectMatching, sequenceTwoSpeed } from './sequence-approximate.ts';
import { sequenceByMatching } from './sequence-matching.ts';
import { checkFleet, fleetLowerBound, planFleet } from './sequence-robots.ts';
import { exactByKinds, greedyOrder, planSequence, sequenceLowerBound } from './sequence-search.ts';
import { checkSequence, inOrder, sequenceTable, type SequenceTable } from './sequence.ts';

/** Table 1 of the paper. */
const paper = [
  [1, 2, 2, 2, 2, 2, 2, 2],
  [1, 2, 2, 2, 2, 2, 2, 2],
  [2, 1, 2, 1, 2, 1, 2, 2],
  [1, 2, 2, 2, 1, 2, 2, 2],
  [1, 2, 1, 2, 1, 2, 2, 2],
  [2, 2, 2, 2, 2, 2, 1, 1],
];

function randomRows(tasks: number, columns: number, pick: () => number): number[][] {
  return Array.from({ length: tasks }, () => Array.from({ length: columns }, pick));
}

/** The least finish by trying every start of every task: no orders, no earliest completions. */
function exhaustive(rows: readonly (readonly number[])[], last: number): number {
  const length = (task: number, unit: number) => rows[task]![Math.min(unit, rows[task]!.length) - 1]!;
  const fits = (task: number, busy: bigint, end: number): boolean => {
    if (task === rows.length) return true;
    for (let unit = 1; unit <= end; unit++) {
      if (unit + length(task, unit) - 1 > end) continue;
      const bits = ((1n << BigInt(length(task, unit))) - 1n) << BigInt(unit);
      if ((busy & bits) === 0n && fits(task + 1, busy | bits, end)) return true;
    }
    return false;
  };
  for (let end = 1; end <= last; end++) if (fits(0, 0n, end)) return end;
  throw new Error('no schedule');
}

function graphEdges(rows: readonly (readonly number[])[], units: number): [number, number][] {
  const n = rows.length;
  const edges: [number, number][] = [];
  rows.forEach((row, t) => {
    for (let j = 1; j <= units; j++) if (row[Math.min(j, row.length) - 1] === 1) edges.push([t, n + j - 1]);
  });
  for (let j = 1; j < units; j++) edges.push([n + j - 1, n + j]);
  return edges;
}

describe('lengths 1 and 2', () => {
  test('the paper’s example ends at 8, and G₈ is the first graph with six edges matched', () => {
    const table = sequenceTable(paper);
    const sequence = sequenceByMatching(table);
    expect(sequence.finish).toBe(8);
    expect(checkSequence(table, sequence)).toEqual([]);
    expect(sequence.matchings.get(7)).toBe(5);
    expect(oracleMatchingSize(13, graphEdges(paper, 7))).toBe(5);
    expect(oracleMatchingSize(14, graphEdges(paper, 8))).toBe(6);
  });

  test('as good as exhaustive search, and without overlaps', () => {
    const next = random(1);
    for (let trial = 0; trial < 150; trial++) {
      const tasks = 1 + integer(next, 5);
      const share = next();
      const rows = randomRows(tasks, 1 + integer(next, 2 * tasks), () => (next() < share ? 1 : 2));
      const table = sequenceTable(rows);
      const sequence = sequenceByMatching(table);
      expect(checkSequence(table, sequence)).toEqual([]);
      expect(sequence.finish).toBe(exhaustive(rows, 2 * tasks));
    }
  });

  test('the least N is the first whose graph an independent blossom algorithm matches n times', () => {
    const next = random(2);
    for (let trial = 0; trial < 25; trial++) {
      const tasks = 6 + integer(next, 12);
      const rows = randomRows(tasks, 2 * tasks, () => (next() < 1.2 / tasks ? 1 : 2));
      const { finish } = sequenceByMatching(sequenceTable(rows));
      expect(oracleMatchingSize(tasks + finish, graphEdges(rows, finish))).toBeGreaterThanOrEqual(tasks);
      if (finish > tasks)
        expect(oracleMatchingSize(tasks + finish - 1, graphEdges(rows, finish - 1))).toBeLessThan(tasks);
    }
  });

  test('one task, all slow, all fast, a table of one column', () => {
    expect(sequenceByMatching(sequenceTable([[2, 2, 1]])).finish).toBe(2);
    expect(sequenceByMatching(sequenceTable([[1]])).finish).toBe(1);
    expect(sequenceByMatching(sequenceTable(Array(7).fill([2]))).finish).toBe(14);
    expect(sequenceByMatching(sequenceTable(Array(7).fill([1]))).finish).toBe(7);
    expect(sequenceByMatching(sequenceTable([[2], [2], [1]])).finish).toBe(5);
  });
});

describe('the checker', () => {
  const table = sequenceTable(paper);
  test('rejects overlaps, units that are none, wrong ends and missing tasks', () => {
    const good = sequenceByMatching(table);
    expect(checkSequence(table, { ...good, finish: 9 })[0]).toContain('not at 9');
    expect(checkSequence(table, { ...good, start: [...good.start.slice(0, 5), good.start[0]!] }).join()).toContain(
      'while',
    );
    expect(checkSequence(table, { ...good, start: [0, ...good.start.slice(1)] })[0]).toContain('no unit');
    expect(checkSequence(table, { ...good, start: good.start.slice(1) })[0]).toContain('5 starts');
  });

  test('rejects a slow task that runs into the next', () => {
    expect(checkSequence(sequenceTable([[2], [1]]), { start: [1, 2], finish: 2 }).join()).toContain('runs until 2');
  });
});

describe('the approximations', () => {
  test('A₁ keeps its guarantee and never overlaps', () => {
    const next = random(3);
    for (let trial = 0; trial < 120; trial++) {
      const tasks = 1 + integer(next, 5);
      const short = 1 + integer(next, 3);
      const long = short + 1 + integer(next, 4);
      const share = next();
      const rows = randomRows(tasks, 1 + integer(next, tasks * long), () => (next() < share ? short : long));
      const table = sequenceTable(rows);
      const sequence = sequenceTwoSpeed(table);
      expect(checkSequence(table, sequence)).toEqual([]);
      const optimum = exactByKinds(table, 1e6)!.finish;
      expect(sequence.finish).toBeLessThanOrEqual(sequence.ratio * optimum + 1e-9);
    }
  });

  test('a fast task that would reach beyond N is left to the slow ones (the erratum)', () => {
    // Starting at unit 3 takes 2 units, to 4: with N = 3 it would overlap the slow task at 4.
    const table = sequenceTable([
      [5, 5, 2, 5],
      [5, 5, 5, 5],
    ]);
    expect(checkSequence(table, sequenceTwoSpeed(table))).toEqual([]);
  });

  test('A₂ and A₃ are schedules; on random tables they end where the paper says', () => {
    const next = random(4);
    const n = 120;
    const coupons = sequenceTable(randomRows(n, Math.ceil(2 * n * Math.log(n)), () => 1 + integer(next, n)));
    const byCoupons = sequenceByCoupons(coupons, next);
    expect(checkSequence(coupons, byCoupons)).toEqual([]);
    expect(byCoupons.finish).toBeLessThanOrEqual(Math.ceil(2 * n * Math.log(n)));
    const few = sequenceTable(randomRows(n, 3 * n, () => [3, 4, 9, 12][integer(next, 4)]!));
    const perfect = sequenceByPerfectMatching(few);
    expect(checkSequence(few, perfect)).toEqual([]);
    expect(perfect.finish).toBe(3 * n);
    for (const rows of [[[1]], [[7]], [[3], [3]]]) {
      const table = sequenceTable(rows);
      expect(checkSequence(table, sequenceByCoupons(table, next))).toEqual([]);
      expect(checkSequence(table, sequenceByPerfectMatching(table))).toEqual([]);
    }
  });
});

function methodsOf(table: SequenceTable): number[] {
  const greedy = inOrder(
    table,
    greedyOrder(table, () => 0),
  ).finish;
  return [greedy, sequenceByCoupons(table, random(1)).finish, sequenceByPerfectMatching(table).finish];
}

describe('any lengths', () => {
  test('few tasks: the optimum, as exhaustive search finds it', () => {
    const next = random(5);
    for (let trial = 0; trial < 80; trial++) {
      const rows = randomRows(1 + integer(next, 4), 1 + integer(next, 10), () => 1 + integer(next, 5));
      const table = sequenceTable(rows);
      const sequence = planSequence(table, random(1));
      expect(checkSequence(table, sequence)).toEqual([]);
      expect(sequence.optimal).toBe(true);
      const best = exhaustive(rows, 40);
      expect(sequence.finish).toBe(best);
      expect(sequenceLowerBound(table)).toBeLessThanOrEqual(best);
    }
  });

  test('many tasks: valid, not below the bound, not worse than A₁ to A₃ and greedy', () => {
    const next = random(6);
    for (const [tasks, pick] of [
      [40, () => 1 + integer(next, 12)],
      [40, () => (next() < 0.1 ? 2 : 7)],
      [60, () => [4, 5, 30][integer(next, 3)]!],
    ] as const) {
      const table = sequenceTable(randomRows(tasks, 3 * tasks, pick));
      const sequence = planSequence(table, random(1), { stepsMax: 300_000 });
      expect(checkSequence(table, sequence)).toEqual([]);
      expect(sequence.finish).toBeGreaterThanOrEqual(sequence.lowerBound);
      for (const finish of methodsOf(table)) expect(sequence.finish).toBeLessThanOrEqual(finish);
    }
  });

  test('search reaches the optimum on instances small enough to know it', () => {
    const next = random(7);
    let [ours, best] = [0, 0];
    for (let trial = 0; trial < 20; trial++) {
      const table = sequenceTable(randomRows(9, 30, () => 2 + integer(next, 9)));
      ours += planSequence(table, random(1), { statesMax: 1, stepsMax: 100_000 }).finish;
      best += exactByKinds(table, 1e6)!.finish;
    }
    expect(ours).toBeLessThanOrEqual(best * 1.02);
    expect(ours).toBeGreaterThanOrEqual(best);
  });

  test('the same seed gives the same order', () => {
    const next = random(8);
    const table = sequenceTable(randomRows(30, 90, () => 2 + integer(next, 9)));
    const plan = () => planSequence(table, random(5), { stepsMax: 50_000 });
    expect(plan()).toEqual(plan());
  });
});

describe('several robots', () => {
  test('valid in every respect, and one robot without constraints is VLSP', () => {
    const next = random(9);
    for (let trial = 0; trial < 40; trial++) {
      const tasks = 2 + integer(next, 10);
      const table = sequenceTable(randomRows(tasks, 2 * tasks, () => 1 + integer(next, 6)));
      const problem = {
        table,
        robots: 1 + integer(next, 3),
        site: Array.from({ length: tasks }, () => integer(next, 3)),
        spacing: integer(next, 4),
        release: Array.from({ length: tasks }, () => 1 + integer(next, 8)),
        deadline: Array.from({ length: tasks }, () => 10 + integer(next, 30)),
      };
      const plan = planFleet(problem, random(1), 20_000);
      expect(checkFleet(problem, plan)).toEqual([]);
      expect(plan.finish).toBeGreaterThanOrEqual(fleetLowerBound(problem));
      if (tasks > 7) continue;
      const alone = planFleet({ table, robots: 1 }, random(1), 50_000);
      expect(alone.finish).toBe(planSequence(table, random(1)).finish);
    }
  });

  test('a deadline that can be met is met, and one that cannot is named', () => {
    const table = sequenceTable([[3], [3], [3]]);
    expect(planFleet({ table, robots: 1, deadline: [9, 9, 3] }, random(1))).toMatchObject({ late: [], finish: 9 });
    expect(planFleet({ table, robots: 1, deadline: [3, 9, 3] }, random(1)).late).toHaveLength(1);
  });

  test('spacing keeps robots apart that would otherwise end sooner', () => {
    const table = sequenceTable([[1], [1], [1]]);
    expect(planFleet({ table, robots: 3 }, random(1)).finish).toBe(1);
    const spaced = planFleet({ table, robots: 3, site: [0, 0, 0], spacing: 4 }, random(1));
    expect(spaced).toMatchObject({ finish: 9, optimal: true });
    const problem = { table, robots: 3, site: [0, 0, 0], spacing: 4 };
    expect(checkFleet(problem, { ...spaced, start: [1, 2, 9] }).join()).toContain('after another of its site');
    expect(checkFleet(problem, { ...spaced, start: [1, 5, 5], robot: [0, 1, 1] }).join()).toContain('busy');
  });
});
