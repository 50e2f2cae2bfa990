/** WIC: 7,564 pages × 1,440 instants, and a million pages. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type Collected, collect, exponential, integer, random } from '@revisit/core';
import type { Bench, Measurement } from '../../house/bench.ts';

/** Like traces/burst-7k: most pages change a few times an epoch, a few very often. */
function burst(rate: number): Collected[] {
  const next = random(7);
  return Array.from({ length: 7564 }, () => {
    const changes = 1 + Math.floor(exponential(next, 1.9) * (next() < 0.02 ? 8 : 1));
    const at = new Set(Array.from({ length: changes }, () => 1 + integer(next, 1440)));
    return {
      weight: 1,
      change: { at: Int32Array.from(at).sort() },
      life: { kind: 'append' },
      urgency: { kind: 'decay', rate },
    };
  });
}

/** Algorithm 1 word for word: every page's gain, then all of them sorted, in every instant. */
function wordForWord(pages: readonly Collected[], instants: number, capacity: number, rate: number): number {
  const gain = new Float64Array(pages.length);
  const place = new Int32Array(pages.length);
  let utility = 0;
  for (let j = 1; j <= instants; j++) {
    pages.forEach((page, i) => {
      const { at } = page.change as { at: Int32Array };
      gain[i] *= rate;
      if (at[place[i]] === j) {
        gain[i]++;
        place[i]++;
      }
    });
    const order = Int32Array.from(gain.keys()).sort((a, b) => gain[b] - gain[a] || a - b);
    for (const page of order.subarray(0, capacity)) {
      utility += gain[page];
      gain[page] = 0;
    }
  }
  return utility;
}

/** The trace itself, where REVISIT_TRACES names the folder it lies in. */
function burstTrace(rate: number): Collected[] | undefined {
  const file = join(process.env['REVISIT_TRACES'] ?? 'traces', 'burst-7k.instants.csv.gz');
  if (!existsSync(file)) return undefined;
  const bySource = new Map<string, number[]>();
  for (const line of gunzipSync(readFileSync(file)).toString().trim().split('\n').slice(1)) {
    const comma = line.lastIndexOf(',');
    const source = line.slice(0, comma);
    if (!bySource.has(source)) bySource.set(source, []);
    bySource.get(source)!.push(Number(line.slice(comma + 1)) + 1);
  }
  return Array.from(bySource.values(), (at) => ({
    weight: 1,
    change: { at: Int32Array.from(at).sort() },
    life: { kind: 'append' },
    urgency: { kind: 'decay', rate },
  }));
}

function median(runs: number, work: () => unknown): number {
  work();
  const times = Array.from({ length: runs }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[runs >> 1];
}

setFlagsFromString('--expose-gc');
const sweep = runInNewContext('gc') as () => void;

function million(say: (line: string) => void): Measurement[] {
  const next = random(3);
  const life = { kind: 'overwrite' } as const;
  const urgency = { kind: 'decay', rate: 0.999 } as const;
  const used = (): number => {
    // Pages and arrays, not what the collector has yet to sweep.
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  // What earlier rows left behind goes first, or its going would count as ours.
  sweep();
  const before = used();
  const pages = Array.from({ length: 1_000_000 }, (): Collected => ({ weight: 1, change: next() ** 4, life, urgency }));
  const start = performance.now();
  const { utility } = collect({ instants: 1440, capacity: 1000, pages });
  const seconds = (performance.now() - start) / 1000;
  const bytes = (used() - before) / pages.length;
  say(`a million pages: ${seconds.toFixed(2)} s, utility ${utility.toFixed(0)}`);
  return [
    {
      what: 'WIC, 1,000,000 pages × 1,440 instants',
      ours: `${seconds.toFixed(2)} s`,
      rival: '10 s',
      holds: seconds <= 10,
    },
    {
      what: 'memory a page, pages and schedule',
      ours: `${Math.round(bytes)} bytes`,
      rival: '200 bytes',
      holds: bytes <= 200,
    },
  ];
}

export const collecting: Bench = async (say) => {
  const rows: Measurement[] = [];
  for (const rate of [0, 0.5, 0.9, 1]) {
    const trace = burstTrace(rate);
    const pages = trace ?? burst(rate);
    const ours = median(5, () => collect({ instants: 1440, capacity: 8, pages }));
    const start = performance.now();
    wordForWord(pages, 144, 8, rate);
    const naive = (performance.now() - start) * 10;
    say(`r = ${rate}: ${ours.toFixed(0)} ms against ${naive.toFixed(0)} ms word for word`);
    rows.push({
      what: `WIC, 7,564 pages × 1,440 instants${trace ? ' (traces/burst-7k)' : ''}, r = ${rate}`,
      ours: `${ours.toFixed(0)} ms`,
      rival: `100 ms; word for word ${naive.toFixed(0)} ms`,
      ratio: `${(naive / ours).toFixed(0)}×`,
      holds: ours <= 100,
    });
  }
  return [...rows, ...million(say)];
};
