import { Type } from '@sinclair/typebox';
import type { Desk } from '../desk.ts';
import { timeText } from './bodies.ts';
import { type Api, operation } from './operation.ts';
import { Time } from './schemas.ts';

export function searchRoutes(app: Api, desk: Desk): void {
  const schema = operation({
    tag: 'history',
    summary: 'Full text over the current copies, or over everything that ever came',
    querystring: Type.Object({
      q: Type.String({ minLength: 1, maxLength: 1_000, description: 'Words, "phrases", prefixes*.' }),
      past: Type.Optional(Type.Boolean({ description: 'Versions of the past too.' })),
      site: Type.Optional(Type.String()),
      tag: Type.Optional(Type.String()),
      from: Type.Optional(Type.String({ format: 'date-time', description: 'Only versions that came then or later.' })),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Only versions that came before.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 20 })),
      skip: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
    }),
    answers: {
      200: Type.Object({
        hits: Type.Array(
          Type.Object(
            {
              pageId: Type.String(),
              url: Type.String(),
              site: Type.String(),
              title: Type.Optional(Type.String()),
              version: Type.Integer(),
              at: Time,
              score: Type.Number(),
              snippet: Type.Array(Type.Object({ text: Type.String(), hit: Type.Boolean() })),
            },
            { additionalProperties: true },
          ),
        ),
      }),
    },
  });
  app.get('/api/search', { schema }, async (request) => {
    const { q, limit = 20, from, to, ...rest } = request.query;
    const ms = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time));
    const wanted = { ...rest, fromMs: ms(from), toMs: ms(to) };
    const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
    const hits = await desk.store.search({ words: q, limit, ...given });
    return { hits: hits.map(({ atMs, ...hit }) => ({ ...hit, at: timeText(atMs) })) };
  });
}
