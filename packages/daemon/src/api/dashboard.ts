/** The dashboard's built files, read and packed once. They are few and small, so they live in memory. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { dashboardPolicy } from './headers.ts';
import type { Api } from './operation.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** In a clone beside the daemon, in a published package inside it. */
const places = ['../../../dashboard/dist', '../dashboard'].map((place) => join(import.meta.dirname, place));

interface PackedFile {
  readonly plain: Buffer;
  readonly packed: Buffer;
  readonly etag: string;
}

function packed(file: string): PackedFile {
  const plain = readFileSync(file);
  return {
    plain,
    packed: gzipSync(plain, { level: 9 }),
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
  };
}

export function dashboardRoutes(app: Api): void {
  const folder = places.find((place) => existsSync(join(place, 'index.html')));
  const open = { config: { scope: 'open' }, schema: { hide: true } } as const;
  if (!folder) {
    app.get('/', open, (_request, reply) =>
      reply
        .type('text/plain; charset=utf-8')
        .send('The dashboard is not built; "npm ci" in a clone builds it. The API is at /api/.'),
    );
    return;
  }
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => file.replaceAll('\\', '/'));
  // Read at once, so that an update of the files under a running daemon cannot mix two of them.
  const files = new Map(
    names.filter((name) => types[extname(name)] !== undefined).map((name) => [name, packed(join(folder, name))]),
  );
  const send = (name: string) => (request: FastifyRequest, reply: FastifyReply) => {
    const file = files.get(name)!;
    // Names of built files carry their hash; only the page itself must be asked for again.
    const isFixed = name.startsWith('assets/');
    reply
      .type(types[extname(name)]!)
      .header('content-security-policy', dashboardPolicy)
      .header('cache-control', isFixed ? 'public, max-age=31536000, immutable' : 'no-cache')
      .header('vary', 'accept-encoding')
      .header('etag', file.etag);
    if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
    const packs = (request.headers['accept-encoding'] ?? '').includes('gzip');
    return packs ? reply.header('content-encoding', 'gzip').send(file.packed) : reply.send(file.plain);
  };
  app.get('/', open, send('index.html'));
  for (const name of files.keys()) if (name !== 'index.html') app.get(`/${name}`, open, send(name));
}
