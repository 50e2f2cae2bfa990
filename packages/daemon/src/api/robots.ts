/** The robots and the indexing queue: what happens, against what the model of a finite queue forecasts. */
import { queueShares } from '@revisit/core';
import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import { type Api, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { Nullable } from './schemas.ts';

const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);

const Shares = Type.Object({ starvation: Nullable(Type.Number()), loss: Nullable(Type.Number()) });

/** One to twice the pool, in steps that a plot can tell apart. */
function poolSizes(robots: number): readonly number[] {
  const step = Math.max(1, Math.ceil(robots / 40));
  return Array.from({ length: Math.floor((2 * robots) / step) }, (_, i) => (i + 1) * step);
}
const Observer = Type.Object({
  name: Type.String(),
  state: Type.Union([Type.Literal('there'), Type.Literal('away'), Type.Literal('disbelieved')]),
  sites: Type.Array(Type.String(), { description: 'Sites that it has and this coordinator looks after.' }),
  places: Type.Integer({ description: 'URLs that it carries copies of.' }),
  looks: Type.Integer({ description: 'Looks that its reports stand for.' }),
  reports: Type.Integer(),
  latencyMs: Nullable(Type.Number({ description: 'One way between it and this coordinator.' })),
  linkBytes: Type.Integer({ description: 'Bytes that went over the link for it, both ways.' }),
  savedBytes: Type.Integer({ description: 'Bytes that robots would have sent home for the same looks, less those.' }),
});

export function robotRoutes(app: Api, desk: Desk): void {
  const schema = operation({
    tag: 'system',
    summary: 'Pool, indexing queue, starvation and overflow, seen and forecast',
    answers: {
      200: Type.Object({
        robots: Type.Integer({ description: 'The most requests that may be under way at once.' }),
        robotsNow: Type.Integer({
          description: 'How many may be now, by the rule for the measured rates and the queue.',
        }),
        inFlight: Type.Integer(),
        waiting: Type.Integer({ description: 'Pages in line for their site to be free.' }),
        queued: Type.Integer(),
        queueMax: Type.Integer(),
        sent: Type.Integer(),
        kept: Type.Integer(),
        overflowed: Type.Integer(),
        fetchPerSecond: Nullable(Type.Number({ description: 'Answers that one robot could bring.' })),
        arrivalPerSecond: Nullable(Type.Number()),
        servicePerSecond: Nullable(Type.Number()),
        load: Nullable(Type.Number()),
        seen: Shares,
        forecast: Shares,
        curve: Type.Array(Type.Object({ robots: Type.Integer(), starvation: Type.Number(), loss: Type.Number() }), {
          description: 'What the model forecasts for other pools whose robots never rest.',
        }),
        observers: Type.Array(Observer, { description: 'Observers of a cluster, near their sources.' }),
      }),
    },
  });
  app.get('/api/robots', { schema }, async (_request, reply) => {
    const { loop } = desk;
    if (!loop) return notRunning(reply);
    const { sent, kept, overflowed, inFlight, queued, waiting, pool } = loop.counts();
    const { robots, queueMax } = loop.settings;
    const perSecond = (ms: number): number | null => (ms > 0 ? 1000 / ms : null);
    const fetchPerSecond = perSecond(pool.fetchMsMean);
    const servicePerSecond = perSecond(pool.indexMsMean);
    // The model's robots never rest; ours wait for budget and sites too, so the load is what really came.
    const elapsedSeconds = Math.max(1, desk.clock.nowMs() - loop.startedAtMs) / 1000;
    const arrivalPerSecond = (kept + overflowed) / elapsedSeconds;
    const load = servicePerSecond === null ? null : arrivalPerSecond / servicePerSecond;
    return {
      robots,
      robotsNow: pool.robots,
      inFlight,
      waiting,
      queued,
      queueMax,
      sent,
      kept,
      overflowed,
      fetchPerSecond,
      arrivalPerSecond,
      servicePerSecond,
      load,
      seen: { starvation: pool.starvedShare, loss: share(overflowed, kept + overflowed) },
      observers: desk.observers().map((observer) => ({ ...observer, sites: [...observer.sites] })),
      forecast: load === null ? { starvation: null, loss: null } : { ...queueShares(load, queueMax) },
      curve:
        fetchPerSecond === null || servicePerSecond === null
          ? []
          : poolSizes(robots).map((size) => {
              const { starvation, loss } = queueShares((size * fetchPerSecond) / servicePerSecond, queueMax);
              return { robots: size, starvation, loss };
            }),
    };
  });
}
