/** Eckstein, Gal and Reiner 2005: the polite schedule and its rivals, as expected; eckstein-actual.ts has what really came. */
import { dbWorld, equalSteps, intensityFromEvents, planByTable, planPolite, scheduleLoss } from '@revisit/core';
import { figures6And7, figures8To11 } from './eckstein-actual.ts';
import {
  curves,
  draw,
  horizon,
  lossOf,
  minimaWithThreeLooks,
  names,
  type SourceName,
  schedules,
  sources,
  steps,
  wins,
} from './eckstein-schedules.ts';
import { type Item, type Series, claim, numberCheck } from './item.ts';

const golden: readonly [SourceName, number, readonly number[]][] = [
  ['DBWorld', 1, [370.1319, 181.4405, 86.847, 46.7536, 24.9874]],
  ['DBWorld', 3, [611.7427, 301.0284, 149.0947, 80.5915, 40.7283]],
  ['MicroNet', 1, [71.1252, 32.5175, 13.4016, 6.2165, 3.3449]],
  ['MicroNet', 3, [124.2884, 60.5801, 29.0749, 15.4918, 7.8429]],
];
const counts = [4, 8, 16, 28, 56];

const tables23: Item = {
  id: 'eckstein-tables-2-3',
  paper: 'eckstein',
  title: 'Tables 2 and 3: weekly intensities, and the least cost they lead to',
  seconds: 3,
  run: ({ luck, trace }) => {
    const rows = golden.flatMap(([name, ratio, costs]) =>
      counts.map((n, i) => {
        const plan = planPolite(lossOf(name, ratio), n, 0, steps);
        return { name, ratio, n, paper: costs[i]!, ours: plan.kind === 'planned' ? plan.expectedCost : Number.NaN };
      }),
    );
    const drawn = draw(dbWorld.intensity, 0, 7 * 520, luck('eckstein-tables-2-3'));
    const again = intensityFromEvents(drawn, 0, 7 * 520, dbWorld.intensity.breaks, 7);
    const off = Math.max(
      ...Array.from(again.profile.values, (value, i) => Math.abs(value / dbWorld.intensity.values[i]! - 1)),
    );
    const table = planByTable(lossOf('DBWorld', 3), equalSteps(horizon, steps), 16, 1);
    const recorded = trace('feed-2y');
    return {
      checks: [
        ...rows.map(({ name, ratio, n, paper, ours }) =>
          numberCheck(`${name}, r = ${ratio}, n = ${n}`, paper, ours, 5.1e-5),
        ),
        claim(
          'Algorithm 1 (the table of the dynamic programme) finds the same least cost',
          Math.abs(table.cost - 149.0947) < 5.1e-5,
          `${table.cost.toFixed(4)} at r = 3, n = 16`,
        ),
        claim(
          'the pattern can be estimated from events by maximum likelihood',
          off < 0.35,
          `from ten generated years every value comes back within ${(100 * off).toFixed(0)} %`,
        ),
      ],
      remark:
        'The costs are not printed in the paper; they are what its Algorithm 1 gives on the printed rates (grid 672, four weeks). As printed, Algorithm 1 sets j(0, i) ← N where j(1, i) ← N is meant.',
      tables: [
        {
          title: 'Least expected cost',
          head: ['source', 'r', 'n', 'expected', 'ours'],
          rows: rows.map((row) => [row.name, row.ratio, row.n, row.paper.toFixed(4), row.ours.toFixed(4)]),
        },
        ...(recorded ? [recordedTable(recorded)] : []),
      ],
    };
  },
};

/** The same breaks, fitted to a recorded feed. */
function recordedTable(events: readonly (readonly [string, number])[]) {
  const first = [...new Set(events.map(([source]) => source))][0]!;
  // Day 0 of the epoch was a Thursday; weeks begin on Monday.
  const days = events.filter(([source]) => source === first).map(([, seconds]) => seconds / 86_400 - 4);
  const { profile } = intensityFromEvents(days, days[0]!, days.at(-1)!, dbWorld.intensity.breaks, 7);
  return {
    title: `feed-2y (${first}), recorded: changes a day by part of the week`,
    head: ['from day', 'rate'],
    rows: Array.from(profile.values, (value, i) => [profile.breaks[i]!.toFixed(3), value.toFixed(2)]),
  };
}

