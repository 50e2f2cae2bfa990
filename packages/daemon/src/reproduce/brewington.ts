/** Brewington 1999: age-dependent change, two-day plans, and the comparisons that §3 proposes. */
import { section3 } from './brewington-comparison.ts';
import { type Item, claim, near, numberCheck, solved } from './item.ts';

const figure1: Item = {
  id: 'brewington-figure-1',
  paper: 'brewington',
  title: 'Figure 1: the sum of two memoryless times is not memoryless',
  seconds: 0.1,
  run: () => {
    const [slow, fast] = [0.5, 1.5];
    const sum = (t: number): number => ((slow * fast) / (fast - slow)) * (Math.exp(-slow * t) - Math.exp(-fast * t));
    const times = Array.from({ length: 401 }, (_, i) => i * 0.02);
    const grid = Array.from({ length: 400_001 }, (_, i) => i * 2e-5);
    const best = grid.reduce((top, t) => (sum(t) > sum(top) ? t : top), 0);
    const right = Math.log(slow / fast) / (slow - fast);
    const printed = (slow - fast) * Math.log(slow / fast);
    // Memoryless means that the density after waiting t0, brought to one, is the density again.
    const waited = (t0: number): number => {
      const gone = 1 - (fast * Math.exp(-slow * t0) - slow * Math.exp(-fast * t0)) / (fast - slow);
      return Math.max(...times.map((t) => Math.abs(sum(t) - sum(t + t0) / (1 - gone))));
    };
    return {
      checks: [
        claim(
          'the density of the sum has its maximum where the two densities meet',
          near(slow * Math.exp(-slow * right), fast * Math.exp(-fast * right), 1e-9),
          `both are ${(slow * Math.exp(-slow * right)).toFixed(4)} at t = ${right.toFixed(4)}`,
        ),
        claim(
          'the maximum is at t = ln(λ₁/λ₂)/(λ₁−λ₂)',
          near(best, right, 1e-4),
          `searched: ${best.toFixed(4)}, formula: ${right.toFixed(4)}`,
        ),
        claim(
          'the sum is not memoryless',
          waited(1) > 0.05,
          `after waiting one unit the density differs by up to ${waited(1).toFixed(3)}`,
        ),
      ],
      remark: `Equation (4) is printed as (λ₁−λ₂)·ln(λ₁/λ₂) = ${printed.toFixed(3)}; the right form is the quotient.`,
      plots: [
        {
          title: 'Two memoryless times (0.5 and 1.5 a unit) and their sum',
          x: 'time',
          y: 'density',
          series: [
            { name: 'first', points: times.map((t) => [t, slow * Math.exp(-slow * t)]) },
            { name: 'second', points: times.map((t) => [t, fast * Math.exp(-fast * t)]) },
            { name: 'sum', points: times.map((t) => [t, sum(t)]) },
          ],
        },
      ],
    };
  },
};

const costsA = { XX: 0.85 + 0.95, XO: 0.85, OX: 0.25, OO: 0 };
const costsB = { XX: 0.8 + 0.81, XO: 0.8, OX: 0.05, OO: 0 };
const twoDays = (capacity: number, pages: readonly Record<string, number>[]) => ({
  kind: 'horizon',
  days: 2,
  capacity,
  pages: pages.map((costs) => ({ costs })),
});

const table1: Item = {
  id: 'brewington-table-1',
  paper: 'brewington',
  title: 'Table 1: two pages, one look a day',
  seconds: 0.1,
  run: () => {
    const cost = (a: keyof typeof costsA, b: keyof typeof costsB): number => costsA[a] + costsB[b];
    const rows = [
      ['AB', cost('OX', 'XO'), 1.05],
      ['BA', cost('XO', 'OX'), 0.9],
      ['AA', cost('OO', 'XX'), 1.61],
      ['BB', cost('XX', 'OO'), 1.8],
    ] as const;
    const plan = solved(twoDays(1, [costsA, costsB]));
    const chosen = (plan['plan'] as string[]).join(' ');
    return {
      checks: [
        ...rows.map(([name, ours, paper]) => numberCheck(name, paper, ours, 1e-9 + 0.005)),
        claim(
          'the two-day plan is B first, then A',
          chosen === 'XO OX',
          `A: ${chosen.split(' ')[0]}, B: ${chosen.split(' ')[1]} (X: not looked at, O: looked at)`,
        ),
        claim(
          'it costs 0.90',
          near(plan['cost'] as number, 0.9, 1e-9),
          `${(plan['cost'] as number).toFixed(2)}, and no plan costs less than ${(plan['lowerBound'] as number).toFixed(2)}`,
        ),
      ],
      tables: [
        {
          title: 'Costs',
          head: ['sequence', 'ours', 'paper'],
          rows: rows.map(([name, ours, paper]) => [name, ours.toFixed(2), paper.toFixed(2)]),
        },
      ],
    };
  },
};

