/**
 * How soon a sweep over all pages ends, by the order in which they are fetched: as given, at random, fastest site first,
 * and as planned from learned access times (Czumaj et al. 2001: sites are slow at different hours).
 *
 * The daemon's own loop sweeps a simulated web in virtual time. Each site is slow for eight hours of the day, each at its
 * own; answers take exponential times around what the hour says; access times were learned from two earlier weeks of looks.
 *
 *   node experiments/sweep.ts
 */
import { AccessTimes, exponential, policies, random } from '@revisit/core';
import {
  createWorld,
  givenOrder,
  greedyOrder,
  memoryStore,
  plannedOrder,
  poissonLaw,
  randomOrder,
  startLoop,
  type SweepOrder,
} from 'revisit/simulation';

export interface SweepWorld {
  readonly sites: number;
  readonly pagesPerSite: number;
  readonly robots: number;
  readonly spacingMs: number;
  /** Mean seconds of an answer. */
  readonly fast: number;
  readonly slow: number;
}

export const defaultWorld: SweepWorld = { sites: 24, pagesPerSite: 60, robots: 4, spacingMs: 1000, fast: 6, slow: 60 };

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 0, 19);

function meanSeconds(world: SweepWorld, site: number, atMs: number): number {
  const hour = Math.floor((atMs % dayMs) / 3_600_000);
  return (hour + (24 * site) / world.sites) % 24 < 8 ? world.slow : world.fast;
}

/** What two weeks of three looks an hour and site teach. */
function learned(world: SweepWorld, seed: number): AccessTimes {
  const next = random(seed);
  const access = new AccessTimes();
  for (let at = startMs - 14 * dayMs; at < startMs; at += 1_200_000) {
    for (let site = 0; site < world.sites; site++) {
      access.learn(`site${site}.example`, at / 1000, exponential(next, meanSeconds(world, site, at)));
    }
  }
  return access;
}

/** Virtual hours until the last page of a sweep is kept. */
export async function sweepHours(world: SweepWorld, order: SweepOrder, seed: number): Promise<number> {
  const store = memoryStore();
  await store.remember('access-times', learned(world, seed + 1).save());
  const pages = Array.from({ length: world.sites * world.pagesPerSite }, (_, i) => {
    const site = `site${Math.floor(i / world.pagesPerSite)}.example`;
    return { url: `https://${site}/${i % world.pagesPerSite}`, site, law: poissonLaw(30 * dayMs) };
  });
  let nowMs = () => startMs;
  const siteLaw = (site: string) => ({
    latencyMeanMs: 1000 * meanSeconds(world, Number(/\d+/.exec(site)![0]), nowMs()),
    errorChance: 0,
    timeOutChance: 0,
    timeOutMs: 0,
  });
  const simulated = await createWorld({ seed, startMs, store, pages, siteLaw });
  nowMs = () => simulated.clock.nowMs();
  const settings = { looksPerSecond: 1000, spacingMs: world.spacingMs, robots: world.robots, queueMax: 4096 };
  const loop = await startLoop(simulated, policies['uniform']!.create(1), settings, undefined, {
    sweepOrder: order,
  });
  const sweep = loop.sweep(new AbortController().signal, true);
  await simulated.clock.runUntil(Infinity, sweep);
  await sweep;
  const { kept } = loop.counts();
  if (kept !== pages.length) throw new Error(`${kept} of ${pages.length} pages were looked at`);
  await store.close();
  return (simulated.clock.nowMs() - startMs) / 3_600_000;
}

export interface SweepRow {
  readonly order: string;
  readonly hours: number;
}

/** Mean over seeds of the hours each order takes. */
export async function sweepTable(world: SweepWorld, seeds: readonly number[]): Promise<SweepRow[]> {
  const orders: readonly [string, (seed: number) => SweepOrder][] = [
    ['as given', () => givenOrder],
    ['random', (seed) => randomOrder(random(seed + 100))],
    ['greedy (fastest now)', () => greedyOrder],
    ['planned', () => plannedOrder],
  ];
  const rows: SweepRow[] = [];
  for (const [order, create] of orders) {
    let sum = 0;
    for (const seed of seeds) sum += await sweepHours(world, create(seed), seed);
    rows.push({ order, hours: sum / seeds.length });
  }
  return rows;
}

if (import.meta.main) {
  const rows = await sweepTable(defaultWorld, [1, 2, 3]);
  const planned = rows.at(-1)!.hours;
  process.stdout.write('order                 hours   planned against it\n');
  for (const { order, hours } of rows) {
    process.stdout.write(`${order.padEnd(22)}${hours.toFixed(2).padStart(5)}   ${(planned / hours).toFixed(2)}\n`);
  }
}
