import type { FastifyInstance } from 'fastify';
import type { Desk } from '../desk.ts';

export function systemRoutes(app: FastifyInstance, desk: Desk): void {
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
