/** Every view's calls, timed. */
import { policies, random } from '../../packages/core/src/index.ts';
import { createApi } from '../../packages/daemon/src/api/server.ts';
import { Desk } from '../../packages/daemon/src/desk.ts';
import { startLoop } from '../../packages/daemon/src/simulation/world.ts';
import { SimulatedWeb } from '../../packages/daemon/src/simulation/simulated-web.ts';
import { VirtualClock } from '../../packages/daemon/src/simulation/virtual-clock.ts';
import type { Store } from '../../packages/daemon/src/store/port.ts';
import type { Measurement } from '../../house/bench.ts';
import { startMs } from './collection.ts';

const msMost = 200;

const callsOf = (id: string): readonly (readonly [string, string])[] => [
  ['Changes', '/api/changes?order=newest&limit=40'],
  ['Changes, a filter that few fit', '/api/changes?order=newest&limit=40&text=page-77777'],
  ['Changes, far back', '/api/changes?after=500000&limit=100'],
  ['Changes of a page', `/api/changes?page=${id}&order=newest`],
  ['Pages, as added, of a tag', '/api/pages?tag=tag7&limit=100'],
  ['Pages, as added, of a site', '/api/pages?site=site7.example&limit=100'],
  ['Pages, by last change', '/api/pages?order=changed&skip=50000&limit=100&activity=true'],
  ['Pages, least current', '/api/pages?order=current&skip=0&limit=100&activity=true'],
  ['Pages, by next look', '/api/pages?order=next&skip=50000&limit=100&activity=true'],
  ['Pages, by rate', '/api/pages?order=rate&skip=50000&limit=100&activity=true'],
  ['Pages, by title', '/api/pages?order=title&skip=50000&limit=100&activity=true'],
  ['Pages, filtered', '/api/pages?order=title&skip=0&limit=100&activity=true&text=page-9'],
  ['Pages, tags', '/api/tags'],
  ['Page', `/api/pages/${id}`],
  ['Page, versions', `/api/pages/${id}/versions`],
  ['Page, difference', `/api/pages/${id}/diff`],
  ['Page, looks', `/api/pages/${id}/looks`],
  ['Page, week', `/api/pages/${id}/week`],
  ['Page, coming looks', `/api/pages/${id}/coming`],
  ['Plan', '/api/plan?limit=600'],
  ['Plan, budget', '/api/budget'],
  ['Sites', '/api/sites'],
  ['Site', '/api/sites/site7.example'],
  ['Robots', '/api/robots'],
  ['Search, one page fits', '/api/search?q=heading+77777'],
  ['Search, every page fits', '/api/search?q=version'],
  ['Search, every page fits, of a site', '/api/search?q=version&site=site7.example'],
  ['Search, every page fits, of a tag', '/api/search?q=version&tag=tag7'],
  ['Search, every page fits, far back', '/api/search?q=version&to=2026-01-15T00:00:00Z'],
  ['Search the past, one page fits', '/api/search?q=heading+77777&past=true'],
  ['Search the past, every page fits', '/api/search?q=version&past=true'],
  ['Search the past, of a tag', '/api/search?q=version&past=true&tag=tag7'],
  ['Lab', '/api/lab'],
  ['Settings', '/api/settings'],
  ['Status', '/api/status'],
];

/** The loop holds the pages and does not run, so that only answering is measured. */
export async function callRows(store: Store, id: string): Promise<Measurement[]> {
  const clock = new VirtualClock(startMs + 13 * 86_400_000);
  const luck = random(1);
  const world = { clock, store, random: luck, web: new SimulatedWeb(clock, luck, []) };
  const loop = await startLoop(world, policies['revisit']!.create(1), {
    looksPerSecond: 10,
    spacingMs: 1_000,
    robots: 64,
    queueMax: 4_096,
  });
  const app = createApi(new Desk(store, clock, () => {}, loop));
  const rows: Measurement[] = [];
  for (const [what, url] of callsOf(id)) {
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      // Sorted lists are remembered for seconds; the first of a kind is what counts.
      await clock.runUntil(clock.nowMs() + 10_000);
      const begun = performance.now();
      const answer = await app.inject(url);
      times.push(performance.now() - begun);
      if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode} ${answer.body.slice(0, 200)}`);
    }
    const median = times.sort((a, b) => a - b)[2]!;
    rows.push({
      what: `${what} (median of 5)`,
      ours: `${median.toFixed(1)} ms`,
      rival: `${msMost} ms`,
      holds: median <= msMost,
    });
  }
  await app.close();
  return rows;
}
