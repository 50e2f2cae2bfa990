/** What was seen of a page: versions, differences, looks, when in the week it changes, what settings would have done. */
import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import { unmet } from '../detect/conditions.ts';
import { difference, type Difference } from '../detect/difference.ts';
import { comparable, normalise } from '../detect/normalise.ts';
import { numberIn } from '../detect/number.ts';
import { readOptions } from '../detect/options.ts';
import { shownDifference } from '../detect/shown.ts';
import type { Desk } from '../desk.ts';
import type { Projection } from '../values/change.ts';
import { hourOfWeek } from '../dispatch/coming-looks.ts';
import { finite, lastMs, lookBody, timeText, usualTimeBody, versionBody } from './bodies.ts';
import { notWatched } from './pages.ts';
import { type Api, Media, operation } from './operation.ts';
import { holderSays, outlooksOf } from './parts.ts';
import { problem } from './problem.ts';
import {
  DifferenceBody,
  LookBody,
  Nullable,
  Time,
  UsualTimeBody,
  VersionBody,
  VersionNumber,
  idParams,
  OneOf,
} from './schemas.ts';

/** What a row of the river shows; the page's own view has all of it. */
const briefBlocks = 4;
const briefCharacters = 600;
const numberVersionsMax = 2_000;
/** A text this short with a number in it is a price, a stock, a score. */
const numberBytesMax = 64;
/** Versions that settings are tried on: the last ones say what the next will be like. */
const triedVersionsMax = 50;
const weekHours = 168;

const versionUnknown = (reply: FastifyReply, id: string, number: unknown): FastifyReply =>
  problem(reply, 404, 'version-unknown', `Page ${id} has no version ${String(number)}.`);

export function historyRoutes(app: Api, desk: Desk): void {
  versionRoutes(app, desk);
  diffRoute(app, desk);
  lookRoutes(app, desk);
  trialRoute(app, desk);
}

function versionRoutes(app: Api, desk: Desk): void {
  const page = { params: idParams, tag: 'history' } as const;
  const list = operation({
    ...page,
    summary: 'Its versions, oldest first',
    answers: { 200: Type.Object({ versions: Type.Array(VersionBody) }) },
  });
  app.get('/api/pages/:id/versions', { schema: list }, async (request, reply) => {
    if (!(await desk.store.page(request.params.id))) return notWatched(reply, request.params.id);
    return { versions: (await desk.store.versions(request.params.id)).map(versionBody) };
  });

  const one = operation({
    tag: 'history',
    summary: 'One version, as text',
    params: Type.Object({ ...idParams.properties, number: VersionNumber }),
    answers: { 200: Media('text/plain', 'The part of the page that is watched.') },
  });
  app.get('/api/pages/:id/versions/:number', { schema: one }, async (request, reply) => {
    const { id, number } = request.params;
    const text = await desk.store.versionText(id, number);
    if (text === undefined) return versionUnknown(reply, id, number);
    return reply.type('text/plain; charset=utf-8').send(text);
  });

  const raw = operation({
    tag: 'history',
    summary: 'The whole page as it came with one version, where it is kept (`options.keepRaw`)',
    description: 'Always as plain text: what strangers wrote is not run anywhere.',
    params: Type.Object({ ...idParams.properties, number: VersionNumber }),
    answers: { 200: Media('text/plain', 'The page as the server sent it.') },
  });
  app.get('/api/pages/:id/versions/:number/raw', { schema: raw }, async (request, reply) => {
    const { id, number } = request.params;
    const text = await desk.store.versionRaw(id, number);
    if (text !== undefined) return reply.type('text/plain; charset=utf-8').send(text);
    if ((await desk.store.versionText(id, number)) === undefined) return versionUnknown(reply, id, number);
    const sentence = `Of version ${number} only what is watched was kept; with options.keepRaw, later versions are kept whole.`;
    return problem(reply, 404, 'raw-not-kept', sentence);
  });

  const numbers = operation({
    ...page,
    summary: 'A number over time, where the page shows one',
    answers: { 200: Type.Object({ numbers: Type.Array(Type.Object({ at: Time, value: Type.Number() })) }) },
  });
  app.get('/api/pages/:id/numbers', { schema: numbers }, async (request, reply) => {
    const { id } = request.params;
    if (!(await desk.store.page(id))) return notWatched(reply, id);
    const versions = (await desk.store.versions(id)).filter(
      ({ format, bytes }) => format === 'number' || (format === 'text' && bytes <= numberBytesMax),
    );
    const points: { at: string; value: number }[] = [];
    for (const version of versions.slice(-numberVersionsMax)) {
      const value = numberIn((await desk.store.versionText(id, version.number)) ?? '');
      if (value !== undefined) points.push({ at: timeText(version.atMs), value });
    }
    return { numbers: points };
  });
}