const figure2: Item = {
  id: 'eckstein-figure-2',
  paper: 'eckstein',
  title: 'Figure 2: the cost of two looks has many local minima',
  seconds: 0.2,
  run: () => {
    const loss = lossOf('DBWorld', 3);
    const points = Array.from(
      { length: 2689 },
      (_, i) =>
        [(i * horizon) / 2688, loss.gap(0, (i * horizon) / 2688) + loss.gap((i * horizon) / 2688, horizon)] as const,
    );
    const minima = points.filter(
      ([, y], i) => i > 0 && i < points.length - 1 && y < points[i - 1]![1] && y < points[i + 1]![1],
    ).length;
    const minimaOfThree = minimaWithThreeLooks(loss);
    return {
      checks: [
        claim(
          'the cost has many local minima, so that descent ends in the wrong one',
          minima > 1,
          `${minima} local minima within four weeks`,
        ),
        claim(
          'their number is large: it multiplies with the looks',
          minimaOfThree > 2 * minima,
          `${minimaOfThree} with one look more, on a grid of hours`,
        ),
      ],
      remark: `The paper speaks of large numbers; with two looks there are ${minima}, one or two a week, with three ${minimaOfThree}.`,
      plots: [
        {
          title: 'C(0, p₁, 28), DBWorld, r = 3',
          x: 'p₁, days',
          y: 'expected cost',
          series: [{ name: 'cost', points }],
        },
      ],
    };
  },
};

const figure3: Item = {
  id: 'eckstein-figure-3',
  paper: 'eckstein',
  title: 'Figure 3: the sources',
  seconds: 0.2,
  run: ({ luck, trace }) => {
    const plots = names.map((name) => ({
      title: `${name}, generated from its table`,
      x: 'day',
      y: 'hour of the day',
      series: [
        {
          name,
          draw: 'dots' as const,
          points: draw(sources[name].intensity, 0, 200, luck(`figure-3-${name}`)).map(
            (t) => [t, (t % 1) * 24] as const,
          ),
        },
      ],
    }));
    const recorded = trace('feed-2y');
    const first = recorded?.[0]?.[0];
    const start = recorded?.[0]?.[1] ?? 0;
    const real = recorded
      ? [
          {
            title: 'feed-2y, recorded',
            x: 'day',
            y: 'hour of the day (UTC)',
            series: [
              {
                name: 'feed',
                draw: 'dots' as const,
                points: recorded
                  .filter(([source]) => source === first)
                  .map(([, seconds]) => [(seconds - start) / 86_400, (seconds % 86_400) / 3600] as const),
              },
            ],
          },
        ]
      : [];
    const perDay = plots[0]!.series[0]!.points.length / 200;
    return {
      checks: [
        claim(
          'DBWorld has 833 postings in 217 days, 3.8 a day',
          Math.abs(perDay - 3.8) < 0.6,
          `${perDay.toFixed(2)} a day generated`,
        ),
      ],
      remark: 'The recorded postings are not public; these are drawn from the fitted rates.',
      plots: [...plots, ...real],
    };
  },
};

function expected(id: string, figure: string, ratio: number): Item {
  return {
    id,
    paper: 'eckstein',
    title: `${figure}: expected cost of four policies, preference ratio ${ratio}`,
    seconds: 6,
    run: () => {
      const made = names.map((name) => ({ name, rows: schedules(name, ratio), loss: lossOf(name, ratio) }));
      const drawn = made.map(({ name, rows, loss }) => ({
        name,
        series: curves(rows, (row, policy) => scheduleLoss(loss, 0, row.looks[policy])),
      }));
      const spread = (series: readonly Series[], i: number): number =>
        Math.max(...series.map((one) => one.points.at(i)![1])) - series[0]!.points.at(i)![1];
      return {
        checks: drawn.flatMap(({ name, series }) => {
          const n = series[0]!.points.length;
          const falls = series[0]!.points.every(([, y], i) => i === 0 || y <= series[0]!.points[i - 1]![1]);
          return [
            claim(
              `${name}: DOE has the lowest expected cost for any n`,
              wins(series, 0.02) === n,
              `in ${wins(series, 0)} of ${n} numbers of looks outright, in ${wins(series, 0.02)} within 2 %`,
            ),
            claim(`${name}: the cost of DOE falls as n grows`, falls, falls ? 'at every step' : 'not everywhere'),
            claim(
              `${name}: the differences shrink as n grows`,
              spread(series, -1) < spread(series, 0),
              `from ${spread(series, 0).toFixed(1)} to ${spread(series, -1).toFixed(2)}`,
            ),
          ];
        }),
        remark:
          'DOE looks on the hour; threshold and first arrival may look at any time, so with very many looks they can be lower by a grid’s width. Between hours our continuous planner is below all four.',
        plots: drawn.map(({ name, series }) => ({
          title: `${name}, r = ${ratio}`,
          x: 'looks n',
          y: 'expected cost',
          yMax: series[0]!.points[Math.min(3, series[0]!.points.length - 1)]![1] * 2,
          series,
        })),
      };
    },
  };
}

export const eckstein: readonly Item[] = [
  tables23,
  figure2,
  figure3,
  expected('eckstein-figure-4', 'Figure 4', 3),
  expected('eckstein-figure-5', 'Figure 5', 1),
  figures6And7,
  figures8To11,
];
