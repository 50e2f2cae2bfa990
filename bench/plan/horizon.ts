/** The n-day plan: a million different pages over seven days, and a million pages of a few kinds. */
import { type HorizonPage, ageChain, integer, planHorizon, random } from '@revisit/core';
import type { Bench, Measurement } from '../../house/bench.ts';

function page(next: () => number): HorizonPage {
  return {
    chain: ageChain(Array.from({ length: 1 + integer(next, 8) }, () => next() ** 2)),
    age: integer(next, 20),
    since: 1 + integer(next, 10),
    weight: 0.5 + next(),
  };
}

export const horizon: Bench = async (say) => {
  const next = random(3);
  const size = 1_000_000;
  const kinds = Array.from({ length: 200 }, () => page(next));
  const rows: Measurement[] = [];
  const tries: readonly [string, HorizonPage[]][] = [
    ['all different', Array.from({ length: size }, () => page(next))],
    ['of 200 kinds', Array.from({ length: size }, (_, i) => kinds[i % 200])],
  ];
  for (const [name, pages] of tries) {
    for (const loss of ['stale', 'days-stale'] as const) {
      const start = performance.now();
      const plan = planHorizon({ days: 7, capacity: size / 10, discount: 1, loss, pages });
      const seconds = (performance.now() - start) / 1000;
      const gap = plan.cost / plan.lowerBound - 1;
      say(`${name}, ${loss}: ${seconds.toFixed(2)} s, gap ${gap.toExponential(1)}`);
      rows.push({
        what: `n-day plan, 1,000,000 pages (${name}) × 7 days, ${loss}`,
        ours: `${seconds.toFixed(2)} s, gap ${gap.toExponential(1)}`,
        rival: '10 s, gap below 1e-4',
        holds: seconds <= 10 && gap < 1e-4,
      });
    }
  }
  return rows;
};
