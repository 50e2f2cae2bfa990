/**
 * Where the relaxation of WIC's offline problem (a unit of flow a page over gaps, a capacity an instant) has no gap: thousands
 * of random epochs for each life and urgency. Prints the table in docs/collect.md.
 *
 *   npx node experiments/wic-integrality.ts [epochs a row] [seed]
 */
import { allKinds, assign, collect, collectMarket, random, randomEpoch } from '@revisit/core';

function row(name: string, kinds: typeof allKinds, epochs: number, seed: number): string {
  const next = random(seed);
  let split = 0;
  let worst = 0;
  let greedyWorst = 1;
  let greedySum = 0;
  for (let n = 0; n < epochs; n++) {
    const problem = randomEpoch(next, 2 + (n % 9), 2 + (n % 5), 1 + (n % 3), kinds);
    const none = problem.pages.map(() => ({ rows: new Int32Array(0), value: 0 }));
    const found = assign(collectMarket(problem), none, none, {
      branchRows: problem.instants,
      nodesMax: 5000,
      pivotsMax: 20_000,
    });
    if (!found.proven) throw new Error('not proven');
    if (found.relaxed > found.value * (1 + 1e-6) + 1e-9) {
      split++;
      worst = Math.max(worst, found.relaxed / found.value - 1);
    }
    const share = found.value > 0 ? collect(problem).utility / found.value : 1;
    greedySum += share;
    greedyWorst = Math.min(greedyWorst, share);
  }
  const cells = [name, epochs, split, split > 0 ? `${(100 * worst).toFixed(2)} %` : '0'];
  return `| ${cells.join(' | ')} | ${((100 * greedySum) / epochs).toFixed(1)} % | ${(100 * greedyWorst).toFixed(1)} % |\n`;
}

const epochs = Number(process.argv[2] ?? 1000);
const seed = Number(process.argv[3] ?? 1);
process.stdout.write(
  '| life × urgency | epochs | with a gap | worst gap | greedy, mean | greedy, worst |\n|---|---|---|---|---|---|\n',
);
for (const life of allKinds.lives) {
  for (const urgency of allKinds.urgencies) {
    process.stdout.write(row(`${life} × ${urgency}`, { lives: [life], urgencies: [urgency] }, epochs, seed));
  }
}
process.stdout.write(row('all mixed', allKinds, 4 * epochs, seed));