/** The first places that differ, each with little around it. */
export function brief(whole: Difference): Difference & { readonly cut?: boolean } {
  const changed = whole.blocks.filter((block) => block.kind !== 'same');
  let left = briefCharacters;
  const take = (text: string): string => {
    const part = text.slice(0, Math.max(0, left));
    left -= part.length;
    return part;
  };
  const blocks = changed.slice(0, briefBlocks).map((block) => {
    if (block.kind === 'changed')
      return { ...block, words: nearWords(block.words).map((run) => ({ ...run, text: take(run.text) })) };
    return { ...block, lines: block.lines.slice(0, 3).map(take) };
  });
  const { items: _items, ...rest } = whole;
  const cut = changed.length > briefBlocks || left <= 0;
  return { ...rest, blocks, ...(cut ? { cut } : {}) };
}

type Words = Extract<Difference['blocks'][number], { kind: 'changed' }>['words'];

/** Long runs that are the same are shown by their ends. */
function nearWords(words: Words): Words {
  const near = 60;
  return words.map((run) =>
    run.kind === 'same' && run.text.length > 2 * near
      ? { ...run, text: `${run.text.slice(0, near)} … ${run.text.slice(-near)}` }
      : run,
  );
}

function diffRoute(app: Api, desk: Desk): void {
  const schema = operation({
    tag: 'history',
    summary: 'What differs between two versions; the last two unless said otherwise',
    params: idParams,
    querystring: Type.Object({
      from: Type.Optional(VersionNumber),
      to: Type.Optional(VersionNumber),
      brief: Type.Optional(Type.Boolean({ description: 'Only the first places, for a list.' })),
      noise: Type.Optional(Type.Boolean({ description: 'With what is otherwise ignored.' })),
    }),
    answers: { 200: Type.Object({ from: Type.Integer(), to: Type.Integer(), difference: DifferenceBody }) },
  });
  app.get('/api/pages/:id/diff', { schema }, async (request, reply) => {
    const { id } = request.params;
    const versions = await desk.store.versions(id);
    if (versions.length === 0)
      return (await desk.store.page(id))
        ? problem(reply, 404, 'version-unknown', `Page ${id} has no version yet.`)
        : notWatched(reply, id);
    const to = request.query.to ?? versions.at(-1)!.number;
    const from = request.query.from ?? Math.max(versions[0]!.number, to - 1);
    const [old, next] = [await desk.store.versionText(id, from), await desk.store.versionText(id, to)];
    if (old === undefined || next === undefined) return versionUnknown(reply, id, old === undefined ? from : to);
    const format = versions.find((version) => version.number === to)!.format as Projection['format'];
    const detectState = request.query.noise ? undefined : (await desk.store.page(id))?.state.detectState;
    const whole = shownDifference(old, next, format, detectState);
    return { from, to, difference: request.query.brief ? brief(whole) : whole };
  });
}

