/** A look at a page before it is watched: what would be kept of it, the parts one could choose, and a picture to point at. */
import { Type } from '@sinclair/typebox';
import { readPage } from '../config/page-input.ts';
import type { Desk } from '../desk.ts';
import { picturePolicy } from './headers.ts';
import { type Api, Media, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { holderSays } from './parts.ts';
import { problem } from './problem.ts';
import { FaultBody, Nullable, OutlineNode, PageInput } from './schemas.ts';
import { exceptBody } from './validation.ts';

/** A site's turn and a slow answer; whoever waits for longer has left. */
const previewMsMax = 60_000;

export function previewRoutes(app: Api, desk: Desk): void {
  const schema = operation({
    tag: 'pages',
    summary: 'Look at a page before it is watched',
    description: 'One request, within politeness; the same URL again within minutes is answered from memory.',
    body: PageInput,
    answers: {
      200: Type.Object({
        url: Type.String(),
        finalUrl: Type.String(),
        title: Nullable(Type.String()),
        mediaType: Nullable(Type.String()),
        bytes: Type.Integer(),
        text: Nullable(Type.String({ description: 'What would be kept of it.' })),
        format: Nullable(Type.String()),
        fault: Nullable(FaultBody),
        outline: Type.Array(OutlineNode),
        picture: Nullable(
          Type.String({ description: 'Names its picture for some minutes; null where it is not HTML.' }),
        ),
      }),
    },
  });
  app.post('/api/preview', { schema, validatorCompiler: exceptBody }, async (request, reply) => {
    const page = readPage(request.body);
    if (page.kind === 'wrong') return problem(reply, 400, 'page-wrong', page.sentence);
    if (!desk.loop) return notRunning(reply);
    const { said } = await holderSays(desk, 'preview', { page: page.value }, previewMsMax);
    if (!said)
      return problem(
        reply,
        503,
        'coordinator-away',
        `The coordinator that looks after ${page.value.site} does not answer; ask again in some seconds.`,
      );
    return 'code' in said ? problem(reply, 422, said.code, said.sentence) : said;
  });

  const picture = operation({
    tag: 'pages',
    summary: 'A previewed page drawn without scripts and without asking for anything, to point at its parts',
    description: 'Every element carries the selector that finds it again as `data-selector`.',
    params: Type.Object({ picture: Type.String({ maxLength: 100 }) }),
    answers: { 200: Media('text/html', 'For a sandboxed frame.') },
  });
  app.get('/api/preview/:picture', { schema: picture }, async (request, reply) => {
    const { said } = await holderSays(desk, 'picture', { name: request.params.picture });
    if (said === undefined)
      return problem(reply, 404, 'preview-unknown', 'No page was previewed under that name in the last minutes.');
    return reply.type('text/html; charset=utf-8').header('content-security-policy', picturePolicy).send(said);
  });
}
