import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import { version } from '../version.ts';
import { changeBody, timeText } from './bodies.ts';
import { type Api, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { ChangeBody, Nullable, Time } from './schemas.ts';

/** More changes than this in one answer are read from the log, where they all are. */
const checkedChangesMax = 1_000;

const LoopCounts = Type.Object(
  {
    sent: Type.Integer(),
    sentLastHour: Type.Integer(),
    kept: Type.Integer(),
    overflowed: Type.Integer(),
    inFlight: Type.Integer(),
    queued: Type.Integer(),
    waiting: Type.Integer(),
  },
  { additionalProperties: true },
);

export function systemRoutes(app: Api, desk: Desk): void {
  const check = operation({
    tag: 'system',
    summary: 'Look at what is due, or at every page, and wait until all of it is kept',
    body: Type.Optional(
      Type.Union([Type.Null(), Type.Object({ all: Type.Optional(Type.Boolean()) }, { additionalProperties: false })]),
    ),
    answers: {
      200: Type.Object({ looks: Type.Integer(), requests: Type.Integer(), changes: Type.Array(ChangeBody) }),
    },
  });
  app.post('/api/check', { schema: check }, async (request, reply) => {
    if (!desk.loop) return notRunning(reply);
    const before = await desk.store.counts();
    const left = new AbortController();
    reply.raw.on('close', () => left.abort());
    const requests = desk.loop.counts().sent;
    desk.loop.askFor(request.body?.all === true);
    await desk.loop.settled(left.signal);
    const after = await desk.store.counts();
    const changes = await desk.store.changes({ after: before.changes, limit: checkedChangesMax });
    return {
      looks: after.looks - before.looks,
      requests: desk.loop.counts().sent - requests,
      changes: changes.map(changeBody),
    };
  });

  const health = operation({
    tag: 'system',
    summary: 'Liveness: whether what is found can be kept',
    answers: {
      200: Type.Object({ healthy: Type.Boolean(), running: Type.Boolean() }),
      503: Type.Object({ healthy: Type.Boolean(), running: Type.Boolean() }),
    },
  });
  app.get('/healthz', { schema: health, config: { scope: 'open' } }, async (_request, reply) => {
    const healthy = desk.loop?.healthy ?? true;
    return reply.code(healthy ? 200 : 503).send({ healthy, running: desk.loop !== undefined });
  });

  const readiness = operation({
    tag: 'system',
    summary: 'Readiness: whether the pages are loaded and the store answers',
    answers: { 200: Type.Object({ ready: Type.Boolean() }), 503: Type.Object({ ready: Type.Boolean() }) },
  });
  app.get('/readyz', { schema: readiness, config: { scope: 'open' } }, async (_request, reply) => {
    const ready = desk.loop?.healthy ?? true;
    // One that is known to be away would be waited for.
    if (ready) await desk.store.counts();
    return reply.code(ready ? 200 : 503).send({ ready });
  });

  const status = operation({
    tag: 'system',
    summary: 'The collection and the daemon in numbers',
    answers: {
      200: Type.Object({
        version: Type.String(),
        now: Time,
        pages: Type.Integer(),
        changes: Type.Integer(),
        looks: Type.Integer(),
        loop: Nullable(LoopCounts),
        budgetPerHour: Nullable(Type.Number()),
        policy: Nullable(Type.String()),
        healthy: Type.Boolean(),
      }),
    },
  });
  app.get('/api/status', { schema: status }, async () => ({
    version,
    now: timeText(desk.clock.nowMs()),
    ...(await desk.store.counts()),
    loop: desk.loop ? { ...desk.loop.counts() } : null,
    budgetPerHour: desk.loop ? desk.loop.settings.looksPerSecond * 3600 : null,
    policy: desk.loop?.policy.name ?? null,
    healthy: desk.loop?.healthy ?? true,
  }));
}
