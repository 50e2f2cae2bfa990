/**
 * How much better than greedy (WIC) the offline optimum is on traces/burst-7k: 7,564 pages, 1,440 instants, append, urgency
 * r^delay. Prints a table for docs/collect.md.
 *
 *   npx node experiments/wic-burst.ts TRACES/burst-7k.instants.csv.gz [r,r,…] [C,C,…] [search steps]
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type Collected, collect, collectOptimal } from '@revisit/core';

export function readInstants(file: string): number[][] {
  const bySource = new Map<string, number[]>();
  for (const line of gunzipSync(readFileSync(file)).toString().trim().split('\n').slice(1)) {
    const comma = line.lastIndexOf(',');
    const source = line.slice(0, comma);
    const list = bySource.get(source) ?? [];
    // The file counts instants from 0, the planner from 1.
    list.push(Number(line.slice(comma + 1)) + 1);
    bySource.set(source, list);
  }
  return Array.from(bySource.keys())
    .sort()
    .map((source) => (bySource.get(source) ?? []).sort((a, b) => a - b));
}

function main(file: string, rates: readonly number[], capacities: readonly number[], stepsMax: number): void {
  const sources = readInstants(file);
  const changes = sources.reduce((sum, list) => sum + list.length, 0);
  process.stdout.write(`${sources.length} pages, ${changes} changes\n\n`);
  process.stdout.write(
    '| r | C | greedy | optimum, at least | at most | gap | better than greedy by |\n|---|---|---|---|---|---|---|\n',
  );
  for (const rate of rates) {
    for (const capacity of capacities) {
      const pages = sources.map((at): Collected => ({
        weight: 1,
        change: { at },
        life: { kind: 'append' },
        urgency: { kind: 'decay', rate },
      }));
      const problem = { instants: 1440, capacity, pages };
      const greedy = collect(problem).utility;
      const best = collectOptimal(problem, { stepsMax, gapRelative: 1e-5 });
      const gap = best.upperBound / best.utility - 1;
      const cells = [rate, capacity, greedy.toFixed(1), best.utility.toFixed(1), best.upperBound.toFixed(1)];
      const better = `${(100 * (best.utility / greedy - 1)).toFixed(2)} %`;
      process.stdout.write(`| ${cells.join(' | ')} | ${gap.toExponential(1)} | ${better} |\n`);
    }
  }
}

if (import.meta.main) {
  const [file = 'traces/burst-7k.instants.csv.gz', rates = '0,0.5,0.9,1', capacities = '1,4,8,12', steps = '2e9'] =
    process.argv.slice(2);
  main(file, rates.split(',').map(Number), capacities.split(',').map(Number), Number(steps));
}
