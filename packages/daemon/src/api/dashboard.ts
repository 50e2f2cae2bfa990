/** The dashboard's built files, read once. They are few and small, so they live in memory. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** In a clone beside the daemon, in a published package inside it. */
const places = ['../../../dashboard/dist', '../dashboard'].map((place) => join(import.meta.dirname, place));

export function dashboardRoutes(app: FastifyInstance): void {
  const folder = places.find((place) => existsSync(join(place, 'index.html')));
  app.get('/', (_request, reply) => {
    if (!folder)
      return reply
        .type('text/plain; charset=utf-8')
        .send('The dashboard is not built; "npm ci" in a clone builds it. The API is at /api/.');
    return sendFile('index.html', reply);
  });
  if (!folder) return;
  const files = new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => types[extname(file)] !== undefined)
      .map((file) => [file.replaceAll('\\', '/'), readFileSync(join(folder, file))] as const),
  );
  function sendFile(file: string, reply: import('fastify').FastifyReply) {
    return reply
      .type(types[extname(file)]!)
      .header('x-content-type-options', 'nosniff')
      .header(
        'content-security-policy',
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
      )
      .send(files.get(file));
  }
  for (const file of files.keys())
    if (file !== 'index.html') app.get(`/${file}`, (_request, reply) => sendFile(file, reply));
}
