/** Where hubs call back (WebSub): open to whoever knows the token of a subscription. */
import type { FastifyInstance } from 'fastify';
import type { WebSub } from '../websub.ts';

/** A notice carries the whole feed; it is only checked, and larger ones are not needed to know that there is news. */
const noticeBytesMax = 4 * 2 ** 20;

const statuses = { taken: 202, 'nobody asked': 410, 'nobody there': 503 } as const;

export function websubRoutes(app: FastifyInstance, websub: WebSub): void {
  void app.register((api, _options, done) => {
    api.removeAllContentTypeParsers();
    api.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: noticeBytesMax }, (_request, body, ready) =>
      ready(null, body),
    );
    const open = { config: { scope: 'open' as const }, schema: { hide: true } };
    api.get<{ Params: { token: string }; Querystring: Record<string, unknown> }>(
      '/websub/:token',
      open,
      async (request, reply) => {
        const answer = await websub.verify(request.params.token, request.query);
        if (answer === undefined) return reply.code(404).type('text/plain').send('nobody asked for this');
        return reply.type('text/plain').send(answer);
      },
    );
    api.post<{ Params: { token: string } }>('/websub/:token', open, async (request, reply) => {
      const signature = request.headers['x-hub-signature'];
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const signed = typeof signature === 'string' ? signature : undefined;
      const received = await websub.receive(request.params.token, signed, body);
      return reply.code(statuses[received]).send();
    });
    done();
  });
}
