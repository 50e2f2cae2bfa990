import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import { readPage, readPageFields } from '../config/page-input.ts';
import type { Desk } from '../desk.ts';
import { settingsWrong } from '../settings-wrong.ts';
import type { WatchedPage } from '../values/look.ts';
import type { NewPageSettings } from '../values/page.ts';
import { activityText, pageBody } from './bodies.ts';
import { changedMeanwhile, ifMatch, matchesNot, settingsTag, tagged } from './if-match.ts';
import { type Api, Nothing, operation } from './operation.ts';
import { outlooksOf } from './parts.ts';
import { PageLists, pageFilters, pageOrders, type PageFilter } from './page-list.ts';
import { problem, unavailable } from './problem.ts';
import { badCursor, cursorOf, listed } from './query.ts';
import { Nullable, OneOf, PageBody, PageChange, PageInput, countMax, idParams } from './schemas.ts';
import { exceptBody } from './validation.ts';

/** What fits into a strip a hundred pixels wide. */
const activityLooks = 32;
/** More pages than this in one request belong into several. */
const pagesMax = 100_000;

export const notWatched = (reply: FastifyReply, id: string): FastifyReply =>
  problem(reply, 404, 'page-unknown', `No page has the id ${id}.`);

/** Menus end somewhere. */
const tagsShown = 500;

const Filter = Type.Object({
  site: Type.Optional(Type.String()),
  tag: Type.Optional(Type.String()),
  text: Type.Optional(Type.String({ description: 'What the URL or title contains.' })),
  status: Type.Optional(OneOf(pageFilters)),
});

const Bulk = Type.Object(
  {
    do: OneOf(['update', 'remove', 'probe']),
    ids: Type.Optional(Type.Array(Type.String(), { maxItems: pagesMax })),
    match: Type.Optional(Type.Object(Filter.properties, { additionalProperties: false })),
    set: Type.Optional(PageChange),
    addTags: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    removeTags: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
  },
  { additionalProperties: false },
);

const filterOf = ({ site, tag, text, status }: Static<typeof Filter>): PageFilter =>
  Object.fromEntries(Object.entries({ site, tag, text, status }).filter(([, value]) => value !== undefined));

export function pageRoutes(app: Api, desk: Desk): void {
  const lists = new PageLists(desk);
  const bodiesOf: BodiesOf = async (pages) => {
    const outlooks = await outlooksOf(
      desk,
      pages.map(({ page }) => page.id),
    );
    return pages.map((watched) => pageBody(watched, outlooks.get(watched.page.id)));
  };
  addRoutes(app, desk);
  listRoute(app, desk, lists, bodiesOf);
  bulkRoute(app, desk, lists);
  singleRoutes(app, desk, bodiesOf);
}

type BodiesOf = (pages: readonly WatchedPage[]) => Promise<Static<typeof PageBody>[]>;

function addRoutes(app: Api, desk: Desk): void {
  const One = PageBody;
  const Many = Type.Object({ pages: Type.Array(PageBody) });
  const schema = operation({
    tag: 'pages',
    summary: 'Watch a page, or a list of pages',
    description:
      'The same URL and selection again is the same page: 200 and the same id. A list is added whole or not at all.',
    body: Type.Union([PageInput, Type.Array(PageInput, { maxItems: pagesMax })]),
    answers: { 200: Type.Union([One, Many]), 201: Type.Union([One, Many]) },
  });
  app.post('/api/pages', { schema, validatorCompiler: exceptBody }, async (request, reply) => {
    const many = Array.isArray(request.body);
    const inputs: readonly unknown[] = many ? (request.body as unknown[]) : [request.body];
    const pages: NewPageSettings[] = [];
    for (const [i, input] of inputs.entries()) {
      const page = readPage(input);
      if (page.kind === 'wrong')
        return problem(reply, 400, 'page-wrong', many ? `[${i}] ${page.sentence}` : page.sentence);
      const wrong = await settingsWrong(page.value);
      if (wrong !== undefined) return problem(reply, 400, 'page-wrong', many ? `[${i}] ${wrong}` : wrong);
      pages.push(page.value);
    }
    const kept = await desk.add(pages);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    // Of what was just added nobody elsewhere believes anything yet.
    const bodies = kept.value.map(({ page, created }) => ({ ...pageBody(page, desk.outlook(page.page.id)), created }));
    return reply.code(kept.value.some(({ created }) => created) ? 201 : 200).send(many ? { pages: bodies } : bodies[0]);
  });
}

