/**
 * The HTTP API and the dashboard's files. It is a thin skin: each route checks what came in, asks the desk, and shows the
 * answer. Commands without a running daemon speak to the same routes in their own process.
 */
import swagger from '@fastify/swagger';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Desk } from '../desk.ts';
import { StoreFailed } from '../values/fault.ts';
import { version } from '../version.ts';
import { AccessBook } from './access/book.ts';
import { type GuardOptions, createGuard } from './access/guard.ts';
import { accessRoutes } from './access/routes.ts';
import { changeRoutes } from './changes.ts';
import { checkRoute } from './check.ts';
import { dashboardRoutes } from './dashboard.ts';
import { demoRoute } from './demo.ts';
import { feedRoutes } from './feeds.ts';
import { headers } from './headers.ts';
import { historyRoutes } from './history.ts';
import { idempotency } from './idempotency.ts';
import { labRoutes } from './lab.ts';
import { metricRoutes } from './metrics.ts';
import { noiseRoutes } from './noise.ts';
import type { Api } from './operation.ts';
import { pageRoutes } from './pages.ts';
import { planRoutes } from './plan.ts';
import { previewRoutes } from './preview.ts';
import { problem, unavailable } from './problem.ts';
import { RateLimiter } from './rate-limit.ts';
import { robotRoutes } from './robots.ts';
import { searchRoutes } from './search.ts';
import { settingRoutes } from './settings.ts';
import { siteRoutes } from './sites.ts';
import { schemas } from './schemas.ts';
import { subscriptionRoutes } from './subscriptions.ts';
import { systemRoutes } from './system.ts';
import { transferRoutes } from './transfer.ts';
import { validatorCompiler } from './validation.ts';

/** Bulk requests of tens of thousands of pages fit; a mistaken upload does not fill the memory. */
const bodyBytesMax = 32 * 2 ** 20;
/** A dashboard that scrolls fast stays far below; a script that forgot to wait does not take the daemon down. */
const requestsPerSecond = 100;
const requestsBurst = 1_000;

export interface ApiOptions extends Partial<GuardOptions> {
  readonly requestsPerSecond?: number;
  readonly requestsBurst?: number;
}

export function createApi(desk: Desk, options: ApiOptions = {}): FastifyInstance {
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    forceCloseConnections: true,
    // What the router refuses before any route is found, such as an address that is wrongly escaped.
    frameworkErrors: (error, request, reply) =>
      void problem(
        reply as never,
        error.statusCode ?? 400,
        'bad-request',
        `${request.url.slice(0, 80)} is not a valid address.`,
      ),
    // Schemas say how long a part of the path may be; the router only must let it reach them.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 8_192 },
  });
  app.setValidatorCompiler(validatorCompiler as never);
  app.setSerializerCompiler(() => JSON.stringify);
  app.setNotFoundHandler((request, reply) =>
    problem(reply, 404, 'not-found', `${request.method} ${request.url.split('?')[0]} is not part of the API.`),
  );
  errors(app, desk);
  // A form on another page can send text/plain without asking; JSON it cannot.
  app.removeContentTypeParser('text/plain');
  app.decorateRequest('caller', undefined);
  headers(app);
  const book = new AccessBook(desk.store, desk.clock);
  const limiter = new RateLimiter(
    options.requestsPerSecond ?? requestsPerSecond,
    options.requestsBurst ?? requestsBurst,
  );
  app.addHook('onRequest', createGuard(book, { beyondLoopback: false, ...options }));
  app.addHook('onRequest', async (request, reply) => {
    if (request.caller?.via === 'local') return;
    const seconds = limiter.take(request.caller?.id ?? request.ip, desk.clock.nowMs());
    if (seconds > 0)
      return problem(
        reply.header('retry-after', String(Math.ceil(seconds))),
        429,
        'too-many-requests',
        `More than ${options.requestsPerSecond ?? requestsPerSecond} requests a second; try again in ${Math.ceil(seconds)} s.`,
      );
  });
  idempotency(app, desk.store, desk.clock);
  describeApi(app);
  void app.register((api, _options, done) => {
    routes(api as unknown as Api, desk, book);
    done();
  });
  return app;
}

function routes(api: Api, desk: Desk, book: AccessBook): void {
  metricRoutes(api, desk);
  pageRoutes(api, desk);
  previewRoutes(api, desk);
  historyRoutes(api, desk);
  changeRoutes(api, desk);
  searchRoutes(api, desk);
  noiseRoutes(api, desk);
  subscriptionRoutes(api, desk);
  feedRoutes(api, desk);
  planRoutes(api, desk);
  siteRoutes(api, desk);
  robotRoutes(api, desk);
  labRoutes(api, desk);
  settingRoutes(api, desk);
  demoRoute(api, desk);
  checkRoute(api, desk);
  systemRoutes(api, desk);
  transferRoutes(api, desk);
  accessRoutes(api, book);
  api.get('/openapi.json', { config: { scope: 'open' }, schema: { hide: true } }, async () => api.swagger());
  dashboardRoutes(api);
}

function describeApi(app: FastifyInstance): void {
  for (const schema of schemas) app.addSchema(schema);
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Revisit',
        version,
        description:
          'Watches many web pages on a small budget of requests. Errors are problem documents (RFC 9457) whose codes are listed in docs/faults.md. Changing requests may carry an Idempotency-Key; answers to GET carry an ETag.',
      },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }, {}],
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) => (json['$id'] as string | undefined) ?? `schema-${i}`,
    },
  });
}

function errors(app: FastifyInstance, desk: Desk): void {
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof StoreFailed) return unavailable(reply, error.fault);
    const status = (error as { statusCode?: number }).statusCode ?? 500;
    const message = error instanceof Error ? error.message : String(error);
    if (status >= 500)
      desk.log('error', 'a request met a bug', { error: error instanceof Error ? (error.stack ?? message) : message });
    const code = status >= 500 ? 'bug' : status === 413 ? 'request-too-large' : 'bad-request';
    return problem(reply, status, code, message);
  });
}
