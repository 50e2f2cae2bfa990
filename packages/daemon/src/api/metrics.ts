/** What the daemon does, in numbers for Prometheus. Read from the loop and the store when they are asked for. */
import { planRobots } from '@revisit/core';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Desk } from '../desk.ts';
import { type Api, Media, operation } from './operation.ts';

/** What `revisit robot` does at once unless told otherwise. */
const robotBreadth = 64;
/** Room for looks that take longer than the mean. */
const spare = 1.25;

/** What of the loop says how many robots it could keep busy. */
interface WantingLoop {
  readonly collection: { readonly size: number };
  readonly settings: { readonly looksPerSecond: number; readonly queueMax: number };
  counts(): { readonly pool: { readonly fetchMsMean: number; readonly indexMsMean: number } };
}

/** By Talim's rule, no more than the indexing queue can take without overflowing; and no more than the budget can use. */
export function robotsWanted({ loop }: { readonly loop?: WantingLoop | undefined }): number {
  if (!loop) return 0;
  const { pool } = loop.counts();
  const { looksPerSecond, queueMax } = loop.settings;
  if (!(pool.fetchMsMean > 0)) return loop.collection.size > 0 ? 1 : 0;
  const budgeted = (spare * looksPerSecond * pool.fetchMsMean) / 1000;
  const rates = { arrival: 1000 / pool.fetchMsMean, service: 1000 / Math.max(1e-3, pool.indexMsMean) };
  const ruled = planRobots({ ...rates, buffer: queueMax, starvationWeight: 1 }).robots;
  return Math.min(budgeted, ruled) / robotBreadth;
}

type Reading = (desk: Desk) => number | Promise<number>;

const readings: Readonly<Record<string, readonly [string, Reading]>> = {
  revisit_pages: ['Pages that are watched.', async (desk) => (await desk.store.counts()).pages],
  revisit_changes_total: ['Changes in the log.', async (desk) => (await desk.store.counts()).changes],
  revisit_looks_total: ['Looks that were kept.', async (desk) => (await desk.store.counts()).looks],
  revisit_probes_sent_total: ['Probes sent since the start.', (desk) => desk.loop?.counts().sent ?? 0],
  revisit_probes_in_flight: ['Probes under way.', (desk) => desk.loop?.counts().inFlight ?? 0],
  revisit_probes_waiting: ['Pages in line for their site to be free.', (desk) => desk.loop?.counts().waiting ?? 0],
  revisit_queue_length: ['Answers that wait for detection.', (desk) => desk.loop?.counts().queued ?? 0],
  revisit_queue_limit: ['Answers that may wait.', (desk) => desk.loop?.settings.queueMax ?? 0],
  revisit_queue_overflows_total: [
    'Answers dropped because the queue was full.',
    (desk) => desk.loop?.counts().overflowed ?? 0,
  ],
  revisit_robots: [
    'Robots that may run now, as the indexing queue allows.',
    (desk) => desk.loop?.counts().pool.robots ?? 0,
  ],
  revisit_robots_wanted: [
    'Robots of breadth 64 that this coordinator could keep busy; add up over coordinators and round up.',
    robotsWanted,
  ],
  revisit_robots_limit: ['Requests that may be under way at once at most.', (desk) => desk.loop?.settings.robots ?? 0],
  revisit_queue_starved_share: [
    'Share of time in which nothing waited for detection.',
    (desk) => desk.loop?.counts().pool.starvedShare ?? 0,
  ],
  revisit_fetch_seconds_mean: [
    'Mean time of the last few hundred requests.',
    (desk) => (desk.loop?.counts().pool.fetchMsMean ?? 0) / 1000,
  ],
  revisit_index_seconds_mean: [
    'Mean time of detecting and keeping one answer.',
    (desk) => (desk.loop?.counts().pool.indexMsMean ?? 0) / 1000,
  ],
  revisit_budget_per_hour: ['Requests allowed an hour.', (desk) => (desk.loop?.settings.looksPerSecond ?? 0) * 3600],
  revisit_store_healthy: ['1 while the store takes what is found.', (desk) => ((desk.loop?.healthy ?? true) ? 1 : 0)],
};

export function metricRoutes(app: Api, desk: Desk): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'revisit_' });
  for (const [name, [help, read]] of Object.entries(readings)) {
    const told = { name, help, registers: [registry] };
    if (name.endsWith('_total')) {
      // Counted elsewhere and only read here.
      new Counter({
        ...told,
        async collect() {
          const total = await read(desk);
          this.reset();
          this.inc(total);
        },
      });
    } else {
      new Gauge({
        ...told,
        async collect() {
          this.set(await read(desk));
        },
      });
    }
  }
  const requests = new Counter({
    name: 'revisit_api_requests_total',
    help: 'Requests to the API.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'revisit_api_request_seconds',
    help: 'How long requests to the API took.',
    labelNames: ['route'],
    buckets: [0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5],
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    // The pattern, not the address: addresses are without number.
    const route = request.routeOptions.url ?? 'unknown';
    requests.inc({ method: request.method, route, status: reply.statusCode });
    seconds.observe({ route }, reply.elapsedTime / 1000);
  });

  const schema = operation({
    tag: 'system',
    summary: 'Metrics in the form Prometheus reads',
    answers: { 200: Media('text/plain', 'Names begin with revisit_.') },
  });
  app.get('/metrics', { schema }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
