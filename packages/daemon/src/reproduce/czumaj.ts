/** Czumaj, Finch, Gąsieniec et al. 2001: in which order to fetch when sites are fast at some hours and slow at others. */
import { type Random, integer } from '@revisit/core';
import { type Item, claim, numberCheck, solved } from './item.ts';

type Lengths = readonly (readonly number[])[];

/** Row: task, column: the unit in which it starts. */
const example: Lengths = [
  [1, 2, 2, 2, 2, 2, 2, 2],
  [1, 2, 2, 2, 2, 2, 2, 2],
  [2, 1, 2, 1, 2, 1, 2, 2],
  [1, 2, 2, 2, 1, 2, 2, 2],
  [1, 2, 1, 2, 1, 2, 2, 2],
  [2, 2, 2, 2, 2, 2, 1, 1],
];

interface Sequence {
  readonly start: readonly number[];
  readonly finish: number;
  readonly optimal: boolean;
  readonly lowerBound: number;
}

export const sequence = (lengths: Lengths, method: string, seed = 1): Sequence =>
  solved({ kind: 'sequence', lengths, method, seed }) as unknown as Sequence;

export const lengthAt = (row: readonly number[], unit: number): number => row[Math.min(unit, row.length) - 1]!;

/** What is wrong with a sequence: two tasks at once, or a finish that is not the last task's end. */
export function troubleOf(lengths: Lengths, { start, finish }: Sequence): string | undefined {
  const spans = start
    .map((unit, task) => [unit, unit + lengthAt(lengths[task]!, unit)] as const)
    .sort((a, b) => a[0] - b[0]);
  for (let i = 1; i < spans.length; i++)
    if (spans[i]![0] < spans[i - 1]![1]) return `tasks overlap at unit ${spans[i]![0]}`;
  const end = Math.max(...spans.map(([, to]) => to)) - 1;
  return end === finish ? undefined : `it ends at ${end}, not at ${finish}`;
}

/**
 * The earliest finish over all sequences, by subsets of tasks done. To be free earlier is never worse, since one may wait, so
 * the earliest free unit of each subset is enough.
 */
export function exhaustiveFinish(lengths: Lengths): number {
  const everything = (1 << lengths.length) - 1;
  const longest = Math.max(...lengths.flat());
  const free = new Float64Array(everything + 1).fill(Infinity);
  free[0] = 1;
  for (let done = 0; done < everything; done++) {
    for (const [task, row] of lengths.entries()) {
      if (done & (1 << task)) continue;
      const next = done | (1 << task);
      for (let unit = free[done]!; unit < free[done]! + longest; unit++)
        free[next] = Math.min(free[next]!, unit + lengthAt(row, unit));
    }
  }
  return free[everything]! - 1;
}

const table1: Item = {
  id: 'czumaj-table-1',
  paper: 'czumaj',
  title: 'Table 1, Figures 2 and 3: six tasks, fast or slow',
  seconds: 0.5,
  run: () => {
    const best = sequence(example, 'matching');
    const trouble = troubleOf(example, best);
    const brute = exhaustiveFinish(example);
    const spans = best.start.map((unit, task) => ({
      name: `task ${task + 1}`,
      points: [
        [unit, task + 1],
        [unit + lengthAt(example[task]!, unit), task + 1],
      ] as const,
    }));
    return {
      checks: [
        numberCheck('optimal finish', 8, best.finish, 0.5),
        claim(
          'G₈ is the first graph with a matching of size 6, so no sequence is shorter',
          best.optimal && best.lowerBound === 8,
          `lower bound ${best.lowerBound}, proven: ${best.optimal}`,
        ),
        claim('by trying every sequence', brute === 8, `${brute}`),
        claim('the sequence can be carried out', trouble === undefined, trouble ?? `starts ${best.start.join(', ')}`),
      ],
      remark: 'The text after the example names the edge {6,5}; {6,8} is meant.',
      tables: [
        {
          title: 'Table 1: length by starting unit',
          head: ['task', '1', '2', '3', '4', '5', '6', '7', '8', 'start'],
          rows: example.map((row, task) => [task + 1, ...row, best.start[task]!]),
        },
      ],
      plots: [{ title: 'Figure 3: a sequence that ends after unit 8', x: 'time unit', y: 'task', series: spans }],
    };
  },
};

