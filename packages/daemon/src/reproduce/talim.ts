/** Talim, Liu, Nain and Coffman 1998: how many robots keep the indexing queue neither starved nor overflowing. */
import { bestLoad, bestLoadBounds, planRobots, robotsCost, robotsForLargeBuffer } from '@revisit/core';
import { type Item, claim, numberCheck } from './item.ts';

const ratio = 5.7;
const robotsFor = (gamma: number, K: number, service = ratio): number =>
  planRobots({ arrival: 1, service, buffer: K, starvationWeight: gamma }).robots;
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** By trying every number up to where more robots can only overflow the queue. */
function byTrial(gamma: number, K: number): number {
  return range(0, 400).reduce(
    (best, robots) =>
      robotsCost(robots / ratio, { starvationWeight: gamma, buffer: K }) <
      robotsCost(best / ratio, { starvationWeight: gamma, buffer: K })
        ? robots
        : best,
    0,
  );
}

const figure2: Item = {
  id: 'talim-figure-2',
  paper: 'talim',
  title: 'Figure 2: the best number of robots against γ',
  seconds: 0.3,
  run: () => {
    const gammas = range(1, 100).map((i) => i / 10);
    const series = [5, 10, 50].map((K) => ({
      name: `K = ${K}`,
      draw: 'steps' as const,
      points: gammas.map((gamma) => [gamma, robotsFor(gamma, K)] as const),
    }));
    const rises = series.every((one) => one.points.every(([, y], i) => i === 0 || y >= one.points[i - 1]![1]));
    const pairs: readonly [number, number, number][] = [
      [0.5, 10, 5],
      [2, 5, 7],
      [5, 10, 7],
    ];
    const all = gammas.flatMap((gamma) => [2, 5, 10, 50].map((K) => [gamma, K] as const));
    const same = all.filter(([gamma, K]) => robotsFor(gamma, K) === byTrial(gamma, K)).length;
    const growth = series.map((one) => one.points.at(-1)![1] - one.points[0]![1]);
    return {
      checks: [
        ...pairs.map(([gamma, K, N]) => numberCheck(`N(${gamma}, ${K})`, N, robotsFor(gamma, K), 0.5)),
        claim(
          'N(1, K) = 6 for every K',
          range(2, 200).every((K) => robotsFor(1, K) === 6),
          'for K from 2 to 200',
        ),
        claim(
          'the number of robots does not fall as γ grows (Proposition 3)',
          rises,
          rises ? 'for every γ and K drawn' : 'it does',
        ),
        claim(
          'the rate of increase decreases when the buffer grows',
          growth[0]! >= growth[1]! && growth[1]! >= growth[2]!,
          `from γ = 0.1 to 10: ${growth.join(', ')} robots more for K = 5, 10, 50`,
        ),
        claim(
          'Proposition 2 finds the best number',
          same === all.length,
          `${same} of ${all.length} equal to trying every number`,
        ),
      ],
      remark: 'Proposition 3 is printed for the mapping ρ → ρ(γ, K); γ → ρ(γ, K) is meant.',
      plots: [{ title: 'μ/λ = 5.7', x: 'γ', y: 'robots', series }],
    };
  },
};

const figure3: Item = {
  id: 'talim-figures-3-4',
  paper: 'talim',
  title: 'Figures 3 and 4: the best load and number of robots against K',
  seconds: 0.3,
  run: () => {
    const Ks = range(2, 60);
    const loads = [0.1, 0.5, 2, 5].map((gamma) => ({
      name: `γ = ${gamma}`,
      points: Ks.map((K) => [K, bestLoad(gamma, K)] as const),
    }));
    const robots = [0.1, 0.5, 2, 5].map((gamma) => ({
      name: `γ = ${gamma}`,
      draw: 'steps' as const,
      points: Ks.map((K) => [K, robotsFor(gamma, K)] as const),
    }));
    const within = Ks.every((K) =>
      [0.1, 0.5, 2, 5].every(
        (gamma) => bestLoad(gamma, K) > bestLoadBounds(gamma, K)[0] && bestLoad(gamma, K) < bestLoadBounds(gamma, K)[1],
      ),
    );
    return {
      checks: [
        numberCheck('ρ(0.5, 10)', 0.89152, bestLoad(0.5, 10), 5e-6),
        numberCheck('ρ(2, 5)', 1.29376, bestLoad(2, 5), 5e-6),
        claim(
          'ρ(γ, K) → 1 as K grows (8)',
          [0.1, 0.5, 2, 5].every((gamma) => Math.abs(bestLoad(gamma, 10_000) - 1) < 0.002),
          `at K = 10,000: ${[0.1, 0.5, 2, 5].map((gamma) => bestLoad(gamma, 10_000).toFixed(5)).join(', ')}`,
        ),
        claim('ρ(γ, K) lies above (γ/K)^(1/(K−1)) (6)', within, 'everywhere drawn'),
      ],
      plots: [
        { title: 'Figure 3: best load', x: 'K', y: 'ρ(γ, K)', series: loads },
        { title: 'Figure 4: best number of robots, μ/λ = 5.7', x: 'K', y: 'robots', series: robots },
      ],
    };
  },
};

