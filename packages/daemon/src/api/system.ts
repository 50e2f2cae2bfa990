import type { FastifyInstance } from 'fastify';
import type { Desk } from '../desk.ts';
import { changeBody } from './bodies.ts';
import { problem } from './problem.ts';

/** More changes than this in one answer are read from the log, where they all are. */
const checkedChangesMax = 1_000;

export function systemRoutes(app: FastifyInstance, desk: Desk): void {
  app.post<{ Body: { all?: unknown } | undefined }>('/api/check', async (request, reply) => {
    if (!desk.loop)
      return problem(reply, 503, 'not-running', 'No daemon runs on this data folder; use "revisit check".');
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

  app.get('/healthz', async (_request, reply) => {
    const healthy = desk.loop?.healthy ?? true;
    return reply.code(healthy ? 200 : 503).send({ healthy, running: desk.loop !== undefined });
  });

  app.get('/api/status', async () => ({
    ...(await desk.store.counts()),
    loop: desk.loop ? desk.loop.counts() : null,
    budgetPerHour: desk.loop ? desk.loop.settings.looksPerSecond * 3600 : null,
    policy: desk.loop?.policy.name ?? null,
  }));
}