const figure1: Item = {
  id: 'czumaj-figure-1',
  paper: 'czumaj',
  title: 'Figure 1: speed by hour of the day, and what an order that knows it saves',
  seconds: 3,
  run: ({ luck }) => {
    const draw = luck('czumaj-figure-1');
    // Hours in which each region is slow, in UTC: its own working day.
    const busy = { USA: (hour: number) => hour >= 14 || hour < 1, Asia: (hour: number) => hour >= 1 && hour < 11 };
    const speed = (region: keyof typeof busy, hour: number): number =>
      100 * (busy[region](Math.floor(hour) % 24) ? 0.55 : 0.9) + 4 * Math.sin(hour);
    const hours = Array.from({ length: 97 }, (_, i) => i / 4);
    const units = 200;
    // Half an hour a unit; each page takes one unit when its region is quiet and two when it is busy.
    const lengths = Array.from({ length: 48 }, () => {
      const region = draw() < 0.5 ? 'USA' : 'Asia';
      return Array.from({ length: units }, (_, unit) => (busy[region](Math.floor(unit / 2) % 24) ? 2 : 1));
    });
    const plain = lengths.reduce((unit, row) => unit + lengthAt(row, unit), 1) - 1;
    const best = sequence(lengths, 'matching');
    return {
      checks: [
        claim(
          'the peaks of the regions lie at different hours',
          hours.some((h) => speed('USA', h) > speed('Asia', h) + 20) &&
            hours.some((h) => speed('Asia', h) > speed('USA', h) + 20),
          'each is the faster one for part of the day',
        ),
        claim(
          'an order that knows the hours is faster',
          best.finish < plain && troubleOf(lengths, best) === undefined,
          `${best.finish} units against ${plain} in the order given, and no order takes less than ${best.lowerBound}`,
        ),
      ],
      remark: 'The measurements behind the figure are not published; the regions are modelled by their working hours.',
      plots: [
        {
          title: 'Modelled access rates',
          x: 'hour, UTC',
          y: 'index',
          series: (['USA', 'Asia'] as const).map((region) => ({
            name: region,
            points: hours.map((hour) => [hour, speed(region, hour)] as const),
          })),
        },
      ],
    };
  },
};

const randomLengths = (draw: Random, tasks: number, units: number, set: readonly number[]): Lengths =>
  Array.from({ length: tasks }, () => Array.from({ length: units }, () => set[integer(draw, set.length)]!));

const ratios: Item = {
  id: 'czumaj-algorithm-1',
  paper: 'czumaj',
  title: 'Algorithm A₁: its ratio to the optimum',
  seconds: 15,
  run: ({ luck }) => {
    const draw = luck('czumaj-algorithm-1');
    const rows = (
      [
        [1, 2],
        [1, 3],
        [2, 3],
        [2, 5],
        [3, 4],
      ] as const
    ).map(([fast, slow]) => {
      const bound = 1 + (fast * (slow - fast)) / slow;
      let [worst, sum, broken] = [1, 0, 0];
      const instances = 30;
      for (let n = 0; n < instances; n++) {
        const tasks = 4 + integer(draw, 3);
        const lengths = randomLengths(draw, tasks, slow * tasks + slow, [fast, slow, slow]);
        const found = sequence(lengths, 'two-speed');
        const ratio = found.finish / exhaustiveFinish(lengths);
        if (troubleOf(lengths, found) !== undefined) broken++;
        worst = Math.max(worst, ratio);
        sum += ratio;
      }
      return { fast, slow, bound, worst, mean: sum / instances, broken };
    });
    return {
      checks: rows.map(({ fast, slow, bound, worst, mean, broken }) =>
        claim(
          `lengths {${fast}, ${slow}}: ratio at most 1 + k₁(k₂−k₁)/k₂ = ${bound.toFixed(3)}`,
          worst <= bound + 1e-9 && broken === 0,
          `worst ${worst.toFixed(3)}, mean ${mean.toFixed(3)}`,
        ),
      ),
      remark:
        'As printed, a fast task may start so late that it overlaps the slow ones after N; V must also ask for j + k₁ − 1 ≤ N.',
      tables: [
        {
          title: 'Against the optimum found by trying every sequence',
          head: ['k₁', 'k₂', 'bound', 'worst', 'mean'],
          rows: rows.map((row) => [
            row.fast,
            row.slow,
            row.bound.toFixed(3),
            row.worst.toFixed(3),
            row.mean.toFixed(3),
          ]),
        },
      ],
    };
  },
};

