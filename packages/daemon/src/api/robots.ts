/** The robots and the indexing queue: what happens, against what the model of a finite queue forecasts. */
import { queueShares } from '@revisit/core';
import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import { type Api, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { Nullable } from './schemas.ts';

const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);

const Shares = Type.Object({ starvation: Nullable(Type.Number()), loss: Nullable(Type.Number()) });

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
        arrivalPerSecond: Nullable(Type.Number()),
        servicePerSecond: Nullable(Type.Number()),
        load: Nullable(Type.Number()),
        seen: Shares,
        forecast: Shares,
      }),
    },
  });
  app.get('/api/robots', { schema }, async (_request, reply) => {
    const { loop } = desk;
    if (!loop) return notRunning(reply);
    const { sent, kept, overflowed, inFlight, queued, waiting, pool } = loop.counts();
    const { robots, queueMax } = loop.settings;
    const { busyMs, sinceMs, arrived, served } = loop.indexing();
    const elapsedMs = Math.max(1, desk.clock.nowMs() - sinceMs);
    const arrivalPerSecond = (arrived / elapsedMs) * 1000;
    const servicePerSecond = busyMs > 0 ? (served / busyMs) * 1000 : null;
    const load = servicePerSecond ? arrivalPerSecond / servicePerSecond : null;
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
      arrivalPerSecond,
      servicePerSecond,
      load,
      seen: { starvation: Math.max(0, 1 - busyMs / elapsedMs), loss: share(overflowed, arrived) },
      forecast: load === null ? { starvation: null, loss: null } : { ...queueShares(load, queueMax) },
    };
  });
}
