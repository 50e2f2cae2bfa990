import type { FastifyInstance } from 'fastify';
import type { Desk } from '../desk.ts';
import { changeBody } from './bodies.ts';
import { problem } from './problem.ts';
import { cursorOf, limitOf } from './query.ts';

/** Proxies close connections that stay silent for a minute. */
const heartbeatMs = 25_000;
const streamBatch = 500;

type Query = { Querystring: Record<string, string | undefined> };

export function changeRoutes(app: FastifyInstance, desk: Desk): void {
  app.get<Query>('/api/changes', async (request, reply) => {
    const { after, order, page, before } = request.query;
    const limit = limitOf(request.query['limit'], 100, 1_000);
    if (limit === undefined)
      return problem(
        reply,
        400,
        'bad-request',
        `limit: "${request.query['limit']}" is not allowed; a whole number from 1 to 1000 is expected`,
      );
    const cursor = cursorOf(order === 'newest' ? before : after);
    if (cursor === undefined)
      return problem(
        reply,
        400,
        'bad-cursor',
        `"${order === 'newest' ? before : after}" is no cursor; a cursor from an earlier answer, or 0, is expected`,
      );
    const ofPage = page === undefined ? {} : { pageId: page };
    const changes =
      order === 'newest'
        ? await desk.store.latestChanges({ limit, ...(cursor > 0 ? { before: cursor } : {}), ...ofPage })
        : await desk.store.changes({ after: cursor, limit, ...ofPage });
    const last = changes.at(-1);
    return { changes: changes.map(changeBody), next: last ? String(last.sequence) : String(cursor) };
  });

  app.get<Query>('/api/changes/stream', async (request, reply) => {
    const header = request.headers['last-event-id'];
    const given = (typeof header === 'string' ? header : undefined) ?? request.query['after'];
    // Without a cursor the stream starts now: who wants the past says from where.
    const cursor = given === undefined ? (await desk.store.counts()).changes : cursorOf(given);
    if (cursor === undefined)
      return problem(
        reply,
        400,
        'bad-cursor',
        `"${given}" is no cursor; a cursor from an earlier answer, or 0, is expected`,
      );
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    raw.write('retry: 2000\n\n');
    await streamChanges(desk, cursor, raw);
    return reply;
  });
}

/** Sends the log from the cursor on and everything that is kept later, until the client leaves. */
async function streamChanges(
  desk: Desk,
  from: number,
  raw: NodeJS.WritableStream & { destroyed?: boolean },
): Promise<void> {
  let cursor = from;
  let stirred = true;
  let closed = false;
  let wake: () => void = () => {};
  const stir = (): void => {
    stirred = true;
    wake();
  };
  const unsubscribe = desk.loop?.onKept(stir);
  raw.on('close', () => {
    closed = true;
    wake();
  });
  raw.on('error', () => {
    closed = true;
    wake();
  });
  const heartbeat = setInterval(() => raw.write(': here\n\n'), heartbeatMs);
  while (!closed) {
    if (!stirred) await new Promise<void>((resolve) => (wake = resolve));
    stirred = false;
    for (;;) {
      const changes = await desk.store.changes({ after: cursor, limit: streamBatch });
      if (changes.length === 0 || closed) break;
      for (const change of changes) {
        const room = raw.write(
          `id: ${change.sequence}\nevent: change\ndata: ${JSON.stringify(changeBody(change))}\n\n`,
        );
        cursor = change.sequence;
        // A reader slower than the log holds back its own stream only, and never the memory of the daemon.
        if (!room && !closed) await new Promise<void>((resolve) => void (raw.once('drain', resolve), (wake = resolve)));
        if (closed) break;
      }
    }
  }
  clearInterval(heartbeat);
  unsubscribe?.();
}
