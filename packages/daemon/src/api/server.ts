/**
 * The HTTP API and the dashboard's files. It is a thin skin: each route checks what came in, asks the desk, and shows the
 * answer. Commands without a running daemon speak to the same routes in their own process.
 */
import Fastify, { type FastifyInstance } from 'fastify';
import type { Desk } from '../desk.ts';
import { changeRoutes } from './changes.ts';
import { dashboardRoutes } from './dashboard.ts';
import { pageRoutes } from './pages.ts';
import { planRoutes } from './plan.ts';
import { problem } from './problem.ts';
import { systemRoutes } from './system.ts';
import { transferRoutes } from './transfer.ts';

/** Bulk requests of tens of thousands of pages fit; a mistaken upload does not fill the memory. */
const bodyBytesMax = 32 * 2 ** 20;

export function createApi(desk: Desk): FastifyInstance {
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true },
  });
  app.setNotFoundHandler((request, reply) =>
    problem(reply, 404, 'not-found', `${request.method} ${request.url.split('?')[0]} is not part of the API.`),
  );
  app.setErrorHandler((error, _request, reply) => {
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    const message = error instanceof Error ? error.message : String(error);
    if (status >= 500)
      desk.log('error', 'a request met a bug', { error: error instanceof Error ? (error.stack ?? message) : message });
    return problem(reply, status, status >= 500 ? 'bug' : 'bad-request', message);
  });
  pageRoutes(app, desk);
  changeRoutes(app, desk);
  planRoutes(app, desk);
  systemRoutes(app, desk);
  transferRoutes(app, desk);
  dashboardRoutes(app);
  return app;
}
