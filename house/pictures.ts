/** The pictures of docs/concepts.md, each computed by the code it explains. */
import {
  constant,
  dbWorld,
  horizonShape,
  lossAgainstBudget,
  obsolescence,
  planPolite,
  random,
  uniformSchedule,
  valueAt,
  bestLoad,
  homogeneous,
} from '@revisit/core';
import { plotSvg } from '../packages/daemon/src/reproduce/svg.ts';

const steps = (count: number, to: number): number[] => Array.from({ length: count + 1 }, (_, i) => (i * to) / count);

/** How the copy of a page that changes twice a day loses its currency between looks. */
function currency(): string {
  const model = homogeneous(2);
  const looks = [0, 0.5, 1, 1.5, 2];
  const points = steps(400, 2).map((t) => {
    const last = looks.filter((look) => look <= t).at(-1)!;
    return [t, model.unchanged(last, t)] as const;
  });
  return plotSvg({
    title: 'The chance that a copy is current, looks every half day',
    x: 'days',
    y: 'chance',
    series: [{ name: 'current', points }],
  });
}

/** A week of a busy feed and where eight looks belong. */
function week(): string {
  const loss = obsolescence(dbWorld.intensity, constant(1), 0, 7);
  const plan = planPolite(loss, 12, 0, 672);
  const looks = plan.kind === 'planned' ? Array.from(plan.probes) : [];
  return plotSvg({
    title: 'Changes a day over a week (line), 12 best looks and 12 even ones',
    x: 'days from Monday',
    y: 'changes a day',
    series: [
      {
        name: 'rate',
        draw: 'steps',
        points: steps(336, 7).map((t) => [t, valueAt(dbWorld.intensity, Math.min(t, 6.999))] as const),
      },
      {
        name: 'best looks',
        draw: 'dots',
        points: looks.flatMap(
          (t) =>
            [
              [t, 0.6],
              [t, 0.7],
              [t, 0.8],
            ] as const,
        ),
      },
      {
        name: 'even looks',
        draw: 'dots',
        points: Array.from(uniformSchedule(7, 12)).flatMap(
          (t) =>
            [
              [t, 0.1],
              [t, 0.2],
              [t, 0.3],
            ] as const,
        ),
      },
    ],
  });
}

/** What a budget buys: mean delay over a collection whose pages differ. */
function budget(): string {
  const luck = random(5);
  const pages = 400;
  const scale = Float64Array.from({ length: pages }, () => 0.02 * 300 ** luck());
  const problem = {
    horizon: 14,
    budget: 0,
    shapes: [horizonShape(obsolescence(constant(1), constant(1), 0, 14), 336)],
    sites: [],
    shape: Array.from({ length: pages }, () => 0),
    scale,
    site: new Int32Array(pages).fill(-1),
  };
  const changes = scale.reduce((sum, rate) => sum + rate, 0) * 14;
  const looks = [0.1, 0.25, 0.5, 1, 2, 4, 8].map((perPageDay) => perPageDay * pages * 14);
  const best = lossAgainstBudget(problem, looks).map(
    ({ budget: count, loss }) => [count / pages / 14, (24 * loss) / changes] as const,
  );
  // n looks at equal distances leave gaps of T ⁄ (n + 1), and a change waits half a gap.
  const even = looks.map((count) => [count / pages / 14, (24 * 14) / (count / pages + 1) / 2] as const);
  return plotSvg({
    title: 'Mean delay of a change, 400 pages that differ 300-fold',
    x: 'looks a page and day',
    y: 'hours',
    logX: true,
    series: [
      { name: 'best plan', points: best },
      { name: 'even looks', points: even },
    ],
  });
}

/** How hard robots should work the indexing queue. */
function robots(): string {
  const sizes = Array.from({ length: 49 }, (_, i) => i + 2);
  return plotSvg({
    title: 'The best load of the indexing queue',
    x: 'places in the queue K',
    y: 'load',
    series: [0.5, 1, 2].map((gamma) => ({
      name: `starving weighs ${gamma}`,
      points: sizes.map((K) => [K, bestLoad(gamma, K)] as const),
    })),
  });
}

export const pictures = (): Readonly<Record<string, string>> => ({
  budget: budget(),
  currency: currency(),
  robots: robots(),
  week: week(),
});
