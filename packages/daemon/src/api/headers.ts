/** What every answer says to browsers, and validators for answers that can be asked for again. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

/** The dashboard loads its own files and nothing else; nothing inline runs or styles. */
export const dashboardPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/** A stranger's page as a picture in the dashboard: its own style, no script, no request. The dashboard may look into it. */
export const picturePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-same-origin; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";
/** Answers are data: opened by themselves in a browser they can do nothing. */
const dataPolicy = "default-src 'none'; sandbox; base-uri 'none'; frame-ancestors 'none'";

export const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

export function headers(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ ...securityHeaders, 'content-security-policy': dataPolicy });
  });

  app.addHook('onSend', async (request, reply, payload) => {
    if (request.method !== 'GET' || reply.statusCode !== 200 || typeof payload !== 'string') return payload;
    if (reply.getHeader('etag') === undefined)
      reply.header('etag', `"${createHash('sha256').update(payload).digest('base64url').slice(0, 22)}"`);
    if (reply.getHeader('cache-control') === undefined) reply.header('cache-control', 'no-cache, private');
    const given = request.headers['if-none-match'];
    if (given === undefined) return payload;
    const etag = String(reply.getHeader('etag'));
    const known = given.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (!known.includes(etag) && !known.includes('*')) return payload;
    reply.code(304).removeHeader('content-type').removeHeader('content-length');
    return '';
  });
}