function listRoute(app: Api, desk: Desk, lists: PageLists, bodiesOf: BodiesOf): void {
  const schema = operation({
    tag: 'pages',
    summary: 'What is watched',
    description:
      'With `cursor`, every page once in the order in which they were added, whatever happens meanwhile. With `order` or `skip`, any part of a sorted list.',
    querystring: Type.Object({
      ...Filter.properties,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
      cursor: Type.Optional(Type.String({ description: '`next` of the answer before.' })),
      order: Type.Optional(OneOf(pageOrders)),
      skip: Type.Optional(Type.Integer({ minimum: 0, maximum: countMax })),
      activity: Type.Optional(Type.Boolean({ description: 'With the last looks of each page.' })),
    }),
    answers: {
      200: Type.Object({
        pages: Type.Array(PageBody),
        next: Nullable(Type.String()),
        total: Type.Optional(Type.Integer({ description: 'How many fit; with `order` or `skip`.' })),
      }),
    },
  });
  app.get('/api/pages', { schema }, async (request, reply) => {
    const after = cursorOf(request.query.cursor);
    if (after === undefined) return badCursor(reply, request.query.cursor);
    const { limit = 100, order, skip, activity, status } = request.query;
    const filter = filterOf(request.query);
    const sorted = order !== undefined || skip !== undefined || status !== undefined;
    const { pages, total, next } = sorted
      ? { ...(await lists.part(filter, order ?? 'added', skip ?? 0, limit)), next: null }
      : { ...(await listed(desk, { limit, after, ...filter })), total: undefined };
    const looks = activity
      ? await desk.store.activity(
          pages.map(({ page }) => page.id),
          activityLooks,
        )
      : undefined;
    const bodies = await bodiesOf(pages);
    return {
      pages: bodies.map((body) => ({
        ...body,
        ...(looks ? { activity: activityText(looks.get(body.id) ?? []) } : {}),
      })),
      next,
      ...(total === undefined ? {} : { total }),
    };
  });

  const tags = operation({
    tag: 'pages',
    summary: 'The tags in use, most used first',
    answers: { 200: Type.Object({ tags: Type.Array(Type.Object({ tag: Type.String(), pages: Type.Integer() })) }) },
  });
  app.get('/api/tags', { schema: tags }, async () => {
    const counts = new Map<string, number>();
    for await (const batch of desk.everyPage())
      for (const { page } of batch) for (const tag of page.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    const all = [...counts].map(([tag, pages]) => ({ tag, pages }));
    return { tags: all.sort((a, b) => b.pages - a.pages || (a.tag < b.tag ? -1 : 1)).slice(0, tagsShown) };
  });
}

function bulkRoute(app: Api, desk: Desk, lists: PageLists): void {
  const schema = operation({
    tag: 'pages',
    summary: 'Update, remove or look at many pages',
    description:
      'Names pages by `ids`, or by what they `match`. An empty `match` (`{}`) is every page: `{"do": "remove", "match": {}}` removes all that is watched, with its history. Updates are made whole or not at all.',
    body: Bulk,
    answers: { 200: Type.Object({ pages: Type.Integer({ description: 'How many were touched.' }) }) },
  });
  app.post('/api/pages/bulk', { schema }, async (request, reply) => {
    const { ids, match, set, addTags = [], removeTags = [] } = request.body;
    if ((ids === undefined) === (match === undefined))
      return problem(reply, 400, 'bad-request', 'ids, match: exactly one of the two is expected');
    const wanted = ids ? new Set(ids) : undefined;
    const pages = (await lists.all(match ? filterOf(match) : {})).filter(({ page }) => !wanted || wanted.has(page.id));
    if (request.body.do === 'remove') {
      const kept = await desk.remove(pages.map(({ page }) => page.id));
      return kept.kind === 'failed' ? unavailable(reply, kept.fault) : { pages: kept.value.length };
    }
    if (request.body.do === 'probe') {
      if (!desk.loop) return notRunning(reply);
      const asked = await desk.probeNow(pages.map(({ page }) => page.id));
      return asked.kind === 'failed' ? unavailable(reply, asked.fault) : { pages: asked.value.length };
    }
    const read = readPageFields(set ?? {});
    if (read.kind === 'wrong') return problem(reply, 400, 'page-wrong', read.sentence);
    const wrong = await settingsWrong(read.value);
    if (wrong !== undefined) return problem(reply, 400, 'page-wrong', wrong);
    if (read.value.url !== undefined)
      return problem(reply, 400, 'page-wrong', 'set.url: is not allowed; the URL is changed page by page');
    const kept = await desk.updateMany(
      pages.map(({ page }) => ({
        id: page.id,
        settings: {
          ...read.value,
          tags: [...new Set([...(read.value.tags ?? page.tags), ...addTags])].filter(
            (tag) => !removeTags.includes(tag),
          ),
        },
      })),
    );
    return kept.kind === 'failed' ? unavailable(reply, kept.fault) : { pages: kept.value.length };
  });
}

export const notRunning = (reply: FastifyReply): FastifyReply =>
  problem(reply, 503, 'not-running', 'No daemon runs on this data folder; "revisit serve" starts one.');

function singleRoutes(app: Api, desk: Desk, bodiesOf: BodiesOf): void {
  const page = { params: idParams, tag: 'pages' } as const;
  const find = async (id: string): Promise<WatchedPage | undefined> =>
    desk.loop?.collection.byId(id) ?? (await desk.store.page(id));
  const one = operation({ ...page, summary: 'A page', answers: { 200: PageBody } });
  app.get('/api/pages/:id', { schema: one }, async (request, reply) => {
    const watched = await find(request.params.id);
    if (!watched) return notWatched(reply, request.params.id);
    const [body] = await bodiesOf([watched]);
    return tagged(reply, body!, watched.page);
  });

  const change = operation({
    ...page,
    summary: 'Change its settings',
    headers: ifMatch,
    body: PageChange,
    answers: { 200: PageBody },
  });
  app.patch('/api/pages/:id', { schema: change, validatorCompiler: exceptBody }, async (request, reply) => {
    const settings = readPageFields(request.body);
    if (settings.kind === 'wrong') return problem(reply, 400, 'page-wrong', settings.sentence);
    const wrong = await settingsWrong(settings.value);
    if (wrong !== undefined) return problem(reply, 400, 'page-wrong', wrong);
    const known = await find(request.params.id);
    if (!known) return notWatched(reply, request.params.id);
    if (matchesNot(request, settingsTag(known.page))) return changedMeanwhile(reply);
    const kept = await desk.update(request.params.id, settings.value);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    if (!kept.value) return notWatched(reply, request.params.id);
    const [body] = await bodiesOf([kept.value]);
    return tagged(reply, body!, (await find(request.params.id))?.page);
  });

  const removal = operation({
    ...page,
    summary: 'Stop watching it and forget its versions',
    headers: ifMatch,
    answers: { 204: Nothing },
  });
  app.delete('/api/pages/:id', { schema: removal }, async (request, reply) => {
    const known = await find(request.params.id);
    if (!known) return notWatched(reply, request.params.id);
    if (matchesNot(request, settingsTag(known.page))) return changedMeanwhile(reply);
    const kept = await desk.remove([request.params.id]);
    if (kept.kind === 'failed') return unavailable(reply, kept.fault);
    return kept.value.length > 0 ? reply.code(204).send() : notWatched(reply, request.params.id);
  });

  const probe = operation({
    ...page,
    summary: 'Look now, as soon as politeness allows',
    answers: { 202: Type.Object({ id: Type.String(), asked: Type.Boolean() }) },
  });
  app.post('/api/pages/:id/probe', { schema: probe }, async (request, reply) => {
    if (!desk.loop) return notRunning(reply);
    const asked = await desk.probeNow([request.params.id]);
    if (asked.kind === 'failed') return unavailable(reply, asked.fault);
    if (asked.value.length === 0) return notWatched(reply, request.params.id);
    return reply.code(202).send({ id: request.params.id, asked: true });
  });
}