const success: Item = {
  id: 'czumaj-algorithms-2-3',
  paper: 'czumaj',
  title: 'Algorithms A₂ and A₃: how often they succeed on random lengths',
  seconds: 20,
  run: ({ luck }) => {
    const draw = luck('czumaj-algorithms-2-3');
    const instances = 60;
    const two = [8, 16, 32, 64].map((n) => {
      const units = Math.ceil(2 * n * Math.log(n));
      let good = 0;
      for (let k = 0; k < instances; k++) {
        const lengths = randomLengths(
          draw,
          n,
          units + 1,
          Array.from({ length: n }, (_, i) => i + 1),
        );
        if (sequence(lengths, 'coupon', k + 1).finish <= units) good++;
      }
      return [n, good / instances] as const;
    });
    const three = [16, 32, 64, 128].map((n) => {
      const kinds = Math.max(1, Math.floor(n / (3 * Math.log(n))));
      let good = 0;
      for (let k = 0; k < instances; k++) {
        const lengths = randomLengths(
          draw,
          n,
          n + 1,
          Array.from({ length: kinds }, (_, i) => i + 1),
        );
        if (sequence(lengths, 'perfect', k + 1).finish === n) good++;
      }
      return [n, good / instances] as const;
    });
    // A task is left over after 2n ln n draws with chance n^(−2(1−1/e)), so none is with about this one.
    const foreseen = (n: number): number => Math.exp(-(n ** (1 - 2 * (1 - (1 - 1 / n) ** n))));
    // Theorem 6 by its proof: a task is still left with chance at most n^−c, the paper's own "with high probability" (§4).
    const c = 2 * (1 - 1 / Math.E) - 1;
    const noise = 3 * Math.sqrt(0.25 / instances);
    return {
      remark: `With high probability means 1 − n^−0.26 here: it takes n = ${Math.round(0.1 ** (-1 / 0.264)).toLocaleString('en')} tasks for nine in ten. At the sizes tried A₂ succeeds as often as coupon collecting foresees, which is not often.`,
      checks: [
        claim(
          'A₂: lengths from {1…n}, a schedule of cost 2n ln n with high probability: it fails with chance n^−c at most',
          two.every(([n, share]) => 1 - share <= n ** -c + noise),
          two
            .map(
              ([n, share]) => `fails ${(100 * (1 - share)).toFixed(0)} % ≤ ${(100 * n ** -c).toFixed(0)} % (n = ${n})`,
            )
            .join(', '),
        ),
        claim(
          'A₂ succeeds as often as collecting coupons does',
          two.every(([n, share]) => Math.abs(share - foreseen(n)) < 4 * Math.sqrt(0.25 / instances)),
          two
            .map(
              ([n, share]) => `${(100 * share).toFixed(0)} % (n = ${n}; ${(100 * foreseen(n)).toFixed(0)} % foreseen)`,
            )
            .join(', '),
        ),
        claim(
          'A₃: at most n ⁄ 3 ln n lengths, a schedule of cost k₁n with high probability',
          three.at(-1)![1] >= 0.9,
          three.map(([n, share]) => `${(100 * share).toFixed(0)} % (n = ${n})`).join(', '),
        ),
      ],
      plots: [
        {
          title: 'Share of random instances that succeed',
          x: 'tasks n',
          y: 'share',
          logX: true,
          series: [
            { name: 'A₂', points: two },
            { name: 'A₃', points: three },
          ],
        },
      ],
    };
  },
};

export const czumaj: readonly Item[] = [table1, figure1, ratios, success];
