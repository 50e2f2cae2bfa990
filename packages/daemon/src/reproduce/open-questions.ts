/** Questions that the papers leave open, and what was found here. */
import {
  constant,
  dbWorld,
  horizonShape,
  integer,
  microNet,
  obsolescence,
  planMarket,
  planRobots,
} from '@revisit/core';
import { exhaustiveFinish, sequence, troubleOf } from './czumaj.ts';
import { type Item, claim, solved } from './item.ts';

const servers: Item = {
  id: 'open-many-servers',
  paper: 'open',
  title: 'Joint planning of many servers (Eckstein, last section)',
  seconds: 8,
  run: ({ luck }) => {
    const draw = luck('open-many-servers');
    const horizon = 28;
    const units = [
      obsolescence(constant(1), constant(1), 0, horizon),
      obsolescence(dbWorld.intensity, dbWorld.importance(3), 0, horizon),
      obsolescence(microNet.intensity, microNet.importance(3), 0, horizon),
    ];
    const shapes = units.map((unit) => horizonShape(unit, 672));
    const pages = 2_000;
    const shape = Array.from({ length: pages }, () => integer(draw, shapes.length));
    const scale = Float64Array.from(shape, (which) => (0.02 * 100 ** draw()) / [1, 4.4, 0.9][which]!);
    const site = Int32Array.from({ length: pages }, () => integer(draw, 40));
    const sites = Array.from({ length: 40 }, (_, i) => (i < 5 ? { cap: 60 } : { spacing: 0.005 }));
    const rows = [2_000, 8_000, 20_000].map((budget) => {
      const plan = planMarket({ horizon, budget, shapes, sites, shape, scale, site });
      // The same looks spread evenly: each page's loss with budget ⁄ pages looks at equal distances.
      const each = Math.floor(budget / pages);
      const even = shape.reduce((sum, which, page) => {
        let [loss, last] = [0, 0];
        for (let i = 1; i <= each + 1; i++) {
          const at = (i * horizon) / (each + 1);
          loss += units[which]!.gap(last, at);
          last = at;
        }
        return sum + scale[page]! * loss;
      }, 0);
      return { budget, loss: plan.loss, even, gap: plan.gap };
    });
    return {
      checks: [
        claim(
          'open: one budget over many servers',
          rows.every((row) => row.gap < 0.02),
          `planned with a certificate: within ${rows.map((row) => `${(100 * row.gap).toFixed(2)} %`).join(', ')} of the best there is`,
        ),
        claim(
          'and it pays',
          rows.every((row) => row.loss < row.even),
          `cost against equal shares: ${rows.map((row) => (row.loss / row.even).toFixed(2)).join(', ')}`,
        ),
      ],
      tables: [
        {
          title: '2,000 pages on 40 servers, four weeks',
          head: ['looks', 'planned', 'equal shares', 'gap'],
          rows: rows.map((row) => [row.budget, row.loss.toFixed(1), row.even.toFixed(1), row.gap.toExponential(1)]),
        },
      ],
    };
  },
};

const robots: Item = {
  id: 'open-dynamic-robots',
  paper: 'open',
  title: 'Robots switched by queue length (Talim, final remarks)',
  seconds: 2,
  run: () => {
    const rows = [
      [0.5, 10],
      [1, 10],
      [2, 5],
      [5, 10],
      [2, 30],
    ].map(([gamma, K]) => {
      const fixed = planRobots({ arrival: 1, service: 5.7, buffer: K!, starvationWeight: gamma! });
      const moving = solved({
        kind: 'robots',
        arrival: 1,
        service: 5.7,
        buffer: K,
        starvationWeight: gamma,
        mode: 'dynamic',
      }) as { robots: number[]; cost: number };
      const falls = moving.robots.every((count, i) => i === 0 || count <= moving.robots[i - 1]!);
      return { gamma: gamma!, K: K!, fixed: fixed.cost, moving: moving.cost, falls };
    });
    return {
      checks: [
        claim(
          'suspected: switching robots by queue length could lead to better solutions',
          rows.every((row) => row.moving <= row.fixed + 1e-12),
          `cost against the best fixed number: ${rows.map((row) => (row.moving / row.fixed).toFixed(3)).join(', ')}`,
        ),
        claim(
          'by putting robots to rest as the queue fills',
          rows.every((row) => row.falls),
          'the number never rises with the queue’s length',
        ),
      ],
      tables: [
        {
          title: 'μ/λ = 5.7',
          head: ['γ', 'K', 'fixed', 'by queue length'],
          rows: rows.map((row) => [row.gamma, row.K, row.fixed.toFixed(5), row.moving.toFixed(5)]),
        },
      ],
    };
  },
};

const vlsp: Item = {
  id: 'open-vlsp-1-3',
  paper: 'open',
  title: 'VLSP({1, 3}), whose complexity is open: against the optimum (Czumaj §4)',
  seconds: 12,
  run: ({ luck }) => {
    const draw = luck('open-vlsp-1-3');
    const instances = 80;
    let [same, proven, worst] = [0, 0, 1];
    for (let n = 0; n < instances; n++) {
      const tasks = 4 + integer(draw, 4);
      const lengths = Array.from({ length: tasks }, () =>
        Array.from({ length: 3 * tasks + 3 }, () => (draw() < 0.35 ? 1 : 3)),
      );
      const found = sequence(lengths, 'best');
      const optimum = exhaustiveFinish(lengths);
      if (troubleOf(lengths, found) === undefined && found.finish === optimum) same++;
      if (found.optimal) proven++;
      worst = Math.max(worst, found.finish / optimum);
    }
    return {
      checks: [
        claim(
          'open: no polynomial algorithm is known',
          same === instances,
          `the best method equals the optimum in ${same} of ${instances} random instances of 4 to 7 tasks (worst ratio ${worst.toFixed(3)}), and proves it in ${proven}`,
        ),
      ],
      remark: 'For small instances; the complexity stays open.',
    };
  },
};

export const openQuestions: readonly Item[] = [servers, robots, vlsp];
