/** What the daemon does, in numbers for Prometheus. Read from the loop and the store when they are asked for. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Desk } from '../desk.ts';
import { type Api, Media, operation } from './operation.ts';
import { robotsThere, robotsWanted } from './robots-wanted.ts';

type Reading = (desk: Desk) => number | Promise<number>;

const requestsNow: Reading = (desk) => desk.loop?.counts().pool.robots ?? 0;
const requestsMax: Reading = (desk) => desk.loop?.settings.robots ?? 0;

const readings: Readonly<Record<string, readonly [string, Reading]>> = {
  revisit_pages: [
    'Pages that are watched; every coordinator of a cluster says the same.',
    async (desk) => (await desk.store.counts()).pages,
  ],
  revisit_changes_total: [
    'Changes in the log; every coordinator of a cluster says the same.',
    async (desk) => (await desk.store.counts()).changes,
  ],
  revisit_looks_total: [
    'Looks that were kept; every coordinator of a cluster says the same.',
    async (desk) => (await desk.store.counts()).looks,
  ],
  revisit_probes_sent_total: ['Probes sent since the start, by this process.', (desk) => desk.loop?.counts().sent ?? 0],
  revisit_probes_in_flight: ['Probes under way, of this process.', (desk) => desk.loop?.counts().inFlight ?? 0],
  revisit_probes_waiting: [
    'Pages in line for their site to be free, of this process.',
    (desk) => desk.loop?.counts().waiting ?? 0,
  ],
  revisit_queue_length: [
    'Answers that wait for detection, in this process.',
    (desk) => desk.loop?.counts().queued ?? 0,
  ],
  revisit_queue_limit: ['Answers that may wait, in this process.', (desk) => desk.loop?.settings.queueMax ?? 0],
  revisit_queue_overflows_total: [
    'Answers dropped because the queue of this process was full.',
    (desk) => desk.loop?.counts().overflowed ?? 0,
  ],
  revisit_requests_at_once: [
    'Requests of this process that may be under way at once now, as its indexing queue allows.',
    requestsNow,
  ],
  revisit_requests_at_once_limit: ['Requests of this process that may be under way at once at most.', requestsMax],
  // The model's robots ask for one page at a time. Whoever reads these by their first names goes on doing so.
  revisit_robots: ['In requests, not processes: the same as revisit_requests_at_once.', requestsNow],
  revisit_robots_limit: ['In requests, not processes: the same as revisit_requests_at_once_limit.', requestsMax],
  revisit_robots_wanted: [
    'In processes of "revisit robot" with breadth 64: how many this coordinator could keep busy; add up over coordinators and round up.',
    robotsWanted,
  ],
  revisit_robots_there: [
    'In processes of "revisit robot": how many this coordinator hears, 1 where it is its own; coordinators hear the same ones, so take the largest and do not add up.',
    robotsThere,
  ],
  revisit_queue_starved_share: [
    'Share of time in which nothing waited for detection in this process.',
    (desk) => desk.loop?.counts().pool.starvedShare ?? 0,
  ],
  revisit_fetch_seconds_mean: [
    'Mean time of the last few hundred requests of this process.',
    (desk) => (desk.loop?.counts().pool.fetchMsMean ?? 0) / 1000,
  ],
  revisit_index_seconds_mean: [
    'Mean time of detecting and keeping one answer in this process.',
    (desk) => (desk.loop?.counts().pool.indexMsMean ?? 0) / 1000,
  ],
  revisit_budget_per_hour: [
    'Requests allowed an hour; of several coordinators the part of this one, all of them add up to the whole.',
    (desk) => (desk.loop?.settings.looksPerSecond ?? 0) * 3600,
  ],
  revisit_robots_reachable: [
    '1 while robots can be asked to look; 0 on a coordinator whose NATS is away.',
    (desk) => (desk.linked() ? 1 : 0),
  ],
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
