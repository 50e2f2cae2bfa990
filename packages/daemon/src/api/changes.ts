import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import { type Change, changeKinds, kindsOf } from '../values/change.ts';
import { changeBody } from './bodies.ts';
import { securityHeaders } from './headers.ts';
import { type Api, Media, Nothing, operation } from './operation.ts';
import { unavailable } from './problem.ts';
import { badCursor, cursorOf } from './query.ts';
import { ChangeBody, OneOf } from './schemas.ts';
import { Seen } from './seen.ts';

/** Proxies close connections that stay silent for a minute. */
const heartbeatMs = 25_000;
const streamBatch = 500;
/** A filter that few changes fit reads this far in one request; the answer's cursor goes on from there. */
const scanMax = 20_000;
const scanBatch = 2_000;

interface ChangeFilter {
  readonly site?: string | undefined;
  readonly tag?: string | undefined;
  readonly kind?: string | undefined;
  readonly text?: string | undefined;
  readonly unseen?: boolean | undefined;
}

function fits(change: Change, filter: ChangeFilter, isSeen: (sequence: number) => boolean): boolean {
  if (filter.site !== undefined && change.site !== filter.site) return false;
  if (filter.tag !== undefined && !change.tags.includes(filter.tag)) return false;
  if (filter.kind !== undefined && !kindsOf(change).some((kind) => kind === filter.kind)) return false;
  if (filter.unseen && isSeen(change.sequence)) return false;
  if (filter.text === undefined || filter.text === '') return true;
  return `${change.url}\n${change.title ?? ''}\n${change.summary}`.toLowerCase().includes(filter.text.toLowerCase());
}

interface Reading extends ChangeFilter {
  readonly newest: boolean;
  readonly cursor: number;
  readonly limit: number;
  readonly page?: string | undefined;
}

/** Changes that fit, and the cursor from which the rest follows. */
async function readChanges(
  desk: Desk,
  reading: Reading,
  isSeen: (sequence: number) => boolean,
): Promise<{ readonly changes: readonly Change[]; readonly next: number; readonly more: boolean }> {
  const { newest, limit } = reading;
  const filtered = [reading.site, reading.tag, reading.kind, reading.text, reading.unseen].some(Boolean);
  const batch = filtered ? Math.max(limit, scanBatch) : limit;
  const found: Change[] = [];
  let cursor = reading.cursor;
  for (let scanned = 0; scanned < scanMax;) {
    const ofPage = reading.page === undefined ? {} : { pageId: reading.page };
    const changes = newest
      ? await desk.store.latestChanges({ limit: batch, ...(cursor > 0 ? { before: cursor } : {}), ...ofPage })
      : await desk.store.changes({ after: cursor, limit: batch, ...ofPage });
    for (const change of changes) {
      cursor = change.sequence;
      if (fits(change, reading, isSeen)) found.push(change);
      if (found.length === limit) return { changes: found, next: cursor, more: true };
    }
    scanned += changes.length;
    if (changes.length < batch) return { changes: found, next: cursor, more: false };
  }
  return { changes: found, next: cursor, more: true };
}

export function changeRoutes(app: Api, desk: Desk): void {
  const seen = new Seen(desk.store);
  listRoute(app, desk, seen);
  seenRoute(app, desk, seen);
  streamRoute(app, desk);
}

function listRoute(app: Api, desk: Desk, seen: Seen): void {
  const schema = operation({
    tag: 'changes',
    summary: 'Every change once, in order, for ever resumable',
    description:
      'Oldest first from `after`; with `order=newest`, newest first down from `before`. `next` is the cursor to go on from; with filters an answer may be short or empty while `more` is true.',
    querystring: Type.Object({
      after: Type.Optional(Type.String()),
      before: Type.Optional(Type.String()),
      order: Type.Optional(OneOf(['oldest', 'newest'])),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
      page: Type.Optional(Type.String()),
      site: Type.Optional(Type.String()),
      tag: Type.Optional(Type.String()),
      kind: Type.Optional(OneOf(changeKinds)),
      text: Type.Optional(Type.String({ description: 'What URL, title or summary contains.' })),
      unseen: Type.Optional(Type.Boolean()),
    }),
    answers: {
      200: Type.Object({
        changes: Type.Array(ChangeBody),
        next: Type.String(),
        more: Type.Boolean(),
        last: Type.Integer({ description: 'The newest cursor of the log.' }),
        unseen: Type.Integer(),
      }),
    },
  });
  app.get('/api/changes', { schema }, async (request, reply) => {
    const { after, before, order, limit = 100, ...rest } = request.query;
    const newest = order === 'newest';
    const given = newest ? before : after;
    const cursor = cursorOf(given);
    if (cursor === undefined) return badCursor(reply, given);
    const isSeen = await seen.has();
    const { changes, next, more } = await readChanges(desk, { ...rest, limit, newest, cursor }, isSeen);
    const last = (await desk.store.latestChanges({ limit: 1 }))[0]?.sequence ?? 0;
    return {
      changes: changes.map((change) => ({ ...changeBody(change), seen: isSeen(change.sequence) })),
      next: String(next),
      more,
      last,
      unseen: await seen.unseen(last),
    };
  });
}

function seenRoute(app: Api, desk: Desk, seen: Seen): void {
  const schema = operation({
    tag: 'changes',
    summary: 'Mark changes as seen, or as not',
    body: Type.Object(
      {
        upTo: Type.Optional(Type.String({ description: 'All changes up to this cursor.' })),
        cursors: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })),
        seen: Type.Boolean({ default: true }),
      },
      { additionalProperties: false },
    ),
    answers: { 204: Nothing },
  });
  app.post('/api/changes/seen', { schema }, async (request, reply) => {
    const upTo = request.body.upTo === undefined ? undefined : cursorOf(request.body.upTo);
    const cursors = (request.body.cursors ?? []).map(cursorOf);
    if (request.body.upTo !== undefined && upTo === undefined) return badCursor(reply, request.body.upTo);
    const wrong = cursors.indexOf(undefined);
    if (wrong >= 0) return badCursor(reply, request.body.cursors![wrong]);
    const last = (await desk.store.latestChanges({ limit: 1 }))[0]?.sequence ?? 0;
    const kept = await seen.mark({
      seen: request.body.seen,
      cursors: (cursors as number[]).filter((cursor) => cursor <= last),
      ...(upTo === undefined ? {} : { upTo: Math.min(upTo, last) }),
    });
    return kept.kind === 'failed' ? unavailable(reply, kept.fault) : reply.code(204).send();
  });
}

function streamRoute(app: Api, desk: Desk): void {
  const schema = operation({
    tag: 'changes',
    summary: 'The same as server-sent events; Last-Event-ID resumes with nothing lost',
    querystring: Type.Object({ after: Type.Optional(Type.String()) }),
    answers: { 200: Media('text/event-stream', 'Events named "change", each with its cursor as id.') },
  });
  app.get('/api/changes/stream', { schema }, async (request, reply) => {
    const header = request.headers['last-event-id'];
    const given = (typeof header === 'string' ? header : undefined) ?? request.query.after;
    // Without a cursor the stream starts now: who wants the past says from where.
    const cursor = given === undefined ? (await desk.store.counts()).changes : cursorOf(given);
    if (cursor === undefined) return badCursor(reply, given);
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      ...securityHeaders,
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
  const leave = (): void => {
    closed = true;
    wake();
  };
  raw.on('close', leave);
  raw.on('error', leave);
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