function lookRoutes(app: Api, desk: Desk): void {
  const looks = operation({
    tag: 'history',
    summary: 'How it was observed: every look, newest first',
    params: idParams,
    querystring: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000 })) }),
    answers: { 200: Type.Object({ looks: Type.Array(LookBody) }) },
  });
  app.get('/api/pages/:id/looks', { schema: looks }, async (request, reply) => {
    if (!(await desk.store.page(request.params.id))) return notWatched(reply, request.params.id);
    return { looks: (await desk.store.looks(request.params.id, request.query.limit ?? 1_000)).map(lookBody) };
  });

  const week = operation({
    tag: 'history',
    summary: 'When in the week it was looked at and changed, by hour from Monday 00:00 UTC',
    params: idParams,
    answers: {
      200: Type.Object({
        looks: Type.Array(Type.Integer()),
        changes: Type.Array(Type.Integer()),
        learned: Type.Optional(
          Type.Array(Type.Number(), { description: 'How fast it is believed to change in each hour, 1 on average.' }),
        ),
        rate: Nullable(Type.Number({ description: 'Changes a day over the time that it has been watched.' })),
        rateInterval: Nullable(
          Type.Array(Nullable(Type.Number()), { description: '95 %; no upper bound where every look found a change.' }),
        ),
        usualTime: Nullable(UsualTimeBody),
      }),
    },
  });
  app.get('/api/pages/:id/week', { schema: week }, async (request, reply) => {
    const { id } = request.params;
    if (!(await desk.store.page(id))) return notWatched(reply, id);
    const counts = { looks: Array<number>(weekHours).fill(0), changes: Array<number>(weekHours).fill(0) };
    for (const look of await desk.store.looks(id, 10_000)) {
      const hour = hourOfWeek(look.atMs);
      counts.looks[hour]!++;
      if (look.kind === 'changed') counts.changes[hour]!++;
    }
    const belief = (await outlooksOf(desk, [id])).get(id)?.belief;
    const { said: learned } = await holderSays(desk, 'week', { id });
    return {
      ...counts,
      ...(learned ? { learned: [...learned] } : {}),
      rate: belief ? finite(belief.ratePerDay) : null,
      rateInterval: belief ? belief.rateInterval.map(finite) : null,
      usualTime: usualTimeBody(belief?.usualTime),
    };
  });

  const coming = operation({
    tag: 'history',
    summary: 'Its coming looks, and why then',
    params: idParams,
    querystring: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 8 })) }),
    answers: {
      200: Type.Object({
        state: OneOf(['planned', 'in line', 'none']),
        looks: Type.Array(
          Type.Object({
            at: Time,
            expected: Type.Number({ description: 'Changes expected since the look before.' }),
            chance: Type.Number({ description: 'That it finds something new.' }),
            pace: Type.Number({ description: 'Of that hour of the week, 1 on average.' }),
          }),
          { description: 'The first as planned; the others if nothing unusual is found meanwhile.' },
        ),
        reasons: Type.Array(Type.String()),
      }),
    },
  });
  app.get('/api/pages/:id/coming', { schema: coming }, async (request, reply) => {
    const { id } = request.params;
    const watched = await desk.store.page(id);
    if (!watched) return notWatched(reply, id);
    const { said: found, missing } = await holderSays(desk, 'coming', { id, limit: request.query.limit ?? 8 });
    if (!found) {
      const away = missing > 0 ? 'Its coordinator does not answer.' : 'No daemon runs on this data folder.';
      return { state: 'none' as const, looks: [], reasons: [watched.page.paused ? 'It is paused.' : away] };
    }
    return {
      ...found,
      reasons: [...found.reasons],
      looks: found.looks.flatMap(({ atMs, ...look }) => (atMs <= lastMs ? [{ at: timeText(atMs), ...look }] : [])),
    };
  });
}

type Rules = Parameters<typeof normalise>[1];

/** A kept text as it would be read under other rules; undefined when they take too long. What older rules took away stays away. */
function asRead(text: string, format: string, rules: Rules): string | undefined {
  if (format !== 'text' && format !== 'html') return text;
  const read = normalise(text, rules);
  return read.kind === 'text' ? read.text : undefined;
}

const comparableText = (text: string, rules: Rules): string =>
  text
    .split('\n')
    .map((line) => comparable(line, rules))
    .join('\n');

function trialRoute(app: Api, desk: Desk): void {
  const Verdict = Type.Object({
    version: Type.Integer(),
    at: Time,
    verdict: OneOf(['told', 'kept quiet', 'no change']),
    why: Type.Optional(Type.String()),
  });
  const schema = operation({
    tag: 'history',
    summary: 'What rules and conditions for telling would have done on the last versions',
    params: idParams,
    body: Type.Object({ options: Type.Record(Type.String(), Type.Unknown()) }, { additionalProperties: false }),
    answers: { 200: Type.Object({ tried: Type.Array(Verdict) }) },
  });
  app.post('/api/pages/:id/try', { schema, config: { scope: 'read' } }, async (request, reply) => {
    const { id } = request.params;
    if (!(await desk.store.page(id))) return notWatched(reply, id);
    const read = readOptions(request.body.options);
    if (read.kind === 'wrong')
      return problem(
        reply,
        400,
        'options-wrong',
        `${read.field}: ${JSON.stringify(read.value) ?? 'nothing'} is not allowed; ${read.allowed} is expected`,
      );
    return { tried: await tryOptions(desk, id, read.options) };
  });

  async function tryOptions(
    from: Desk,
    id: string,
    options: Extract<ReturnType<typeof readOptions>, { kind: 'read' }>['options'],
  ): Promise<Static<typeof Verdict>[]> {
    const versions = (await from.store.versions(id)).slice(-triedVersionsMax);
    const tried: Static<typeof Verdict>[] = [];
    let told: string | undefined;
    for (const { number, atMs, format } of versions) {
      const text = asRead((await from.store.versionText(id, number)) ?? '', format, options.normalise);
      if (text === undefined) break;
      if (told === undefined) {
        told = text;
        continue;
      }
      const known = format as Projection['format'];
      const same = comparableText(told, options.normalise) === comparableText(text, options.normalise);
      const why = same
        ? 'the same as what was last told'
        : unmet(options.tell, told, text, known, difference(told, text, { format: known }));
      tried.push({
        version: number,
        at: timeText(atMs),
        verdict: same ? 'no change' : why === undefined ? 'told' : 'kept quiet',
        ...(why === undefined ? {} : { why }),
      });
      if (why === undefined) told = text;
    }
    return tried.reverse();
  }
}
