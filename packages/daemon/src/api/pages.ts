import type { FastifyInstance, FastifyReply } from 'fastify';
import { readPage, readPageFields } from '../config/page-input.ts';
import { difference } from '../detect/difference.ts';
import type { Desk } from '../desk.ts';
import type { Projection } from '../values/change.ts';
import type { NewPageSettings } from '../values/page.ts';
import { pageBody } from './bodies.ts';
import { problem, unavailable } from './problem.ts';
import { limitOf } from './query.ts';

interface IdParams {
  readonly Params: { readonly id: string };
}

const notWatched = (reply: FastifyReply, id: string): FastifyReply =>
  problem(reply, 404, 'page-unknown', `No page has the id ${id}.`);

export function pageRoutes(app: FastifyInstance, desk: Desk): void {
  app.post('/api/pages', async (request, reply) => {
    const many = Array.isArray(request.body);
    const inputs: readonly unknown[] = many ? (request.body as unknown[]) : [request.body];
    const pages: NewPageSettings[] = [];
    for (const [i, input] of inputs.entries()) {
      const page = readPage(input);
      if (page.kind === 'wrong')
        return problem(reply, 400, 'page-wrong', many ? `[${i}] ${page.sentence}` : page.sentence);
      pages.push(page.value);
    }
    const kept = await desk.add(pages);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    const bodies = kept.value.map(({ page, created }) => ({ ...pageBody(page, desk.outlook(page.page.id)), created }));
    return reply.code(kept.value.some(({ created }) => created) ? 201 : 200).send(many ? { pages: bodies } : bodies[0]);
  });

  app.get<{ Querystring: Record<string, string | undefined> }>('/api/pages', async (request, reply) => {
    const { cursor, site, tag, text } = request.query;
    const limit = limitOf(request.query['limit'], 100, 1_000);
    if (limit === undefined)
      return problem(
        reply,
        400,
        'bad-request',
        `limit: "${request.query['limit']}" is not allowed; a whole number from 1 to 1000 is expected`,
      );
    const pages = await desk.store.pages({
      limit,
      ...(cursor === undefined ? {} : { after: cursor }),
      ...(site === undefined ? {} : { site }),
      ...(tag === undefined ? {} : { tag }),
      ...(text === undefined ? {} : { text }),
    });
    return {
      pages: pages.map((watched) => pageBody(watched, desk.outlook(watched.page.id))),
      next: pages.length === limit ? pages.at(-1)!.page.id : null,
    };
  });

  app.get<IdParams>('/api/pages/:id', async (request, reply) => {
    const watched = await desk.store.page(request.params.id);
    return watched ? pageBody(watched, desk.outlook(watched.page.id)) : notWatched(reply, request.params.id);
  });

  app.patch<IdParams>('/api/pages/:id', async (request, reply) => {
    const settings = readPageFields(request.body);
    if (settings.kind === 'wrong') return problem(reply, 400, 'page-wrong', settings.sentence);
    const kept = await desk.update(request.params.id, settings.value);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    return kept.value ? pageBody(kept.value, desk.outlook(request.params.id)) : notWatched(reply, request.params.id);
  });

  app.delete<IdParams>('/api/pages/:id', async (request, reply) => {
    const kept = await desk.remove([request.params.id]);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    return kept.value.length > 0 ? reply.code(204).send() : notWatched(reply, request.params.id);
  });

  app.post<IdParams>('/api/pages/:id/probe', async (request, reply) => {
    if (!desk.loop)
      return problem(reply, 503, 'not-running', 'No daemon runs on this data folder; use "revisit check".');
    if (!desk.loop.probeNow(request.params.id)) return notWatched(reply, request.params.id);
    return reply.code(202).send({ id: request.params.id, asked: true });
  });

  app.get<IdParams>('/api/pages/:id/versions', async (request, reply) => {
    if (!(await desk.store.page(request.params.id))) return notWatched(reply, request.params.id);
    const versions = await desk.store.versions(request.params.id);
    return { versions: versions.map(({ atMs, ...version }) => ({ ...version, at: new Date(atMs).toISOString() })) };
  });

  app.get<{ Params: { id: string; number: string } }>('/api/pages/:id/versions/:number', async (request, reply) => {
    const { id, number } = request.params;
    const text = await desk.store.versionText(id, Number(number));
    if (text === undefined) return problem(reply, 404, 'version-unknown', `Page ${id} has no version ${number}.`);
    return reply.type('text/plain; charset=utf-8').header('x-content-type-options', 'nosniff').send(text);
  });

  app.get<IdParams & { Querystring: { from?: string; to?: string } }>('/api/pages/:id/diff', async (request, reply) => {
    const { id } = request.params;
    const versions = await desk.store.versions(id);
    if (versions.length === 0)
      return (await desk.store.page(id))
        ? problem(reply, 404, 'version-unknown', `Page ${id} has no version yet.`)
        : notWatched(reply, id);
    const to = request.query.to === undefined ? versions.at(-1)!.number : Number(request.query.to);
    const from = request.query.from === undefined ? Math.max(versions[0]!.number, to - 1) : Number(request.query.from);
    const [old, next] = [await desk.store.versionText(id, from), await desk.store.versionText(id, to)];
    if (old === undefined || next === undefined)
      return problem(reply, 404, 'version-unknown', `Page ${id} has no version ${old === undefined ? from : to}.`);
    const format = versions.find((version) => version.number === to)!.format as Projection['format'];
    return { from, to, difference: difference(old, next, { format }) };
  });

  app.get<IdParams>('/api/pages/:id/looks', async (request, reply) => {
    if (!(await desk.store.page(request.params.id))) return notWatched(reply, request.params.id);
    const looks = await desk.store.looks(request.params.id, 1_000);
    return { looks: looks.map(({ atMs, ...look }) => ({ at: new Date(atMs).toISOString(), ...look })) };
  });
}