const conjecture: Item = {
  id: 'talim-conjecture',
  paper: 'talim',
  title: 'The unproven conjecture: K → ρ(γ, K) rises for γ < 1 and falls for γ > 1',
  seconds: 2,
  run: () => {
    const gammas = range(1, 400)
      .map((i) => 10 ** ((i - 200) / 50))
      .filter((gamma) => Math.abs(gamma - 1) > 1e-9);
    const counter: { gamma: number; K: number; from: number; to: number }[] = [];
    for (const gamma of gammas) {
      let before = bestLoad(gamma, 2);
      for (let K = 3; K <= 300; K++) {
        const load = bestLoad(gamma, K);
        const wrong = gamma < 1 ? load < before * (1 - 1e-12) : load > before * (1 + 1e-12);
        if (wrong) counter.push({ gamma, K, from: before, to: load });
        before = load;
      }
    }
    const small = counter.filter(({ gamma }) => gamma < 1);
    return {
      checks: [
        claim(
          'suspected by the authors, not proven',
          counter.length === 0,
          counter.length === 0
            ? `no exception for ${gammas.length} values of γ from 10⁻⁴ to 10⁴ and K from 2 to 300`
            : `${counter.length} exceptions, ${small.length} of them with γ < 1`,
        ),
      ],
      remark: 'A check on a grid is not a proof.',
      ...(counter.length > 0
        ? {
            tables: [
              {
                title: 'Exceptions',
                head: ['γ', 'K', 'ρ(γ, K−1)', 'ρ(γ, K)'],
                rows: counter
                  .slice(0, 20)
                  .map((one) => [one.gamma.toPrecision(4), one.K, one.from.toFixed(8), one.to.toFixed(8)]),
              },
            ],
          }
        : {}),
    };
  },
};

const figure5: Item = {
  id: 'talim-figure-5',
  paper: 'talim',
  title: 'Figure 5: the best number of robots against μ/λ, for a large buffer',
  seconds: 0.3,
  run: () => {
    const ratios = range(10, 200).map((i) => i / 10);
    const series = [0.5, 2].flatMap((gamma) => [
      {
        name: `γ = ${gamma}, K = 1000`,
        draw: 'steps' as const,
        points: ratios.map((service) => [service, robotsFor(gamma, 1000, service)] as const),
      },
    ]);
    const rule = ratios.filter((service) =>
      [0.5, 2].every(
        (gamma) =>
          robotsFor(gamma, 5000, service) === robotsForLargeBuffer({ arrival: 1, service, starvationWeight: gamma }),
      ),
    ).length;
    const close = series.every((one) => one.points.every(([service, robots]) => Math.abs(robots - service) < 1));
    return {
      checks: [
        claim(
          'for a large buffer the number is the ratio rounded down or up',
          close,
          close ? 'everywhere drawn' : 'not everywhere',
        ),
        claim(
          'by the rule (10), which does not look at K',
          rule >= 0.98 * ratios.length,
          `${rule} of ${ratios.length} ratios at K = 5000`,
        ),
      ],
      plots: [{ title: 'Large buffer', x: 'μ/λ', y: 'robots', series }],
    };
  },
};

export const talim: readonly Item[] = [figure2, figure3, conjecture, figure5];
