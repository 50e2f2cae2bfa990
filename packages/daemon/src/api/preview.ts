/** A look at a page before it is watched: what would be kept of it, the parts one could choose, and a picture to point at. */
import { randomUUID } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { readPage } from '../config/page-input.ts';
import type { Desk } from '../desk.ts';
import type { Loop } from '../loop.ts';
import type { Fetched } from '../loop-parts.ts';
import { type Fault, fault } from '../values/fault.ts';
import { decodeText } from '../values/text.ts';
import { picturePolicy } from './headers.ts';
import { type Api, Media, operation } from './operation.ts';
import { notRunning } from './pages.ts';
import { problem } from './problem.ts';
import { FaultBody, Nullable, OutlineNode, PageInput } from './schemas.ts';
import { exceptBody } from './validation.ts';

/** What a person reads of a preview. */
const textCharactersMax = 20_000;
/** Trying selections on the page just fetched costs the site nothing. */
const keepMs = 5 * 60_000;
const keptMax = 20;

interface Peeked {
  /** Another with each fetch, so that no frame shows an old picture under the name of a new one. */
  readonly picture: string;
  readonly atMs: number;
  readonly finalUrl: string;
  readonly outcome: Fetched;
}

/** Detection reads every kind of page with libraries of their own; a command that never previews does without. */
async function reading() {
  const [{ detect }, { drawn }, { outline }] = await Promise.all([
    import('../detect/detect.ts'),
    import('../detect/drawn.ts'),
    import('../detect/outline.ts'),
  ]);
  return { detect, drawn, outline };
}

const isHtml = ({ mediaType }: Fetched): boolean => mediaType === undefined || mediaType.includes('html');
const textOf = ({ body, mediaType, charset }: Fetched): string => decodeText(body, mediaType, charset).text;

export function previewRoutes(app: Api, desk: Desk): void {
  const peeked = new Map<string, Peeked>();
  pictureRoute(app, peeked);

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
    const { url, site, headers, select, options, render } = page.value;
    const key = JSON.stringify([url, headers, render]);
    const now = desk.clock.nowMs();
    const before = peeked.get(key);
    const found =
      before && now - before.atMs <= keepMs
        ? before
        : await look(desk.loop, { url, site, ...(headers ? { headers } : {}), ...(render ? { render } : {}) }, now);
    // While the site rests, what was fetched before is better than nothing.
    const known = 'code' in found ? (found.code === 'site-busy' ? before : undefined) : found;
    if (!known) {
      const { code, sentence } = found as Fault;
      return problem(reply, 422, code, sentence);
    }
    peeked.delete(key);
    peeked.set(key, known);
    if (peeked.size > keptMax) peeked.delete(peeked.keys().next().value!);
    const { detect, outline } = await reading();
    const { body, mediaType, charset } = known.outcome;
    const { detection } = await detect({ select, options, body, mediaType, charset, url: known.finalUrl, atMs: now });
    const projection = detection.kind === 'first' ? detection.projection : undefined;
    return {
      url,
      finalUrl: known.finalUrl,
      title: projection?.title ?? null,
      mediaType: mediaType ?? null,
      bytes: body.length,
      text: projection?.text.slice(0, textCharactersMax) ?? null,
      format: projection?.format ?? null,
      fault: detection.kind === 'unreadable' ? detection.fault : null,
      outline: isHtml(known.outcome) ? [...outline(textOf(known.outcome))] : [],
      picture: isHtml(known.outcome) ? known.picture : null,
    };
  });
}

async function look(loop: Loop, page: Parameters<Loop['peek']>[0], atMs: number): Promise<Peeked | Fault> {
  const { outcome, finalUrl } = await loop.peek(page);
  switch (outcome.kind) {
    case 'gone':
      return fault('page-gone', `The server answers ${outcome.status}: the page is not there.`);
    case 'refused':
    case 'failed':
      return outcome.fault;
    case 'not-modified':
      return fault('status-unexpected', 'The server answers 304.');
    default:
      return { picture: randomUUID(), atMs, finalUrl: finalUrl ?? page.url, outcome };
  }
}

function pictureRoute(app: Api, peeked: ReadonlyMap<string, Peeked>): void {
  const schema = operation({
    tag: 'pages',
    summary: 'A previewed page drawn without scripts and without asking for anything, to point at its parts',
    description: 'Every element carries the selector that finds it again as `data-selector`.',
    params: Type.Object({ picture: Type.String({ maxLength: 100 }) }),
    answers: { 200: Media('text/html', 'For a sandboxed frame.') },
  });
  app.get('/api/preview/:picture', { schema }, async (request, reply) => {
    const known = [...peeked.values()].find(({ picture }) => picture === request.params.picture);
    if (!known || !isHtml(known.outcome))
      return problem(reply, 404, 'preview-unknown', 'No page was previewed under that name in the last minutes.');
    const { drawn } = await reading();
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', picturePolicy)
      .send(drawn(textOf(known.outcome)));
  });
}