/** Every assignment of the four strategies, capacity kept on both days. */
function exhaustive(pages: readonly Record<string, number>[], capacity: number): number {
  const strategies = ['XX', 'XO', 'OX', 'OO'];
  let best = Infinity;
  const go = (page: number, first: number, second: number, cost: number): void => {
    if (first > capacity || second > capacity || cost >= best) return;
    if (page === pages.length) {
      best = cost;
      return;
    }
    for (const way of strategies)
      go(page + 1, first + (way[0] === 'O' ? 1 : 0), second + (way[1] === 'O' ? 1 : 0), cost + pages[page]![way]!);
  };
  go(0, 0, 0, 0);
  return best;
}

const figures23: Item = {
  id: 'brewington-figures-2-3',
  paper: 'brewington',
  title: 'Figures 2 and 3: the two-day assignment network',
  seconds: 2,
  run: ({ luck }) => {
    const draw = luck('brewington-figures-2-3');
    let [same, worst] = [0, 0];
    const instances = 150;
    for (let n = 0; n < instances; n++) {
      const pages = Array.from({ length: 2 + Math.floor(draw() * 6) }, () => {
        // Chances of an age-dependent page: unseen for longer is worse, a fresh look is best.
        const today = draw();
        const tomorrow = today + (1 - today) * draw();
        return { XX: today + tomorrow, XO: today, OX: draw() * tomorrow, OO: 0 };
      });
      const capacity = 1 + Math.floor(draw() * 3);
      const plan = solved(twoDays(capacity, pages));
      const gap = (plan['cost'] as number) - exhaustive(pages, capacity);
      if (Math.abs(gap) < 1e-9) same++;
      worst = Math.max(worst, gap);
    }
    const network = solved(twoDays(1, [costsA, costsB]));
    return {
      checks: [
        claim(
          'the network of Figure 3 has its least cost at 0.90',
          near(network['cost'] as number, 0.9, 1e-9),
          (network['cost'] as number).toFixed(2),
        ),
        claim(
          'the two-day problem is solved exactly by network flows, one for each |OO|',
          same === instances,
          `${same} of ${instances} random instances at the optimum found by trying every assignment (worst gap ${worst.toExponential(1)}), without a search over |OO|: one price a day`,
        ),
      ],
    };
  },
};

const remote: Item = {
  id: 'brewington-figure-4',
  paper: 'brewington',
  title: 'Figure 4 and (43): when a remote observer pays',
  seconds: 0.1,
  run: () => {
    const link = (secondsPerByte: number) => ({ latency: 0, secondsPerByte });
    const ask = (observations: number) =>
      solved({
        kind: 'vantage',
        documentBytes: 1e5,
        agentBytes: 5e5,
        startup: 0,
        observations,
        changedShare: 0.1,
        compression: 0.2,
        links: { AB: link(1e-4), AC: link(1e-4), CB: link(1e-6) },
      });
    const counts = Array.from({ length: 30 }, (_, i) => i + 1);
    const rows = counts.map((k) => ({ k, ...(ask(k) as { direct: number; remote: number; choose: string }) }));
    // (43) with β = 5, γη = 0.02, N_AC/N_AB = 1, N_CB/N_AB = 0.01.
    const first = counts.find((k) => 1 > 5 / k + 0.02 + 0.01)!;
    const ours = rows.find((row) => row.remote < row.direct)!.k;
    return {
      checks: [
        claim(`(43) says that the observer pays from k = ${first} observations on`, ours === first, `from k = ${ours}`),
        claim(
          'the agent’s own journey no longer counts when k is large',
          near(rows.at(-1)!.remote / rows.at(-1)!.direct - 0.03, 5 / 30, 1e-6),
          `remote ⁄ direct at k = 30 is ${(rows.at(-1)!.remote / rows.at(-1)!.direct).toFixed(3)} and falls towards 0.03`,
        ),
      ],
      plots: [
        {
          title: 'Time for k observations',
          x: 'observations k',
          y: 'seconds',
          series: [
            { name: 'direct', points: rows.map((row) => [row.k, row.direct]) },
            { name: 'remote', points: rows.map((row) => [row.k, row.remote]) },
          ],
        },
      ],
    };
  },
};

export const brewington: readonly Item[] = [figure1, table1, figures23, section3, remote];
