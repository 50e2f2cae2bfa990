/**
 * Whether the relaxation of Brewington's n-day problem (a unit of flow a page over gaps, a capacity a day) has a gap: thousands of
 * random problems for each loss, with and without a pattern over days. Prints the table in docs/collect.md.
 *
 *   npx node experiments/n-day-integrality.ts [problems a row] [seed]
 */
import { type HorizonPage, ageChain, dayAgeChain, integer, random, relaxHorizon } from '@revisit/core';

function row(loss: 'stale' | 'days-stale', cycle: number, days: number, problems: number, seed: number): string {
  const next = random(seed);
  const reset = () => Array.from({ length: 1 + integer(next, 5) }, () => (next() < 0.1 ? integer(next, 2) : next()));
  const page = (): HorizonPage => ({
    chain: cycle === 1 ? ageChain(reset()) : dayAgeChain(Array.from({ length: cycle }, reset)),
    age: integer(next, 6),
    since: 1 + integer(next, 5),
    weight: next() < 0.5 ? 1 : next(),
  });
  let split = 0;
  let worst = 0;
  for (let n = 0; n < problems; n++) {
    const pages = Array.from({ length: 2 + (n % 6) }, page);
    const discount = n % 2 === 0 ? 1 : next();
    const { cost, relaxed } = relaxHorizon({ days, capacity: 1 + (n % 3), discount, loss, pages });
    if (cost - relaxed <= 1e-6 * (1 + cost)) continue;
    split++;
    worst = Math.max(worst, cost / relaxed - 1);
  }
  const pattern = cycle === 1 ? 'age alone' : `age and day of ${cycle}`;
  return `| ${loss} | ${pattern} | ${days} | ${problems} | ${split} | ${split > 0 ? `${(100 * worst).toFixed(3)} %` : '0'} |\n`;
}

const problems = Number(process.argv[2] ?? 2000);
const seed = Number(process.argv[3] ?? 1);
process.stdout.write(
  '| loss | change depends on | days | problems | with a gap | worst gap |\n|---|---|---|---|---|---|\n',
);
for (const loss of ['stale', 'days-stale'] as const) {
  for (const cycle of [1, 7]) {
    for (const days of [2, 3, 5, 8]) process.stdout.write(row(loss, cycle, days, problems, seed));
  }
}
