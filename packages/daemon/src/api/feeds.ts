/** The log of changes for feed readers: of all pages, or of one, as Atom or JSON Feed. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import { atomFeed, jsonFeed } from '../tell/feeds.ts';
import type { Change } from '../values/change.ts';
import { type Api, Media, operation } from './operation.ts';
import { notWatched } from './pages.ts';

/** Readers ask at least daily; who was away longer has the API. */
const entriesMax = 100;

function send(request: FastifyRequest, reply: FastifyReply, title: string, changes: readonly Change[]): FastifyReply {
  const homeUrl = `${request.protocol}://${request.host}`;
  const path = request.url.split('?')[0]!;
  const head = { title, homeUrl, selfUrl: `${homeUrl}${path}` };
  return path.endsWith('.json')
    ? reply.type('application/feed+json; charset=utf-8').send(JSON.stringify(jsonFeed(head, changes)))
    : reply.type('application/atom+xml; charset=utf-8').send(atomFeed(head, changes));
}

export function feedRoutes(app: Api, desk: Desk): void {
  const atom = operation({
    tag: 'telling',
    summary: 'The last changes of all pages, as Atom',
    answers: { 200: Media('application/atom+xml', 'A feed.') },
  });
  const json = operation({
    tag: 'telling',
    summary: 'The last changes of all pages, as a JSON Feed',
    answers: {
      200: Type.Object(
        {
          version: Type.String(),
          title: Type.String(),
          items: Type.Array(Type.Object({}, { additionalProperties: true })),
        },
        { additionalProperties: true },
      ),
    },
  });
  for (const [path, schema] of [
    ['/feeds/changes.atom', atom],
    ['/feeds/changes.json', json],
  ] as const)
    app.get(path, { schema }, async (request, reply) =>
      send(request, reply, 'Changes', await desk.store.latestChanges({ limit: entriesMax })),
    );
  const page = operation({
    tag: 'telling',
    summary: 'The last changes of one page, as ID.atom or ID.json',
    params: Type.Object({ file: Type.String({ maxLength: 80, pattern: '\\.(atom|json)$' }) }),
    answers: { 200: Media('application/atom+xml', 'A feed; ID.json is a JSON Feed.') },
  });
  app.get('/feeds/pages/:file', { schema: page }, async (request, reply) => {
    const id = request.params.file.replace(/\.(atom|json)$/, '');
    const watched = await desk.store.page(id);
    if (!watched) return notWatched(reply, id);
    const changes = await desk.store.latestChanges({ limit: entriesMax, pageId: id });
    return send(request, reply, watched.page.title ?? watched.state.seenTitle ?? watched.page.url, changes);
  });
}
